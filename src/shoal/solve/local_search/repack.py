"""Repacking: the records of a few neighbouring groups are covered by another choice of cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shoal.encoding.forms import Ints
from shoal.kernels.refining.diverse_repacking import repack_diverse
from shoal.kernels.refining.reach import list_all_pairs, make_reach
from shoal.kernels.refining.repacking import Candidates, repack
from shoal.kernels.shared.groups import group_costs
from shoal.kernels.shared.state import fill, make_state, pack
from shoal.solve.local_search.budget import Meter
from shoal.solve.local_search.state import MOST_PAIRS, PAIRS, Neighbourhood, SearchState
from shoal.solve.problem import Problem

FEWEST = 3  # cells with records in a pool, at least
MOST_RECORDS = 3000  # records in a pool, to bound the time it takes
RECORDS_BY_K = 20  # the same times k, where more than k is required
FLIPS = 3  # rivals, cells that could be used instead, taken in or out at random for each new start in a pool
# What a rival promises is multiplied by this plus a random number from 0 to 1, so that not always the same rivals are
# tried.
CERTAIN = 0.3
KEPT = 12  # cells to choose from that are kept, for each group that k allows
CHUNK = 256  # pools between two looks at the budget
# Units of work to list candidates, for a cell and a point in it and for a record; and for a record that a choice of
# cells looks at, with k alone and under more requirements.
PER_PAIR, PER_RECORD, PER_LOOK, PER_DIVERSE_LOOK = 300, 500, 3.5, 6.5


class PoolOptions(NamedTuple):
    """How pools are made and searched."""

    cells: int = 14  # with records, at most: more find more and take longer
    kicks: int = 0  # random choices from which the search in a pool starts again


# Small pools gain most for their work; larger ones follow once these gain little.
LADDER = PoolOptions(5), PoolOptions(14), PoolOptions(14, 2), PoolOptions(20, 5)
LITTLE = 1e-3  # share of the cost; a step that gains less is followed by one with larger pools


class Repack(Neighbourhood):
    """Choose cells anew around every cell, once a step, in ever larger pools."""

    name = "choosing cells"

    def __init__(self, problem: Problem, rng: np.random.Generator, meter: Meter) -> None:
        super().__init__(problem, rng, meter)
        self.cells = np.empty(
            (problem.whole.shape[0], 0), dtype=np.int32
        )  # closures to choose from
        self._rung = 0

    def learn(self, cells: Ints) -> None:
        """Choose from these closures from now on, beside those of the groups."""
        self.cells, self._rung = cells, 2

    def add(self, cells: Ints) -> None:
        """Choose from these closures, too; where there are too many, some that were known before are dropped."""
        most = KEPT * self.problem.table.records // self.problem.k
        self.cells = np.unique(np.concatenate([cells, self.cells], axis=1)[:, :most], axis=1)

    def step(self, now: SearchState) -> SearchState:
        found = self.repacked(now, LADDER[self._rung], self.goes_on)
        if found.cost > (1 - LITTLE) * now.cost:
            self._rung = min(self._rung + 1, len(LADDER) - 1)
        return found

    def repacked(
        self, now: SearchState, pools: PoolOptions, go_on: Callable[[], bool]
    ) -> SearchState:
        """Try other choices of the known cells around every cell."""
        groups = repack_all(now, self.cells, pools, self.rng, self.meter, go_on)
        return SearchState.of(self.problem, groups)


def repack_all(
    now: SearchState,
    cells: Ints,
    pools: PoolOptions,
    rng: np.random.Generator,
    meter: Meter,
    go_on: Callable[[], bool],
) -> Ints:
    """Try other choices of cells around every cell; returns the group of every record, at no higher cost.

    `cells` are the closures to choose from beside those of the groups.
    """
    candidates, rules = make_candidates(now, cells), now.problem.rules
    meter.add(PER_PAIR * len(candidates.covered) + PER_RECORD * now.problem.table.records)
    number = len(candidates.cost)
    around, chance = rng.permutation(number), CERTAIN + rng.random(number)
    most, work = MOST_RECORDS, np.zeros(1, np.int64)
    if now.problem.tallied:
        most = min(most, RECORDS_BY_K * rules.k)
    for start in range(0, number, CHUNK):
        if not go_on():
            break
        some = around[start : start + CHUNK]
        sizes = rng.integers(FEWEST, pools.cells + 1, len(some))
        random = rng.integers(0, 1 << 30, (len(some), pools.kicks, FLIPS))
        work[0] = 0
        if now.problem.tallied:
            room = int(meter.pace / PER_DIVERSE_LOOK)
            repack_diverse(candidates, rules, some, sizes, most, chance, random, work, room)
            meter.add(PER_DIVERSE_LOOK * float(work[0]))
        else:
            repack(candidates, rules.k, some, sizes, most, chance, random, work)
            meter.add(PER_LOOK * float(work[0]))
    return pack(candidates.s)[0]


def make_candidates(now: SearchState, cells: Ints) -> Candidates:
    """List the cells and the closures of all groups as candidates, in order of cost."""
    problem, own = now.problem, now.search.s.closures
    groups, number = pack(now.search.s)
    is_used = now.search.s.size > 0
    closures, place = np.unique(
        np.concatenate([own[:, is_used], cells], axis=1), axis=1, return_inverse=True
    )
    closures = np.ascontiguousarray(closures)
    costs = group_costs(problem.arrays, closures, np.ones((1, closures.shape[1]))).sum(axis=0)
    order = np.argsort(costs, kind="stable")
    rank = np.argsort(order)[place.reshape(-1)[:number]]
    state = make_state(problem.arrays, problem.values, problem.tallied, len(order))
    state.closures[:] = closures[:, order]
    state.size[:] = 1
    points = problem.points
    pairs = min(MOST_PAIRS, PAIRS * len(points.codes))
    reach = make_reach(problem.arrays, points.codes, points.of_record, len(order), pairs)
    list_all_pairs(now.search._replace(s=state), reach)
    covered = reach.covered[: reach.used[0]]
    owner = reach.owner[np.argsort(covered, kind="stable")]
    start = np.append(0, np.cumsum(np.bincount(covered, minlength=len(points.codes))))
    state.size[:] = 0
    fill(problem.arrays, state, problem.codes, problem.classes, rank[groups].astype(np.int32))
    return Candidates(
        cost=costs[order],
        begin=reach.begin,
        end=reach.end,
        covered=covered,
        start=start,
        owner=owner,
        point=reach.point,
        first=reach.first,
        records=reach.records,
        s=state,
    )
