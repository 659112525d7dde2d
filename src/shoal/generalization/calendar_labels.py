"""Dates as labels of ever longer periods, from a day to a decade, and labels back to the days they cover.

A day reads 2020-03-14, a week 2020-W11 (ISO 8601), a month 2020-03, a quarter 2020-Q1, a year 2020 and a decade
2020–2029. Labels of two periods are equal only where the periods are.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise

from shoal.errors import near_miss

PERIODS = ("day", "week", "month", "quarter", "year", "decade")
DEFAULT_PERIODS = ("day", "month", "quarter", "year", "decade")
DASH = "–"  # between two bounds, here and in every other range

_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_WEEK = re.compile(r"(\d{4})-W(\d{2})")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_QUARTER = re.compile(r"(\d{4})-Q([1-4])")
_YEAR = re.compile(r"(\d{4})")
_DECADE = re.compile(rf"(\d{{3}}0){DASH}(\d{{3}}9)")


def calendar_label(day: date, period: str) -> str:
    """The label of the period that holds a day; of a date with a time, the time is ignored.

    Examples
    --------
    >>> from datetime import date
    >>> [calendar_label(date(1984, 3, 14), period) for period in PERIODS]
    ['1984-03-14', '1984-W11', '1984-03', '1984-Q1', '1984', '1980–1989']
    """
    year = f"{day.year:04d}"
    match period:
        case "day":
            return f"{year}-{day.month:02d}-{day.day:02d}"
        case "week":
            week = day.isocalendar()
            return f"{week.year:04d}-W{week.week:02d}"
        case "month":
            return f"{year}-{day.month:02d}"
        case "quarter":
            return f"{year}-Q{(day.month + 2) // 3}"
        case "year":
            return year
        case "decade":
            first = day.year // 10 * 10
            return f"{first:04d}{DASH}{first + 9:04d}"
    raise ValueError(f"no period: {period}")


def days_of_label(label: str) -> tuple[date, date] | None:
    """The first and the last day that a label covers, None where the text is no label of a period.

    Examples
    --------
    >>> days_of_label("1984-Q1")
    (datetime.date(1984, 1, 1), datetime.date(1984, 3, 31))
    """
    try:
        return _days(label)
    except (ValueError, OverflowError):  # a month 13, a week 60, or days outside of the calendar
        return None


def _days(label: str) -> tuple[date, date] | None:
    if found := _DAY.fullmatch(label):
        day = date(*map(int, found.groups()))
        return day, day
    if found := _WEEK.fullmatch(label):
        monday = date.fromisocalendar(int(found[1]), int(found[2]), 1)
        return monday, monday + timedelta(days=6)
    if found := _MONTH.fullmatch(label):
        return _months(int(found[1]), int(found[2]), int(found[2]))
    if found := _QUARTER.fullmatch(label):
        last = int(found[2]) * 3
        return _months(int(found[1]), last - 2, last)
    if found := _YEAR.fullmatch(label):
        return _months(int(found[1]), 1, 12)
    if (found := _DECADE.fullmatch(label)) and int(found[2]) - int(found[1]) == 9:
        return date(max(1, int(found[1])), 1, 1), date(int(found[2]), 12, 31)
    return None


def _months(year: int, first: int, last: int) -> tuple[date, date]:
    """The days from the first of one month to the last of another."""
    return date(year, first, 1), date(year, last, monthrange(year, last)[1])


def period_problems(periods: Sequence[str]) -> list[str]:
    """Say in sentences why periods cannot be the levels of a tree, from the shortest to the longest."""
    listed = ", ".join(PERIODS)
    if isinstance(periods, str) or not periods:
        return [f"Levels of dates: give a list of periods; periods: {listed}."]
    unknown = [period for period in periods if period not in PERIODS]
    if unknown:
        close = near_miss(str(unknown[0]), PERIODS) or "."
        return [f"Levels of dates: '{unknown[0]}' is no period{close} Periods: {listed}."]
    found = []
    ranks = [PERIODS.index(period) for period in periods]
    if any(after <= before for before, after in pairwise(ranks)):
        found.append("Levels of dates: list each period once, from the shortest to the longest.")
    if "week" in periods and set(periods) - {"day", "week"}:
        found.append(
            "Levels of dates: a week may lie in two months and two years; leave out 'week' or all longer periods."
        )
    return found


def as_day(value: date) -> date:
    """A date, or a date with a time, as the date alone."""
    return value.date() if isinstance(value, datetime) else value
