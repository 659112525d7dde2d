"""Moves, swaps and chains of single records; groups that split or dissolve."""

from __future__ import annotations

import numpy as np

from shoal.encoding.forms import Ints
from shoal.kernels.refining.chains import shift_chains
from shoal.kernels.refining.neighbourhoods import (
    dissolve_groups,
    move_records,
    split_groups,
    swap_records,
)
from shoal.kernels.refining.reach import Reach, list_all_pairs
from shoal.kernels.refining.search import GAIN
from shoal.solve.local_search.state import Neighbourhood, SearchState, reach_of

# Records times groups times columns that one pass looks at, to bound its time: beyond, only the dearest records are
# looked at.
MOST_MOVES = 2_500_000_000
WORK_BETWEEN_REPORTS = 100_000_000  # units of work between two reports of progress
STEPS = 40  # steps in a whole budget, at least
PER_LOOK = 0.8  # units of work for a record, a group and a column
PER_POINT = 2_000  # and for a distinct record, in lists of what closures cover


class Moves(Neighbourhood):
    """Moves of some records a step, the dearest first; after the last one, all other changes of single records."""

    name = "moves"
    _waiting: Ints = np.empty(0, dtype=np.int32)

    def step(self, now: SearchState) -> SearchState:
        if not self._waiting.size:
            self._waiting = now.dearest()[: most_movers(now)]
        each = PER_LOOK * looks_for_a_record(now)
        most = max(1, int(self.meter.allowance / STEPS / each))
        some, self._waiting = self._waiting[:most], self._waiting[most:]
        chunk = max(1, int(WORK_BETWEEN_REPORTS / each))
        for start in range(0, len(some), chunk):
            if not self.goes_on():
                return now
            move_records(now.search, some[start : start + chunk])
        self.meter.add(each * len(some))
        if not self._waiting.size:
            self._end_round(now)
        return now

    def _end_round(self, now: SearchState) -> None:
        dissolve_all(now)
        split_all(now)
        swap_all(now)
        shift_all(now, reach_of(now))
        self.meter.add(PER_POINT * len(self.problem.points.codes))


def most_movers(now: SearchState) -> int:
    """The number of records that one pass looks at."""
    return min(now.problem.table.records, max(1, MOST_MOVES // looks_for_a_record(now)))


def looks_for_a_record(now: SearchState) -> int:
    """The work of looking for one record's best group: groups times columns."""
    return now.room * len(now.problem.columns)


NEAR = 2  # nearest groups whose members a record tries to swap with
# Records times the work for each of them, to bound the time of a pass: groups times columns to find the nearest
# groups, and TRIAL for each pair of members that may be tried.
MOST_SWAPS, TRIAL = 500_000_000, 25


def swap_all(now: SearchState) -> int:
    """Swap records where that lowers the cost, the dearest first; returns the number of swaps.

    In a large table only the dearest records are looked at.
    """
    trials = NEAR * _group_size(now) ** 2
    most = max(1, MOST_SWAPS // (looks_for_a_record(now) + TRIAL * trials))
    return int(swap_records(now.search, now.dearest()[:most], NEAR))


def _group_size(now: SearchState) -> int:
    """The usual number of records in a group: about k, or more where more than k is required."""
    if not now.problem.tallied:
        return now.problem.k
    groups = max(1, int(np.count_nonzero(now.search.s.size)))
    return max(now.problem.k, now.problem.table.records // groups)


def split_all(now: SearchState) -> int:
    """Split groups of at least 2k records as long as that lowers the cost; returns the number of splits."""
    x, splits = now.search, 0
    groups = np.flatnonzero((x.s.size >= 2 * x.q.k) & (x.s.cost > GAIN))
    while len(groups):  # few tables of few records have any, and these need not compile the kernel
        groups = split_groups(x, groups)
        splits += len(groups) // 2
    return splits


def dissolve_all(now: SearchState) -> int:
    """Dissolve every group whose records cost less in other groups; returns the number of groups dissolved."""
    return int(dissolve_groups(now.search, np.arange(now.room)))


def shift_all(now: SearchState, reach: Reach) -> int:
    """Shift records along chains as long as that lowers the cost; returns the number of chains."""
    list_all_pairs(now.search, reach)
    return int(shift_chains(now.search, reach))
