"""Integer programs of a region: the best choice among the most promising cells that are known, or of all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.encoding.forms import Ints
from shoal.kernels.refining.repacking import Candidates
from shoal.solve.bounds.point_bounds import PointTrees
from shoal.solve.local_search.budget import Meter
from shoal.solve.local_search.repack import Repack, make_candidates
from shoal.solve.local_search.state import (
    Neighbourhood,
    SearchState,
    part_of,
    region_of,
    with_part,
)
from shoal.solve.methods.integer_program import Cells, IntegerProgram, obstacle
from shoal.solve.problem import Problem

# Cells, and cells with one of their points; where a region has more, only the cells that are known are used.
CELLS, ENTRIES = 4_000, 40_000
REGION = 1_200  # records in a region: samples of 1,000 are best solved as a whole, in half a second
# Of least reduced cost: in the first program, and the fewest and the most in any. With 4,000, a program sometimes takes
# ten seconds.
FEW, FEWEST, MOST = 1_000, 100, 2_000
LONG = 0.15  # share of the whole budget that a program may take; those after one that took less are larger
PER_CELL, PER_ENTRY = 100_000, 3_000  # units of work to list a cell, and a point in it


class Program(Neighbourhood):
    """Solve the integer program of a region over its entries of least reduced cost."""

    name = "solving integer programs"

    def __init__(
        self, problem: Problem, rng: np.random.Generator, meter: Meter, repack: Repack
    ) -> None:
        super().__init__(problem, rng, meter)
        self._repack, self._few = repack, FEW
        self._whole: IntegerProgram | None = None

    def step(self, now: SearchState) -> SearchState:
        if obstacle(self.problem, over_all_cells=False):
            self.tired_at = now.cost
            return now
        region = region_of(now, self.rng, REGION, REGION)
        part, here = part_of(now, region)
        is_whole = part is self.problem
        part = replace(part, most_left_out=0)  # records are left out later, see `leaving_out`
        program = self._program(part, here, is_whole)
        before = program.work
        found = program.improve(here, 1, 1, self._report, self._few)
        work = program.work - before
        self.meter.add(work)
        if program is self._whole and self.problem.most_left_out == 0:
            self.bound = max(self.bound, found.bound - float(self.problem.objective.offset.sum()))
        if work < LONG * self.meter.pace:
            self._few = min(2 * self._few, MOST)
        elif is_whole:
            self.tired_at = now.cost
        else:
            self._few = max(self._few // 2, FEWEST)
        return with_part(now, region, found.groups)

    def _program(self, part: Problem, here: Ints, is_whole: bool) -> IntegerProgram:
        """The program of a part with these groups, over all its cells, or if they are many, the known ones."""
        if is_whole and self._whole is not None:
            return self._whole
        points = PointTrees(part, by_value=part.tallied > 0)
        cells = Cells.of(points, ENTRIES, CELLS) if points.exact else None
        if cells is None:
            known = make_candidates(SearchState.of(part, here), self._repack.cells)
            return self._listed(part, points, cells_of(known, points))
        program = self._listed(part, points, cells)
        if is_whole:
            self._whole = program
        return program

    def _listed(self, part: Problem, points: PointTrees, cells: Cells) -> IntegerProgram:
        self.meter.add(PER_CELL * cells.costs.size + PER_ENTRY * cells.cell.size)
        return IntegerProgram(part, points, cells)

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
