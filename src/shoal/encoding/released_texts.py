"""What the texts of a released column mean without their table, and ranges as single numbers or dates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import islice
from math import inf
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.forms import STAR, Floats, Form, Ints, RangeForm
from shoal.encoding.forms.sets import set_members
from shoal.encoding.models.base import is_ordered, labels_of
from shoal.encoding.models.hierarchy import Hierarchy
from shoal.encoding.models.hierarchy_preview import node_levels
from shoal.encoding.models.order import BETWEEN, OrderForm
from shoal.encoding.models.periods import days_of_label
from shoal.encoding.source import Input
from shoal.encoding.type_inference import infer

_DASHES = (" – ", "–")
_ONE_END = {"≥ ": 0, ">= ": 0, "> ": 0, "≤ ": 1, "<= ": 1, "< ": 1}  # which end the text names

Ends = tuple[str | None, str | None]


class ReleasedColumn(NamedTuple):
    """A released column: its distinct values, unchanged and as texts, and each record's place among them."""

    values: pa.Array
    texts: tuple[str, ...]
    place: pa.Array  # null for a missing value

    def spread(self, per_text: pa.Array) -> pa.Array:
        """What belongs to each text, for each record."""
        return per_text.take(self.place)

    @property
    def hidden(self) -> pa.Array:
        """Whether each record has `*`."""
        stars = pa.array([text == STAR for text in self.texts], pa.bool_())
        return pc.fill_null(self.spread(stars), False)


def released_column(column: pa.ChunkedArray) -> ReleasedColumn:
    """The distinct values of a column of a release."""
    values = pc.unique(column.drop_null())
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    place = pc.index_in(column, value_set=values)
    return ReleasedColumn(values, labels_of(values), pa.chunked_array(place).combine_chunks())


def range_ends(text: str) -> Ends:
    """The two ends of a range of numbers or dates, None for an open one; for a single value, that value twice.

    Examples
    --------
    >>> range_ends("[20, 29]"), range_ends("20–29"), range_ends("≥ 90"), range_ends("31")
    (('20', '29'), ('20', '29'), ('90', None), ('31', '31'))
    """
    for sign, place in _ONE_END.items():
        if text.startswith(sign):
            end = text.removeprefix(sign)
            return (None, end) if place else (end, None)
    if text[:1] in ("[", "(") and text[-1:] in ("]", ")") and ", " in text:
        low, _, high = text[1:-1].partition(", ")
        return low, high
    for dash in _DASHES:
        parts = text.split(dash)  # a date's own format may contain dashes: the middle one counts
        half, odd = divmod(len(parts), 2)
        if not odd:
            return dash.join(parts[:half]).lstrip(">"), dash.join(parts[half:]).lstrip("<")
    return text, text


def run_ends(text: str) -> Ends:
    """The two ends of a run of categories; of a single one, that one twice."""
    low, between, high = text.partition(BETWEEN)
    return (low, high) if between else (text, text)


def read_bounds(
    released: ReleasedColumn, ends_of: Callable[[str], Ends], input: Input | None
) -> tuple[pa.Array, pa.Array] | None:
    """The bounds of each record, null where there are none.

    With `input` they are numbers or dates, None where they are neither; without it they stay texts.
    """
    if input is not None and is_ordered(released.values.type):
        own = released.spread(released.values)
        return own, own
    pairs = [(None, None) if text == STAR else ends_of(text) for text in released.texts]
    low, high = ([pair[side] for pair in pairs] for side in (0, 1))
    ends = pa.array([*low, *high], pa.large_string())
    if input is not None:
        typed = infer(ends, input)
        if not is_ordered(typed.type) and typed.null_count < len(typed):
            return None
        ends = typed
    lows, highs = ends.slice(0, len(low)), ends.slice(len(low))
    return released.spread(lows), released.spread(highs)


def period_days(text: str) -> tuple[date | None, date | None] | None:
    """The first and the last day of a period of the calendar, None for an end that is open; None if it is no period.

    Examples
    --------
    >>> period_days("1984-Q1"), period_days("≥ 2020")
    ((datetime.date(1984, 1, 1), datetime.date(1984, 3, 31)), (datetime.date(2020, 1, 1), None))
    """
    if (span := days_of_label(text)) is not None:
        return span
    low, high = range_ends(text)
    first, last = (None if end is None else days_of_label(end) for end in (low, high))
    if (low is None) == (first is None) and (high is None) == (last is None):
        return first and first[0], last and last[1]
    return None


def order_of_ranges(texts: Sequence[str], decimal: str) -> list[int] | None:
    """The places of texts in ascending order of their ranges or periods; None if a text is neither.

    Examples
    --------
    >>> order_of_ranges(["1000–1999", "≥ 2000", "0–999"], "."), order_of_ranges(["2020-03", "none"], ".")
    ([2, 0, 1], None)
    """
    spans = [period_days(text) for text in texts]
    keys: list[tuple[Any, Any]] = [
        (span[0] or date.min, span[1] or date.max) for span in spans if span is not None
    ]
    if len(keys) < len(texts):
        ends = [range_ends(text) for text in texts]
        try:
            keys = [
                (_number(low, decimal, -inf), _number(high, decimal, inf)) for low, high in ends
            ]
        except InvalidOperation:
            return None
    return sorted(range(len(texts)), key=keys.__getitem__)


def _number(end: str | None, decimal: str, otherwise: float) -> Decimal | float:
    return otherwise if end is None else Decimal(end.replace(decimal, "."))


def read_periods(released: ReleasedColumn) -> tuple[pa.Array, pa.Array] | None:
    """The first and the last day of each record's period, null for none; None if a text is not a period."""
    spans = [(None, None) if text == STAR else period_days(text) for text in released.texts]
    if any(span is None for span in spans):
        return None
    known = [span for span in spans if span is not None]
    low, high = (pa.array([span[side] for span in known], pa.date32()) for side in (0, 1))
    return released.spread(low), released.spread(high)


def read_sets(released: ReleasedColumn, input: Input | None) -> pa.Array:
    """The values that each record may have, as a list; null for any value, or if none is known.

    Without `input` they stay texts.
    """
    sets: list[Sequence[str] | None] = [
        None if text == STAR else set_members(text) or [text] for text in released.texts
    ]
    flat = pa.array([member for own in sets for member in own or ()], pa.large_string())
    typed = infer(flat, input) if len(flat) and input is not None else flat
    members = iter(typed.to_pylist())
    values = [None if own is None else list(islice(members, len(own))) for own in sets]
    return released.spread(pa.array(values, pa.list_(typed.type)))


def read_levels(released: ReleasedColumn, tree: Hierarchy) -> tuple[pa.Array, int]:
    """The level of each record's label in a tree, null where it is missing, and how many labels are not in it."""
    heights = node_levels(tree)
    nodes: dict[str, int] = {**tree.aliases, STAR: len(heights) - 1}
    nodes.update({label: node for node, label in enumerate((*tree.leaves, *tree.inner))})
    found = [nodes.get(text) for text in released.texts]
    levels = pa.array([None if node is None else heights[node] for node in found], pa.int16())
    return released.spread(levels), sum(node is None for node in found)


def read_values(released: ReleasedColumn, input: Input | None) -> pa.Array:
    """The value of each record in the type that fits all, or without `input` as text; null where it is `*`."""
    values: Any = released.values
    if input is None:
        texts = [None if text == STAR else text for text in released.texts]
        return released.spread(pa.array(texts, pa.large_string()))
    if pa.types.is_large_string(values.type) or pa.types.is_string(values.type):
        stars = pc.equal(values, STAR)
        values = pc.if_else(stars, pa.scalar(None, values.type), values)
        values = infer(values, input)
    return released.spread(values)


# The least average number of possible values in a part of a range. For Adult's ages and k = 10, an attacker who knows
# all others of a group is certain of the last because of the mean in 8.0 % of records with 1, in 0.3 % with 4.
VALUES_PER_PART = 4


def has_numbers(form: Form) -> TypeGuard[RangeForm]:
    """Whether closures are ranges of numbers."""
    return has_middle(form) and not pa.types.is_temporal(form.values.type)


def has_middle(form: Form) -> TypeGuard[RangeForm]:
    """Whether closures are ranges of numbers or dates."""
    return isinstance(form, RangeForm) and not isinstance(form, OrderForm)


def middles(low: pa.Array, high: pa.Array) -> pa.Array:
    """The middle between two bounds: a float between numbers, the earlier date between dates."""
    kind = low.type
    if not pa.types.is_temporal(kind):
        start, stop = _floats(low), _floats(high)
        return _masked(start / 2 + stop / 2, low, high)
    whole = pa.int32() if kind.bit_width == 32 else pa.int64()
    start, stop = (np.asarray(pc.fill_null(end.cast(whole), 0)) for end in (low, high))
    return _masked(start // 2 + stop // 2 + (start % 2 + stop % 2) // 2, low, high).cast(kind)


def rounded_means(
    form: RangeForm, closures: Ints, codes: Ints, groups: Ints, declared: bool = False
) -> pa.Array:
    """The mean of each group's own numbers, rounded to the middle of one of a few equal parts of its closure.

    A group of n records has ⌊√n⌋ parts. If one of its n values were any other of the closure, the mean would move by at
    most 1/n of the closure, which is less than a part: so it is in one of two parts, whatever that value is. There
    are fewer parts if few values are possible in the closure, so that excluding a part does not reveal a value.
    Which values occur does not matter: otherwise, the number of parts would reveal more than the mean does.

    `closures` are of groups, `codes` and `groups` of records; `declared` says that the values of the form are a
    declared domain, and not those that occur.
    """
    low, high = form.bounds(closures)
    start, stop = _floats(low), _floats(high)
    numbers = _floats(form.values if form.uppers is None else middles(form.values, form.uppers))
    numbers = np.append(numbers, 0.0)  # of null, which no mean is asked for
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        width = stop - start
        share = (numbers[codes] - start[groups]) / width[groups]
    share = np.where(np.isfinite(share), np.clip(share, 0.0, 1.0), 0.5)  # all equal, or too wide
    sizes = np.bincount(groups, minlength=start.size)
    mean = np.bincount(groups, weights=share, minlength=start.size) / np.maximum(sizes, 1)
    parts = part_counts(sizes, _possible(form, closures, declared))
    part = np.floor(mean * parts + 1e-9)  # the order of a sum must not decide
    part = np.minimum(part, parts - 1)
    return _masked(_shown(start, stop, width, (part + 0.5) / parts, width / parts), low, high)


def _possible(form: RangeForm, closures: Ints, declared: bool) -> npt.NDArray[Any]:
    """How many values are possible in each closure: those of a declared domain, else steps of the model, else of 1."""
    if declared:
        return closures[1] - closures[0] + 1
    low, high = form.positions[np.minimum(closures, form.positions.size - 1)]
    with np.errstate(over="ignore"):
        return np.floor(high - low) + 1


def part_counts(
    sizes: npt.NDArray[np.integer[Any]], values: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """Into how many parts the closure of a group is cut, by its records and the values possible in the closure."""
    parts = np.minimum(np.floor(np.sqrt(sizes)), values // VALUES_PER_PART)
    return np.maximum(1, parts).astype(np.int64)


def _shown(start: Floats, stop: Floats, width: Floats, share: Floats, part: Floats) -> Floats:
    """A place in each range, written with only as many digits as distinguish its parts."""
    middle = start / 2 + stop / 2
    plain = np.isfinite(width) & (width > 0) & (share != 0.5)
    digits = np.where(plain, 2 - np.floor(np.log10(np.where(plain, part, 1.0))), 0)
    places = [
        round(float(low + at * wide), int(many)) if is_plain else float(mid)
        for low, at, wide, many, is_plain, mid in zip(
            start, share, np.where(plain, width, 0.0), digits, plain, middle, strict=True
        )
    ]
    return np.clip(np.array(places, dtype=np.float64), start, stop)


def _floats(values: pa.Array) -> Floats:
    """The nearest float of each number, 0 for null; Arrow's own cast of decimals is less exact."""
    if pa.types.is_decimal(values.type):
        return np.array([float(value or 0) for value in values.to_pylist()], dtype=np.float64)
    return np.asarray(pc.fill_null(values.cast(pa.float64(), safe=False), 0.0), dtype=np.float64)


def _masked(values: npt.NDArray[Any], low: pa.Array, high: pa.Array) -> pa.Array:
    """Numbers as Arrow, null where a bound is."""
    return pa.array(values, mask=np.asarray(pc.or_(pc.is_null(low), pc.is_null(high))))
