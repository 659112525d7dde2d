"""The end of every greedy method: what is left over, or does not meet the requirement, finds a place at least cost."""

from __future__ import annotations

import numpy as np

from shoal.generalization.forms import Ints, Records
from shoal.kernels.clustering.agglomerative import DIFFERENCE
from shoal.kernels.clustering.mend import mend_groups
from shoal.kernels.shared.state import State, offending, pack
from shoal.methods.agglomerative import merge_small
from shoal.methods.base import arrays_of, join_rest, state_of
from shoal.problem import Problem
from shoal.progress import Progress

COMPARISONS = 1 << 22  # comparisons of a record with a group between two reports of progress


def settle(
    problem: Problem, groups: Ints, progress: Progress, records: Records | None = None
) -> Ints:
    """Give every record a group and bring all groups to meet the requirement.

    Records without a group (−1) join the group where they add least cost and do no harm. Groups that do not
    meet the requirement are mended where more than k is required, and merged with their closest where that
    does not help. `groups` are those of all records, or of `records` alone.
    """
    numbers, place = np.unique(groups, return_inverse=True)
    groups = (place.reshape(-1) - (numbers[0] < 0)).astype(np.int32)  # without gaps
    if (groups >= 0).any():
        join_rest(problem, groups, records)
    groups[groups < 0] = groups.max() + 1
    state = state_of(problem, groups, records)
    if problem.tallied:
        _mend(problem, state, records, progress)
    if offending(problem.rules, state).any():
        merge_small(problem, state, DIFFERENCE, False, progress)
    return pack(state)[0]


def _mend(problem: Problem, state: State, records: Records | None, progress: Progress) -> None:
    """Merge groups that miss the requirement, the smallest first, with the closest whose union meets it.

    Merging with the closest group in any case would pile up groups that all lack the same values. Where it costs
    less than a merger, the records of the group are handed out to groups that go on meeting the requirement.
    """
    codes, classes, _ = arrays_of(problem, records)
    mended = 1
    while mended:
        small = np.flatnonzero(offending(problem.rules, state))
        small = small[np.argsort(state.size[small], kind="stable")]
        work = np.cumsum(state.size[small]) * state.size.size // COMPARISONS
        mended = done = 0
        for part in np.split(small, np.flatnonzero(np.diff(work)) + 1):
            progress("mending groups", done, small.size)
            mended += mend_groups(
                problem.arrays, problem.pairs, problem.rules, state, codes, classes, part
            )
            done += part.size
