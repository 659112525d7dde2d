"""Dual ascent: tighten the bound of each record by what cells of k records can cost together (spec §6).

Numbers y of records are *valid* if in every closed cell of at least k records the k largest are on average at
most the cell's cost d. Then their sum is a lower bound: a group G with closure c lies in the cell of c, so its
numbers sum up to at most |G| times the mean of the k largest there, which is at most |G|·d(c), what G costs.
The best y is that of a linear program, the relaxation of cutting the table into groups.

It is solved by the method of multipliers: y is raised by the same step everywhere and projected back onto what
the cells listed so far allow (Dykstra 1983); what they took off, in steps, is how much of a record each cell
covers, and where that is not 1 in sum, y moves on. A walk over all cells then lowers a copy of y until it is
valid, which is the bound, and lists the cells that it was lowered for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.bounds.cells import Cells
from shoal.generalization.forms import Floats
from shoal.kernels.ascent import project_cells, repair
from shoal.kernels.closed_cells import make_walk

STEP = 0.6  # of the mean of y
SWEEPS = 30  # rounds of projections between two walks
KEPT = 4  # times k: records that a listed cell keeps
CHUNK = 30_000_000  # points looked at between two looks at the clock
MOST_CELLS, MOST_MEMBERS = 500_000, 10_000_000  # listed in one walk


class Ascent:
    """Numbers on their way up; `valid` are the best valid ones so far."""

    def __init__(self, cells: Cells, below: Floats, above: Floats) -> None:
        """Start midway between valid numbers and what a release costs."""
        self.k, self.trees = cells.problem.k, cells.trees()
        self.valid = below
        self._y = (below + above) / 2
        self._step = STEP * float(np.average(self._y, weights=self.trees.weights))
        self._begun = False
        self._bounds = np.zeros(1, dtype=np.int64)
        self._costs = np.empty(0)
        self._members = np.empty(0, dtype=np.int32)
        self._taken = np.empty(0)

    @property
    def total(self) -> float:
        """The bound: the sum of the valid numbers over all records."""
        return float(self.valid @ self.trees.weights)

    def advance(self, go_on: Callable[[], bool] = lambda: True) -> bool:
        """Move y, then make a copy valid and keep it if it is the best so far.

        False, and nothing gained, if `go_on`, which is asked now and then, says so before the end.
        """
        if self._begun:
            self._move()
        self._begun = True
        lowered = np.maximum(self._y, 0.0)
        bounds, costs = np.zeros(MOST_CELLS + 1, dtype=np.int64), np.empty(MOST_CELLS)
        members = np.empty(MOST_MEMBERS, dtype=np.int32)
        k = self.k
        walk, done, listed = make_walk(self.trees, k), False, 0
        while not done:
            if not go_on():
                return False
            until = walk.top[1] + CHUNK
            done, listed = repair(
                self.trees, walk, k, lowered, KEPT * k, until, listed, bounds, costs, members
            )
        if lowered @ self.trees.weights > self.total:
            self.valid = lowered
        size = bounds[listed]
        self._bounds = np.concatenate([self._bounds, self._bounds[-1] + bounds[1 : listed + 1]])
        self._costs = np.concatenate([self._costs, costs[:listed]])
        self._members = np.concatenate([self._members, members[:size]])
        self._taken = np.concatenate([self._taken, np.zeros(size)])
        return True

    def _move(self) -> None:
        """Project y onto the listed cells, forget those that take nothing, and step to where cover is not 1."""
        cells = np.arange(self._costs.size)
        for sweep in range(SWEEPS):
            project_cells(
                self._y,
                self.trees.weights,
                self.k,
                self._bounds,
                self._costs,
                self._members,
                self._taken,
                cells if sweep % 2 == 0 else cells[::-1].copy(),
            )
        sizes = np.diff(self._bounds)
        cell = np.repeat(cells, sizes)
        used = np.bincount(cell, np.abs(self._taken), minlength=cells.size) > 0
        self._bounds = np.concatenate([[0], np.cumsum(sizes[used])])
        self._costs, self._members = self._costs[used], self._members[used[cell]]
        self._taken = self._taken[used[cell]]
        covered = np.bincount(self._members, self._taken, minlength=self._y.size)
        self._y += self._step - covered
