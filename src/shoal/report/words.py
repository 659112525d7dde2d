"""Sentences about what requirements promise and what happened to columns, for readers who are not experts."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from shoal.report.formats import percent

PROMISE_OF_SERIES = (
    "Over all releases of the series, each person may have any of at least this many sensitive values, all of them "
    "equally likely."
)


def promise_of_k(k: int, reads_the_same: bool, counts_persons: bool = False) -> str:
    """What k promises, in a sentence."""
    if k == 1:
        return "Nothing: with k = 1, a record may be the only one with its quasi-identifiers."
    if counts_persons:
        people = "1 other person" if k == 2 else f"{k - 1:,} other people"
        return (
            f"Every record looks the same in all quasi-identifiers as those of at least {people}."
        )
    if reads_the_same:
        others = "1 other" if k == 2 else f"{k - 1:,} others"
        return f"Every record looks the same in all quasi-identifiers as at least {others}."
    return (
        f"Every released record may belong to any of at least {k:,} people, and each person may have any of at least "
        f"{k:,} records."
    )


_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "D": 86400.0}
_YEAR = 365.25 * 86400.0
_UNITS = (("day", 86400.0), ("hour", 3600.0), ("minute", 60.0), ("second", 1.0))


@dataclass(frozen=True)
class CellShares:
    """How precisely the cells of a column are released, as shares, and the median width of numbers and dates."""

    exact: float
    general: float
    hidden: float
    half: float | None  # infinite if more than half are hidden, None if unordered
    unit: str  # of dates, as `Scale.unit`


def sentence_of(cells: CellShares) -> str:
    """What happened to a column, in a sentence that follows its name.

    Examples
    --------
    >>> sentence_of(CellShares(0.1, 0.9, 0.0, 4.0, ""))
    'half of the values are released within a range of at most 4; 10.0 % are exact.'
    """
    if cells.exact == 1:
        return "every value is released exactly."
    if cells.hidden == 1:
        return "every value is hidden."
    shares = [(cells.exact, "exact"), (cells.hidden, "hidden")]
    if cells.half is None:
        shares.insert(1, (cells.general, "less precise"))
        return f"{_listed(shares)}."
    if cells.half == 0:
        start = "at least half of the values are released exactly"
    elif cells.half == inf:
        start = "half of the values or more cannot be narrowed down"
    else:
        start = f"half of the values are released within {_width(cells.half, cells.unit)}"
    listed = _listed(shares)
    return f"{start}; {listed}." if listed else f"{start}."


def _listed(shares: list[tuple[float, str]]) -> str:
    parts = [f"{percent(share)} {{}}{what}" for share, what in shares if share]
    return ", ".join(part.format("" if i else "are ") for i, part in enumerate(parts))


def _width(width: float, unit: str) -> str:
    if not unit:
        text = f"{width:,.0f}" if width % 1 == 0 and width < 1e15 else f"{width:.4g}"
        return f"a range of at most {text}"
    seconds = width * _SECONDS[unit]
    if seconds >= 2 * _YEAR:
        return f"{seconds / _YEAR:,.0f} years"
    name, length = next(
        ((name, length) for name, length in _UNITS if seconds >= length), ("second", 1.0)
    )
    number = f"{seconds / length:,.1f}".removesuffix(".0")
    return f"{number} {name}" if number == "1" else f"{number} {name}s"
