"""The end of every method: what is left over finds a place at least cost, and records that cost too much are
left out.
"""

from __future__ import annotations

import numpy as np

from shoal.encoding.forms import Floats, Ints, Records
from shoal.kernels.clustering.agglomerative import DIFFERENCE
from shoal.kernels.clustering.mend import mend_groups
from shoal.kernels.shared.forms import cost_of_closure
from shoal.kernels.shared.state import State, offending, pack
from shoal.progress import Progress
from shoal.solve.methods.agglomerative import merge_small
from shoal.solve.methods.base import arrays_of, join_rest, state_of
from shoal.solve.problem import Problem

COMPARISONS = 1 << 22  # comparisons of a record with a group between two reports of progress


def complete_groups(
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
            progress("repairing groups", done, small.size)
            mended += mend_groups(
                problem.arrays, problem.pairs, problem.rules, state, codes, classes, part
            )
            done += part.size


def suppressed_costs(problem: Problem) -> Floats:
    """What a fully suppressed record of each class costs: the whole domain in every quasi-identifier."""
    classes = range(problem.class_count)
    return np.array([cost_of_closure(problem.arrays, y, problem.whole, 0) for y in classes])
