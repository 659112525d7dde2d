"""Days, weeks, months, quarters, years and decades: numbered in order, named, and with their first and last day."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date, timedelta
from typing import Any, NamedTuple

from shoal.encoding.forms.base import DASH

UNITS = ("day", "week", "month", "quarter", "year", "decade")  # from the finest to the coarsest
_WEEK = 7
_TEXTS = (
    ("day", re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")),
    ("week", re.compile(r"([0-9]{4})-W([0-9]{2})")),
    ("month", re.compile(r"([0-9]{4})-([0-9]{2})")),
    ("quarter", re.compile(r"([0-9]{4})-Q([1-4])")),
    ("decade", re.compile(rf"([0-9]{{3}}0){DASH}([0-9]{{3}}9)")),
    ("year", re.compile(r"([0-9]{4})")),
)


class Period(NamedTuple):
    """A unit and the number of the period among those of its unit."""

    unit: str
    number: int

    @property
    def first(self) -> date:
        """Its first day, or the first that there is."""
        return _FIRST[self.unit](self.number) if self.number > 0 else date.min

    @property
    def last(self) -> date:
        """Its last day, or the last that there is."""
        try:
            return Period(self.unit, self.number + 1).first - timedelta(days=1)
        except (ValueError, OverflowError):
            return date.max

    def days(self, by_weeks: bool = False) -> tuple[date, date]:
        """Its first and last day; `by_weeks` takes years for those of ISO weeks."""
        if not by_weeks or self.unit not in ("year", "decade"):
            return self.first, self.last
        years = 1 if self.unit == "year" else 10
        first, after = (date.fromisocalendar(self.number * years + n, 1, 1) for n in (0, years))
        return first, after - timedelta(days=1)

    @property
    def label(self) -> str:
        """The text of the period: 2020-03-14, 2020-W11, 2020-03, 2020-Q1, 2020 or 2020–2029."""
        number = self.number
        match self.unit:
            case "day":
                return self.first.isoformat()
            case "week":
                year, week, _ = self.first.isocalendar()
                return f"{year:04}-W{week:02}"
            case "month":
                return f"{number // 12:04}-{number % 12 + 1:02}"
            case "quarter":
                return f"{number // 4:04}-Q{number % 4 + 1}"
            case "year":
                return f"{number:04}"
        return f"{number * 10:04}{DASH}{number * 10 + 9:04}"

    @property
    def ends(self) -> tuple[str, str]:
        """The beginning, and the end, of a range at this period."""
        if self.unit == "decade":
            return f"{self.number * 10:04}", f"{self.number * 10 + 9:04}"
        return self.label, self.label


_FIRST: dict[str, Callable[[int], date]] = {
    "day": date.fromordinal,
    "week": lambda number: date.fromordinal(number * _WEEK + 1),  # the first day of all is a Monday
    "month": lambda number: date(number // 12, number % 12 + 1, 1),
    "quarter": lambda number: date(number // 4, number % 4 * 3 + 1, 1),
    "year": lambda number: date(number, 1, 1),
    "decade": lambda number: date(number * 10, 1, 1),
}


def period_of(unit: str, day: date, by_weeks: bool = False) -> Period:
    """The period of a unit that contains a day; `by_weeks` reads years as years of ISO weeks.

    Examples
    --------
    >>> [period_of(unit, date(2021, 1, 1)).label for unit in UNITS]
    ['2021-01-01', '2020-W53', '2021-01', '2021-Q1', '2021', '2020–2029']
    """
    year = day.isocalendar().year if by_weeks else day.year
    numbers = {
        "day": day.toordinal(),
        "week": (day.toordinal() - 1) // _WEEK,
        "month": day.year * 12 + day.month - 1,
        "quarter": day.year * 4 + (day.month - 1) // 3,
        "year": year,
        "decade": year // 10,
    }
    return Period(unit, numbers[unit])


def read_period(text: str) -> Period | None:
    """The period that a text names, None if it names none."""
    for unit, pattern in _TEXTS:
        found = pattern.fullmatch(text)
        if found:
            with suppress(ValueError, OverflowError):  # a month 13, or days beyond the calendar
                return _read(unit, [int(part) for part in found.groups()])
            return None
    return None


def days_of_label(text: str) -> tuple[date, date] | None:
    """The first and the last day of the period that a text names, None if it names none.

    Examples
    --------
    >>> days_of_label("1984-Q1")
    (datetime.date(1984, 1, 1), datetime.date(1984, 3, 31))
    """
    period = read_period(text)
    return None if period is None else period.days()


def _read(unit: str, parts: list[Any]) -> Period:
    match unit:
        case "day":
            return period_of("day", date(*parts))
        case "week":
            return period_of("week", date.fromisocalendar(parts[0], parts[1], 1))
        case "month":
            return period_of("month", date(parts[0], parts[1], 1))
        case "quarter":
            return period_of("quarter", date(parts[0], parts[1] * 3, 1))
        case "year":
            return period_of("year", date(parts[0], 1, 1))
    if parts[1] != parts[0] + 9:
        raise ValueError("no decade")
    return Period("decade", parts[0] // 10)
