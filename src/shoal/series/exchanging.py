"""People of the same sensitive value change places between groups, as long as that lowers the cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.generalization.forms import Ints
from shoal.kernels.refining.exchanging import exchange_people
from shoal.problem import Problem
from shoal.refine.partition import Refined

NEAR = 5  # nearest groups whose people one tries to change places with
PASSES = 20
FEW = 1e-3  # share of the people: a pass with fewer exchanges is the last


def exchange_all(problem: Problem, groups: Ints, signature: Ints, value: Ints, is_new: Any) -> Ints:
    """Groups that cost less, with the same values in each; `signature` of newcomers who changed it is brought up to date."""
    if not (groups >= 0).any():
        return groups
    refined = Refined.of(problem, groups)
    holds = np.zeros((int(signature.max()) + 1, int(value.max()) + 1), dtype=np.bool_)
    placed = signature >= 0
    holds[signature[placed], value[placed]] = True
    for _ in range(PASSES):
        people = refined.dearest()
        done = exchange_people(refined.search, people, NEAR, value, signature, is_new, holds)
        if done <= FEW * groups.size:
            break
    return refined.groups
