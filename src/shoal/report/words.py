"""What requirements promise and what became of columns, in sentences for someone who never read a paper about them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from shoal.report.formats import percent

PROMISE_OF_SERIES = (
    "Over all releases of the series, everybody may have any of at least so many sensitive values, each of them "
    "equally likely."
)


def promise_of_k(k: int, reads_the_same: bool, counts_persons: bool = False) -> str:
    """What k promises, in a sentence."""
    if k == 1:
        return "Nothing: a record may be alone with its quasi-identifiers."
    if counts_persons:
        return (
            f"Every record reads like records of at least {k:,} persons in all quasi-identifiers."
        )
    if reads_the_same:
        others = "1 other" if k == 2 else f"{k - 1:,} others"
        return f"Every record reads like at least {others} in all quasi-identifiers."
    return f"Every released record may be any of at least {k:,} people, and everyone any of as many records."


_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "D": 86400.0}
_YEAR = 365.25 * 86400.0
_UNITS = (("day", 86400.0), ("hour", 3600.0), ("minute", 60.0), ("second", 1.0))


@dataclass(frozen=True)
class CellShares:
    """Shares of the cells of a column, and for numbers and dates the width of which half of them are at most."""

    exact: float
    general: float
    hidden: float
    half: float | None  # infinite where more than half are hidden, None without order
    unit: str  # of dates, as scales count them


def sentence_of(cells: CellShares) -> str:
    """What became of a column, in a sentence that follows its name.

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
        shares.insert(1, (cells.general, "more general"))
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
