"""Carving: new groups out of the records that would cost less in a cell of the lattice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.refining.carving import carve_points
from shoal.kernels.refining.carving_cells import (
    LatticeCells,
    make_carving_scratch,
    make_cells,
    price_out_rare,
)
from shoal.kernels.refining.reach import Reach, find_supplies, list_all_pairs
from shoal.solve.local_search.budget import Meter
from shoal.solve.local_search.state import Neighbourhood, SearchState, reach_of
from shoal.solve.methods.lattice import (
    Lattice,
    can_walk,
    make_ladders,
    make_lattice,
    make_lattice_of_groups,
    part_costs,
)
from shoal.solve.problem import Problem

MOST_LOOKS = 800_000_000  # lattice points times records, to bound time
# Rows of keys times lattice points times distinct records where a lattice has too many columns to be walked. On a table
# of 46 columns, twelve times the work at the cheapest points of the lattice gained a fiftieth of this.
MOST_WIDE_LOOKS = 1_600_000_000
MOST_POINTS = 20_000  # lattice points, however few the records
KEY_BYTES = 100_000_000  # bytes of lattice keys kept at once; costs of the same number of entries come with them
CHUNK = 3_000_000  # distinct records times lattice points between two reports of progress
STEPS = 40  # steps in a whole budget
# Units of work: a distinct record at a lattice point, and a record and a column when the lattice is made.
PER_CELL, PER_KEY = 16, 800


class Carve(Neighbourhood):
    """Carve groups at one lattice point after the other, cheapest first; begin again after the last.

    Points are left out from then on where no cell has k records of which some cost more in their groups.
    """

    name = "carving"

    def __init__(self, problem: Problem, rng: np.random.Generator, meter: Meter) -> None:
        super().__init__(problem, rng, meter)
        self._lattice: Lattice | None = None
        self._seen: SearchState | None = None
        self._waiting: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def step(self, now: SearchState) -> SearchState:
        lattice = self._lattice or self._begin(now)
        if not self._waiting.size:
            self._waiting, self._begun_at = np.flatnonzero(self._full), now.cost
        cells, reach = self._cells_for(now, lattice)
        until, carved = self.meter.done + self.meter.pace / STEPS, 1
        most = max(1, CHUNK // len(self.problem.points.codes))
        while self._waiting.size and self.meter.done < until and self.goes_on():
            chunk, self._waiting = self._waiting[:most], self._waiting[most:]
            if carved:
                find_supplies(now.search, reach)
            carved, _, full = carve_points(now.search, cells, reach, lattice.steps[chunk])
            self._full[chunk] = full > 0
            self.meter.add(PER_CELL * chunk.size * len(self.problem.points.codes))
        if not self._waiting.size and now.cost >= self._begun_at:
            self.tired_at = now.cost
        return now

    def _begin(self, now: SearchState) -> Lattice:
        """Make the lattice, cheapest points first."""
        problem = now.problem
        points = min(MOST_POINTS, max(1, MOST_LOOKS // problem.table.records))
        lattice = _lattice(now, points, int(self.rng.integers(1 << 62)))
        self._costs = part_costs(problem, lattice.ladders, lattice.parts)
        price_out_rare(lattice.keys, self._costs, problem.points.weights, problem.k)
        self._full = np.ones(len(lattice.steps), dtype=bool)
        self._lattice = lattice
        self.meter.add(PER_KEY * problem.table.records * len(problem.columns))
        return lattice

    def _cells_for(self, now: SearchState, lattice: Lattice) -> tuple[LatticeCells, Reach]:
        """The cells and the reach for a partition, made anew if it is another than the last time."""
        if self._seen is not now:
            column = now.problem.points.of_record
            first = np.append(0, np.cumsum(np.bincount(column)))
            records = np.argsort(column, kind="stable").astype(np.int32)
            scratch = make_carving_scratch(len(column), now.room)
            self._seen, self._reach = now, reach_of(now)
            self._cells = make_cells(lattice.keys, self._costs, first, records, column, scratch)
        list_all_pairs(now.search, self._reach)
        return self._cells, self._reach


def _lattice(now: SearchState, points: int, seed: int) -> Lattice:
    """The cheapest points of the lattice, or where it has very many columns, those at which groups stand.

    The cheapest points of so large a lattice generalize two or three columns, and hardly any cell there has k records.
    """
    problem = now.problem
    ladders = make_ladders(problem)
    if points == 1 or can_walk(ladders, points):
        return make_lattice(problem, ladders, points, seed, KEY_BYTES)
    looks = min(MOST_WIDE_LOOKS, points * len(problem.points.codes) * len(ladders))
    return make_lattice_of_groups(problem, ladders, now.groups, looks, seed, KEY_BYTES)
