"""Values beyond a lowest and a highest one, folded into one before records are grouped.

Numbers are compared as exact fractions and dates as ticks of their Arrow type, in the column's own zone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.encoding.forms import Ints
from shoal.encoding.forms.base import AT_LEAST, AT_MOST
from shoal.encoding.models.periods import read_period
from shoal.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

Key = int | Fraction  # a number, or a date as ticks
TICKS = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
EPOCH = date(1970, 1, 1).toordinal()
_OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>[0-9]{2}):?(?P<minutes>[0-9]{2})")


def end_problems(what: str, low: Any, high: Any) -> list[str]:
    """Return problems with a lowest or highest value."""
    found = []
    for name, end in (("low", low), ("high", high)):
        if not (end is None or isinstance(end, str | date) or is_finite_number(end)):
            found.append(f"{what}: '{name}' must be a finite number, a date or its text.")
    if not found and low is not None and high is not None:
        kinds = [_kind(end) for end in (low, high)]
        if kinds[0] != kinds[1] or (kinds[0] != "text" and not low < high):
            found.append(f"{what}: 'low' must be less than 'high'.")
    return found


def is_finite_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return number and isfinite(value)


def _kind(end: Any) -> str:
    if isinstance(end, str):
        return "text"
    return "moment" if isinstance(end, datetime) else "date" if isinstance(end, date) else "number"


class ClippedValues(NamedTuple):
    """Values with all up to a lowest and all from a highest one folded into one."""

    values: Any  # Arrow, ascending; folded ones are their ends
    codes: Ints  # the place of each given value among them
    low: str | None  # the text of the first one if it represents all up to it
    high: str | None  # the text of the last one if it represents all from it on

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


def clip_ends(column: str, values: pa.Array, low: Any, high: Any) -> ClippedValues:
    """Fold all values up to `low` into one, and all from `high` on."""
    import pyarrow as pa

    keys = keys_of(values)
    first, last = end_keys(column, values.type, low, high)
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
    return ClippedValues(
        pa.concat_arrays(parts),
        np.where(is_low, 0, codes).astype(np.int32),
        f"{AT_MOST}{end_text(low, True, values.type)}" if is_low.any() else None,
        f"{AT_LEAST}{end_text(high, False, values.type)}" if is_high.any() else None,
    )


def _like(kind: pa.DataType, end: Any, key: Key | None) -> pa.Array:
    """One end, given and as a key, as an array of a column's type."""
    import pyarrow as pa

    if pa.types.is_temporal(kind):
        return moments([int(key or 0)], kind)
    return pa.array([Decimal(str(end))]) if pa.types.is_decimal(kind) else pa.array([end], kind)


def end_text(end: Any, is_last: bool, kind: pa.DataType | None = None) -> str:
    """The text of an end: a number without unnecessary digits, a day as ISO, a time as its column writes it."""
    day = _moment(end, is_last)
    if day is None:
        return decimal_text(fraction_of(end))
    if isinstance(day, datetime) and kind is not None:
        return str(moments([ticks_of(day, kind)], kind)[0].as_py())
    return day.isoformat()


def end_keys(
    column: str, kind: pa.DataType, low: Any, high: Any, by_weeks: bool = False
) -> tuple[Key | None, Key | None]:
    """The ends as keys like those of values of a type.

    Raises `InputError` if an end is not a value like the column's.
    """
    found: list[Key | None] = []
    for name, end in (("low", low), ("high", high)):
        found.append(None if end is None else _key_of(end, kind, name == "low", by_weeks))
        if end is not None and found[-1] is None:
            raise InputError(
                f"'{name}' of column '{column}' is not a value like the column's. Give a number for numbers, a "
                "whole one for whole numbers, and a date like 1990-12-31 for dates."
            )
    first, last = found
    if first is not None and last is not None and first >= last:
        raise InputError(f"'low' of column '{column}' must be less than 'high'.")
    return first, last


def _key_of(end: Any, kind: pa.DataType, is_last: bool, by_weeks: bool) -> Key | None:
    """An end as a key: of a day its last tick where `is_last`, else its first."""
    import pyarrow as pa

    if pa.types.is_temporal(kind):
        moment = _moment(end, is_last, by_weeks)
        if moment is None:
            return None
        key = ticks_of(moment, kind)
        return key + per_day(kind) - 1 if is_last and not isinstance(moment, datetime) else key
    if isinstance(end, bool) or not isinstance(end, int | float | Decimal):
        return None
    number = fraction_of(end)
    return None if pa.types.is_integer(kind) and number.denominator > 1 else number


def _moment(end: Any, is_last: bool, by_weeks: bool = False) -> date | None:
    """An end as a day or time; of a period, the last day if `is_last`, else the first; None for other values.

    `by_weeks` reads years as years of ISO weeks.
    """
    if isinstance(end, str):
        period = read_period(end)
        if period is not None:
            return period.days(by_weeks)[is_last]
        try:
            return datetime.fromisoformat(end)
        except ValueError:
            return None
    return end if isinstance(end, date) else None


def fraction_of(number: int | float | Decimal) -> Fraction:
    """A number as people write it, as a fraction: 0.1 is one tenth."""
    return Fraction(Decimal(repr(float(number))) if isinstance(number, float) else number)


def keys_of(values: pa.Array) -> list[Key]:
    """Numbers as exact fractions, dates as ticks in the column's own zone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if not pa.types.is_temporal(kind):
        plain = pa.types.is_integer(kind)
        return [number if plain else fraction_of(number) for number in values.to_pylist()]
    ahead = _ahead(kind)
    if ahead is None:
        values, ahead = pc.local_timestamp(values), 0
    days = pa.types.is_date32(kind)
    ticks = values.cast(pa.int32() if days else pa.int64()).to_pylist()
    return [int(tick) + ahead for tick in ticks]


def _ahead(kind: pa.DataType) -> int | None:
    """Ticks by which times of a zone like +05:30 are ahead of UTC, 0 without a zone, None in a zone that has a name.

    Arrow 18 looks zones up by their names only.
    """
    import pyarrow as pa

    if not pa.types.is_timestamp(kind) or kind.tz is None:
        return 0
    found = _OFFSET.fullmatch(kind.tz)
    if found is None:
        return None
    minutes = 60 * int(found["hours"]) + int(found["minutes"])
    return (-minutes if found["sign"] == "-" else minutes) * (per_day(kind) // 1440)


def per_day(kind: pa.DataType) -> int:
    """Ticks of a day in an Arrow type of dates or times."""
    import pyarrow as pa

    if pa.types.is_date32(kind):
        return 1
    return TICKS["ms" if pa.types.is_date64(kind) else kind.unit]


def ticks_of(moment: date, kind: pa.DataType) -> int:
    """A date or time as ticks of an Arrow type; a zone of its own is left out."""
    day = (moment.toordinal() - EPOCH) * per_day(kind)
    if not isinstance(moment, datetime):
        return day
    clock = moment.time()
    seconds = (clock.hour * 60 + clock.minute) * 60 + clock.second
    return day + (seconds * 1_000_000 + clock.microsecond) * per_day(kind) // TICKS["us"]


def local_days(values: pa.Array) -> list[date]:
    """The day of each date or time, in the column's own zone."""
    ticks = per_day(values.type)
    return [date.fromordinal(EPOCH + int(key) // ticks) for key in keys_of(values)]


def moments(ticks: Sequence[int], kind: pa.DataType) -> pa.Array:
    """Ticks in the column's zone as an array of its type; of an hour that comes twice, the earlier."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_date32(kind):
        return pa.array(ticks, pa.int32()).cast(kind)
    ahead = _ahead(kind)
    if ahead is not None:
        return pa.array([tick - ahead for tick in ticks], pa.int64()).cast(kind)
    local = pa.array(ticks, pa.int64()).cast(pa.timestamp(kind.unit))
    return pc.assume_timezone(local, kind.tz, ambiguous="earliest", nonexistent="earliest")


def decimal_text(number: Fraction) -> str:
    """A fraction of powers of ten as a decimal number, with no digit too many.

    Examples
    --------
    >>> decimal_text(Fraction(-3, 10)), decimal_text(Fraction(40)), decimal_text(fraction_of(0.1) * 3)
    ('-0.3', '40', '0.3')
    """
    digits = 0
    while (number * 10**digits).denominator > 1:
        digits += 1
    whole = f"{abs(int(number * 10**digits)):0{digits + 1}}"
    point = len(whole) - digits
    sign = "-" if number < 0 else ""
    return f"{sign}{whole[:point]}.{whole[point:]}" if digits else f"{sign}{whole}"
