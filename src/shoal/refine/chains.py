"""Chains of moves, from dear groups to cheap ones."""

from __future__ import annotations

from shoal.kernels.refining.chains import shift_chains
from shoal.kernels.refining.reach import Reach, list_all_pairs, make_reach
from shoal.refine.partition import Refined

PAIRS = 64  # for each distinct record, of a group and a record that it covers
MOST_PAIRS = 50_000_000


def reach_of(refined: Refined) -> Reach:
    """Room for what groups can reach."""
    problem = refined.problem
    codes, place = problem.points.codes, problem.points.of_record
    pairs = min(MOST_PAIRS, PAIRS * len(codes))
    room = len(refined.search.s.size)
    return make_reach(problem.arrays, codes, place, room, pairs)


def shift_all(refined: Refined, reach: Reach) -> int:
    """Shift records along chains while that gains; returns how often."""
    list_all_pairs(refined.search, reach)
    return int(shift_chains(refined.search, reach))
