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
from shoal.kernels.bounding.cell_walk import make_walk
from shoal.solve.bounds.point_bounds import PointTrees

# Looks are points that a walk looks at; some 2 seconds for 200 million. Slack is how much of what the cells allow may
# be given away to spare parts of a walk, as a share of the mean of y.
STEP = 0.6  # step of the method of multipliers, by which y is raised everywhere, as a share of its mean
SWEEPS = (
    30  # rounds of projections in a move: more come closer to the listed cells, and take longer
)
FIRST_SWEEPS = 12  # of these, after which cells are dropped that take nothing
MOVES = 2  # moves between two walks; a walk takes some four times as long as a move
KEPT = 4  # times k: records that a listed cell keeps at most, those of the largest y
CHUNK = 30_000_000  # looks between two looks at the clock
# Looks of all quick walks together, and how many more for each point: a large table takes longer to anonymize, too.
QUICK_LOOKS, LOOKS_BY_POINT = 700_000_000, 6_000
SLACKS = (1.0, 0.2, 0.06, 0.02, 0.0)  # of quick walks, one after the other
# A walk takes about so many times the looks of the one before, which had the next larger slack; one without slack that
# follows the first at once takes at most about so many times those of the first.
GROWTH, MUCH_GROWTH = 2.5, 10
LEAST_SLACK = 0.02  # from here on down slack is given up instead of halved
MOST_CELLS, MOST_MEMBERS = 500_000, 10_000_000  # listed in one walk, to bound memory


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
        self.looks = 0  # points that the last walk looked at
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

    def begin(self, most: float = inf, patience: float = inf) -> None:
        """Find valid numbers in short time, with some slack, and so a looser bound, where there are too many cells.

        `most` is how many points may be looked at, if these are fewer than usual; after `patience` points, the first
        walk no longer goes below the cells that it meets.
        """
        left = min(most, QUICK_LOOKS + LOOKS_BY_POINT * self._y.size)
        self._try(SLACKS[0], inf, min(patience, 2 * left))
        left -= self.looks
        if MUCH_GROWTH * self.looks <= left:
            if self._try(0.0, left):
                return
            left /= 2
        for slack in SLACKS[1:]:
            if GROWTH * self.looks > left or not self._try(slack, left):
                return
            left -= self.looks

    def _try(self, slack: float, most: float, patience: float = inf) -> bool:
        """Walk with a slack of `slack` times the mean of y; return whether it ended within `most` points looked at."""
        before, self.slack = self.slack, slack * self._mean
        done = self._walk(lambda looks: looks < most, patience)
        self.slack = self.slack if done else before
        return done

    def advance(self, go_on: Callable[[], bool] = lambda: True) -> bool:
        """Move y, then make a copy valid and keep it if it is the best so far.

        `go_on` is asked now and then; returns False, with nothing gained, if it says no before the end.
        """
        for _ in range(self.moves):
            self._move()
        if not self._walk(lambda looks: go_on()):
            return False
        self.slack = self.slack / 2 if self.slack > LEAST_SLACK * self._mean else 0.0
        return True

    def finish(self, moves: int) -> None:
        """Move y so many times without a walk: what the last one listed becomes part of the solution or is dropped."""
        for _ in range(moves):
            self._move()

    def _walk(self, go_on: Callable[[int], bool], patience: float = inf) -> bool:
        """Lower a copy of y in a walk over all cells until it is valid; return whether the walk was finished.

        `go_on` is asked now and then, with the number of points looked at. After `patience` points the slack is
        infinite: the walk no longer goes below the cells that it meets.
        """
        bounds, costs = np.zeros(MOST_CELLS + 1, dtype=np.int64), np.empty(MOST_CELLS)
        members = np.empty(MOST_MEMBERS, dtype=np.int32)
        lowered, k, slack = np.maximum(self._y, 0.0), self.k, self.slack
        walk, done, listed = make_walk(self.trees, k), False, 0
        while not done:
            looks = int(walk.top[1])
            if not go_on(looks):
                return False
            if looks >= patience:
                slack = inf
            done, listed = repair(
                self.trees,
                walk,
                k,
                lowered,
                slack,
                KEPT * k,
                looks + CHUNK,
                listed,
                bounds,
                costs,
                members,
            )
        self.looks = int(walk.top[1])
        self._keep(lowered)
        if not self._moved:
            self._forget()  # what a looser walk listed
        size = bounds[listed]
        self._bounds = np.concatenate([self._bounds, self._bounds[-1] + bounds[1 : listed + 1]])
        self._costs = np.concatenate([self._costs, costs[:listed]])
        self._members = np.concatenate([self._members, members[:size]])
        self._taken = np.concatenate([self._taken, np.zeros(size)])
        return True

    def _keep(self, lowered: Floats) -> None:
        """Keep valid numbers if they are the best so far."""
        if lowered @ self.trees.weights > self.total:
            self.valid = lowered

    def _move(self) -> None:
        """Project y onto the listed cells, drop those that take nothing, and step where the cover is not 1."""
        self._moved = True
        self._sweep(FIRST_SWEEPS)
        self._drop()  # most of those that a walk has just listed
        self._sweep(SWEEPS - FIRST_SWEEPS)
        self._drop()
        covered = np.bincount(self._members, self._taken, minlength=self._y.size)
        self._y = self._y + self._step * self._mean - covered

    def _sweep(self, times: int) -> None:
        """Do so many rounds of projections onto the listed cells."""
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
        """Drop listed cells that take nothing."""
        sizes = np.diff(self._bounds)
        cell = np.repeat(np.arange(sizes.size), sizes)
        used = np.bincount(cell, np.abs(self._taken), minlength=sizes.size) > 0
        self._bounds = np.concatenate([[0], np.cumsum(sizes[used])])
        self._costs, self._members = self._costs[used], self._members[used[cell]]
        self._taken = self._taken[used[cell]]
