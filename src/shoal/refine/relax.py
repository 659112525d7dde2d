"""New partitions from the linear program whose dual is the certificate: cells that it would cover records by.

Of an optimum of the relaxed problem most cells are used wholly or not at all (spec §6), so that opening those it uses
most, and letting local search mend the rest, comes closer to the least loss than any search from a greedy start.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.bounds import Ascent, Cells
from shoal.generalization.forms import Floats, Ints
from shoal.kernels.refining.rounding import round_cells
from shoal.kernels.shared.groups import close_groups
from shoal.methods.settle import settle
from shoal.problem import Problem
from shoal.progress import silent

FUSSY = 0.5  # share of a record beyond whole ones that a cell does not take


class Relaxation:
    """The relaxed problem on its way to an optimum."""

    def __init__(self, problem: Problem, prices: Floats) -> None:
        """Start from what a partition costs each record."""
        self._problem = problem
        cells = Cells(problem)
        first, place, counts = cells.points
        self._codes = problem.codes[first]
        self._first = np.append(0, np.cumsum(counts))
        self._records = np.argsort(place, kind="stable").astype(np.int32)
        self._ascent = Ascent(cells, cells.least_of_points(prices))
        self._ascent.begin()

    @staticmethod
    def suits(problem: Problem) -> bool:
        """Whether there is such a problem: what a closure costs must not depend on the record."""
        return problem.class_count == 1 and problem.objective.monotone

    @property
    def total(self) -> float:
        """What any partition costs at least."""
        return self._ascent.total

    def advance(self, go_on: Callable[[], bool]) -> bool:
        """Come closer to the optimum; False if `go_on` said no before the end."""
        return self._ascent.advance(go_on)

    def cells(self) -> Ints:
        """The closures of all cells in use."""
        bounds, members, _ = self._ascent.cover
        return close_groups(self._problem.arrays, self._codes, members, bounds)

    def round(self) -> Ints:
        """A partition into the cells that are used most; it meets the requirement."""
        bounds, members, shares = self._ascent.cover
        opened = (
            np.maximum.reduceat(np.append(shares, 0.0), bounds[:-1]) if len(bounds) > 1 else shares
        )
        order = np.argsort(-opened, kind="stable")
        found = round_cells(
            bounds, members, shares, order, self._first, self._records, self._problem.k, FUSSY
        )
        return settle(self._problem, found, silent)
