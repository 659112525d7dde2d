"""New partitions by rounding a linear program, the relaxed problem: that of covering records by cells at least cost.

Its dual gives the certificate. An optimum of the relaxed problem uses most cells wholly or not at all (spec §6), so
that making groups of those it uses most, and letting local search mend the rest, comes closer to the least loss than
any search from a greedy start.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np

from shoal.encoding.forms import Floats, Ints, Records
from shoal.kernels.refining.repacking import round_cells
from shoal.kernels.shared.groups import close_groups
from shoal.progress import silent
from shoal.solve.bounds.ascent import STEP, Ascent
from shoal.solve.bounds.diverse import DiverseAscent
from shoal.solve.bounds.point_bounds import PointTrees
from shoal.solve.local_search.moves import Moves
from shoal.solve.local_search.repack import LADDER, Repack
from shoal.solve.local_search.state import Neighbourhood, SearchState
from shoal.solve.methods.completion import complete_groups
from shoal.solve.problem import Problem

# A cell that covers records of a point by a fraction beyond a whole number gets one more of them only if the fraction
# is above this: the usual rounding.
FUSSY = 0.5
FIRST_LOOKS = 400_000_000  # points that the first walks may look at before some cells are spared
PATIENCE = 100_000_000  # of these, after which the very first walk spares most cells
FINISHING = 4  # moves over known cells before rounding, so that what the last walk found is used or dropped


class Relaxation:
    """The relaxed problem (an LP), solved step by step, and partitions made by rounding what it has reached."""

    def __init__(
        self,
        problem: Problem,
        prices: Floats,
        step: float = STEP,
        diverse: bool = True,
        quick: bool = False,
    ) -> None:
        """Start from `prices`, what each record pays in some partition; a larger `step` comes nearer in few passes.

        Where more than k is required, a `quick` pass takes less time and comes less near.
        """
        self._problem = problem
        self._diverse = diverse and problem.tallied > 0
        cells = PointTrees(problem, by_value=self._diverse)
        first, place, counts = cells.points
        self._codes, self._place = problem.codes[first], place
        self._first = np.append(0, np.cumsum(counts))
        self._records = np.argsort(place, kind="stable").astype(np.int32)
        prices = cells.least_of_points(prices)
        self._ascent = (
            DiverseAscent(cells, prices, step, quick)
            if self._diverse
            else Ascent(cells, prices, step)
        )
        self._ascent.begin(FIRST_LOOKS, PATIENCE)
        self._solution: Ascent = self._ascent  # as it was rounded last

    @staticmethod
    def suits(problem: Problem) -> bool:
        """Whether a problem can be relaxed: the cost of a closure must be the same for all records."""
        return problem.class_count == 1 and problem.objective.monotone

    @property
    def total(self) -> float:
        """A lower bound on the cost of any partition."""
        return self._ascent.total

    @property
    def looks(self) -> int:
        """Points that the last walk over all cells looked at, which decides how long it took."""
        return self._ascent.looks

    @property
    def members(self) -> int:
        """Points in all cells that the solution so far uses."""
        return len(self._solution.cover[1])

    @property
    def spares(self) -> bool:
        """Whether the last walk spared some cells, as they were too many."""
        return self._ascent.slack > 0

    @property
    def duals(self) -> Floats:
        """The dual variables so far, a number per record; they are nearly valid, see `Ascent`."""
        return self._ascent.y[self._place]

    def advance(self, go_on: Callable[[], bool]) -> bool:
        """Come one step closer to the optimum; returns False if `go_on` said no before its end."""
        return self._ascent.advance(go_on)

    def cells(self) -> Ints:
        """The closures of all cells that the solution so far uses."""
        bounds, members, _ = self._solution.cover
        return close_groups(self._problem.arrays, self._codes, members.astype(np.int64), bounds)

    def known_cells(self) -> Ints:
        """The closures of all cells that the solution so far uses or that were too cheap in some walk."""
        found = self.cells()
        if isinstance(self._ascent, DiverseAscent):
            bounds, points = self._ascent.pool.bounds, self._ascent.pool.points
            more = close_groups(self._problem.arrays, self._codes, points.astype(np.int64), bounds)
            found = np.unique(np.concatenate([found, more], axis=1), axis=1)
        return found

    def _merged(self) -> tuple[Records, Ints, Floats]:
        """The solution so far with groups of the same closure united: bounds, points and shares."""
        bounds, members, shares = self._solution.cover
        cell = np.unique(self.cells(), axis=1, return_inverse=True)[1].reshape(-1)
        pairs = np.repeat(cell, np.diff(bounds)) * len(self._codes) + members
        pairs, place = np.unique(pairs, return_inverse=True)
        cell, members = np.divmod(pairs, len(self._codes))
        bounds = np.append(0, np.cumsum(np.bincount(cell)))
        total: Floats = np.bincount(place.reshape(-1), shares).astype(np.float64)
        return bounds, members.astype(np.int32), total

    def round(self) -> Ints:
        """Round the solution so far to a partition that meets the requirement, cells that are used most first.

        A copy of the solution comes closer to the optimum over known cells before that.
        """
        ahead = copy(self._ascent)
        ahead.finish(FINISHING)
        self._solution = ahead
        bounds, members, shares = self._merged() if self._diverse else self._solution.cover
        opened = (
            np.maximum.reduceat(np.append(shares, 0.0), bounds[:-1]) if len(bounds) > 1 else shares
        )
        order = np.argsort(-opened, kind="stable")
        found = round_cells(
            bounds, members, shares, order, self._first, self._records, self._problem.k, FUSSY
        )
        return complete_groups(self._problem, found, silent)


# A rounded partition becomes about so much cheaper when cells are chosen anew for it, which is tried where it may then
# cost less than the best partition so far by this share of it.
REPAIR, WORTH = 0.945, 0.01
GIVE_UP = 1.25  # times the cost of the best partition; where rounding costs more, the relaxed problem is too far away
PER_LOOK, PER_MEMBER = 10, 100  # units of work: a point that a walk looks at, a point of a cell in a move


class Relax(Neighbourhood):
    """Come closer to the optimum of the relaxed problem, a pass a step, and use its cells or what it rounds to."""

    name = "relaxing"

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        meter: Meter,
        repack: Repack,
        moves: Moves,
        diverse: bool = True,
    ) -> None:
        super().__init__(problem, rng, meter)
        self._repack, self._moves, self._diverse = repack, moves, diverse
        self._relaxation: Relaxation | None = None

    def step(self, now: SearchState) -> SearchState:
        """Make passes until what they round to may be worth it, and improve that."""
        relaxation, best = self._relaxation or self._begin(now), now.cost
        while relaxation.advance(self.goes_on):
            rounded = SearchState.of(self.problem, relaxation.round())
            moves = (2 + FINISHING) * PER_MEMBER * relaxation.members
            self.meter.add(PER_LOOK * relaxation.looks + moves)
            if rounded.cost > GIVE_UP * best:
                return now
            if REPAIR * rounded.cost < (1 - WORTH) * best:
                self._repack.learn(relaxation.cells())
                return self._improved(rounded, now)
        return now

    def _improved(self, rounded: SearchState, now: SearchState) -> SearchState:
        """Choose cells anew for a rounded partition; returns the given one where that costs less."""
        if self.problem.tallied:
            rounded = self._moves.step(rounded)
        for pools in LADDER[1:3]:
            rounded = self._repack.repacked(rounded, pools)
        if rounded.cost >= now.cost:
            return now
        self._moves.rate = np.inf
        return rounded

    def _begin(self, now: SearchState) -> Relaxation:
        self._relaxation = Relaxation(
            self.problem, now.search.price, diverse=self._diverse, quick=True
        )
        self.meter.add(PER_LOOK * self._relaxation.looks)
        return self._relaxation

    @property
    def duals(self) -> Floats | None:
        """The dual variables so far, a number per record; None before the first pass."""
        return None if self._relaxation is None else self._relaxation.duals
