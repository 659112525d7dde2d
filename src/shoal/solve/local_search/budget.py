"""The budget of refinement: how much work it may do, and how much of that is left."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.progress import Progress


@dataclass(frozen=True)
class Refine:
    """How long refinement goes on. With neither parameter it is quick: seconds, for most tables.

    Quick refinement ends early if it hardly gains any more. Work is counted in steps, so that the same seed gives the
    same release on any machine. Only the result of `seconds` depends on the machine.

    Parameters
    ----------
    seconds
        Go on for so many seconds of CPU time. What is reached then depends on the machine, so that two runs may differ.
    steps
        Go on for so many steps, of about a second each on 50,000 records of eight columns.

    Examples
    --------
    >>> import shoal
    >>> shoal.Refine(steps=50)
    Refine(seconds=None, steps=50)
    """

    seconds: float | None = None
    steps: int | None = None

    share: ClassVar[float] = 1.0  # of the work of quick refinement

    def problems(self) -> list[str]:
        """Return a sentence for every parameter that has an impossible value."""
        found = []
        if self.seconds is not None and not (_is_number(self.seconds) and self.seconds > 0):
            found.append("The 'seconds' of refine must be a finite number above 0.")
        if self.steps is not None and not (type(self.steps) is int and self.steps >= 0):
            found.append("The 'steps' of refine must be a whole number of at least 0.")
        if self.seconds is not None and self.steps is not None:
            found.append("Refine takes 'seconds' or 'steps', not both.")
        return found


@dataclass(frozen=True)
class Glance(Refine):
    """A tenth of quick refinement, to compare settings: on tables of people, it reaches nearly the same losses."""

    share: ClassVar[float] = 0.1


SECOND = 1e9  # units of work: a unit takes about a nanosecond
# Quick refinement may do so much work for each record and column, and at least and at most so much in all. A step does
# so much more.
QUICK, STEP, LEAST, MOST = 7_000, 2_500, 4.0 * SECOND, 60 * SECOND


class Meter:
    """Counts the work that is done, and says whether there may be more."""

    def __init__(self, budget: Refine, cells: int, progress: Progress, parts: int = 1) -> None:
        """Allow what the budget says for so many cells, records times columns, in one of so many parts of a table."""
        self.least = budget.share * LEAST / parts
        self.quick = min(max(budget.share * QUICK * cells, self.least), budget.share * MOST)
        self.allowance = self.quick + STEP * cells * (budget.steps or 0)
        if budget.seconds is not None:
            self.allowance = SECOND * budget.seconds
        self.done = 0.0
        self._is_timed, self._start = budget.seconds is not None, time.thread_time()
        self._progress = progress
        # Whether to go on where little is gained.
        self.is_patient = bool(budget.seconds or budget.steps)
        self.is_brief = budget.share < 1  # so that a step of unknown length is not tried

    def add(self, work: float) -> None:
        """Count work that was done."""
        self.done += work

    @property
    def pace(self) -> float:
        """The budget that steps are planned by: that of quick refinement, or what is done if that is more.

        It does not depend on how long the user allows, so more time only adds to what less time does.
        """
        return max(self.quick, self.done)

    @property
    def left(self) -> float:
        """How much more work there may be."""
        if not self._is_timed:
            return self.allowance - self.done
        return self.allowance - SECOND * (time.thread_time() - self._start)

    def goes_on(self, stage: str) -> bool:
        """Report progress, and say whether there may be more work."""
        left = self.left
        done, whole = (int(10 * work / SECOND) for work in (self.allowance - left, self.allowance))
        self._progress(f"refining: {stage}", min(done, whole), whole + 1)
        return left > 0


def read_refine(given: Any) -> Refine | bool | None:
    """Read what a user gives as `refine`: "quick", true, false, a number of seconds or a `Refine`.

    Returns False for no refinement, and None for what cannot be understood.
    """
    if given is False or isinstance(given, Refine):
        return given
    if given is True or given == "quick":
        return Refine()
    return Refine(seconds=float(given)) if _is_number(given) else None


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)
