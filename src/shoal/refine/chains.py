"""Chains of moves: a record moves to a group, which passes another record on to the next, and so forth.

These are the augmenting paths of flow problems: only the ends of a chain change their number of records.
"""

from __future__ import annotations

from shoal.kernels.refining.chains import shift_chains
from shoal.kernels.refining.reach import Reach, list_all_pairs, make_reach
from shoal.refine.partition import Refined

# Pairs of a group and a distinct record that its closure covers, for which there is room: so many for each distinct
# record, and so many in all, to bound memory.
PAIRS, MOST_PAIRS = 64, 50_000_000


def reach_of(refined: Refined) -> Reach:
    """Make room for the list of records that the closure of each group covers already."""
    problem = refined.problem
    codes, place = problem.points.codes, problem.points.of_record
    pairs = min(MOST_PAIRS, PAIRS * len(codes))
    room = len(refined.search.s.size)
    return make_reach(problem.arrays, codes, place, room, pairs)


def shift_all(refined: Refined, reach: Reach) -> int:
    """Shift records along chains as long as that lowers the cost; returns the number of chains."""
    list_all_pairs(refined.search, reach)
    return int(shift_chains(refined.search, reach))
