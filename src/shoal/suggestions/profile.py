"""What a column contains: its kind, how often values repeat, their shape, and the codes for missing values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.models.base import is_ordered
from shoal.encoding.source import Input
from shoal.encoding.type_inference import all_match, even_places, infer
from shoal.suggestions import words
from shoal.suggestions.reading import (
    Counts,
    NumberedColumn,
    has_thousands,
    is_decimal_comma,
    number_codes,
    rank_of,
    share_of,
    value_type,
)

LONGEST = 24  # characters of a shape that is shown
MOST = 2  # shapes of a column


def _steps(upper: str, lower: str, letters: str, digits: str) -> tuple[tuple[str, str], ...]:
    """Patterns and what replaces them: unusual characters become the same one, and runs of letters have one length."""
    return (
        (rf"[^{letters}{digits} .,;:/()<>=+*?_%&#@'\-]+", "·"),
        (rf"{upper}{lower}+", "Aaaa"),
        (rf"{upper}{{2,}}", "AAA"),
        (upper, "A"),
        (rf"{lower}{{2,}}", "aaa"),
        (lower, "a"),
        (r"[^\x00-\x7f·]", "a"),
        (rf"[{digits}]", "9"),
        (r"9{13,}", "99999999999…"),
        (r"((?:Aaaa|aaa)[ \-])((?:Aaaa|aaa)[ \-]){2,}", r"\1… "),
    )


_STEPS = _steps(r"\p{Lu}", r"\p{Ll}", r"\p{L}", r"\p{N}")
_PLAIN_STEPS = _steps("[A-Z]", "[a-z]", "A-Za-z", "0-9")  # the same in ASCII, compiled sooner


def shapes_of(texts: pa.Array, counts: npt.NDArray[np.int64], least: int) -> tuple[str, ...]:
    """The most frequent shapes of texts that enough records share, most frequent first.

    Examples
    --------
    >>> shapes_of(pa.array(["02139", "10001", "unknown"]), np.array([9, 5, 2]), 10)
    ('99999',)
    """
    if not len(texts):
        return ()
    shapes = texts.cast(pa.large_string())
    is_plain = pc.all(pc.string_is_ascii(shapes)).as_py()
    for regex, sketch in _PLAIN_STEPS if is_plain else _STEPS:
        shapes = pc.replace_substring_regex(shapes, regex, sketch)
    shapes = pc.utf8_slice_codeunits(shapes, 0, LONGEST)
    found = shapes.dictionary_encode()
    records = np.bincount(np.asarray(found.indices), weights=counts, minlength=1)
    frequent = [
        (-int(records[place]), shape)
        for place, shape in enumerate(found.dictionary.to_pylist())
        if records[place] >= least
    ]
    return tuple(shape for _, shape in sorted(frequent)[:MOST])


LOOK = 10_000  # distinct values, evenly taken, that patterns and shapes are looked for in
FEW_CODES = 12  # distinct whole numbers up to which they are probably codes, not quantities
_CODE_LIKE = r"^[A-Za-z]{0,3}[0-9]+([.\-/]?[0-9A-Za-z]+)?$"
# With a space: LS12 2BL, 1012 AB.
_POSTCODE = r"^[A-Za-z]{0,2}[0-9][0-9A-Za-z]{0,3}[ \-][0-9A-Za-z]{2,4}$"

FLAG, CODE, NUMBER, DATE, BANDS, CATEGORY = "flag", "code", "number", "date", "bands", "category"
POINT = "point"
_COORDINATES = r"^[+-]?[0-9]{1,2}\.[0-9]+[,;] ?[+-]?[0-9]{1,3}\.[0-9]+$"
PLAIN = {
    FLAG: "two values",
    CODE: "codes",
    NUMBER: "numbers",
    DATE: "dates",
    BANDS: "ordered categories",
    CATEGORY: "categories",
    POINT: "places as latitude and longitude",
}  # what a reason calls a kind


@dataclass(frozen=True)
class Profile:
    """A column as suggestions see it."""

    name: str
    words: str
    found: NumberedColumn  # without missing values
    kind: str
    missing: tuple[str, ...] = ()  # texts that mean "missing"
    maybe_missing: tuple[str, ...] = ()  # texts that may mean "missing"
    doubts: tuple[str, ...] = ()  # about how it is read
    typed: pa.DataType = field(default_factory=pa.large_string)
    ends: tuple[int, int] | None = None  # the least and the greatest of whole numbers

    @property
    def records(self) -> int:
        return int(self.found.codes.size)

    @property
    def known(self) -> int:
        return int(self.found.counts.sum())

    @property
    def distinct(self) -> int:
        return len(self.found.values)

    @cached_property
    def alone(self) -> int:
        """Records whose value no other record has."""
        return int(np.count_nonzero(self.found.counts == 1))

    @cached_property
    def rarest(self) -> int:
        """Records of the least frequent value."""
        return int(self.found.counts.min(initial=self.records))

    @cached_property
    def looked_at(self) -> Counts:
        """The places of the distinct values that are looked at."""
        return even_places(self.distinct, LOOK)

    @cached_property
    def texts(self) -> pa.Array:
        """The values that are looked at, as text."""
        return self.found.values.take(pa.array(self.looked_at)).cast(pa.large_string())

    def shapes(self, least: int) -> tuple[str, ...]:
        """Shapes of values that at least so many records share."""
        return shapes_of(self.texts, self.found.counts[self.looked_at], least)

    @property
    def is_text(self) -> bool:
        return self.found.is_text

    @property
    def is_whole(self) -> bool:
        """Whether values are whole numbers."""
        return bool(pa.types.is_integer(self.typed))


def profile_of(
    found: NumberedColumn,
    name: str,
    markers: tuple[str, ...],
    input: Input,
    doubt: str | None = None,
    is_delimited: bool = False,
) -> Profile:
    """Find out what a column contains.

    `name` is its name in words, `input` how the table is written, `doubt` what is unsure about the format of its dates,
    and `is_delimited` says that the table comes from a CSV file.
    """
    column = found.without(markers)
    values = column.values
    said = input.of_column(found.name)
    is_said = input.is_text(found.name)
    typed = values.type if is_said else value_type(values, said)
    if is_delimited and input.decimal == "," and pa.types.is_floating(values.type):
        typed = pa.large_string()  # how the file is read next time
    doubts = [] if is_said else _doubts(column, typed)
    doubts += [doubt] if doubt and not is_said else []
    apart: tuple[str, ...] = ()
    spikes: tuple[str, ...] = ()
    whole = _whole(values, typed, said)
    if whole is not None:
        found_codes = number_codes(whole, column.counts)
        apart, spikes = (_as_written(codes, whole, values) for codes in found_codes)
        column = column.without(apart)
        whole = _whole(column.values, typed, said)
        typed = pa.int64()
    is_joined = found.name in input.points and len(column.values) > 0
    is_point = column.is_text and (is_joined or all_match(column.values, _COORDINATES))
    kind = POINT if is_point else _kind(column, typed, name)
    kind = NUMBER if doubts and kind == CATEGORY else kind
    return Profile(
        name=found.name,
        words=name,
        found=column,
        kind=kind,
        missing=(*markers, *apart),
        maybe_missing=spikes,
        doubts=tuple(doubts),
        typed=typed,
        ends=None if whole is None else tuple(pc.min_max(whole).as_py().values()),
    )


def _doubts(column: NumberedColumn, typed: pa.DataType) -> list[str]:
    """Why numbers cannot be read as such."""
    if is_ordered(typed):
        return []
    has_points = column.is_text and all_match(column.values, r"^[-+−]?[0-9]*\.[0-9]+$")
    if has_points or pa.types.is_floating(column.values.type):
        return ["numbers with decimal points, while others have commas: use one of them everywhere"]
    if column.is_text and has_thousands(column.values):
        return ["numbers with thousands separators: remove these to use intervals"]
    if column.is_text and is_decimal_comma(column.values):
        return ["numbers with decimal commas as text: convert them to use intervals"]
    return []


def _as_written(codes: tuple[str, ...], whole: pa.Array, values: pa.Array) -> tuple[str, ...]:
    """Whole numbers as the table's texts write them: 99.0 for 99."""
    if not codes or not pa.types.is_large_string(values.type):
        return codes
    is_code = pc.is_in(whole.cast(pa.string()), pa.array(codes, pa.string()))
    return tuple(values.filter(is_code).to_pylist())


def _whole(values: pa.Array, typed: pa.DataType, input: Input) -> pa.Array | None:
    """Values as whole numbers, where all are, also if they are written as 1.0."""
    if not len(values) or pa.types.is_temporal(typed):
        return None
    if pa.types.is_large_string(values.type) and pa.types.is_floating(typed):
        values = infer(values, input)
    if pa.types.is_integer(typed):
        return values.cast(pa.int64(), safe=False)
    if pa.types.is_floating(values.type) and pc.all(pc.equal(pc.floor(values), values)).as_py():
        largest = pc.max(pc.abs(values)).as_py()
        return values.cast(pa.int64()) if largest < 2**53 else None
    return None


def _kind(column: NumberedColumn, typed: pa.DataType, name: str) -> str:
    values, distinct = column.values, len(column.values)
    if pa.types.is_temporal(typed):
        return DATE
    means_quantity = bool(words.QUANTITY.search(name))
    if pa.types.is_boolean(typed) or (distinct == 2 and not means_quantity):
        return FLAG
    if pa.types.is_integer(typed):
        is_place = words.PLACE.found_in(name) and not words.COORDINATE.search(name)
        is_code = (is_place or bool(words.CODE.search(name))) and not means_quantity
        return CODE if is_code or (distinct <= FEW_CODES and not means_quantity) else NUMBER
    if is_ordered(typed):
        return NUMBER
    if pa.types.is_large_string(values.type) and rank_of(values) is not None:
        return BANDS
    looked = values.slice(0, LOOK).cast(pa.large_string())
    if len(looked) and share_of(looked, _CODE_LIKE) >= 0.9:
        return CODE
    if len(looked) and words.PLACE.found_in(name) and share_of(looked, _POSTCODE) >= 0.9:
        return CODE
    return CATEGORY


def is_row_number(profile: Profile) -> bool:
    """Whether whole numbers count the records: nearly every number of their range occurs once."""
    if profile.ends is None or profile.distinct < 2 or profile.alone < 0.99 * profile.known:
        return False
    return profile.ends[1] - profile.ends[0] < 1.5 * profile.distinct


def are_years(profile: Profile) -> bool:
    """Whether whole numbers are years of the last and the coming century."""
    return profile.ends is not None and profile.ends[0] >= 1850 and profile.ends[1] <= 2100


def digits_are_alike(profile: Profile) -> bool:
    """Whether all values have the same number of digits, at least four, like assigned numbers."""
    lengths = {len(text) for text in profile.texts.slice(0, 1000).to_pylist()}
    fits = pc.all(pc.match_substring_regex(profile.texts, r"^[0-9]{4,}$")).as_py()
    return bool(fits) and len(lengths) == 1
