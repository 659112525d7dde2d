"""How long refinement goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


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
        Try so many more changes; the same seed gives the same release.

    Examples
    --------
    >>> import shoal
    >>> shoal.Refine(steps=500)
    Refine(seconds=None, steps=500)
    """

    seconds: float | None = None
    steps: int | None = None

    def problems(self) -> list[str]:
        """Sentences for parameters that cannot be."""
        found = []
        if self.seconds is not None and not (_is_number(self.seconds) and self.seconds > 0):
            found.append("The 'seconds' of refine must be a finite number above 0.")
        if self.steps is not None and not (type(self.steps) is int and self.steps >= 0):
            found.append("The 'steps' of refine must be a whole number of at least 0.")
        if self.seconds is not None and self.steps is not None:
            found.append("Refine takes 'seconds' or 'steps', not both.")
        return found


def read_refine(given: Any) -> Refine | bool | None:
    """What a user means by "quick", true, false, seconds or a `Refine`: False for none at all, None if unclear."""
    if given is False or isinstance(given, Refine):
        return given
    if given is True or given == "quick":
        return Refine()
    return Refine(seconds=float(given)) if _is_number(given) else None


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)
