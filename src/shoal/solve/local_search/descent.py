"""Descent to a local optimum: carving, the neighbourhoods one after the other, ruin and recreate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import Floats
from shoal.kernels.refining.carving import carve_points
from shoal.kernels.refining.carving_cells import (
    LatticeCells,
    make_carving_scratch,
    make_cells,
    price_out_rare,
)
from shoal.kernels.refining.reach import Reach, find_supplies
from shoal.kernels.refining.ruin import ruin_all
from shoal.progress import Progress
from shoal.solve.local_search.budget import Clock
from shoal.solve.local_search.neighbourhoods import (
    SearchState,
    dissolve_all,
    move_all,
    reach_of,
    shift_all,
    split_all,
    swap_all,
)
from shoal.solve.methods.lattice import (
    Lattice,
    Rows,
    can_walk,
    make_ladders,
    make_lattice,
    make_lattice_of_groups,
    part_costs,
)

MOST_LOOKS = 800_000_000  # lattice points times records of one pass, to bound time
# Rows of keys times lattice points times distinct records where a lattice has too many columns to be walked. On a table
# of 46 columns, twelve times the work at the cheapest points of the lattice gained a fiftieth of this.
MOST_WIDE_LOOKS = 1_600_000_000
MOST_POINTS = 20_000  # lattice points of one pass, however few the records
FEWEST_POINTS = (
    1_000  # with fewer, in very large tables, carving gains nearly nothing: it is left out
)
KEY_BYTES = 100_000_000  # bytes of lattice keys kept at once; costs of the same number of entries come with them
CHUNK = 128  # lattice points between two reports of progress


@dataclass
class Carver:
    """What carving needs from one pass to the next: the lattice, and which of its points are worth a visit."""

    refined: SearchState
    reach: Reach
    cells: LatticeCells
    steps: Rows
    costs: Floats  # of the points, mean over records
    # Whether a point, when last visited, had a cell of k records of which some cost more in their groups.
    full: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls, refined: SearchState, reach: Reach, seed: int, most_points: int = MOST_POINTS
    ) -> Carver:
        """Make the lattice of a partition's problem, with every point worth a visit."""
        problem = refined.problem
        points = min(most_points, MOST_LOOKS // problem.table.records)
        points = points if points >= FEWEST_POINTS else 1
        lattice = _lattice(refined, points, seed)
        costs = part_costs(problem, lattice.ladders, lattice.parts)
        price_out_rare(lattice.keys, costs, problem.points.weights, problem.k)
        column = problem.points.of_record
        first = np.append(0, np.cumsum(np.bincount(column)))
        records = np.argsort(column, kind="stable").astype(np.int32)
        scratch = make_carving_scratch(len(column), len(refined.search.s.size))
        cells = make_cells(lattice.keys, costs, first, records, column, scratch)
        return cls(
            refined,
            reach,
            cells,
            lattice.steps,
            lattice.costs,
            np.ones(len(lattice.steps), dtype=bool),
        )

    def carve_all(self, progress: Progress) -> int:
        """Carve at every point that is worth a visit, cheapest first; returns the number of groups carved."""
        points, carved, some = np.flatnonzero(self.full), 0, 1
        search = self.refined.search
        for start in range(0, len(points), CHUNK):
            progress("refining: carving", start, len(points))
            chunk = points[start : start + CHUNK]
            if some:
                find_supplies(search, self.reach)
            some, _, full = carve_points(search, self.cells, self.reach, self.steps[chunk])
            carved += some
            self.full[chunk] = full > 0
        return carved


def _lattice(refined: SearchState, points: int, seed: int) -> Lattice:
    """The cheapest points of the lattice, or where it has very many columns, those at which groups stand.

    The cheapest points of so large a lattice generalize two or three columns, and hardly any cell there has k records.
    """
    problem = refined.problem
    ladders = make_ladders(problem)
    if points == 1 or can_walk(ladders, points):
        return make_lattice(problem, ladders, points, seed, KEY_BYTES)
    looks = min(MOST_WIDE_LOOKS, points * len(problem.points.codes) * len(ladders))
    return make_lattice_of_groups(problem, ladders, refined.groups, looks, seed, KEY_BYTES)


def local_descent(
    refined: SearchState, seed: int, progress: Progress, carves: bool = True, splits: bool = True
) -> None:
    """Improve a partition by every neighbourhood in turn, the dearest of them if it `carves`."""
    move_all(refined, progress)
    dissolve_all(refined)
    if splits:
        split_all(refined)
    swap_all(refined)
    if carves:
        carve_groups(refined, seed, progress)


def carve_groups(
    refined: SearchState, seed: int, progress: Progress, points: int = MOST_POINTS
) -> Carver:
    """Carve groups out of others at up to so many lattice points, with chains of moves before and after."""
    carver = Carver.of(refined, reach_of(refined), seed, points)
    shift_all(refined, carver.reach)
    carver.carve_all(progress)
    dissolve_all(refined)
    shift_all(refined, carver.reach)
    return carver


def move_single_records(refined: SearchState, reach: Reach, progress: Progress) -> None:
    """Improve a partition by the neighbourhoods that move single records, after larger changes."""
    move_all(refined, progress)
    dissolve_all(refined)
    swap_all(refined)
    shift_all(refined, reach)


BATCH = 32  # random records in one step, for all of which lattice points come in the same order
MOVES = 16  # steps between two passes of moves over all records
MOST_NEAR = 8  # groups around a record that are looked at; between 2 and so many are drawn
NOISE = 0.1  # share of its cost by which a lattice point may come later, so that new groups differ from the old


def ruin_and_recreate(carver: Carver, seed: int, progress: Progress, clock: Clock) -> None:
    """Ruin and recreate as long as the budget lasts, with moves of single records in between."""
    refined = carver.refined
    rng = np.random.default_rng([seed, 1])
    batch = 0
    while clock.goes_on("perturbing"):
        later = 1 + NOISE * rng.random(len(carver.costs))
        order = np.argsort(carver.costs * later, kind="stable")
        near = rng.integers(2, MOST_NEAR + 1, BATCH)
        united = np.maximum(2, (near * rng.uniform(0.3, 1.0, BATCH)).astype(np.int64))
        records = rng.integers(0, refined.problem.table.records, BATCH)
        steps = carver.steps[order]
        ruin_all(refined.search, carver.cells, carver.reach, steps, records, near, united)
        clock.tick()
        batch += 1
        if batch % MOVES == 0:
            move_single_records(refined, carver.reach, progress)
    move_single_records(refined, carver.reach, progress)
