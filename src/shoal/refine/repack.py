"""Repacking: the records of a few neighbouring groups are covered by another choice of cells.

The relaxed problem tells which cells are promising. A pool is a few cells close to each other with all records in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shoal.generalization.forms import Ints
from shoal.kernels.refining.diverse_repacking import repack_diverse
from shoal.kernels.refining.reach import list_all_pairs, make_reach
from shoal.kernels.refining.repacking import Candidates, repack
from shoal.kernels.shared.groups import group_costs
from shoal.kernels.shared.state import fill, make_state, pack
from shoal.problem import Problem
from shoal.refine.chains import MOST_PAIRS, PAIRS
from shoal.refine.partition import Refined

FEWEST, MOST = 3, 14  # cells with records in a pool: more find more and take longer
MOST_RECORDS = 3000  # records in a pool, to bound the time it takes
FLIPS = 3  # rivals, cells that could be used instead, taken in or out at random for each new start in a pool
# What a rival promises is multiplied by this plus a random number from 0 to 1, so that not always the same rivals are
# tried.
CERTAIN = 0.3
CHUNK = 256  # pools between two looks at the clock


class Pools(NamedTuple):
    """How pools are made and searched."""

    cells: int = MOST  # at most, at least FEWEST
    kicks: int = 0  # random choices from which the search in a pool starts again
    exchanges: bool = True  # whether cells are exchanged, not only added and removed; with k alone they always are
    records: int = MOST_RECORDS  # at most


class Work:
    """How many records and sensitive values repacking has looked at, and how many it may."""

    def __init__(self, most: int = np.iinfo(np.int64).max) -> None:
        self.done = np.zeros(1, np.int64)
        self.most = most

    @property
    def is_left(self) -> bool:
        """Whether there may be more."""
        return bool(self.done[0] < self.most)


def can_repack(problem: Problem) -> bool:
    """Whether cells can be chosen by what they cost a record, whichever it is."""
    return problem.class_count == 1 and problem.objective.monotone


def repack_all(
    refined: Refined,
    cells: Ints,
    pools: Pools,
    rng: np.random.Generator,
    go_on: Callable[[], bool],
    work: Work | None = None,
) -> Ints:
    """Try other choices of cells around every cell; returns the group of every record, at no higher cost.

    `cells` are the closures to choose from beside those of the groups. Where more than k is required, there are no
    more pools once the `work` is done.
    """
    candidates, rules = make_candidates(refined, cells), refined.problem.rules
    number = len(candidates.cost)
    around, chance = rng.permutation(number), CERTAIN + rng.random(number)
    work = work or Work()
    for start in range(0, number, CHUNK):
        if not go_on():
            break
        some = around[start : start + CHUNK]
        sizes = rng.integers(FEWEST, pools.cells + 1, len(some))
        random = rng.integers(0, 1 << 30, (len(some), pools.kicks, FLIPS))
        if refined.problem.tallied:
            repack_diverse(
                candidates,
                rules,
                some,
                sizes,
                pools.records,
                chance,
                random,
                pools.exchanges,
                work.done,
                work.most,
            )
        else:
            repack(candidates, rules.k, some, sizes, pools.records, chance, random)
    return pack(candidates.s)[0]


def make_candidates(refined: Refined, cells: Ints) -> Candidates:
    """List the cells and the closures of all groups as candidates, in order of cost."""
    problem, own = refined.problem, refined.search.s.closures
    groups, number = pack(refined.search.s)
    is_used = refined.search.s.size > 0
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
    list_all_pairs(refined.search._replace(s=state), reach)
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
