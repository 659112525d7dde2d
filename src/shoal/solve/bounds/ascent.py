"""Dual ascent: tighten the bound of each record by what cells of k records can cost together (spec §6).

The numbers y of records, dual variables of the relaxed problem, are *valid* if in every closed cell of at least k
records the k largest are on average at most the cell's cost d. Then their sum is a lower bound: a group G with
closure c lies in the cell of c, so its numbers sum up to at most |G| times the mean of the k largest there, which is
at most |G|·d(c), what G costs. The best y is that of a linear program, the relaxation of cutting the table into groups.

It is solved by the method of multipliers: y is raised by the same step everywhere and projected back onto what
the cells listed so far allow (Dykstra 1983); what they took off, in steps, is how much of a record each cell
covers, and where that is not 1 in sum, y moves on. A walk over all cells then lowers a copy of y until it is
valid, which is the bound, and lists the cells that it was lowered for. The first walk starts at what a release
costs, and comes close already.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from shoal.encoding.forms import Floats, Ints, Records
from shoal.kernels.bounding.ascent import project_cells, repair
from shoal.kernels.bounding.cell_walk import Walk, make_walk
from shoal.solve.bounds.point_bounds import PointTrees

# Looks are points that a walk looks at; some 2 seconds for 200 million. Slack is how much of what the cells allow may
# be given away to spare parts of a walk, as a share of the mean of y.
STEP = 0.6  # step of the method of multipliers, by which y is raised everywhere, as a share of its mean
SWEEPS = 8  # rounds of projections in a move: more come closer to the listed cells, and take longer
MOVES = 4  # moves between two walks; a walk takes some four times as long as a move
KEPT = 3  # times k: records that a listed cell keeps at most, those of the largest y
CHUNK = 30_000_000  # looks between two looks at the clock
# The first walk has a slack of FIRST_SLACK, and a quarter of the looks that there are. From there on, half the slack
# means SLOWER times twice the looks at most, on tables of 8 to 23 columns; most of 8 columns need twice as many without
# slack, those of 17 twenty times as many. So the second walk has no slack for a share FREE of what is left, and then as
# much as it can end with.
FIRST_SLACK, FIRST_SHARE, FREE, SLOWER = 0.2, 0.25, 0.6, 1.7
MOVED_BY_LOOK = 0.3  # members of listed cells that a move looks at in the time of a look
LEAST_SLACK = 0.02  # from here on down slack is given up instead of halved
MOST_CELLS, MOST_MEMBERS = (
    500_000,
    10_000_000,
)  # listed in one walk, and members kept after it, to bound memory


class Ascent:
    """Dual variables y of the covering problem, improved step by step; `valid` is the best feasible vector found."""

    over = "cells of k records"
    moves = MOVES

    def __init__(self, cells: PointTrees, above: Floats, step: float = STEP) -> None:
        """Start at `above`, what a release costs each point: where the release is optimal, y is nearly valid.

        The numbers that another ascent has reached are a better start.
        """
        self.k, self.trees, self._step = cells.problem.k, cells.trees(), step
        self.valid = np.zeros_like(above)
        self.slack = 0.0  # in costs, not as a share
        self.looks = 0  # points that the latest walk looked at
        self.looked = 0  # points that all walks have looked at
        self.swept = 0  # points of listed cells that all moves have looked at
        self._y = above.copy()
        self._mean = float(np.average(self._y, weights=self.trees.weights))
        self._moved = False
        self._forget()

    def _forget(self) -> None:
        """Drop all listed cells."""
        self._bounds: Records = np.zeros(1, dtype=np.int64)
        self._costs: Floats = np.empty(0)
        self._members: Ints = np.empty(0, dtype=np.int32)
        self._taken: Floats = np.empty(0)

    @property
    def y(self) -> Floats:
        """The dual variables as they are now, valid or not."""
        return self._y

    @property
    def total(self) -> float:
        """The lower bound: the sum of the valid dual variables over all records."""
        return float(self.valid @ self.trees.weights)

    @property
    def cover(self) -> tuple[Records, Ints, Floats]:
        """The solution of the relaxed problem so far: bounds, points and shares.

        Listed cell c has the points at bounds[c] to bounds[c + 1], and covers each by its share.
        """
        return self._bounds, self._members, self._taken / (self._step * self._mean)

    @property
    def spent(self) -> float:
        """Looks of all walks, and what moves in between took."""
        return self.looked + self.swept / MOVED_BY_LOOK

    def begin(self, most: float = inf) -> None:
        """Find valid numbers in about `most` looks, with some slack, and so a looser bound, if there are many cells."""
        if not self._begin_loosely(most):
            return
        left = most - self.spent
        later = self.slack * SLOWER * self.looks / ((1 - FREE) * left) if left > 0 else inf
        if later >= self.slack:
            return

        def slack(looks: int) -> float:
            self.slack = 0.0 if looks < FREE * left else later
            return self.slack if looks < left else inf

        self._walk(slack=slack)

    def begin_exactly(self, most: float) -> bool:
        """Find valid numbers without slack; returns whether a walk that looks at `most` points at most is enough."""
        until = self.looked + most
        self.slack = 0.0
        return self._walk(lambda: self.looked < until)

    def _begin_loosely(self, most: float) -> bool:
        """Walk with much slack; returns whether that took at most `most` looks."""
        self.slack, until = FIRST_SLACK * self._mean, self.looked + most
        return self._walk(
            lambda: self.looked < until,
            lambda looks: self.slack if looks < FIRST_SHARE * most else inf,
        )

    def advance(self, go_on: Callable[[], bool] = lambda: True) -> bool:
        """Move y, then make a copy valid and keep it if it is the best so far.

        `go_on` is asked now and then; returns False, with nothing gained, if it says no before the end.
        """
        for _ in range(self.moves):
            self._move()
        self._drop()
        if not self._walk(go_on):
            return False
        self.slack = self.slack / 2 if self.slack > LEAST_SLACK * self._mean else 0.0
        return True

    def finish(self, moves: int) -> None:
        """Move y so many times without a walk: what the last one listed becomes part of the solution or is dropped."""
        for _ in range(moves):
            self._move()
        self._drop()

    def _walk(
        self,
        go_on: Callable[[], bool] = lambda: True,
        slack: Callable[[int], float] | None = None,
    ) -> bool:
        """Lower a copy of y in a walk over all cells until it is valid; return whether the walk was finished.

        `go_on` is asked now and then, and `slack`, what there is of it after so many looks. With infinite slack the
        walk no longer goes below the cells that it meets.
        """
        bounds, costs = np.zeros(MOST_CELLS + 1, dtype=np.int64), np.empty(MOST_CELLS)
        members = np.empty(MOST_MEMBERS, dtype=np.int32)
        lowered, k = np.maximum(self._y, 0.0), self.k
        walk, done, listed = make_walk(self.trees, k), False, 0
        while not done:
            if not go_on():
                return False
            before = int(walk.top[1])
            done, listed = repair(
                self.trees,
                walk,
                k,
                lowered,
                slack(before) if slack else self.slack,
                KEPT * k,
                before + CHUNK,
                listed,
                bounds,
                costs,
                members,
            )
            self._count(walk, before)
        self._keep(lowered)
        if not self._moved:
            self._forget()  # what a looser walk listed
        size = bounds[listed]
        self._bounds = np.concatenate([self._bounds, self._bounds[-1] + bounds[1 : listed + 1]])
        self._costs = np.concatenate([self._costs, costs[:listed]])
        self._members = np.concatenate([self._members, members[:size]])
        self._taken = np.concatenate([self._taken, np.zeros(size)])
        return True

    def _count(self, walk: Walk, before: int) -> None:
        """Count what a walk has looked at since there were so many looks."""
        self.looks = int(walk.top[1])
        self.looked += self.looks - before

    def _keep(self, lowered: Floats) -> None:
        """Keep valid numbers if they are the best so far."""
        if lowered @ self.trees.weights > self.total:
            self.valid = lowered

    def _move(self) -> None:
        """Project y onto the listed cells, and step where the cover is not 1."""
        self._moved = True
        self._sweep(SWEEPS)
        covered = np.bincount(self._members, self._taken, minlength=self._y.size)
        self._y = self._y + self._step * self._mean - covered

    def _sweep(self, times: int) -> None:
        """Do so many rounds of projections onto the listed cells."""
        self.swept += times * self._members.size
        cells = np.arange(self._costs.size)
        for sweep in range(times):
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

    def _drop(self) -> None:
        """Drop listed cells that take nothing. Most of them would again after another walk."""
        sizes = np.diff(self._bounds)
        cell = np.repeat(np.arange(sizes.size), sizes)
        used = np.bincount(cell, np.abs(self._taken), minlength=sizes.size) > 0
        self._bounds = np.concatenate([[0], np.cumsum(sizes[used])])
        self._costs, self._members = self._costs[used], self._members[used[cell]]
        self._taken = self._taken[used[cell]]
