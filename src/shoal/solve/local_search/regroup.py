"""Regrouping: a region of the table is grouped from scratch, and cells are chosen from the old and the new groups."""

from __future__ import annotations

import numpy as np

from shoal.progress import silent
from shoal.solve.local_search.budget import Meter
from shoal.solve.local_search.moves import improve_once
from shoal.solve.local_search.repack import LADDER, Repack, repack_all
from shoal.solve.local_search.state import (
    Neighbourhood,
    SearchState,
    closure_size,
    part_of,
    region_of,
    with_part,
)
from shoal.solve.methods.papers.sequential import Sequential
from shoal.solve.problem import Problem

# Records in a region, at least so many times k and at most so many: grouping takes time that grows with their square.
LEAST, REGION = 10, 2_000
# Units of work for a record, a group and a number in its closure; and for a record and a column of the whole table.
PER_LOOK, PER_CELL = 12, 20


class Regroup(Neighbourhood):
    """Group a region by the method `sequential`, from a random start, and choose cells from its groups and the present.

    What two partitions have in common is what both found good, and where they differ the better cells are chosen.
    """

    name = "regrouping"

    def __init__(
        self, problem: Problem, rng: np.random.Generator, meter: Meter, repack: Repack
    ) -> None:
        super().__init__(problem, rng, meter)
        self._repack = repack

    def step(self, now: SearchState) -> SearchState:
        region = region_of(now, self.rng, LEAST, REGION)
        self.meter.add(PER_CELL * self.problem.table.codes.size)
        part, here = part_of(now, region)
        again = self._grouped(part)
        self._repack.add(again.closures)
        cells = self._repack.cells
        for pools in LADDER[:3]:
            found = SearchState.of(part, here)
            here = repack_all(found, cells, pools, self.rng, self.meter, self.goes_on)
        better = SearchState.of(part, min(here, again.groups, key=part.cost))
        improve_once(better)
        return with_part(now, region, better.groups)

    def _grouped(self, part: Problem) -> SearchState:
        """The region's records in other groups."""
        again = Sequential().partition(part, int(self.rng.integers(1 << 62)), silent)
        found = SearchState.of(part, again.groups)
        records = part.table.records
        self.meter.add(
            PER_LOOK * records * (records // part.k) * (closure_size(part) + part.tallied)
        )
        improve_once(found)
        return found
