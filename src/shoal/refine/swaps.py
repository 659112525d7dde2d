"""Swaps: two records of different groups change places."""

from __future__ import annotations

import numpy as np

from shoal.kernels.refining.swaps import swap_records
from shoal.refine.partition import Refined

NEAR = 2  # nearest groups whose members a record tries to swap with
# Records times the work for each of them, to bound the time of a pass: groups times columns to find the nearest
# groups, and TRIAL for each pair of members that may be tried.
MOST_WORK, TRIAL = 500_000_000, 25


def _group_size(refined: Refined) -> int:
    """The usual number of records in a group: about k, or more where more than k is required."""
    if not refined.problem.tallied:
        return refined.problem.k
    groups = max(1, int(np.count_nonzero(refined.search.s.size)))
    return max(refined.problem.k, refined.problem.table.records // groups)


def swap_all(refined: Refined) -> int:
    """Swap records where that lowers the cost, the dearest first; returns the number of swaps.

    In a large table only the dearest records are looked at.
    """
    search, trials = len(refined.search.s.size), NEAR * _group_size(refined) ** 2
    most = max(1, MOST_WORK // (search * len(refined.problem.columns) + TRIAL * trials))
    return int(swap_records(refined.search, refined.dearest()[:most], NEAR))
