"""Weights of sensitive columns, for methods that look for the values a group lacks (TCM07 Definitions 11, 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from shoal.errors import near_miss, shown
from shoal.generalization.forms import Floats
from shoal.methods.base import Method
from shoal.problem import Problem

LEAST = 1e-12  # share of the largest weight; a column that weighs less decides no choice either


@dataclass(frozen=True)
class Weighing(Method):
    """A method that takes a weight for each sensitive column; without weights all count the same."""

    weights: Mapping[str, float] = field(default_factory=dict)

    def problems(self) -> list[str]:
        what = f"The 'weights' option of method {self.name}"
        if not isinstance(self.weights, Mapping):
            given = shown(self.weights)
            return [f"{what} must be a dict of sensitive columns and numbers. Got {given} instead."]
        wrong = [weight for weight in self.weights.values() if not _is_weight(weight)]
        if wrong:
            return [f"{what} must be finite numbers above 0. Got {shown(wrong[0])} instead."]
        return []

    def column_problems(self, sensitive: Sequence[str]) -> list[str]:
        if not self.weights:
            return []
        what = f"The 'weights' option of method {self.name}"
        unknown = [str(name) for name in self.weights if name not in sensitive]
        missing = [name for name in sensitive if name not in self.weights]
        found = []
        if unknown:
            close = near_miss(unknown[0], sensitive) or f"; weigh {', '.join(sensitive) or 'none'}."
            found.append(f"{what} names '{unknown[0]}', which is no sensitive column{close}")
        if missing:
            names = ", ".join(f"'{name}'" for name in missing)
            found.append(f"{what} lacks {names}; give every sensitive column a weight.")
        return found

    def tally_weights(self, problem: Problem) -> Floats:
        """The weight, for each tally of the rules, of a value that a group lacks; 1 where all weigh the same.

        Only ratios matter, so the largest is 1: equal weights then add up to whole numbers, and ties stay ties.
        """
        weights = [float(self.weights.get(name, 1.0)) for name in problem.tallies]
        largest = max(map(float, self.weights.values()), default=1.0)
        return np.maximum(np.array(weights, dtype=np.float64) / largest, LEAST)


def _is_weight(weight: Any) -> bool:
    is_number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
    return is_number and isfinite(weight) and weight > 0
