"""The budget of refinement: how long it goes on, and how much of that is left."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

from shoal.progress import Progress


@dataclass(frozen=True)
class Refine:
    """How long refinement goes on after its fixed schedule, which takes a few seconds on 50,000 records.

    With neither parameter it ends there, and the same seed gives the same release.

    Parameters
    ----------
    seconds
        Go on until so much time has passed since its start. What is reached then depends on the machine, so
        that two runs may differ.
    steps
        Go on for so many steps, of about a second each on 50,000 records; the same seed gives the same release.

    Examples
    --------
    >>> import shoal
    >>> shoal.Refine(steps=50)
    Refine(seconds=None, steps=50)
    """

    seconds: float | None = None
    steps: int | None = None

    @property
    def goes_on(self) -> bool:
        """Whether there is more than the fixed schedule."""
        return bool(self.seconds or self.steps)

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


class Clock:
    """A running budget: it counts the steps or seconds spent and says whether any are left."""

    def __init__(self, budget: Refine, progress: Progress) -> None:
        self._start = time.perf_counter()
        self._seconds, self._steps = budget.seconds, budget.steps or 0
        self._progress, self._done = progress, 0

    def goes_on(self, stage: str, share: float = 1.0) -> bool:
        """Report progress, and say whether less than a share of the budget is spent."""
        spent = time.perf_counter() - self._start
        if self._seconds is None:
            self._progress(f"refining: {stage}", self._done, self._steps)
            return self._done < share * self._steps
        self._progress(
            f"refining: {stage}", min(int(spent), int(self._seconds)), int(self._seconds) + 1
        )
        return spent < share * self._seconds

    def tick(self) -> None:
        """Count one step as spent."""
        self._done += 1


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
