"""The calendar model: days, weeks or months, quarters, years and decades, a tree that needs no file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.encoding.forms import Form, Ints
from shoal.encoding.forms.base import plain_spelling
from shoal.encoding.models.base import Model, describe_type
from shoal.encoding.models.bins import end_periods, folded_periods, label_of_end
from shoal.encoding.models.ends import end_problems
from shoal.encoding.models.periods import UNITS, Period, period_of
from shoal.encoding.models.trees import form_of_paths, label_heights
from shoal.errors import InputError, near_miss, raise_problems

if TYPE_CHECKING:
    import pyarrow as pa

DEFAULT = ("day", "month", "quarter", "year", "decade")


@dataclass(frozen=True, repr=False)
class Calendar(Model):
    """Release the smallest day, month, quarter, year or decade that contains all dates of a group.

    Dates become `2020-03-14`, `2020-03`, `2020-Q1`, `2020`, `2020–2029` or `*`. Of times, only the day counts, in the
    column's own zone. Losses are measured from the finest level on; the periods of it that occur are the domain.

    Parameters
    ----------
    levels
        Which of "day", "week", "month", "quarter", "year" and "decade" to use. With weeks, which look like `2020-W11`,
        years and decades are those of ISO weeks, and there are neither months nor quarters.
    finest
        The finest level that is released: with "year", no month or day is released, not even for a group of equal
        dates. By default the finest of `levels`.
    low, high
        All dates up to `low` become the one value `≤ 1939`, and all from `high` on `≥ 2010`; given as dates or as texts
        like "2010". Only `*` contains them and others.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> born = pd.to_datetime(["1984-03-14", "1984-03-30", "1991-01-02", "1992-12-31"])
    >>> people = pd.DataFrame({"born": born})
    >>> release = shoal.anonymize(
    ...     people, quasi_identifiers={"born": shoal.Calendar(finest="month")}, k=2, keep_order=True
    ... )
    >>> list(release.data["born"])
    ['1984-03', '1984-03', '1990–1999', '1990–1999']
    """

    levels: Sequence[str] = DEFAULT
    finest: str | None = None
    _: KW_ONLY
    low: Any = None
    high: Any = None

    name = "calendar"
    proper = True
    coarsened_by = ("finest", "low", "high")

    def __post_init__(self) -> None:
        given = self.levels
        is_list = isinstance(given, Iterable) and not isinstance(given, str)
        levels = tuple(given) if is_list else ()
        problems = end_problems("Calendar", self.low, self.high)
        if not levels or not all(level in UNITS for level in levels):
            unknown = next((level for level in levels if level not in UNITS), "")
            close = near_miss(str(unknown), UNITS) or "."
            problems.append(
                f"Calendar: 'levels' must be a list of some of {', '.join(UNITS)}{close}"
            )
            raise InputError(problems)
        if "week" in levels and {"month", "quarter"} & set(levels):
            problems.append(
                "Calendar: weeks do not fit into months or quarters. Leave out 'week', or both 'month' and "
                "'quarter', from 'levels'."
            )
        if self.finest is not None and self.finest not in levels:
            problems.append("Calendar: 'finest' must be one of the 'levels'.")
        raise_problems(problems)
        object.__setattr__(self, "levels", tuple(unit for unit in UNITS if unit in levels))

    def plainly(self, released: str | None) -> str | None:
        return None if released is None else plain_spelling(released)

    @property
    def needs_numbers(self) -> bool:
        return True

    def grid(self) -> str:
        return f"{self.finest or self.levels[0]}s"

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        import pyarrow as pa

        if not (pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)):
            raise InputError(
                f"Column '{column}' contains {describe_type(values.type)}, but a calendar needs dates. Convert "
                "it, or give the format of its dates (date_format)."
            )
        unit, by_weeks = self._units[0], self._by_weeks
        lowest, highest = end_periods(column, values.type, unit, self.low, self.high, by_weeks)
        found = folded_periods(values, unit, lowest, highest, by_weeks)
        paths: dict[Period, list[str]] = {}
        for period in sorted(set(found)):
            is_end = period in (lowest, highest)
            above = [] if is_end else self._above(period)
            paths[period] = [label_of_end(period, lowest, highest), *above]
        place = {period: code for code, period in enumerate(paths)}
        codes = np.array([place[period] for period in found], dtype=np.int32)
        heights, top = label_heights(paths.values()), len(self._units)
        return form_of_paths(column, paths, has_null, heights, top, own_words=True), codes

    def path(self, day: date) -> list[str]:
        """The labels of the periods that contain a day, from the finest to the largest."""
        period = period_of(self._units[0], day, self._by_weeks)
        return [period.label, *self._above(period)]

    @property
    def is_coarse(self) -> bool:
        return super().is_coarse or self._units[0] != UNITS[0]

    @property
    def _by_weeks(self) -> bool:
        return "week" in self.levels

    @property
    def _units(self) -> tuple[str, ...]:
        """The levels that are released."""
        return tuple(self.levels)[self.levels.index(self.finest or self.levels[0]) :]

    def _above(self, period: Period) -> list[str]:
        """The labels of the larger periods that contain one."""
        if period.unit == "year":  # whose first day may lie in another ISO year
            return [Period(unit, period.number // 10).label for unit in self._units[1:]]
        return [period_of(unit, period.first, self._by_weeks).label for unit in self._units[1:]]
