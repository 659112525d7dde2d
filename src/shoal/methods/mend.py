"""How groups made for k alone come to meet a requirement."""

from __future__ import annotations

import numpy as np

from shoal.generalization.forms import Ints
from shoal.kernels.mend import mend_groups
from shoal.kernels.state import offending, pack
from shoal.methods.base import join_rest, state_of
from shoal.methods.settle import settle
from shoal.problem import Problem
from shoal.progress import Progress

COMPARISONS = 1 << 22  # of records with groups, between two reports of progress


def mend(problem: Problem, groups: Ints, progress: Progress) -> Ints:
    """Give every record a group and bring all groups to meet the requirement.

    Records without a group (−1) join as in `settle`. Then groups that do not comply, the smallest first, are
    merged with the closest one whose union with them does; closest whatever the union, as `settle` merges,
    would pile up groups that all lack the same values. Where it costs less, their records are handed
    out to groups that go on complying. What is left after that is settled.
    """
    groups = groups.copy()
    if (groups >= 0).any():
        join_rest(problem, groups)
    groups[groups < 0] = groups.max() + 1
    state = state_of(problem, groups)
    mended = 1
    while mended:
        small = np.flatnonzero(offending(problem.rules, state))
        small = small[np.argsort(state.size[small], kind="stable")]
        work = np.cumsum(state.size[small]) * state.size.size // COMPARISONS
        mended = done = 0
        for part in np.split(small, np.flatnonzero(np.diff(work)) + 1):
            progress("mending groups", done, small.size)
            mended += mend_groups(
                problem.arrays,
                problem.pairs,
                problem.rules,
                state,
                problem.codes,
                problem.classes,
                part,
            )
            done += part.size
    return settle(problem, pack(state)[0], progress)
