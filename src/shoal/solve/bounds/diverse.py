"""Dual ascent under requirements beyond k: fewer groups may be, and so their records must cost more.

The numbers y of records are valid if in no group that keeps the requirements they sum up to more than the group costs;
then their sum is a lower bound, whatever the requirements. Here y may fall below 0, as it does for records
whose sensitive value is scarce: cheap groups need such a record, and there are too few of them for all.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import Floats, Ints, Records
from shoal.kernels.bounding.cell_walk import make_walk
from shoal.kernels.bounding.diverse_ascent import (
    Listing,
    make_listing,
    price_cells,
    project_groups,
    repair_diverse,
)
from shoal.kernels.bounding.diverse_counts import FEW
from shoal.kernels.bounding.diverse_groups import make_sorted
from shoal.kernels.shared.rules import Rules
from shoal.solve.bounds.ascent import CHUNK, STEP, Ascent
from shoal.solve.bounds.point_bounds import PointTrees

# Times that known cells are looked at again between two walks, each after a move: on Adult a walk takes 1 to 3 seconds,
# and looking at known cells a twentieth of that. With ten of them, three walks came as far as twenty with none.
PRICINGS = 6
SWEEPS = 30  # rounds of projections in a move
ROUNDING = 1e-6  # tolerance in numbers of distinct values that follow from other limits
MOST_GROUPS, MOST_MEMBERS = 300_000, 10_000_000  # listed in one walk, to bound memory


class ViolatedCells:
    """Cells in which duals exceeded costs in some walk, each once."""

    def __init__(self) -> None:
        self.bounds: Records = np.zeros(1, dtype=np.int64)
        self.costs: Floats = np.empty(0)
        self.points: Ints = np.empty(0, dtype=np.int32)
        self._keys: npt.NDArray[np.uint64] = np.empty(0, dtype=np.uint64)

    def add(self, listing: Listing) -> None:
        """Add the cells of a walk, in place of those that are known already."""
        cells = listing.listed[1]
        keys = listing.keys[:cells]
        sizes = np.diff(self.bounds)
        stays = ~np.isin(self._keys, keys)
        self.points = np.concatenate(
            [self.points[np.repeat(stays, sizes)], listing.points[: listing.cell_bounds[cells]]]
        )
        sizes = np.concatenate([sizes[stays], np.diff(listing.cell_bounds[: cells + 1])])
        self.bounds = np.concatenate([[0], np.cumsum(sizes)])
        self.costs = np.concatenate([self.costs[stays], listing.costs[:cells]])
        self._keys = np.concatenate([self._keys[stays], keys])


class DiverseAscent(Ascent):
    """The ascent for a problem with requirements beyond k."""

    over = "cells with groups that meet all requirements"
    moves = 1  # a walk takes several times as long as one for k alone

    def __init__(
        self, cells: PointTrees, above: Floats, step: float = STEP, quick: bool = False
    ) -> None:
        """Start at `above`, as any ascent; a `quick` one does not count records, for a looser bound in less time."""
        problem = cells.problem
        self._rules = problem.rules
        self._need = distinct_needed(problem.rules)
        self._outside = outside_needed(problem.rules)
        self._values = problem.values[cells.points.first]
        few = 0 if quick else FEW
        self._scratch = make_sorted(len(above), problem.rules, self._outside, few)
        super().__init__(cells, above, step)

    @property
    def cover(self) -> tuple[Records, Ints, Floats]:
        taken = np.repeat(self._taken, np.diff(self._bounds)) * self._shares
        weights = self.trees.weights[self._members]
        return self._bounds, self._members, taken / (weights * self._step * self._mean)

    def _begin_loosely(self, most: float) -> bool:
        """Do not count records, which takes several times as long."""
        counting = self._scratch
        self._scratch = make_sorted(len(self._y), self._rules, self._outside, 0)
        done = super()._begin_loosely(most)
        self._scratch = counting
        return done

    def _forget(self) -> None:
        super()._forget()
        self._shares: Floats = np.empty(0)
        self.pool = ViolatedCells()

    def _walk(
        self,
        go_on: Callable[[], bool] = lambda: True,
        slack: Callable[[int], float] | None = None,
    ) -> bool:
        listing = make_listing(MOST_GROUPS, MOST_MEMBERS, MOST_GROUPS, MOST_MEMBERS)
        lowered, walk, done = self._y.copy(), make_walk(self.trees, self.k), False
        while not done:
            if not go_on():
                return False
            before = int(walk.top[1])
            done = repair_diverse(
                self.trees,
                walk,
                self._rules,
                self._need,
                self._values,
                self._scratch,
                lowered,
                slack(before) if slack else self.slack,
                before + CHUNK,
                listing,
            )
            self._count(walk, before)
        self._keep(lowered)
        if not self._moved:
            self._forget()  # what a looser walk listed
        self._list(listing)
        self.pool.add(listing)
        return True

    def _list(self, listing: Listing) -> None:
        """Add groups to those listed."""
        groups = listing.listed[0]
        size = listing.bounds[groups]
        self._bounds = np.concatenate(
            [self._bounds, self._bounds[-1] + listing.bounds[1 : groups + 1]]
        )
        self._costs = np.concatenate([self._costs, listing.limits[:groups]])
        self._members = np.concatenate([self._members, listing.members[:size]])
        self._shares = np.concatenate([self._shares, listing.shares[:size]])
        self._taken = np.concatenate([self._taken, np.zeros(groups)])

    def advance(self, go_on: Callable[[], bool] = lambda: True) -> bool:
        self.look_again()
        return super().advance(go_on)

    def _drop(self) -> None:
        """Every move drops groups that take nothing."""

    def finish(self, moves: int) -> None:
        """Move y so many times with known cells alone, so that all listed groups are part of the solution."""
        self.look_again(moves - 1)
        self._move()

    def look_again(self, times: int = PRICINGS) -> None:
        """Move y so many times, and look at all known cells after each move."""
        for _ in range(times):
            self._move()
            self._price()

    def _price(self) -> None:
        """List groups of known cells that the dual variables as they are now exceed."""
        pool = self.pool
        listing = make_listing(pool.costs.size, MOST_MEMBERS, 0, 0)
        price_cells(
            self._rules,
            self._need,
            self._values,
            self._scratch,
            self._y,
            self.trees.weights,
            pool.bounds,
            pool.costs,
            pool.points,
            listing,
        )
        self._list(listing)

    def _move(self) -> None:
        self._moved = True
        self.swept += SWEEPS * self._members.size
        groups = np.arange(self._costs.size)
        weights = self.trees.weights
        for sweep in range(SWEEPS):
            order = groups if sweep % 2 == 0 else groups[::-1].copy()
            project_groups(
                self._y,
                weights,
                self._bounds,
                self._costs,
                self._members,
                self._shares,
                self._taken,
                order,
            )
        sizes = np.diff(self._bounds)
        group = np.repeat(groups, sizes)
        used = self._taken > 0
        covered = np.bincount(
            self._members, self._taken[group] * self._shares, minlength=self._y.size
        )
        self._bounds = np.concatenate([[0], np.cumsum(sizes[used])])
        self._costs, self._members = self._costs[used], self._members[used[group]]
        self._shares, self._taken = self._shares[used[group]], self._taken[used]
        self._y = self._y + self._step * self._mean - covered / weights


def distinct_needed(rules: Rules) -> Records:
    """The least number of distinct values in each tally of a group, as all its limits together ask for."""
    need = rules.distinct.copy()
    for t in range(len(need)):
        caps = -np.sort(-rules.cap[rules.start[t] : rules.start[t + 1]])
        enough = np.flatnonzero(np.cumsum(caps) >= 1 - ROUNDING)
        by_caps = 1 + int(enough[0]) if enough.size else 1
        by_entropy = ceil(exp(rules.entropy[t]) - ROUNDING)
        need[t] = max(need[t], by_caps, by_entropy, rules.depth[t])
    return need


def outside_needed(rules: Rules) -> Records:
    """For each value, the least number of records with another one in a group, as caps and entropy ask for."""
    outside = np.zeros(len(rules.cap), dtype=np.int64)
    for t in range(len(rules.entropy)):
        own = slice(rules.start[t], rules.start[t + 1])
        by_caps = np.ceil((1 - rules.cap[own]) * rules.k - ROUNDING).astype(np.int64)
        by_entropy = outside_by_entropy(rules.k, rules.entropy[t], len(by_caps))
        outside[own] = np.maximum(by_caps, by_entropy)
    return outside


def outside_by_entropy(k: int, entropy: float, values: int) -> int:
    """The least number of records outside one value in any group of at least k records with at least some entropy.

    Entropy is largest where the records outside have all other values about equally often. It falls with every record
    of the one value from there on where this is the most frequent.
    """
    others = max(1, values - 1)
    for outside in range(k):
        counts = (outside + np.arange(others)) // others
        for inside in range(k - outside, max(k - outside, counts.max()) + 1):
            shares = np.append(counts[counts > 0], inside) / (outside + inside)
            if -(shares * np.log(shares)).sum() >= entropy - ROUNDING:
                return outside
    return k
