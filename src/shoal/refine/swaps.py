"""Pairs of records swap their groups."""

from __future__ import annotations

from shoal.kernels.refining.swaps import swap_records
from shoal.refine.partition import Refined

NEAR = 2  # groups to swap with
MOST_WORK = (
    500_000_000  # records times what finding the nearest groups and trying their members takes
)
TRIAL = 25  # what trying a member takes, for each member of a group


def swap_all(refined: Refined) -> int:
    """Swap records that gain by it, the dearest first; in a large table only these. Returns how many did."""
    search, trials = len(refined.search.s.size), NEAR * refined.problem.k**2
    most = max(1, MOST_WORK // (search * len(refined.problem.columns) + TRIAL * trials))
    return int(swap_records(refined.search, refined.dearest()[:most], NEAR))
