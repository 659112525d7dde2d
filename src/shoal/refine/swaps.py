"""Pairs of records swap their groups."""

from __future__ import annotations

from shoal.kernels.swaps import swap_records
from shoal.refine.partition import Refined

NEAR = 2  # groups to swap with
MOST_WORK = 20_000_000  # records times groups times their members, twice


def swap_all(refined: Refined) -> int:
    """Swap records that gain by it, the dearest first; in a large table only these. Returns how many did."""
    most = max(1, MOST_WORK // (NEAR * refined.problem.k**2))
    return int(swap_records(refined.search, refined.dearest()[:most], NEAR))
