"""The end of every greedy method: what is left over, or does not meet the requirement, is merged at least cost."""

from __future__ import annotations

import numpy as np

from shoal.generalization.forms import Ints, Records
from shoal.kernels.agglomerative import DIFFERENCE
from shoal.kernels.state import offending, pack
from shoal.methods.agglomerative import merge_small
from shoal.methods.base import join_rest, state_of
from shoal.problem import Problem
from shoal.progress import Progress


def settle(
    problem: Problem, groups: Ints, progress: Progress, records: Records | None = None
) -> Ints:
    """Give every record a group and merge groups until all meet the requirement.

    Records without a group (−1) join the group where they add least cost and do no harm. Those that no group
    can take, and groups that do not meet the requirement, are merged with their closest. `groups` are those of
    all records, or of `records` alone.
    """
    numbers, place = np.unique(groups, return_inverse=True)
    groups = (place.reshape(-1) - (numbers[0] < 0)).astype(np.int32)  # without gaps
    if (groups >= 0).any():
        join_rest(problem, groups, records)
    groups[groups < 0] = groups.max() + 1
    state = state_of(problem, groups, records)
    if offending(problem.rules, state).any():
        merge_small(problem, state, DIFFERENCE, False, progress)
    return pack(state)[0]
