"""The ends of released ranges, and the days that texts like 2020-03 cover, as the audit reads them."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime
from typing import Any

DASH = "–"
_OPEN_ABOVE = {"≥ ": "", ">= ": "", "> ": ">"}
_OPEN_BELOW = {"≤ ": "", "<= ": "", "< ": "<"}
_PERIOD = re.compile(r"([0-9]{4})(?:-(?:Q([1-4])|W([0-9]{2})|([0-9]{2})(?:-([0-9]{2}))?))?")

End = str | None  # None if a range has no end; < and > before a text exclude it


def ends_of_text(released: str) -> tuple[End, End]:
    """The two ends of a released text; those of a single value are the same.

    Examples
    --------
    >>> [ends_of_text(text) for text in ("20–29", "[20, 30)", "≥ 85", "7", "≤ 1 – ≥ 9")]
    [('20', '29'), ('20', '<30'), ('85', None), ('7', '7'), (None, None)]
    """
    if released[:1] in ("[", "(") and released[-1:] in ("]", ")") and ", " in released:
        low, _, high = released[1:-1].partition(", ")
        low = low if released[0] == "[" else f">{low}"
        return _closed(low, high if released[-1] == "]" else f"<{high}")
    for dash in (f" {DASH} ", DASH):
        parts = released.split(dash)
        if len(parts) % 2 == 0:
            half = len(parts) // 2
            return _closed(dash.join(parts[:half]), dash.join(parts[half:]))
    for sign, before in _OPEN_ABOVE.items():
        if released.startswith(sign):
            return before + released.removeprefix(sign), None
    for sign, before in _OPEN_BELOW.items():
        if released.startswith(sign):
            return None, before + released.removeprefix(sign)
    return released, released


def _closed(low: str, high: str) -> tuple[End, End]:
    """The ends of a range, None for one that is open itself."""
    is_open = low.startswith(("≤ ", "<= ")), high.startswith(("≥ ", ">= "))
    return None if is_open[0] else low, None if is_open[1] else high


def days_of(text: str, by_weeks: bool = False) -> tuple[int, int] | None:
    """The first and the last day of a day, week, month, quarter or year, as ordinals; None for other texts.

    `by_weeks` reads a year as a year of ISO weeks.

    Examples
    --------
    >>> [date.fromordinal(day).isoformat() for day in days_of("2020-Q1")]
    ['2020-01-01', '2020-03-31']
    """
    found = _PERIOD.fullmatch(text)
    if found is None:
        return None
    numbers: list[Any] = [None if part is None else int(part) for part in found.groups()]
    year, quarter, week, month, day = numbers
    with suppress(ValueError, OverflowError):
        if day is not None:
            own = date(year, month, day).toordinal()
            return own, own
        if week is not None:
            monday = date.fromisocalendar(year, week, 1).toordinal()
            return monday, monday + 6
        if month is not None:
            return _months(year, month, 1)
        if quarter is not None:
            return _months(year, 3 * quarter - 2, 3)
        if by_weeks:
            return _monday(year), _monday(year + 1) - 1
        return _months(max(1, year), 1, 12)
    return None


def unit_of(text: str) -> str | None:
    """Which unit a text names: day, week, month, quarter, year or decade; None for other texts.

    Examples
    --------
    >>> unit_of("2020-03"), unit_of("2020–2029"), unit_of("2020–2023")
    ('month', 'decade', None)
    """
    low, high = ends_of_text(text)
    if low != high:
        years = [end for end in (low, high) if end and end.isdecimal() and len(end) == 4]
        is_decade = len(years) == 2 and years[0][3] == "0" and int(years[1]) == int(years[0]) + 9
        return "decade" if is_decade else None
    found = _PERIOD.fullmatch(text)
    if found is None:
        return None
    _, quarter, week, month, day = found.groups()
    named = {"day": day, "week": week, "month": month, "quarter": quarter}
    return next((unit for unit, part in named.items() if part is not None), "year")


def _monday(year: int) -> int:
    """The first day of an ISO year."""
    if year > date.max.year:
        return date.max.toordinal() + 1
    return date.fromisocalendar(year, 1, 1).toordinal()


def _months(year: int, month: int, number: int) -> tuple[int, int]:
    """The first and the last day of some months."""
    years, after = divmod(month - 1 + number, 12)
    first = date(year, month, 1).toordinal()
    if year + years > date.max.year:
        return first, date.max.toordinal()
    return first, date(year + years, after + 1, 1).toordinal() - 1


def end_days(end: Any, is_last: bool, by_weeks: bool) -> int | datetime | None:
    """A lowest or highest date of settings: the ordinal of its last or first day, or a time without its zone."""
    if isinstance(end, str):
        first, last = ends_of_text(end)
        days = days_of((last if is_last else first) or "", by_weeks)  # a decade has two ends
        if days is not None:
            return days[is_last]
        end = datetime.fromisoformat(end)
    if isinstance(end, datetime):
        return end.replace(tzinfo=None)
    return end.toordinal() if isinstance(end, date) else None
