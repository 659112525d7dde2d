"""Better groups of the same signatures: people change places, and near groups are made anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.generalization.forms import Ints
from shoal.kernels.refining.exchanging import exchange_people
from shoal.kernels.refining.regrouping import regroup_near
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine.partition import Refined

NEAR = 5  # nearest groups whose people one tries to change places with
# Groups that are made anew together with one, and beginnings that are tried: 8 and 12 took three times as long on 5,000
# census records and gained nothing.
BESIDE, TRIES = 4, 4
PASSES = 20  # at most
SMALLEST_GAIN = 1e-3  # share of the cost: a pass that gains less is the last


def improve_groups(
    problem: Problem,
    groups: Ints,
    signature: Ints,
    width: Any,
    value: Ints,
    is_new: Any,
    progress: Progress,
) -> Ints:
    """Groups that cost less, each of one signature with as many people of each of its values.

    Newcomers may change signatures with each other on the way; `signature` is brought up to date.
    """
    if not (groups >= 0).any():
        return groups
    refined = Refined.of(problem, groups)
    search = refined.search
    holds = np.zeros((int(signature.max()) + 1, int(value.max()) + 1), dtype=np.bool_)
    placed = signature >= 0
    holds[signature[placed], value[placed]] = True
    for done in range(PASSES):
        progress("refining", done, PASSES)
        before = refined.cost
        order = np.argsort(-search.s.cost, kind="stable")
        regroup_near(search, order, BESIDE, TRIES, value, signature, width)
        exchange_people(search, refined.dearest(), NEAR, value, signature, is_new, holds)
        if before - refined.cost <= SMALLEST_GAIN * before:
            break
    return refined.groups
