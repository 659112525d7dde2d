"""New partitions by rounding a linear program, the relaxed problem: that of covering records by cells at least cost.

Its dual gives the certificate. An optimum of the relaxed problem uses most cells wholly or not at all (spec §6), so
that making groups of those it uses most, and letting local search mend the rest, comes closer to the least loss than
any search from a greedy start.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from math import inf
from typing import TypeVar

import numpy as np

from shoal.encoding.forms import Floats, Ints, Records
from shoal.kernels.refining.repacking import round_cells
from shoal.kernels.shared.groups import close_groups
from shoal.progress import silent
from shoal.solve.bounds.ascent import STEP, Ascent
from shoal.solve.bounds.diverse import DiverseAscent
from shoal.solve.bounds.point_bounds import PointTrees
from shoal.solve.local_search.budget import Meter
from shoal.solve.local_search.coarse import coarsened
from shoal.solve.local_search.moves import Moves
from shoal.solve.local_search.repack import LADDER, Repack
from shoal.solve.local_search.state import Neighbourhood, SearchState
from shoal.solve.methods.completion import complete_groups
from shoal.solve.problem import Problem

T = TypeVar("T")
# A cell that covers records of a point by a fraction beyond a whole number gets one more of them only if the fraction
# is above this: the usual rounding.
FUSSY = 0.5
FINISHING = (
    4  # moves over known cells before rounding, so that what the last walk found is used or dropped
)


class Relaxation:
    """The relaxed problem (an LP), solved step by step, and partitions made by rounding what it has reached."""

    def __init__(
        self,
        problem: Problem,
        prices: Floats,
        closures: Ints,
        diverse: bool = True,
        most_looks: float = inf,
    ) -> None:
        """Start from `prices`, what each record pays in some partition, whose groups have these closures.

        It is possible if a walk over all cells looks at no more than about `most_looks` points.
        """
        self._problem = problem
        self._diverse = diverse and problem.tallied > 0
        cells = PointTrees(coarsened(problem, closures), by_value=self._diverse)
        _, place, counts = cells.points
        self._place = place
        self._first = np.append(0, np.cumsum(counts))
        self._records = np.argsort(place, kind="stable").astype(np.int32)
        prices = cells.least_of_points(prices)
        self._ascent = (
            DiverseAscent(cells, prices, STEP, quick=True)
            if self._diverse
            else Ascent(cells, prices, STEP)
        )
        self.is_possible = self._ascent.begin_exactly(most_looks)
        self._solution: Ascent = self._ascent  # as it was rounded last
        self._ahead = 0  # points of known cells that were looked at to round

    @property
    def total(self) -> float:
        """A lower bound on the cost of any partition."""
        return self._ascent.total

    @property
    def looked(self) -> int:
        """Points that walks over all cells have looked at, which decides how long they took."""
        return self._ascent.looked

    @property
    def swept(self) -> int:
        """Points of known cells that were looked at between walks."""
        return self._ascent.swept + self._ahead

    @property
    def duals(self) -> Floats:
        """The dual variables so far, a number per record; they are nearly valid, see `Ascent`."""
        return self._ascent.y[self._place]

    def advance(self, go_on: Callable[[], bool]) -> bool:
        """Come one step closer to the optimum; returns False if `go_on` said no before its end."""
        slack = self._ascent.slack
        done = self._ascent.advance(go_on)
        self._ascent.slack = slack
        return done

    def cells(self) -> Ints:
        """The closures of all cells that the solution so far uses."""
        bounds, members, _ = self._solution.cover
        return self._closures(bounds, members)

    def _closures(self, bounds: Records, points: Ints) -> Ints:
        """The closures of cells with these points."""
        counts = np.diff(self._first)[points]
        ends = np.append(0, np.cumsum(counts))
        at = np.arange(ends[-1]) + np.repeat(self._first[points] - ends[:-1], counts)
        return close_groups(
            self._problem.arrays,
            self._problem.codes,
            self._records[at].astype(np.int64),
            ends[bounds],
        )

    def _merged(self) -> tuple[Records, Ints, Floats]:
        """The solution so far with groups of the same closure united: bounds, points and shares."""
        bounds, members, shares = self._solution.cover
        cell = np.unique(self.cells(), axis=1, return_inverse=True)[1].reshape(-1)
        pairs = np.repeat(cell, np.diff(bounds)) * (self._first.size - 1) + members
        pairs, place = np.unique(pairs, return_inverse=True)
        cell, members = np.divmod(pairs, (self._first.size - 1))
        bounds = np.append(0, np.cumsum(np.bincount(cell)))
        total: Floats = np.bincount(place.reshape(-1), shares).astype(np.float64)
        return bounds, members.astype(np.int32), total

    def round(self) -> Ints:
        """Round the solution so far to a partition that meets the requirement, cells that are used most first.

        A copy of the solution comes closer to the optimum over known cells before that.
        """
        ahead = copy(self._ascent)
        ahead.finish(FINISHING)
        self._ahead += ahead.swept - self._ascent.swept
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


# Passes go on while each raises the bound by this share of it; the first hardly ever does, so there are at least two if
# there is time. They also go on where all together take less than a share of the whole budget: CHEAP with k alone, and
# CHEAP_DIVERSE with requirements beyond k, where the bound rises slowly. On 5,000 records of Adult with entropy 1.5 of
# the income, 5 passes lose 9 % more than 12.
RISE, FEWEST, CHEAP, CHEAP_DIVERSE = 0.025, 2, 0.15, 0.5
GIVE_UP = 1.25  # times the cost of the best partition; where rounding costs more, the relaxed problem is too far away
# Times the bound for k alone. Where a rounded partition costs more, what is required beyond k decides what it costs: on
# Adult, with entropy of the income, 5 times. With distinct values or entropy of the occupation it is 1.1 to 1.2 times.
FAR = 1.5
WALK = 0.3  # share of the whole budget that a walk over all cells may take; where it takes more, it is not tried
SHARE = 0.9  # of the whole budget that passes may take, except the first
# Units of work: a point that a walk looks at, with k alone and with requirements, a point of a known cell between
# walks, a record that is rounded, and what a pass takes on the smallest table.
PER_LOOK, PER_DIVERSE_LOOK, PER_SWEPT, PER_RECORD, PER_PASS = 5, 10, 17, 1_000, 3e6


class Relax(Neighbourhood):
    """Solve the relaxed problem until its bound hardly rises, round it, and choose cells anew for what that gives."""

    name = "relaxing"
    repeats = 0.03

    def __init__(
        self, problem: Problem, rng: np.random.Generator, meter: Meter, repack: Repack, moves: Moves
    ) -> None:
        super().__init__(problem, rng, meter)
        self._repack, self._moves = repack, moves
        self._diverse = False
        self._relaxation: Relaxation | None = None
        self._begun_at = 0.0  # the pace when it was made

    def step(self, now: SearchState) -> SearchState:
        rounded = self._relaxed(now)
        if self._requirements_decide(rounded, now):
            self._diverse, self._relaxation = True, None
            found = [rounded, self._relaxed(now)]
            rounded = min(filter(None, found), key=lambda state: state.cost, default=None)
        if rounded is None or rounded.cost > GIVE_UP * now.cost:
            return now
        # Whatever the budget is: rounding is nothing without it.
        rounded = self._repack.repacked(rounded, LADDER[1], lambda: True)
        if rounded.cost >= now.cost:
            return now
        self._moves.refresh()
        self._repack.refresh()
        return rounded

    def _requirements_decide(self, rounded: SearchState | None, now: SearchState) -> bool:
        """Whether to include requirements beyond k, which are left out of the problem at first."""
        if self._diverse or not self.problem.tallied:
            return False
        relaxation = self._relaxation
        if rounded is None or relaxation is None:
            return True
        return rounded.cost > min(FAR * relaxation.total, GIVE_UP * now.cost)

    def _relaxed(self, now: SearchState) -> SearchState | None:
        """Make passes until the bound hardly rises, and round; none if a walk over all cells takes too long."""
        relaxation, least = self._relaxation, 1
        start = self.meter.done
        is_late = self.meter.pace >= 2 * self._begun_at
        if relaxation is None or (is_late and not relaxation.is_possible):
            relaxation, least = self._begin(now), FEWEST
        if not relaxation.is_possible:
            return None
        cheap = CHEAP_DIVERSE if self._diverse else CHEAP * (not self.problem.tallied)
        passes, goes_on = 0, True
        while goes_on:
            before, done = relaxation.total, self.meter.done
            goes_on = self._count(relaxation, lambda: relaxation.advance(self.goes_on))
            self.meter.add(PER_PASS)
            last, passes = self.meter.done - done, passes + 1
            rises = passes < least or relaxation.total > (1 + RISE) * before
            share = (self.meter.done + last - start) / self.meter.pace
            goes_on = goes_on and share < (SHARE if rises else cheap)
        return self._rounded(relaxation)

    @property
    def _per_look(self) -> int:
        return PER_DIVERSE_LOOK if self._diverse else PER_LOOK

    def _begin(self, now: SearchState) -> Relaxation:
        self._begun_at = self.meter.pace
        looks = WALK * self._begun_at / self._per_look
        prices, closures = now.search.price, now.closures
        relaxation = Relaxation(self.problem, prices, closures, self._diverse, looks)
        self._relaxation = relaxation
        self.meter.add(self._per_look * relaxation.looked)
        return relaxation

    def _rounded(self, relaxation: Relaxation) -> SearchState:
        """What the relaxed problem rounds to, whose cells may be chosen from then on."""
        groups = self._count(relaxation, relaxation.round)
        rounded = SearchState.of(self.problem, groups)
        self.meter.add(PER_RECORD * self.problem.table.records)
        self._repack.learn(relaxation.cells())
        return self._moves.step(rounded) if self.problem.tallied else rounded

    def _count(self, relaxation: Relaxation, work: Callable[[], T]) -> T:
        """Do some work on the relaxed problem, and count it."""
        looked, swept = relaxation.looked, relaxation.swept
        result = work()
        self.meter.add(self._per_look * (relaxation.looked - looked))
        self.meter.add(PER_SWEPT * (relaxation.swept - swept))
        return result

    @property
    def duals(self) -> Floats | None:
        """The dual variables so far, a number per record, where they may start a certificate: with k alone."""
        relaxation = self._relaxation
        if relaxation is None or not relaxation.is_possible or self.problem.tallied:
            return None
        return relaxation.duals
