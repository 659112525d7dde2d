"""Integer programs of small tables: the best choice among the most promising cells that are known, or of all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.kernels.refining.repacking import Candidates
from shoal.solve.bounds.point_bounds import PointTrees
from shoal.solve.local_search.budget import Meter
from shoal.solve.local_search.repack import Repack, make_candidates
from shoal.solve.local_search.state import Neighbourhood, SearchState
from shoal.solve.methods.integer_program import Cells, IntegerProgram, obstacle
from shoal.solve.problem import Problem

# Cells, and cells with one of their points; where a table has more, only the cells that are known are used.
CELLS, ENTRIES = 4_000, 40_000
# Records in a table, at most. Samples of 1,000 take half a second; programs of so many records of larger tables gained
# next to nothing.
RECORDS = 1_200
# Entries of least reduced cost in the first program, and the most in any. With 4,000, a program sometimes takes ten
# seconds.
FEW, MOST = 1_000, 2_000
LONG = 0.15  # share of the whole budget that a program may take; those after one that took less are larger
PER_CELL, PER_ENTRY = 100_000, 3_000  # units of work to list a cell, and a point in it


class Program(Neighbourhood):
    """Solve the integer program of a small table over its entries of least reduced cost, more of them each time."""

    name = "solving integer programs"

    def __init__(
        self, problem: Problem, rng: np.random.Generator, meter: Meter, repack: Repack
    ) -> None:
        super().__init__(problem, rng, meter)
        self._repack, self._few = repack, FEW
        # Records are left out later, see `leaving_out`.
        self._problem = replace(problem, most_left_out=0)
        self._whole: IntegerProgram | None = None

    def step(self, now: SearchState) -> SearchState:
        if obstacle(self.problem, over_all_cells=False):
            self.tired_at = now.cost
            return now
        program = self._whole or self._program(now)
        before = program.work
        found = program.improve(now.groups, 1, 1, self._report, self._few)
        work = program.work - before
        self.meter.add(work)
        if program is self._whole and self.problem.most_left_out == 0:
            self.bound = max(self.bound, found.bound - float(self.problem.objective.offset.sum()))
        if work < LONG * self.meter.pace:
            self._few = min(2 * self._few, MOST)
        else:
            self.tired_at = now.cost
        better = SearchState.of(self.problem, found.groups)
        return min(now, better, key=lambda state: state.cost)

    def _program(self, now: SearchState) -> IntegerProgram:
        """The program over all cells, or if they are many, the known ones."""
        points = PointTrees(self._problem, by_value=self._problem.tallied > 0)
        cells = Cells.of(points, ENTRIES, CELLS) if points.exact else None
        if cells is None:
            return self._listed(points, cells_of(make_candidates(now, self._repack.cells), points))
        self._whole = self._listed(points, cells)
        return self._whole

    def _listed(self, points: PointTrees, cells: Cells) -> IntegerProgram:
        self.meter.add(PER_CELL * cells.costs.size + PER_ENTRY * cells.cell.size)
        return IntegerProgram(self._problem, points, cells)

    def _report(self, stage: str, done: int, total: int) -> None:
        self.goes_on()


def cells_of(known: Candidates, points: PointTrees) -> Cells:
    """The known cells of at least k records."""
    first, _, counts = points.points
    own = known.point[first]  # of each point, the point that candidates know
    order = np.argsort(own, kind="stable")
    begin = np.searchsorted(own[order], np.arange(own.max() + 2))
    pairs = np.concatenate([np.arange(a, b) for a, b in zip(known.begin, known.end, strict=True)])
    cell = np.repeat(np.arange(known.cost.size), known.end - known.begin)
    covered = known.covered[pairs]
    sizes = begin[covered + 1] - begin[covered]
    shift = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    point, cell = order[np.repeat(begin[covered], sizes) + shift], np.repeat(cell, sizes)
    kept = np.bincount(cell, counts[point], known.cost.size)[cell] >= points.problem.k
    used, cell = np.unique(cell[kept], return_inverse=True)
    return Cells(cell.reshape(-1), point[kept], known.cost[used])
