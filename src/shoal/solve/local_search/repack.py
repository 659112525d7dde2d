"""Repacking: the records of a few neighbouring groups are covered by another choice of cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.encoding.forms import Floats, Ints
from shoal.kernels.refining.diverse_repacking import repack_diverse
from shoal.kernels.refining.reach import list_all_pairs, make_reach
from shoal.kernels.refining.repacking import Candidates, repack
from shoal.kernels.shared.forms import SET, TREE
from shoal.kernels.shared.groups import group_costs
from shoal.kernels.shared.state import fill, make_state, pack
from shoal.progress import Progress
from shoal.solve.bounds.ascent import STEP
from shoal.solve.local_search.descent import (
    FEWEST_POINTS,
    MOST_PAIRS,
    PAIRS,
    SearchState,
    carve_groups,
    move_single_records,
    reach_of,
)
from shoal.solve.local_search.relax import Relaxation
from shoal.solve.problem import Problem

FEWEST, MOST = 3, 14  # cells with records in a pool: more find more and take longer
MOST_RECORDS = 3000  # records in a pool, to bound the time it takes
FLIPS = 3  # rivals, cells that could be used instead, taken in or out at random for each new start in a pool
# What a rival promises is multiplied by this plus a random number from 0 to 1, so that not always the same rivals are
# tried.
CERTAIN = 0.3
CHUNK = 256  # pools between two looks at the clock


class PoolOptions(NamedTuple):
    """How pools are made and searched."""

    cells: int = MOST  # at most, at least FEWEST
    kicks: int = 0  # random choices from which the search in a pool starts again
    exchanges: bool = True  # whether cells are exchanged, not only added and removed; with k alone they always are
    records: int = MOST_RECORDS  # at most


class WorkBudget:
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
    refined: SearchState,
    cells: Ints,
    pools: PoolOptions,
    rng: np.random.Generator,
    go_on: Callable[[], bool],
    work: WorkBudget | None = None,
) -> Ints:
    """Try other choices of cells around every cell; returns the group of every record, at no higher cost.

    `cells` are the closures to choose from beside those of the groups. Where more than k is required, there are no
    more pools once the `work` is done.
    """
    candidates, rules = make_candidates(refined, cells), refined.problem.rules
    number = len(candidates.cost)
    around, chance = rng.permutation(number), CERTAIN + rng.random(number)
    work = work or WorkBudget()
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


def make_candidates(refined: SearchState, cells: Ints) -> Candidates:
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


# Passes of the relaxed problem before it is rounded, where all columns are trees or ranges, see `Ascent`, and rounds of
# choosing cells then. On Adult, 30,162 records of nine columns, a pass takes 0.8 s; three lower the loss by 1.8 to
# 3.5 %, over ranges by 4 to 7 %. A fourth gains as much as a second round with random starts, which takes less time.
# Where a walk over ranges looks at more points than these, cells are chosen without passes. Over ranges and sets there
# is one round: cells are so many there that a second takes up to 20 s.
PASSES, RANGED_LOOKS = 3, 150_000_000
# After the passes the solution is finished in so many moves: cells that the last walk found are used then, or dropped,
# which leaves fewer to choose from. Adult × 8 with two intervals and k = 100 loses 3 % less in 30 % less time; over
# trees losses differ by 0.2 % either way.
PLAIN_FINISHING = 4
PLAIN_ROUNDS = PoolOptions(), PoolOptions(kicks=2)
# Where more than k is required, walks over all cells are what takes long, and known cells are looked at again between
# them. So there are two passes, and the solution is finished over known cells in so many moves, see `Relaxation`: on
# Adult with distinct values the loss is 1 % lower than after four to six passes without, and choosing takes half as
# long. There are no passes if even one looks at too many points. Small pools gain most for the time.
DISTINCT_PASSES, FINISHING, MOST_LOOKS = 2, 10, 120_000_000
SMALL = PoolOptions(5)
ROUNDS = SMALL, PoolOptions(), PoolOptions(kicks=2)
# Where the number of distinct values hardly ever decides, records are relaxed with k alone, which takes less time and
# rounds to groups of which few must be mended. This is so where groups with a record that they need for its value hold
# at most so large a share of all records: with up to 1.4 % of them the loss was 1.0 to 1.3 % lower on Adult and FARS,
# with 6 and 8 % once higher and once lower, with 12 % and more always higher. Pools of more cells, and the cells of the
# given groups beside those of the relaxed problem, gain a further 0.4 % in the same time.
LOOSE, LOOSE_PASSES = 0.03, 4
LARGE = PoolOptions(20)
LOOSE_ROUNDS = (
    SMALL._replace(exchanges=False),
    *ROUNDS[:2],
    LARGE._replace(kicks=2),
    LARGE._replace(kicks=3),
)
WORSE = 1.25  # times the cost of the partition: a rounded one above this is not worth choosing cells for
# Where shares of values are limited, walks take longer still. So there is one pass, with a larger step, from numbers
# half way between what records cost and their mean, which a first walk takes half as long for. It is finished in fewer
# moves: with ten, Adult with entropy 1.5 of the salary and k = 10 loses 2.6 % less, but with entropy 5 of the
# occupation and k = 5 takes 0.5 s more.
SHARES_PASSES, SHARES_STEP, SHARES_FINISHING = 1, 1.5, 7
# Where groups must be large, rounding costs more than the given partition. Then cells of the solution are chosen for
# that one, in these rounds, of which so many are followed by carving.
GIVEN = (SMALL,) * 3, 1
# The same where there are no passes. Under t-closeness with 0.2 of the occupation, passes take 4 s longer and lose 5 %
# more than these rounds alone.
UNRELAXED = (PoolOptions(8),) * 3, 2
# A rounded partition is taken if it costs at most so many times what the given one does: settling lowers it by 5 to
# 12 %. It gets one round.
SLIGHTLY_WORSE = 1.05
# There are as many rounds as the work allows: so many records and sensitive values that are looked at, and so many more
# for each point that the first walk of the relaxed problem looked at.
WORK, WORK_BY_LOOK = 100_000_000, 2
DISTINCT_WORK = 300_000_000  # where a number of distinct values is required
RECORDS_BY_K = 20  # records in a pool, times k, where more than k is required


def choose_quickly(
    refined: SearchState, seed: int, progress: Progress
) -> tuple[SearchState, Floats | None]:
    """Cover records by other cells of the relaxed problem; returns a partition that costs no more.

    Also returns the dual variables of the relaxed problem, a number per record, if it was tightened and they are a good
    start for a certificate.
    """
    problem = refined.problem
    chooser = _Chooser(refined, seed, progress)
    passes = _passes(problem, chooser.relaxation, chooser.is_loose)
    if _limits_shares(problem):
        return chooser.choose_in_shares(refined, passes), None
    rounds: Sequence[PoolOptions] = LOOSE_ROUNDS if chooser.is_loose else ROUNDS
    if not passes:
        return chooser.choose(refined, rounds), None
    rounded = chooser.rounded(passes)
    if problem.tallied and rounded.cost <= WORSE * refined.cost:
        move_single_records(rounded, reach_of(rounded), progress)
    if not problem.tallied or rounded.cost <= WORSE * refined.cost:
        rounded = chooser.choose(rounded, rounds)
    best = rounded if rounded.cost < refined.cost else chooser.choose(refined, rounds)
    # Where more than k is required, these duals exceed so many cells that a certificate would have to spare some.
    return best, None if problem.tallied and not chooser.is_loose else chooser.relaxation.duals


class _Chooser:
    """The relaxed problem, and choices of its cells."""

    def __init__(self, refined: SearchState, seed: int, progress: Progress) -> None:
        self._problem, self._seed, self._progress = refined.problem, seed, progress
        self._rng = np.random.default_rng([seed, 3])
        self.is_loose = _is_loose(refined)
        prices, step = refined.search.price, STEP
        if _limits_shares(refined.problem) and not _limits_distance(refined.problem):
            prices, step = (prices + prices.mean()) / 2, SHARES_STEP
        self.relaxation = Relaxation(
            refined.problem, prices, step, diverse=not self.is_loose, quick=True
        )
        state = refined.search.s
        # The closures of the given groups, which keep the requirement: those that k alone asks for may not.
        self._kept = state.closures[:, (state.size > 0) & self.is_loose]

    def rounded(self, passes: int) -> SearchState:
        """The partition that rounding gives after some passes."""
        for done in range(passes):
            self.relaxation.advance(partial(self._go_on, "relaxing", done, passes))
        self.relaxation.finish(self._finishing)
        return SearchState.of(self._problem, self.relaxation.round())

    @property
    def _finishing(self) -> int:
        if not self._problem.tallied or self.is_loose:
            return PLAIN_FINISHING
        return SHARES_FINISHING if _limits_shares(self._problem) else FINISHING

    def choose(self, start: SearchState, rounds: Sequence[PoolOptions]) -> SearchState:
        """Choose cells anew, in the given rounds where more than k is required."""
        found, work = start, self._work()
        cells = np.concatenate([self.relaxation.cells(), self._kept], axis=1)
        if not self._problem.tallied:
            rounds = PLAIN_ROUNDS if _all_trees(self._problem) else PLAIN_ROUNDS[:1]
        for pools in rounds:
            if work.is_left:
                found = self._repacked(found, cells, pools, work)
        move_single_records(found, reach_of(found), self._progress)
        return found

    def choose_in_shares(self, given: SearchState, passes: int) -> SearchState:
        """Choose cells anew where shares of values are limited, for a rounded partition if it is good enough."""
        if not passes:
            return self._choose_and_carve(given, self.relaxation.known_cells(), *UNRELAXED)
        rounded, cells = self.rounded(passes), self.relaxation.cells()
        if rounded.cost > SLIGHTLY_WORSE * given.cost:
            return self._choose_and_carve(given, cells, *GIVEN)
        return min(
            given,
            self._choose_and_carve(rounded, cells, ROUNDS[:1], 0),
            key=lambda found: found.cost,
        )

    def _choose_and_carve(
        self, found: SearchState, cells: Ints, rounds: Sequence[PoolOptions], carved: int
    ) -> SearchState:
        """Choose cells anew in rounds, and carve after so many of them."""
        work = self._work()
        for number, pools in enumerate(rounds):
            if not work.is_left:
                break
            found = self._repacked(found, cells, pools, work)
            move_single_records(found, reach_of(found), self._progress)
            if number < carved:
                carve_groups(found, self._seed, self._progress, FEWEST_POINTS)
        return found

    def _work(self) -> WorkBudget:
        if self._problem.counts_values_only:
            return WorkBudget(DISTINCT_WORK)
        return WorkBudget(WORK + int(WORK_BY_LOOK * self.relaxation.looks))

    def _repacked(
        self, found: SearchState, cells: Ints, pools: PoolOptions, work: WorkBudget
    ) -> SearchState:
        if self._problem.tallied:
            pools = pools._replace(records=min(pools.records, RECORDS_BY_K * self._problem.k))
        going = partial(self._go_on, "choosing cells")
        return SearchState.of(
            self._problem, repack_all(found, cells, pools, self._rng, going, work)
        )

    def _go_on(self, stage: str, done: int = 0, total: int = 1) -> bool:
        self._progress(f"refining: {stage}", done, total)
        return True


def _passes(problem: Problem, relaxation: Relaxation, is_loose: bool) -> int:
    """How many passes of the relaxed problem there is time for."""
    looks = relaxation.looks
    if _all_trees(problem):
        if not problem.tallied:
            return PASSES
        passes = SHARES_PASSES if _limits_shares(problem) else DISTINCT_PASSES
        passes = LOOSE_PASSES if is_loose else passes
        return passes if looks <= MOST_LOOKS and not _limits_distance(problem) else 0
    has_sets, is_short = (problem.arrays.form == SET).any(), looks <= RANGED_LOOKS
    is_ranged = is_short and not relaxation.spares and not has_sets
    return PASSES if is_ranged and not problem.tallied else 0


def _limits_shares(problem: Problem) -> bool:
    """Whether more is required of sensitive values than their number."""
    return problem.tallied > 0 and not problem.counts_values_only


def _limits_distance(problem: Problem) -> bool:
    """Whether groups may differ only so much from the table in their sensitive values."""
    return bool((problem.rules.distance < np.inf).any())


def _all_trees(problem: Problem) -> bool:
    return bool((problem.arrays.form == TREE).all())


def _is_loose(refined: SearchState) -> bool:
    """Whether few groups need a record for its sensitive value, where numbers of distinct values are required.

    Only over trees, where there are passes of the relaxed problem: without them nothing is gained.
    """
    problem, state = refined.problem, refined.search.s
    if not problem.tallied or not problem.counts_values_only or not _all_trees(problem):
        return False
    needs = np.zeros(len(state.size), dtype=bool)
    for first, end, least in zip(
        problem.rules.start[:-1], problem.rules.start[1:], problem.rules.distinct, strict=True
    ):
        counts = state.tally[:, first:end]
        needs |= (np.count_nonzero(counts, axis=1) <= least) & (counts == 1).any(axis=1)
    return bool(state.size[needs].sum() <= LOOSE * problem.table.records)
