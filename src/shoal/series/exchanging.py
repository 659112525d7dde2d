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
BESIDE = 4  # groups that are made anew together with one
TRIES = 4  # beginnings of a new group
PASSES = 20
FEW = 1e-3  # share of the cost: a pass that gains less is the last


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
        if VERBOSE: print(done, before, refined.cost, refined.groups.max()+1)
        if before - refined.cost <= FEW * before:
            break
    return refined.groups
VERBOSE=1
