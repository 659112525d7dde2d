"""The neighbourhoods of local search: moves, swaps, splits, dissolving and chains, over one partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.encoding.forms import Ints
from shoal.kernels.refining.chains import shift_chains
from shoal.kernels.refining.neighbourhoods import (
    dissolve_groups,
    move_records,
    split_groups,
    swap_records,
)
from shoal.kernels.refining.reach import Reach, list_all_pairs, make_reach
from shoal.kernels.refining.search import GAIN, Search, make_search
from shoal.kernels.shared.state import fill, make_state, pack
from shoal.progress import Progress
from shoal.solve.problem import Problem


@dataclass(frozen=True)
class SearchState:
    """A problem and its partition while refinement changes it; `search` is what the kernels work on."""

    problem: Problem
    search: Search

    @classmethod
    def of(cls, problem: Problem, groups: Ints) -> SearchState:
        """Start from a partition, with room for half as many groups more."""
        most, number = problem.table.records // problem.k, int(groups.max()) + 1
        room = max(number, min(most, number + number // 2 + 16)) + 1
        state = make_state(problem.arrays, problem.values, problem.tallied, room)
        fill(problem.arrays, state, problem.codes, problem.classes, groups)
        search = make_search(
            problem.arrays, problem.pairs, problem.rules, state, problem.codes, problem.classes
        )
        return cls(problem, search)

    @property
    def groups(self) -> Ints:
        """The group of every record, numbered without gaps."""
        return pack(self.search.s)[0]

    @property
    def cost(self) -> float:
        """The cost of all groups together, without the constants of the objective."""
        return float(self.search.s.cost[self.search.s.size > 0].sum())

    def dearest(self) -> Ints:
        """All records in descending order of what they cost, equal records of a group together."""
        order = np.lexsort((self.problem.points.of_record, -self.search.price))
        return order.astype(np.int32)


# Records times groups times columns that one pass looks at, to bound its time: beyond, only the dearest records are
# looked at.
MOST_MOVES = 2_500_000_000
CHUNK = 100_000_000  # records times groups times columns between two reports of progress


def move_all(refined: SearchState, progress: Progress) -> int:
    """Move every record that costs less in another group, the dearest first; returns the number of moves.

    In a large table only the dearest records are looked at.
    """
    records = refined.dearest()[: most_movers(refined)]
    chunk, moves = max(1, CHUNK // _work(refined)), 0
    for start in range(0, len(records), chunk):
        progress("refining: moves", start, len(records))
        moves += move_records(refined.search, records[start : start + chunk])
    return moves


def most_movers(refined: SearchState) -> int:
    """The number of records that one pass looks at."""
    return min(refined.problem.table.records, max(1, MOST_MOVES // _work(refined)))


def _work(refined: SearchState) -> int:
    """The work of looking for one record's best group: groups times columns."""
    return len(refined.search.s.size) * len(refined.problem.columns)


NEAR = 2  # nearest groups whose members a record tries to swap with
# Records times the work for each of them, to bound the time of a pass: groups times columns to find the nearest
# groups, and TRIAL for each pair of members that may be tried.
MOST_SWAPS, TRIAL = 500_000_000, 25


def _group_size(refined: SearchState) -> int:
    """The usual number of records in a group: about k, or more where more than k is required."""
    if not refined.problem.tallied:
        return refined.problem.k
    groups = max(1, int(np.count_nonzero(refined.search.s.size)))
    return max(refined.problem.k, refined.problem.table.records // groups)


def swap_all(refined: SearchState) -> int:
    """Swap records where that lowers the cost, the dearest first; returns the number of swaps.

    In a large table only the dearest records are looked at.
    """
    search, trials = len(refined.search.s.size), NEAR * _group_size(refined) ** 2
    most = max(1, MOST_SWAPS // (search * len(refined.problem.columns) + TRIAL * trials))
    return int(swap_records(refined.search, refined.dearest()[:most], NEAR))


def split_all(refined: SearchState) -> int:
    """Split groups of at least 2k records as long as that lowers the cost; returns the number of splits."""
    x, splits = refined.search, 0
    groups = np.flatnonzero((x.s.size >= 2 * x.q.k) & (x.s.cost > GAIN))
    while len(groups):  # few tables of few records have any, and these need not compile the kernel
        groups = split_groups(x, groups)
        splits += len(groups) // 2
    return splits


def dissolve_all(refined: SearchState) -> int:
    """Dissolve every group whose records cost less in other groups; returns the number of groups dissolved."""
    return int(dissolve_groups(refined.search, np.arange(len(refined.search.s.size))))


# Pairs of a group and a distinct record that its closure covers, for which there is room: so many for each distinct
# record, and so many in all, to bound memory.
PAIRS, MOST_PAIRS = 64, 50_000_000


def reach_of(refined: SearchState) -> Reach:
    """Make room for the list of records that the closure of each group covers already."""
    problem = refined.problem
    codes, place = problem.points.codes, problem.points.of_record
    pairs = min(MOST_PAIRS, PAIRS * len(codes))
    room = len(refined.search.s.size)
    return make_reach(problem.arrays, codes, place, room, pairs)


def shift_all(refined: SearchState, reach: Reach) -> int:
    """Shift records along chains as long as that lowers the cost; returns the number of chains."""
    list_all_pairs(refined.search, reach)
    return int(shift_chains(refined.search, reach))
