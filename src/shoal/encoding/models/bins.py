"""Values folded before records are grouped: numbers onto the bins of a grid, dates onto periods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, inf, isinf, nextafter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.encoding.forms import Floats, Ints, RangeForm
from shoal.encoding.forms.base import AT_LEAST, AT_MOST, join_range
from shoal.encoding.models.ends import (
    EPOCH,
    Key,
    decimal_text,
    end_keys,
    fraction_of,
    keys_of,
    local_days,
    moments,
    per_day,
    ticks_of,
)
from shoal.encoding.models.periods import Period, period_of
from shoal.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


class _Bin(NamedTuple):
    """The text of a bin, alone and at the ends of ranges, its place, and its lower and upper bound."""

    label: str
    low: str
    high: str
    position: int
    value: Any
    upper: Any


def fold_dates(
    column: str, values: pa.Array, unit: str, low: Any, high: Any, has_null: bool
) -> tuple[RangeForm, Ints]:
    """The form of dates folded onto days, weeks, months, quarters, years or decades, and the code of each."""
    kind, ticks = values.type, per_day(values.type)
    lowest, highest = end_periods(column, kind, unit, low, high)
    periods = folded_periods(values, unit, lowest, highest)
    found = {}
    for period in sorted(set(periods)):
        label, (begins, finishes) = label_of_end(period, lowest, highest), period.ends
        first, last = (ticks_of(day, kind) for day in (period.first, period.last))
        found[period] = _Bin(label, begins, finishes, period.number, first, last + ticks - 1)
    return _form(found, periods, lambda bounds: moments(bounds, kind), lowest, highest, has_null)


def folded_periods(
    values: pa.Array,
    unit: str,
    lowest: Period | None,
    highest: Period | None,
    by_weeks: bool = False,
) -> list[Period]:
    """The period of each date, or the end beyond which it lies."""
    days = local_days(values)
    period_at = {}
    for day in set(days):
        period = period_of(unit, day, by_weeks)
        period = period if lowest is None else max(period, lowest)
        period_at[day] = period if highest is None else min(period, highest)
    return [period_at[day] for day in days]


def label_of_end(period: Period, lowest: Period | None, highest: Period | None) -> str:
    """The text of a folded period."""
    begins, finishes = period.ends
    if period == lowest:
        return f"{AT_MOST}{finishes}"
    return f"{AT_LEAST}{begins}" if period == highest else period.label


def end_periods(
    column: str, kind: pa.DataType, unit: str, low: Any, high: Any, by_weeks: bool = False
) -> tuple[Period | None, Period | None]:
    """The lowest and the highest period of folded dates, which must be whole ones."""
    found: list[Period | None] = []
    first, last = end_keys(column, kind, low, high, by_weeks)
    for name, key in (("low", first), ("high", last)):
        if key is None:
            found.append(None)
            continue
        day, rest = divmod(int(key) + (name == "low"), per_day(kind))
        ordinal = EPOCH + day  # of the first day above `low`, or of `high`
        inside, outside = ordinal - (name == "low"), ordinal - (name == "high")
        period = period_of(unit, date.fromordinal(inside), by_weeks)
        if rest or period == period_of(unit, date.fromordinal(outside), by_weeks):
            which = "last" if name == "low" else "first"
            raise InputError(
                f"'{name}' of column '{column}' must be the {which} day of a {unit}, because its values are "
                f"folded to {unit}s. Change '{name}'."
            )
        found.append(period)
    return found[0], found[1]


def fold_numbers(
    column: str, values: pa.Array, step: Any, start: Any, low: Any, high: Any, has_null: bool
) -> tuple[RangeForm, Ints]:
    """The form of numbers folded onto the bins of a grid, and the code of each.

    Bins reach from one multiple of a step, counted from `start`, to below the next.
    """
    import pyarrow as pa

    first, last = end_keys(column, values.type, low, high)
    grid = _Grid(fraction_of(step), fraction_of(start), first, last, _are_whole(values))
    if pa.types.is_float64(values.type):
        places = grid.places(np.asarray(values))
    else:
        places = [grid.place(key) for key in keys_of(values)]
    distinct = sorted(set(places))
    found = {}
    for place in distinct:
        if place == grid.LOW:
            after = [place.number - 1 for place in distinct if place.side == 0]
            found[place] = _end(AT_MOST, grid.low, min([grid.number(grid.low), *after]))
        elif place == grid.HIGH:
            before = [one.position + 1 for one in found.values()]
            found[place] = _end(AT_LEAST, grid.high, max([grid.number(grid.high), *before]))
        else:
            found[place] = grid.bin(place.number)

    def arrow(bounds: Sequence[Fraction]) -> pa.Array:
        return _numbers(bounds, values.type, grid.is_whole)

    return _form(found, places, arrow, grid.LOW, grid.HIGH, has_null)


def _end(sign: str, end: Fraction, position: int) -> _Bin:
    """The bin of all values beyond an end."""
    text = decimal_text(end)
    return _Bin(f"{sign}{text}", text, text, position, end, end)


def _are_whole(values: pa.Array) -> bool:
    import pyarrow as pa

    if pa.types.is_float64(values.type):
        return bool((np.asarray(values) % 1 == 0).all())
    return all(key.denominator == 1 for key in keys_of(values))


class _Place(NamedTuple):
    """A bin's place among all: below the lowest value (−1), on the grid (0) or above the highest (1)."""

    side: int
    number: int


@dataclass(frozen=True)
class _Grid:
    """A grid of numbers between a lowest and a highest value."""

    step: Fraction
    start: Fraction
    lowest: Key | None
    highest: Key | None
    is_whole: bool

    LOW = _Place(-1, 0)
    HIGH = _Place(1, 0)

    @property
    def low(self) -> Fraction:
        return Fraction(self.lowest or 0)

    @property
    def high(self) -> Fraction:
        return Fraction(self.highest or 0)

    def number(self, key: Key) -> int:
        return floor((key - self.start) / self.step)

    def place(self, key: Key) -> _Place:
        if self.lowest is not None and key <= self.lowest:
            return self.LOW
        if self.highest is not None and key >= self.highest:
            return self.HIGH
        return _Place(0, self.number(key))

    def places(self, numbers: Floats) -> list[_Place]:
        """The places of many numbers; those that rounding could put into the next bin are found exactly."""
        steps = (numbers - float(self.start)) / float(self.step)
        near = np.abs(steps - np.round(steps)) <= 1e-9 * np.maximum(1.0, np.abs(steps))
        near |= ~(np.abs(steps) < 1e15)
        for end in (self.lowest, self.highest):
            if end is not None:
                near |= np.abs(numbers - float(end)) <= 1e-9 * max(1.0, abs(float(end)))
        below = numbers <= (-np.inf if self.lowest is None else float(self.lowest))
        above = numbers >= (np.inf if self.highest is None else float(self.highest))
        found = []
        for number, at, is_near, is_low, is_high in zip(
            numbers.tolist(), np.floor(steps).tolist(), near, below, above, strict=True
        ):
            if is_near:
                found.append(self.place(fraction_of(number)))
            else:
                found.append(self.LOW if is_low else self.HIGH if is_high else _Place(0, int(at)))
        return found

    def bin(self, number: int) -> _Bin:
        """A bin of the grid, as far as it lies between the ends."""
        low = self.start + number * self.step
        high = low + self.step
        high = high if self.highest is None else min(high, self.high)
        is_cut = self.lowest is not None and self.low >= low
        if self.is_whole:
            first = floor(self.low) + 1 if is_cut else ceil(low)
            last = ceil(high) - 1
            begins, ends = str(first), str(last)
            label = begins if first == last else join_range(begins, ends)
            return _Bin(label, begins, ends, number, Fraction(first), Fraction(last))
        low = self.low if is_cut else low
        begins, ends = f"{'>' if is_cut else ''}{decimal_text(low)}", f"<{decimal_text(high)}"
        return _Bin(join_range(begins, ends), begins, ends, number, low, high)


def _float(bound: Fraction) -> float:
    """The least float that is not below a bound: a column of floats has no value between the two."""
    try:
        found = float(bound)
    except OverflowError:
        return inf if bound > 0 else -inf
    return found if isinf(found) or fraction_of(found) >= bound else nextafter(found, inf)


def _numbers(found: Sequence[Fraction], kind: pa.DataType, is_whole: bool) -> pa.Array:
    """Bounds of bins as an array: whole numbers, decimals as such, all others as floats."""
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return pa.array([Decimal(decimal_text(number)) for number in found])
    if not (is_whole and pa.types.is_integer(kind)):
        return pa.array([_float(number) for number in found])
    numbers = [int(number) for number in found]
    is_large = max(numbers) >= 2**63
    if (is_large and max(numbers) >= 2**64) or min(numbers) < (0 if is_large else -(2**63)):
        return pa.array([Decimal(number) for number in numbers])
    return pa.array(numbers, pa.uint64() if is_large else pa.int64())


def _form(
    found: dict[Any, _Bin],
    keys: Sequence[Any],
    arrow: Callable[[Sequence[Any]], pa.Array],
    lowest: Any,
    highest: Any,
    has_null: bool,
) -> tuple[RangeForm, Ints]:
    """The form of bins, by ascending keys, and the code of each value, by the key of its bin."""
    place = {key: code for code, key in enumerate(found)}
    labels, lows, highs, positions, lower, upper = zip(*found.values(), strict=True)
    form = RangeForm(
        labels=labels,
        has_null=has_null,
        fixed=frozenset(range(len(labels))),
        positions=np.array([position - positions[0] for position in positions], dtype=np.float64),
        values=arrow(lower),
        uppers=arrow(upper),
        lows=lows,
        highs=highs,
        open_low=lowest in found,
        open_high=highest in found,
    )
    return form, np.array([place[key] for key in keys], dtype=np.int32)
