"""A column as detected: the type of its values, the format of its dates, its distinct values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.forms import Ints, Records
from shoal.encoding.frames import Frame, arrow_column
from shoal.encoding.models.base import is_ordered, labels_of
from shoal.encoding.source import Input
from shoal.errors import LONGEST, InputError

Texts = TypeVar("Texts", pa.Array, pa.ChunkedArray)

# Sixteen digits before the point are what float64 can keep. An exponent needs its sign, as every
# writer of floats gives it: 1E50 is a diagnosis (ICD-11), not a number.
_DECIMAL = r"^-?((0|[1-9][0-9]{0,15})(\.[0-9]+)?|\.[0-9]+)([eE][+-][0-9]+)?$"
_INTEGER = r"^(0|-?[1-9][0-9]{0,18})$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}"
_YEAR_ZERO = r"^0000"  # neither Python nor pandas knows it
_BOOLEANS = (["true", "false"], ["True", "False"], ["TRUE", "FALSE"])
_TIME_DIRECTIVES = ("%H", "%I", "%M", "%S", "%f", "%p", "%X", "%c", "%z", "%Z")


def infer(values: Texts, input: Input) -> Texts:
    """Give texts the type that fits every one of them, or return them unchanged.

    Different texts may become one value: 250.1 and 250.10 are the same number. Leading zeros (02139)
    and numbers beyond 64 bits stay text, and so do columns of nulls only.

    The distinct `values` of a column are enough; nulls fit every type. `input` gives the decimal separator, and the
    date format, which is tried before any other; for one column, see `Input.of_column`.

    Examples
    --------
    >>> infer(pa.array(["2,5", "10,0"]), Input(decimal=",")).to_pylist()
    [2.5, 10.0]
    >>> infer(pa.array(["31.12.1999"]), Input(date_format="%d.%m.%Y")).type
    DataType(date32[day])
    """
    if values.null_count == len(values):
        return values
    if isinstance(input.date_format, str):
        dates = _formatted_dates(values, input.date_format)
        if dates is not None:
            return dates
    for typed in (_integers(values), _decimals(values, input.decimal), _booleans(values)):
        if typed is not None:
            return typed
    return _iso_dates(values)


def has_time(date_format: str) -> bool:
    """Whether a date format includes the time of day."""
    directives = date_format.replace("%%", "")
    return any(directive in directives for directive in _TIME_DIRECTIVES)


def _formatted_dates(values: Texts, date_format: str) -> Texts | None:
    try:
        moments = [
            None if text is None else datetime.strptime(text, date_format)
            for text in values.to_pylist()
        ]
    except ValueError:  # one text that does not fit
        return None
    if not has_time(date_format):
        return _like(values, [moment and moment.date() for moment in moments], pa.date32())
    zones = {moment.tzinfo is not None for moment in moments if moment is not None}
    if zones == {True}:
        instants = [moment and moment.astimezone(UTC) for moment in moments]
        return _like(values, instants, pa.timestamp("us", "UTC"))
    return _like(values, moments, pa.timestamp("us"))


def _integers(values: Texts) -> Texts | None:
    """Whole numbers without leading zeros: 02139 is a zip code."""
    return _cast(values, pa.int64()) if all_match(values, _INTEGER) else None


def _decimals(values: Texts, sign: str) -> Texts | None:
    if sign != ".":
        if pc.any(pc.match_substring(values, ".")).as_py():
            return None
        values = pc.replace_substring(values, sign, ".")
    typed = _cast(values, pa.float64()) if all_match(values, _DECIMAL) else None
    return typed if typed is not None and pc.all(pc.is_finite(typed)).as_py() else None


def _booleans(values: Texts) -> Texts | None:
    for style in _BOOLEANS:
        if pc.all(pc.is_in(values.drop_null(), pa.array(style, values.type))).as_py():
            return _cast(values, pa.bool_())
    return None


def _iso_dates(values: Texts) -> Texts:
    """ISO dates, or ISO datetimes, all with a zone or all without one; those with a zone become UTC."""
    if pc.any(pc.match_substring_regex(values, _YEAR_ZERO)).as_py():
        return values
    if all_match(values, _DATE):
        candidates = [pa.date32()]
    elif all_match(values, _TIMESTAMP):
        candidates = [pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("us", "ns")]
    else:
        return values
    typed = (_cast(values, type_) for type_ in candidates)
    return next((dates for dates in typed if dates is not None), values)


def all_match(values: Texts, pattern: str) -> bool:
    """Whether there are texts and all of them, nulls aside, fit a regular expression."""
    return len(values) > 0 and bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _cast(values: Texts, type_: pa.DataType) -> Texts | None:
    try:
        return values.cast(type_)
    except pa.ArrowInvalid:
        return None


def _like(values: Texts, found: Sequence[object], type_: pa.DataType) -> Texts:
    array = pa.array(found, type_)
    return pa.chunked_array([array]) if isinstance(values, pa.ChunkedArray) else array


MOST = 0.8  # share of distinct texts that look like numbers or dates above which the others are probably missing values
LOOKED_AT = 1_000  # distinct texts, evenly spaced, that are examined for that
MOST_DATES = 200_000  # distinct values that are all tried as dates; if there are more, as many evenly spaced ones
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
_WORDS = {"%d": "day", "%m": "month", "%b": "month", "%B": "month", "%Y": "year", "%y": "year"}
_WORDS |= {"%H": "hour", "%M": "minute", "%S": "second"}
_EXAMPLE = datetime(1980, 12, 31, 13, 45, 59)


def date_formats(values: pa.Array) -> list[str]:
    """All usual formats of dates that fit every value of a column, as text."""
    few = values.slice(0, 50).cast(pa.large_string())
    first = (few[0].as_py() or "") if len(few) else ""
    likely = [  # one value rules out nearly all forms, which matters in tables of many columns
        form for form, regex in _FORMS.items() if re.search(regex, first) and all_match(few, regex)
    ]
    if not likely:
        return []
    tried = values.take(pa.array(even_places(len(values), MOST_DATES))).cast(pa.large_string())
    return [
        form
        for form in likely
        if all_match(tried, _FORMS[form]) and pa.types.is_temporal(_read(tried, form).type)
    ]


def even_places(number: int, most: int) -> npt.NDArray[np.int64]:
    """At most so many of the places from 0 to below a number, evenly taken."""
    return np.unique(np.linspace(0, number - 1, min(number, most)).astype(np.int64))


def found_dates(name: str, values: pa.Array) -> tuple[str, pa.Array] | None:
    """The one format in which all texts of a column are dates, and the dates; None if there is none.

    Raises `InputError` if several formats fit and give different dates, or years have two digits: shoal does not
    guess then.
    """
    dates = {form: _read(values, form) for form in date_formats(values)}
    dates = {form: read for form, read in dates.items() if pa.types.is_temporal(read.type)}
    if not dates:
        return None
    first = next(iter(dates))
    others = [form for form, read in dates.items() if not read.equals(dates[first])]
    if others or "%y" in first:
        raise InputError(_question(name[:LONGEST], [first, *others[:1]]))
    return first, dates[first]


GROUPED = "numbers with thousands separators"
_GROUPED = r"^-?[1-9][0-9]{0,2}([.,' ][0-9]{3})+([.,][0-9]+)?$"
_SMALL = r"^-?[0-9]{1,3}$"


def mostly_looks_like(values: pa.Array) -> str | None:
    """What most texts of a column look like, "numbers" or "dates", though not all of them are; None for neither.

    `GROUPED` if all are numbers, some of them with thousands separators.
    """
    texts = values.take(pa.array(even_places(len(values), LOOKED_AT)))
    is_grouped = pc.any(pc.match_substring_regex(texts, _GROUPED)).as_py()
    if is_grouped and all_match(texts, f"{_GROUPED}|{_SMALL}"):
        return GROUPED
    for regexes, what in (([_NUMBER], "numbers"), ([_ISO, *_FORMS.values()], "dates")):
        for regex in regexes:
            fitting = pc.sum(pc.match_substring_regex(texts, regex)).as_py() or 0
            if MOST <= fitting / len(texts) < 1:
                return what
    return None


def date_format_in_words(date_format: str) -> str:
    """A format of dates in words, with an example: day.month.year, like 31.12.1980."""
    words = date_format
    for directive, word in _WORDS.items():
        words = words.replace(directive, word)
    return f"{words}, like {_EXAMPLE.strftime(date_format)}"


def _question(name: str, forms: list[str]) -> str:
    text = f"or read them as text with --type '{name}:text' (types)"
    if len(forms) == 1:
        return (
            f"Column '{name}' contains dates with two-digit years, which could be in two centuries. Confirm with "
            f"--date-format '{forms[0]}' (date_format), {text}."
        )
    return (
        f"Column '{name}' contains dates that fit both {forms[0]} (day first) and {forms[1]} (month first). "
        f"Choose one with --date-format '{forms[0]}' or --date-format '{forms[1]}' (date_format), {text}."
    )


def _read(texts: pa.Array, date_format: str) -> pa.Array:
    return infer(texts, Input(date_format=date_format))


@dataclass(frozen=True)
class TypedColumn:
    """A column as detected: its distinct values in ascending order, and each record's place, −1 for null."""

    values: pa.Array
    labels: tuple[str, ...]
    place: Ints
    typed: pa.Array | None = None  # the values as numbers or dates, where texts can be read so
    # Of the values and perhaps more, where the column has an order of its own.
    order: tuple[str, ...] | None = None
    date_format: str | None = None  # of texts that are dates, if it was detected and not given

    @property
    def has_null(self) -> bool:
        return bool((self.place < 0).any())

    def in_order(self) -> TypedColumn:
        """The column with numbers or dates instead of texts; texts of one number become one."""
        assert self.typed is not None
        distinct = pc.unique(self.typed)
        values = distinct.take(pc.array_sort_indices(distinct))
        rank = np.asarray(pc.index_in(self.typed, value_set=values), dtype=np.int32)
        labels = labels_of(values)
        if len(values) == len(self.values):  # every number is written in one way, which is kept
            labels = tuple(np.array(self.labels, dtype=object)[np.argsort(rank)])
        place = np.append(rank, np.int32(-1))[self.place]
        return TypedColumn(values, labels, place, date_format=self.date_format)

    def as_text(self) -> TypedColumn:
        """The column with texts instead of numbers or dates."""
        values, place = _numbered(pa.chunked_array([pa.array(self.labels, pa.large_string())]))
        return TypedColumn(values, labels_of(values), np.append(place, np.int32(-1))[self.place])


def type_column(
    frame: Frame,
    name: str,
    reading: Input,
    counts: Records | None = None,
    finds_formats: bool = False,
) -> TypedColumn:
    """A column as detected, or as declared; `finds_formats` looks for dates that are not ISO dates.

    Raises `InputError` if a column does not contain what was declared, or its dates can be read in several ways.
    """
    found = _as_found(arrow_column(frame, name, counts), reading.of_column(name))
    if reading.is_text(name):
        return found.as_text()
    wanted = reading.types.get(name)
    if finds_formats and wanted != "number" and found.typed is None:
        found = _with_dates(name, found)
    if wanted is None or not len(found.values):
        return found
    kind = (found.values if found.typed is None else found.typed).type
    is_date = pa.types.is_temporal(kind)
    if is_ordered(kind) and is_date == (wanted == "date"):
        return found
    how = ", give the format of its dates (date_format, --date-format)" if wanted == "date" else ""
    raise InputError(
        f"Column '{name[:LONGEST]}' is declared as {wanted}, but not all of its values are {wanted}s. List the "
        f'texts that mean "missing" (missing, --missing){how}, or leave its type out (types, --type).'
    )


def _with_dates(name: str, found: TypedColumn) -> TypedColumn:
    """The column with dates instead of texts, if these are dates in one of the usual formats."""
    if not len(found.values) or not pa.types.is_large_string(found.values.type):
        return found
    dates = found_dates(name, found.values)
    return found if dates is None else replace(found, date_format=dates[0], typed=dates[1])


def _as_found(array: pa.ChunkedArray, reading: Input) -> TypedColumn:
    values, place = _numbered(array)
    labels = labels_of(values)
    if reading.missing:
        known = np.array([label not in reading.missing for label in labels], dtype=np.bool_)
        rank = np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)
        place = np.append(rank, np.int32(-1))[place]
        values = values.filter(pa.array(known))
        labels = tuple(label for label, stays in zip(labels, known, strict=True) if stays)
    typed = None
    if len(values) and pa.types.is_large_string(values.type):
        read = infer(values, reading)
        typed = read if is_ordered(read.type) else None
    elif len(values) and pa.types.is_integer(values.type) and reading.date_format is not None:
        read = infer(pa.array(labels, pa.large_string()), reading)  # 20241231 may be a date
        typed = read if pa.types.is_temporal(read.type) else None
    return TypedColumn(values, labels, place, typed)


def _numbered(array: pa.ChunkedArray) -> tuple[pa.Array, Ints]:
    """Distinct values in ascending order and each record's place among them, −1 for null."""
    chunks = pc.dictionary_encode(array).chunks
    if not chunks:
        return pa.array([], type=array.type), np.zeros(0, dtype=np.int32)
    known = chunks[-1].dictionary  # all chunks share one
    order = pc.array_sort_indices(known)
    rank = np.full(len(known) + 1, -1, dtype=np.int32)
    rank[np.asarray(order)] = np.arange(len(known))
    indices = [np.asarray(pc.fill_null(chunk.indices, -1)) for chunk in chunks]
    return known.take(order), rank[np.concatenate(indices)]
