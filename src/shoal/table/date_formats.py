"""Dates that are not ISO dates: the usual forms, which of them fit a column, and how to ask where several do."""

from __future__ import annotations

import re
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import LONGEST, InputError
from shoal.table.inference import infer
from shoal.table.source import Input

MOST = 0.8  # share of distinct texts that look like numbers or dates, from which on others are rather missing values
LOOKED_AT = 1_000  # distinct texts, evenly taken, that are looked at for that
MOST_DATES = 200_000  # distinct values that are all tried as dates; of more, evenly so many
_DAY, _TWO, _YEAR, _MONTH = r"[0-9]{1,2}", r"[0-9]{2}", r"[0-9]{4}", r"[A-Za-z]{3,9}"
_DAYS = {
    "%d.%m.%Y": rf"{_DAY}\.{_DAY}\.{_YEAR}",
    "%d/%m/%Y": rf"{_DAY}/{_DAY}/{_YEAR}",
    "%m/%d/%Y": rf"{_DAY}/{_DAY}/{_YEAR}",
    "%d-%m-%Y": rf"{_DAY}-{_DAY}-{_YEAR}",
    "%m-%d-%Y": rf"{_DAY}-{_DAY}-{_YEAR}",
    "%Y/%m/%d": rf"{_YEAR}/{_DAY}/{_DAY}",
    "%Y.%m.%d": rf"{_YEAR}\.{_DAY}\.{_DAY}",
    "%Y%m%d": r"(18|19|20)[0-9]{2}[01][0-9][0-3][0-9]",
    "%d.%m.%y": rf"{_DAY}\.{_DAY}\.{_TWO}",
    "%d/%m/%y": rf"{_DAY}/{_DAY}/{_TWO}",
    "%m/%d/%y": rf"{_DAY}/{_DAY}/{_TWO}",
    "%d-%b-%Y": rf"{_DAY}-{_MONTH}-{_YEAR}",
    "%d-%b-%y": rf"{_DAY}-{_MONTH}-{_TWO}",
    "%d %b %Y": rf"{_DAY} {_MONTH} {_YEAR}",
    "%d %B %Y": rf"{_DAY} {_MONTH} {_YEAR}",
    "%b %d, %Y": rf"{_MONTH} {_DAY}, {_YEAR}",
    "%B %d, %Y": rf"{_MONTH} {_DAY}, {_YEAR}",
    "%d%b%Y": rf"{_DAY}[A-Za-z]{{3}}{_YEAR}",
}
_TIMES = {"": "", " %H:%M": r" [0-9]{1,2}:[0-9]{2}", " %H:%M:%S": r" [0-9]{1,2}:[0-9]{2}:[0-9]{2}"}
_FORMS = {
    day + time: f"^{day_regex}{time_regex}$"
    for day, day_regex in _DAYS.items()
    for time, time_regex in _TIMES.items()
}
_ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_NUMBER = r"^-?[0-9]+([.,][0-9]+)?$"
_WORDS = {
    "%d": "day",
    "%m": "month",
    "%b": "month",
    "%B": "month",
    "%Y": "year",
    "%y": "year",
    "%H": "hour",
    "%M": "minute",
    "%S": "second",
}
_EXAMPLE = datetime(1980, 12, 31, 13, 45, 59)


def date_formats(values: pa.Array) -> list[str]:
    """All usual forms of dates in which every value of a column, as text, can be read."""
    few = values.slice(0, 50).cast(pa.large_string())
    first = (few[0].as_py() or "") if len(few) else ""
    likely = [  # one value rules out nearly all forms, which matters in tables of many columns
        form for form, regex in _FORMS.items() if re.search(regex, first) and _all(few, regex)
    ]
    if not likely:
        return []
    some = np.linspace(0, len(values) - 1, min(len(values), MOST_DATES)).astype(np.int64)
    tried = values.take(pa.array(np.unique(some))).cast(pa.large_string())
    return [
        form
        for form in likely
        if _all(tried, _FORMS[form]) and pa.types.is_temporal(_read(tried, form).type)
    ]


def found_dates(name: str, values: pa.Array) -> tuple[str, pa.Array] | None:
    """The one form in which all texts of a column are dates, and the dates; None where they are none.

    Raises
    ------
    InputError
        Where several forms fit and give different dates, or years have two digits: nobody is to guess then.
    """
    forms = date_formats(values)
    dates = {form: _read(values, form) for form in forms}
    dates = {form: read for form, read in dates.items() if pa.types.is_temporal(read.type)}
    if not dates:
        return None
    first = next(iter(dates))
    others = [form for form, read in dates.items() if not read.equals(dates[first])]
    if others or "%y" in first:
        raise InputError(_question(name[:LONGEST], [first, *others[:1]]))
    return first, dates[first]


def mostly(values: pa.Array) -> str | None:
    """What most texts of a column look like, "numbers" or "dates", though not all of them are; None for neither."""
    some = np.linspace(0, len(values) - 1, min(len(values), LOOKED_AT)).astype(np.int64)
    texts = values.take(pa.array(np.unique(some)))
    for regexes, what in (([_NUMBER], "numbers"), ([_ISO, *_FORMS.values()], "dates")):
        for regex in regexes:
            fitting = pc.sum(pc.match_substring_regex(texts, regex)).as_py() or 0
            if MOST <= fitting / len(texts) < 1:
                return what
    return None


def in_words(date_format: str) -> str:
    """A form of dates in words, with an example: day.month.year, like 31.12.1980."""
    words = date_format
    for directive, word in _WORDS.items():
        words = words.replace(directive, word)
    return f"{words}, like {_EXAMPLE.strftime(date_format)}"


def _question(name: str, forms: list[str]) -> str:
    text = f"or read them as text with --type '{name}:text' (types)"
    if len(forms) == 1:
        return (
            f"Column '{name}' holds dates with two digits for the year, which may mean two centuries; confirm with "
            f"--date-format '{forms[0]}' (date_format), {text}."
        )
    return (
        f"Column '{name}' holds dates that fit both {forms[0]} (day first) and {forms[1]} (month first); say which "
        f"with --date-format '{forms[0]}' or --date-format '{forms[1]}' (date_format), {text}."
    )


def _read(texts: pa.Array, date_format: str) -> pa.Array:
    return infer(texts, Input(date_format=date_format))


def _all(values: pa.Array, regex: str) -> bool:
    return len(values) > 0 and bool(pc.all(pc.match_substring_regex(values, regex)).as_py())
