"""The budget of refinement: how much work it may do, and how much of that is left."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

from shoal.progress import Progress


@dataclass(frozen=True)
class Refine:
    """How long refinement goes on. With neither parameter it is quick: seconds, for most tables.

    Refinement ends early where it hardly gains any more, unless `seconds` are given. Work is counted in what is looked
    at, so that the same seed gives the same release on any machine; only `seconds` depend on it.

    Parameters
    ----------
    seconds
        Go on for so many seconds of CPU time. What is reached then depends on the machine, so that two runs may differ.
    steps
        Go on for so many steps, of about a second each; the same seed gives the same release.

    Examples
    --------
    >>> import shoal
    >>> shoal.Refine(steps=50)
    Refine(seconds=None, steps=50)
    """

    seconds: float | None = None
    steps: int | None = None

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


SECOND = 1e9  # units of work: a unit takes about a nanosecond
# Quick refinement may do so much work for each record and column, at least and at most so much in all.
QUICK, LEAST, MOST = 40_000, 3 * SECOND, 60 * SECOND


class Meter:
    """Counts the work that is done, and says whether there may be more."""

    def __init__(self, budget: Refine, cells: int, progress: Progress) -> None:
        """Allow what the budget says for a table of so many cells, records times columns."""
        quick = min(max(QUICK * cells, LEAST), MOST)
        self.allowance = quick + SECOND * (budget.steps or 0)
        self.done = 0.0
        self._seconds, self._start = budget.seconds, time.thread_time()
        self._progress = progress
        # Refinement for some seconds goes on as long as anything is gained, whatever is gained.
        self.is_patient = bool(budget.seconds or budget.steps)

    def add(self, work: float) -> None:
        """Count work that was done."""
        self.done += work

    @property
    def left(self) -> float:
        """How much more work there may be."""
        if self._seconds is None:
            return self.allowance - self.done
        return SECOND * (self._seconds - (time.thread_time() - self._start))

    def goes_on(self, stage: str) -> bool:
        """Report progress, and say whether there may be more work."""
        total = self.allowance if self._seconds is None else SECOND * self._seconds
        left = self.left
        done, whole = int((total - left) / SECOND * 10), int(total / SECOND * 10) + 1
        self._progress(f"refining: {stage}", min(done, whole - 1), whole)
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
