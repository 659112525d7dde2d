"""Moves and swaps of single records; groups that dissolve."""

from __future__ import annotations

from math import inf

import numpy as np

from shoal.encoding.forms import Ints
from shoal.kernels.refining.neighbourhoods import move_records, swap_records
from shoal.solve.local_search.state import Neighbourhood, SearchState

WORK_BETWEEN_REPORTS = 100_000_000  # units of work between two reports of progress
STEPS = 40  # steps in a whole budget, at least
PER_LOOK = 0.6  # units of work for a record and a look at one of its possible groups
PER_POINT = 2_000  # and for a distinct record, in lists of what closures cover


class Moves(Neighbourhood):
    """Moves of some records a step, the dearest first; after the last one, all other changes of single records."""

    name = "moves"
    _waiting: Ints = np.empty(0, dtype=np.int32)
    _seen: SearchState | None = None
    _begun_at = inf  # the cost of the partition when the round began

    def step(self, now: SearchState) -> SearchState:
        if self._seen is not now or not self._waiting.size:
            self._seen, self._waiting, self._begun_at = now, now.dearest(), now.cost
        each = PER_LOOK * now.looks
        most = max(1, int(self.meter.pace / STEPS / each))
        some, self._waiting = self._waiting[:most], self._waiting[most:]
        chunk = max(1, int(WORK_BETWEEN_REPORTS / each))
        for start in range(0, len(some), chunk):
            if not self.goes_on():
                return now
            move_records(now.search, some[start : start + chunk])
        self.meter.add(each * len(some))
        if not self._waiting.size:
            self._end_round(now)
            if now.cost >= self._begun_at:
                self.tired_at = now.cost
        return now

    def _end_round(self, now: SearchState) -> None:
        swap_all(now)
        self.meter.add(PER_POINT * len(self.problem.points.codes))


def improve_once(now: SearchState) -> None:
    """Try all changes of single records once, in a partition of few records."""
    move_records(now.search, now.dearest())
    swap_all(now)


NEAR = 2  # nearest groups whose members a record tries to swap with
# Records times the work for each of them, to bound the time of a pass: groups times columns to find the nearest
# groups, and TRIAL for each pair of members that may be tried.
MOST_SWAPS, TRIAL = 500_000_000, 25


def swap_all(now: SearchState) -> int:
    """Swap records where that lowers the cost, the dearest first; returns the number of swaps.

    In a large table only the dearest records are looked at.
    """
    trials = NEAR * _group_size(now) ** 2
    most = max(1, MOST_SWAPS // (now.looks + TRIAL * trials))
    return int(swap_records(now.search, now.dearest()[:most], NEAR))


def _group_size(now: SearchState) -> int:
    """The usual number of records in a group: about k, or more where more than k is required."""
    if not now.problem.tallied:
        return now.problem.k
    groups = max(1, int(np.count_nonzero(now.search.s.size)))
    return max(now.problem.k, now.problem.table.records // groups)
