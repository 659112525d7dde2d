"""How a table is written: dates in any usual form, decimal commas, and what stands for a missing value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.generalization.models import is_ordered
from shoal.suggesting.words import word_set
from shoal.table.inference import infer
from shoal.table.source import Input

Counts = npt.NDArray[np.int64]

LEAST = 10  # records that have a number before it is proposed, or shown to be, a missing code
SPIKE = 10.0  # times more records than the neighbouring values have
GAP = 0.7  # the largest other value, as a share of a code that stands apart
MOST_DATES = 200_000  # distinct values that are all tried as dates; of more, evenly so many

MARKERS = word_set("? ?? na n/a #n/a #na n.a. nan null #null! - -- --- . .. * ** k.a.") | {""}
_WORDS_FOR_MISSING = word_set(
    "unknown unbekannt inconnu desconocido sconosciuto onbekend desconhecido unk refused verweigert don't_know "
    "weiss_nicht weiß_nicht not_stated not_reported not_applicable n.z. ns/nr other/unknown tbd not_known none nil "
    "missing keine_angabe no_answer not_available k._a. sin_dato"
)  # only among numbers and dates: elsewhere they are a category
_NO_DATE = re.compile(
    r"(0000|9999)[-./]?(00|99)[-./]?(00|99)|(00|99)[-./](00|99)[-./](0000|9999)|"
    r"9999[-./]?12[-./]?31|31[-./]12[-./]9999|12/31/9999|[-./ ]+"
)
_MAY_BE_NO_DATE = r"^(0000|9999|[09]{2}[-./][09]{2}[-./]|31[-./]12[-./]9999|12/31/9999|[-./ ]+$)"
_CODES = (
    9,
    8,
    7,
    99,
    98,
    97,
    96,
    95,
    94,
    88,
    77,
    999,
    998,
    997,
    996,
    888,
    777,
    9999,
    9998,
    9997,
    8888,
    7777,
)
_FAMILY = frozenset(
    (*_CODES, 99999, 999999, 9999999, 99999999, *(-code for code in (1, *_CODES, 99999)))
)

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
_COMMA = r"^-?([0-9]+)(,[0-9]+)?$"
_THOUSANDS = r"^-?[0-9]{1,3}([.,' ][0-9]{3})+([.,][0-9]+)?$"


@dataclass(frozen=True)
class Found:
    """A column's distinct values, in the order of appearance, with the records of each; −1 stands for null."""

    name: str
    values: pa.Array
    counts: Counts
    codes: Counts  # of every record

    @property
    def is_text(self) -> bool:
        return bool(pa.types.is_large_string(self.values.type))

    def as_text(self) -> Found:
        """The same with texts in place of numbers or dates."""
        return replace(self, values=self.values.cast(pa.large_string()))

    def without(self, missing: Sequence[str]) -> Found:
        """The same with some texts taken for missing values."""
        if not missing or not len(self.values):
            return self
        texts = self.values if self.is_text else self.values.cast(pa.large_string())
        stays = np.asarray(pc.invert(pc.is_in(texts, pa.array(list(missing), pa.large_string()))))
        if stays.all():
            return self
        rank = np.append(np.where(stays, np.cumsum(stays) - 1, -1), -1)
        return Found(
            self.name, self.values.filter(pa.array(stays)), self.counts[stays], rank[self.codes]
        )


def found_column(name: str, array: pa.ChunkedArray) -> Found:
    """Number a column's values."""
    encoded = array.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = (
            pa.concat_arrays(encoded.chunks) if encoded.num_chunks else pa.array([], array.type)
        )
    encoded = encoded.dictionary_encode()
    codes = np.asarray(encoded.indices.fill_null(-1)).astype(np.int64)
    counts = np.bincount(codes[codes >= 0], minlength=len(encoded.dictionary))
    return Found(name, encoded.dictionary, counts, codes)


def text_markers(column: Found) -> tuple[str, ...]:
    """Texts of a column that stand for a missing value: ?, NA, 99.99.9999; "unknown" among numbers and dates."""
    if not column.is_text or not len(column.values):
        return ()
    folded_values = pc.utf8_lower(pc.utf8_trim_whitespace(column.values))
    known = pa.array(sorted(MARKERS | _WORDS_FOR_MISSING), pa.large_string())
    may_be = pc.or_(
        pc.is_in(folded_values, known), pc.match_substring_regex(column.values, _MAY_BE_NO_DATE)
    )
    short = column.values.filter(may_be).to_pylist()
    folded = {text: text.strip().lower() for text in short}
    found = [text for text, plain in folded.items() if plain in MARKERS]
    if any(folded[text] == "na" for text in found) and _are_letters(column, 2):
        found = [text for text in found if folded[text] != "na"]  # Namibia among countries
    found += [text for text in short if _NO_DATE.fullmatch(text) and text not in found]
    words = [text for text in short if folded[text] in _WORDS_FOR_MISSING and text not in found]
    if words and _is_read(column.without([*found, *words])):
        found += words
    return tuple(sorted(found)) if len(found) < len(column.values) else ()


def _are_letters(column: Found, length: int) -> bool:
    """Whether most texts are so many letters."""
    fits = pc.match_substring_regex(column.values, rf"^[A-Z]{{{length}}}$")
    return bool(pc.mean(fits.cast(pa.int8())).as_py() > 0.8) and len(column.values) > 3


def _is_read(column: Found) -> bool:
    """Whether texts can be read as numbers or dates in any form."""
    if not len(column.values):
        return False
    return bool(
        is_ordered(type_of(column.values, Input()))
        or _all(column.values, _COMMA)
        or date_formats(column.values)
    )


def number_codes(values: pa.Array, counts: Counts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Whole numbers that probably stand for a missing value: those that stand apart, and mere spikes.

    99 among 1 to 5 stands apart; 99 among ages is a spike if many more records have it than have 98. At least ten
    records have such a number.
    """
    numbers = np.asarray(values.cast(pa.int64(), safe=False))
    order = np.argsort(numbers)
    numbers, counts = numbers[order], counts[order]
    candidates = [
        place
        for place, number in enumerate(numbers.tolist())
        if number in _FAMILY and counts[place] >= LEAST
    ]
    plain = np.setdiff1d(np.arange(numbers.size), candidates)
    if plain.size < 2 and not (plain.size and len(candidates)):
        return (), ()
    apart, spikes = [], []
    low, high = int(numbers[plain].min()), int(numbers[plain].max())
    for place in candidates:
        number = int(numbers[place])
        neighbours = np.delete(counts[max(0, place - 5) : place + 6], min(place, 5))
        if number < 0 <= low or (number - high > 1 and high <= GAP * number):
            apart.append(str(number))
            continue
        usual = max(1.0, float(np.median(neighbours)))
        if number == numbers[-1] and counts[place] >= SPIKE * usual:
            spikes.append(str(number))
        high = max(high, number)  # one that does not stand apart is an ordinary value
    return tuple(apart), tuple(spikes)


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
        if _all(tried, _FORMS[form])
        and pa.types.is_temporal(infer(tried, Input(date_format=form)).type)
    ]


def is_decimal_comma(values: pa.Array) -> bool:
    """Whether all texts are numbers and some have a decimal comma; 1,234 is rather a thousand."""
    if not _all(values, _COMMA):
        return False
    fractions = values.filter(pc.match_substring(values, ","))
    return len(fractions) > 0 and not _all(fractions, r",[0-9]{3}$")


def has_thousands(values: pa.Array) -> bool:
    """Whether all texts are numbers, some of them with separators of thousands."""
    plain = r"^-?[0-9]+([.,][0-9]+)?$"
    some = pc.any(pc.match_substring_regex(values, _THOUSANDS)).as_py()
    return bool(some) and _all(values, f"{_THOUSANDS}|{plain}")


def type_of(values: pa.Array, input: Input) -> pa.DataType:
    """The type of values, of texts the one they can be read as."""
    is_text = pa.types.is_large_string(values.type)
    return infer(values, input).type if is_text and len(values) else values.type


def _all(values: pa.Array, regex: str) -> bool:
    return len(values) > 0 and bool(pc.all(pc.match_substring_regex(values, regex)).as_py())


@dataclass(frozen=True)
class Writing:
    """How a table's file is written, as far as its values tell, with what is unsure about it."""

    input: Input
    formats: dict[str, list[str]]  # the forms of each column of dates that are no ISO dates
    remarks: tuple[str, ...]


def writing_of(columns: Sequence[Found], input: Input, is_text: bool) -> Writing:
    """Find out decimal sign and date format of a file from its columns, without their missing values.

    What `input` says already is left as it is.
    """
    formats = {}
    for column in columns:
        if column.is_text or (is_text and pa.types.is_integer(column.values.type)):
            found = date_formats(column.values)
            if found:
                formats[column.name] = found
    remarks: list[str] = []
    if not is_text:
        return Writing(input, formats, ())
    with_comma = [c.name for c in columns if c.is_text and is_decimal_comma(c.values)]
    with_point = [c.name for c in columns if pa.types.is_floating(type_of(c.values, Input()))]
    if input.decimal == "." and len(with_comma) > len(with_point):
        input = replace(input, decimal=",")
        remarks.append(f"Numbers have decimal commas ({_columns(with_comma)}).")
    if input.date_format is None and formats:
        votes = Counter(form for found in formats.values() for form in found)
        most = max(votes.values())
        best = next(form for form in votes if votes[form] == most)  # days come before months
        input = replace(input, date_format=best)
        remarks.append(f"Dates are written like {best}.")
        others = [form for form in votes if votes[form] == most and form != best]
        swapped = [form for form in others if form.replace("%m", "%d") == best.replace("%m", "%d")]
        if swapped:
            remarks.append(f"UNSURE: no day tells {best} from {swapped[0]}; check it.")
    return Writing(input, formats, tuple(remarks))


def _columns(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")
