"""Values folded before records are grouped: onto the bins of a grid, and beyond a lowest and a highest value into one.

Numbers are compared as exact fractions and dates as ticks of their Arrow type, in the column's own zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.generalization.forms import Floats, Ints
from shoal.generalization.forms.spelling import AT_LEAST, AT_MOST, joined
from shoal.generalization.periods import Period, period_of, read_period

if TYPE_CHECKING:
    import pyarrow as pa

Key = int | Fraction  # a number, or a date as ticks
_TICKS = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Bins:
    """Folded values in ascending order: how they read, where they lie, and the bin of each given value."""

    labels: tuple[str, ...]
    lows: tuple[str, ...]
    highs: tuple[str, ...]
    positions: Floats
    values: Any  # Arrow: lower bounds
    uppers: Any  # Arrow: upper bounds
    open_low: bool
    open_high: bool
    codes: Ints


class _Bin(NamedTuple):
    label: str
    low: str
    high: str
    position: int
    value: Any
    upper: Any


def end_problems(what: str, low: Any, high: Any) -> list[str]:
    """Sentences for a lowest or highest value that cannot be one."""
    found = []
    for name, end in (("low", low), ("high", high)):
        is_number = isinstance(end, int | float | Decimal) and not isinstance(end, bool)
        if not (end is None or isinstance(end, str | date) or (is_number and isfinite(end))):
            found.append(f"{what}: '{name}' must be a finite number, a date or its text.")
    if not found and low is not None and high is not None:
        kinds = [_kind(end) for end in (low, high)]
        if kinds[0] != kinds[1] or (kinds[0] != "text" and not low < high):
            found.append(f"{what}: 'low' must be less than 'high'.")
    return found


def _kind(end: Any) -> str:
    if isinstance(end, str):
        return "text"
    return "moment" if isinstance(end, datetime) else "date" if isinstance(end, date) else "number"


class Cut(NamedTuple):
    """Values with all up to a lowest and all from a highest one folded into one."""

    values: Any  # Arrow, ascending; folded ones are their ends
    codes: Ints  # the place of each given value among them
    low: str | None  # how the first one reads if it stands for all up to it
    high: str | None  # how the last one reads if it stands for all from it on

    def label(self, labels: Sequence[str]) -> tuple[str, ...]:
        """The labels of the values, those of folded ones replaced."""
        found = list(labels)
        if self.low is not None:
            found[0] = self.low
        if self.high is not None:
            found[-1] = self.high
        return tuple(found)

    @property
    def fixed(self) -> frozenset[int]:
        """The codes of folded values."""
        first = [0] if self.low is not None else []
        return frozenset([*first, *([len(self.values) - 1] if self.high is not None else [])])


def cut(column: str, values: pa.Array, low: Any, high: Any) -> Cut:
    """Fold all values up to `low` into one, and all from `high` on."""
    import pyarrow as pa

    keys = keys_of(values)
    first, last = ends_of(column, values.type, low, high)
    is_low = np.array([first is not None and key <= first for key in keys], dtype=np.bool_)
    is_high = np.array([last is not None and key >= last for key in keys], dtype=np.bool_)
    inner = ~(is_low | is_high)
    codes = np.where(is_high, inner.sum(), np.cumsum(inner) - 1) + is_low.any()
    parts = [values.filter(pa.array(inner))]
    if is_low.any():
        parts.insert(0, _like(values.type, low, first))
    if is_high.any():
        parts.append(_like(values.type, high, last))
    if pa.types.is_decimal(values.type):
        scale = max(part.type.scale for part in parts)
        parts = [part.cast(pa.decimal128(38, scale)) for part in parts]
    return Cut(
        pa.concat_arrays(parts),
        np.where(is_low, 0, codes).astype(np.int32),
        f"{AT_MOST}{_text(values.type, low, is_last=True)}" if is_low.any() else None,
        f"{AT_LEAST}{_text(values.type, high, is_last=False)}" if is_high.any() else None,
    )


def _like(kind: pa.DataType, end: Any, key: Key | None) -> pa.Array:
    """One end, given and as a key, as an array of a column's type."""
    import pyarrow as pa

    if pa.types.is_temporal(kind):
        return moments([int(key or 0)], kind)
    return pa.array([Decimal(str(end))]) if pa.types.is_decimal(kind) else pa.array([end], kind)


def _text(kind: pa.DataType, end: Any, is_last: bool) -> str:
    """How an end reads: a number without needless digits, a day as ISO, a time as the column's."""
    import pyarrow as pa

    if not pa.types.is_temporal(kind):
        return written(exact(end))
    day = _moment(end, is_last)
    if isinstance(day, datetime):
        return str(moments([ticks_of(day, kind)], kind)[0].as_py())
    return "" if day is None else day.isoformat()


def ends_of(
    column: str, kind: pa.DataType, low: Any, high: Any
) -> tuple[Key | None, Key | None]:
    """The ends as keys like those of values of a type.

    Raises
    ------
    InputError
        Where an end is no value like the column's.
    """
    found: list[Key | None] = []
    for name, end in (("low", low), ("high", high)):
        found.append(None if end is None else _key_of(end, kind, is_last=name == "low"))
        if end is not None and found[-1] is None:
            raise InputError(
                f"'{name}' of column '{column}' is no value like the column's; give a number for numbers, "
                "whole for whole ones, and a date like 1990-12-31 for dates."
            )
    first, last = found
    if first is not None and last is not None and first >= last:
        raise InputError(f"'low' of column '{column}' must be less than 'high'.")
    return first, last


def _key_of(end: Any, kind: pa.DataType, is_last: bool) -> Key | None:
    """An end as a key: of a day its last tick where `is_last`, else its first."""
    import pyarrow as pa

    if pa.types.is_temporal(kind):
        moment = _moment(end, is_last)
        if moment is None:
            return None
        key = ticks_of(moment, kind)
        return key + per_day(kind) - 1 if is_last and not isinstance(moment, datetime) else key
    if isinstance(end, bool) or not isinstance(end, int | float | Decimal):
        return None
    number = exact(end)
    return None if pa.types.is_integer(kind) and number.denominator > 1 else number


def _moment(end: Any, is_last: bool) -> date | None:
    """An end as a day or time; of a period the last day where `is_last`, else the first; None if it is none."""
    if isinstance(end, str):
        period = read_period(end)
        if period is not None:
            return period.last if is_last else period.first
        try:
            return datetime.fromisoformat(end)
        except ValueError:
            return None
    return end if isinstance(end, date) else None


def exact(number: int | float | Decimal) -> Fraction:
    """A number as people write it, as a fraction: 0.1 is one tenth."""
    return Fraction(Decimal(repr(float(number))) if isinstance(number, float) else number)


def keys_of(values: pa.Array) -> list[Key]:
    """Numbers as exact fractions, dates as ticks in the column's own zone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if not pa.types.is_temporal(kind):
        plain = pa.types.is_integer(kind)
        return [number if plain else exact(number) for number in values.to_pylist()]
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        values = pc.local_timestamp(values)
    days = pa.types.is_date32(kind)
    return [int(tick) for tick in values.cast(pa.int32() if days else pa.int64()).to_pylist()]


def per_day(kind: pa.DataType) -> int:
    """Ticks of a day in an Arrow type of dates or times."""
    import pyarrow as pa

    if pa.types.is_date32(kind):
        return 1
    return _TICKS["ms" if pa.types.is_date64(kind) else kind.unit]


def ticks_of(moment: date, kind: pa.DataType) -> int:
    """A date or time as ticks of an Arrow type; a zone of its own is left out."""
    day = (moment.toordinal() - _EPOCH) * per_day(kind)
    if not isinstance(moment, datetime):
        return day
    clock = moment.time()
    seconds = (clock.hour * 60 + clock.minute) * 60 + clock.second
    return day + (seconds * 1_000_000 + clock.microsecond) * per_day(kind) // _TICKS["us"]


def days_of(values: pa.Array) -> list[date]:
    """The day of each date or time, in the column's own zone."""
    ticks = per_day(values.type)
    return [date.fromordinal(_EPOCH + int(key) // ticks) for key in keys_of(values)]


def moments(ticks: Sequence[int], kind: pa.DataType) -> pa.Array:
    """Ticks in the column's zone as an array of its type; of an hour that comes twice, the earlier."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_date32(kind):
        return pa.array(ticks, pa.int32()).cast(kind)
    if not pa.types.is_timestamp(kind) or kind.tz is None:
        return pa.array(ticks, pa.int64()).cast(kind)
    local = pa.array(ticks, pa.int64()).cast(pa.timestamp(kind.unit))
    return pc.assume_timezone(local, kind.tz, ambiguous="earliest", nonexistent="earliest")


def fold_dates(column: str, values: pa.Array, unit: str, low: Any, high: Any) -> Bins:
    """Fold dates onto days, weeks, months, quarters, years or decades."""
    kind, ticks = values.type, per_day(values.type)
    lowest, highest = end_periods(column, kind, unit, low, high)
    periods = [clipped(period_of(unit, day), lowest, highest) for day in days_of(values)]
    found = {}
    for period in sorted(set(periods)):
        label, (begins, finishes) = label_of_end(period, lowest, highest), period.ends
        first, last = (ticks_of(day, kind) for day in (period.first, period.last))
        found[period] = _Bin(label, begins, finishes, period.number, first, last + ticks - 1)
    bins = list(found.values())
    lower, upper = (moments([one[at] for one in bins], kind) for at in (_VALUE, _UPPER))
    return _bins(found, periods, lower, upper, lowest, highest)


def clipped(period: Period, lowest: Period | None, highest: Period | None) -> Period:
    """A period, or the end beyond which it lies."""
    period = period if lowest is None else max(period, lowest)
    return period if highest is None else min(period, highest)


def label_of_end(period: Period, lowest: Period | None, highest: Period | None) -> str:
    """How a folded period reads."""
    begins, finishes = period.ends
    if period == lowest:
        return f"{AT_MOST}{finishes}"
    return f"{AT_LEAST}{begins}" if period == highest else period.label


def end_periods(
    column: str, kind: pa.DataType, unit: str, low: Any, high: Any
) -> tuple[Period | None, Period | None]:
    """The lowest and the highest period of folded dates, which must be whole ones."""
    found: list[Period | None] = []
    first, last = ends_of(column, kind, low, high)
    for name, key in (("low", first), ("high", last)):
        if key is None:
            found.append(None)
            continue
        day, rest = divmod(int(key) + (name == "low"), per_day(kind))
        period = period_of(unit, date.fromordinal(_EPOCH + day - (name == "low")))
        edge = period.last.toordinal() + 1 if name == "low" else period.first.toordinal()
        if rest or edge != _EPOCH + day:
            which = "last" if name == "low" else "first"
            raise InputError(
                f"'{name}' of column '{column}' must be the {which} day of a {unit}, because its values are folded "
                f"to {unit}s."
            )
        found.append(period)
    return found[0], found[1]


def fold_numbers(
    column: str, values: pa.Array, step: Any, start: Any, low: Any, high: Any
) -> Bins:
    """Fold numbers onto the bins of a grid: from one multiple of a step, counted from `start`, to below the next."""
    import pyarrow as pa

    keys = [Fraction(key) for key in keys_of(values)]
    first, last = ends_of(column, values.type, low, high)
    grid = _Grid(exact(step), exact(start), first, last, all(key.denominator == 1 for key in keys))
    places = [grid.place(key) for key in keys]
    distinct = sorted(set(places))
    found = {}
    for place in distinct:
        if place == grid.LOW:
            inner = [p.number for p in distinct if p.side == 0]
            number = min([grid.number(grid.low), *(n - 1 for n in inner[:1])])
            text = written(grid.low)
            found[place] = _Bin(f"{AT_MOST}{text}", text, text, number, grid.low, grid.low)
        elif place == grid.HIGH:
            inner = [p.number for p in distinct if p.side == 0]
            number = max([grid.number(grid.high), *(n + 1 for n in inner[-1:])])
            text = written(grid.high)
            found[place] = _Bin(f"{AT_LEAST}{text}", text, text, number, grid.high, grid.high)
        else:
            found[place] = grid.bin(place.number)
    bins = list(found.values())
    kind = values.type
    lower, upper = (_numbers([one[at] for one in bins], kind, grid.is_whole) for at in (_VALUE, _UPPER))
    is_low, is_high = grid.LOW in found, grid.HIGH in found
    return _bins(found, places, lower, upper, grid.LOW if is_low else None, grid.HIGH if is_high else None)


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

    def number(self, key: Fraction) -> int:
        return floor((key - self.start) / self.step)

    def place(self, key: Fraction) -> _Place:
        if self.lowest is not None and key <= self.lowest:
            return self.LOW
        if self.highest is not None and key >= self.highest:
            return self.HIGH
        return _Place(0, self.number(key))

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
            label = begins if first == last else joined(begins, ends)
            return _Bin(label, begins, ends, number, Fraction(first), Fraction(last))
        low = self.low if is_cut else low
        begins, ends = f"{'>' if is_cut else ''}{written(low)}", f"<{written(high)}"
        return _Bin(joined(begins, ends), begins, ends, number, low, high)


def written(number: Fraction) -> str:
    """A fraction of powers of ten as a decimal number, with no digit too many.

    Examples
    --------
    >>> written(Fraction(-3, 10)), written(Fraction(40)), written(exact(0.1) * 3)
    ('-0.3', '40', '0.3')
    """
    digits = 0
    while (number * 10**digits).denominator > 1:
        digits += 1
    whole = f"{abs(int(number * 10**digits)):0{digits + 1}}"
    point = len(whole) - digits
    sign = "-" if number < 0 else ""
    return f"{sign}{whole[:point]}.{whole[point:]}" if digits else f"{sign}{whole}"


def _numbers(found: Sequence[Fraction], kind: pa.DataType, is_whole: bool) -> pa.Array:
    """Bounds of bins as an array: whole numbers, decimals as such, all others as floats."""
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return pa.array([Decimal(written(number)) for number in found])
    if not (is_whole and pa.types.is_integer(kind)):
        return pa.array([float(number) for number in found])
    numbers = [int(number) for number in found]
    is_large = max(numbers) >= 2**63
    if is_large and max(numbers) >= 2**64 or min(numbers) < (0 if is_large else -(2**63)):
        return pa.array([Decimal(number) for number in numbers])
    return pa.array(numbers, pa.uint64() if is_large else pa.int64())


_VALUE, _UPPER = _Bin._fields.index("value"), _Bin._fields.index("upper")


def _bins(
    found: dict[Any, _Bin], keys: Sequence[Any], lower: Any, upper: Any, lowest: Any, highest: Any
) -> Bins:
    place = {key: code for code, key in enumerate(found)}
    bins = list(found.values())
    first = bins[0].position
    return Bins(
        tuple(one.label for one in bins),
        tuple(one.low for one in bins),
        tuple(one.high for one in bins),
        np.array([one.position - first for one in bins], dtype=np.float64),
        lower,
        upper,
        lowest in found,
        highest in found,
        np.array([place[key] for key in keys], dtype=np.int32),
    )
