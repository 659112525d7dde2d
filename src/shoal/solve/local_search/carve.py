"""Carving: new groups out of the records that would cost less in a cell of the lattice; ruin and recreate."""

from __future__ import annotations

import numpy as np

from shoal.kernels.refining.carving import carve_points
from shoal.kernels.refining.carving_cells import (
    LatticeCells,
    make_carving_scratch,
    make_cells,
    price_out_rare,
)
from shoal.kernels.refining.reach import Reach, find_supplies, list_all_pairs
from shoal.kernels.refining.ruin import ruin_all
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
CHUNK = 128  # lattice points between two reports of progress
STEPS = 40  # steps in a whole budget
PER_CELL = 10  # units of work for a distinct record at a lattice point


class Carver:
    """The lattice of a problem, and the room to carve groups at its points."""

    def __init__(self, now: SearchState, rng: np.random.Generator) -> None:
        """Make the lattice, cheapest points first."""
        problem = now.problem
        points = min(MOST_POINTS, max(1, MOST_LOOKS // problem.table.records))
        lattice = _lattice(now, points, int(rng.integers(1 << 62)))
        costs = part_costs(problem, lattice.ladders, lattice.parts)
        price_out_rare(lattice.keys, costs, problem.points.weights, problem.k)
        self.steps, self.costs = lattice.steps, lattice.costs
        self._column = problem.points.of_record
        self._first = np.append(0, np.cumsum(np.bincount(self._column)))
        self._records = np.argsort(self._column, kind="stable").astype(np.int32)
        self._keys, self._part_costs = lattice.keys, costs
        self._seen: SearchState | None = None

    def begin(self, now: SearchState) -> tuple[LatticeCells, Reach]:
        """The cells and the reach for a partition, made anew if it is another than the last time."""
        if self._seen is not now:
            self._seen, self._reach = now, reach_of(now)
            scratch = make_carving_scratch(len(self._column), now.room)
            self._cells = make_cells(
                self._keys, self._part_costs, self._first, self._records, self._column, scratch
            )
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


class Carve(Neighbourhood):
    """Carve groups at one lattice point after the other, cheapest first; begin again after the last."""

    name = "carving"

    def __init__(
        self, problem: Problem, rng: np.random.Generator, meter: Meter, shared: Shared
    ) -> None:
        super().__init__(problem, rng, meter)
        self._shared = shared
        self._waiting = np.empty(0, dtype=np.int64)
        self._full: np.ndarray | None = None

    def step(self, now: SearchState) -> SearchState:
        carver = self._shared.carver(now, self.rng)
        if self._full is None:
            self._full = np.ones(len(carver.steps), dtype=bool)
        if not self._waiting.size:
            self._waiting = np.flatnonzero(self._full)
        cells, reach = carver.begin(now)
        until, some = self.meter.done + self.meter.allowance / STEPS, 1
        while self._waiting.size and self.meter.done < until and self.goes_on():
            chunk, self._waiting = self._waiting[:CHUNK], self._waiting[CHUNK:]
            if some:
                find_supplies(now.search, reach)
            some, _, full = carve_points(now.search, cells, reach, carver.steps[chunk])
            self._full[chunk] = full > 0
            self.meter.add(PER_CELL * chunk.size * len(self.problem.points.codes))
        return now


class Shared:
    """The carver that carving and ruin share, made when one of them first needs it."""

    def __init__(self) -> None:
        self._carver: Carver | None = None

    def carver(self, now: SearchState, rng: np.random.Generator) -> Carver:
        """The carver, made for the first partition that it is asked for."""
        if self._carver is None:
            self._carver = Carver(now, rng)
        return self._carver


BATCH = 32  # random records in one call, for all of which lattice points come in the same order
MOST_NEAR = 8  # groups around a record that are looked at; between 2 and so many are drawn
NOISE = 0.1  # share of its cost by which a lattice point may come later, so that new groups differ from the old
PER_RECORD, PER_LATTICE_POINT, PER_GROUP = 20, 40, 2  # units of work for each ruin


class Ruin(Neighbourhood):
    """Ruin and recreate: unite a few neighbouring groups at random places and carve them anew."""

    name = "perturbing"

    def __init__(
        self, problem: Problem, rng: np.random.Generator, meter: Meter, shared: Shared
    ) -> None:
        super().__init__(problem, rng, meter)
        self._shared = shared

    def step(self, now: SearchState) -> SearchState:
        carver, rng = self._shared.carver(now, self.rng), self.rng
        cells, reach = carver.begin(now)
        records, until = self.problem.table.records, self.meter.done + self.meter.allowance / STEPS
        each = PER_RECORD * records + PER_LATTICE_POINT * len(carver.costs)
        each += PER_GROUP * now.room * len(self.problem.columns)
        while self.meter.done < until and self.goes_on():
            later = 1 + NOISE * rng.random(len(carver.costs))
            order = np.argsort(carver.costs * later, kind="stable")
            near = rng.integers(2, MOST_NEAR + 1, BATCH)
            united = np.maximum(2, (near * rng.uniform(0.3, 1.0, BATCH)).astype(np.int64))
            some = rng.integers(0, records, BATCH)
            ruin_all(now.search, cells, reach, carver.steps[order], some, near, united)
            self.meter.add(BATCH * each)
        return now
