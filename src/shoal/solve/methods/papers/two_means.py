"""Top-down two-means clustering, "CB" (HE12 §3, Fig. 4; spec §5.9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.encoding.forms import Floats, Ints, RangeForm
from shoal.kernels.splitting.top_down import make_segments
from shoal.kernels.splitting.two_means import split_by_two_means
from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition, least_problems
from shoal.solve.methods.completion import complete_groups
from shoal.solve.methods.papers.hilbert import value_places
from shoal.solve.methods.papers.sequential import deal_in_turn, kinds_of, least_diverse
from shoal.solve.problem import Problem

WORK = 1 << 14  # records handled between two reports of progress


@dataclass(frozen=True)
class TwoMeans(Method):
    """Split every group of 2k records or more in two by a few rounds of two-means.

    The first centres are two random records, later ones the means (intervals) and modes (other models) of the
    sides, and random again once those stay. A record goes to the centre with which its closure costs it less,
    and a side below k borrows the records that lose least. The cheapest round is kept if it costs no more
    than the group unsplit, as it always does under a monotone objective. No guarantee. O(rounds × n log n) in
    time as a rule, O(n) in memory.

    Under a requirement beyond k, a side that misses it borrows records too, and a split is kept only if both
    sides meet it. Groups that stay large are dealt out in order of sensitive values; what then
    misses the requirement is merged with its closest.

    Parameters
    ----------
    rounds
        Tries per split.
    """

    rounds: int = 15

    name = "two_means"
    source = "HE12 §3, Fig. 4"
    recoding = "local"
    promise = "none"
    growth = "n log n"
    seconds = 1.0
    summary = "splits groups in two around their means until none can be split"

    def problems(self) -> list[str]:
        return least_problems("rounds", self.rounds, 1)

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        n = problem.table.records
        rng = np.random.default_rng(seed)
        segments = make_segments(rng.permutation(n))
        places = _range_places(problem)
        while segments.depth[0]:
            progress("splitting groups", int(np.count_nonzero(segments.group >= 0)), n)
            split_by_two_means(
                problem.arrays,
                problem.pairs,
                problem.rules,
                problem.codes,
                problem.classes,
                problem.values,
                places,
                segments,
                self.rounds,
                rng,
                WORK,
            )
        groups = segments.group
        if problem.tallied and problem.objective.monotone:
            groups = complete_groups(problem, _deal_large(problem, groups), progress)
        return Partition(groups)


def _deal_large(problem: Problem, groups: Ints) -> Ints:
    """Deal out the records of every group that was left large to as many groups as its size allows (HE12 Fig. 5)."""
    kinds, least = kinds_of(problem), max(problem.k, least_diverse(problem.rules))
    sizes = np.bincount(groups)
    order, ends = np.argsort(groups, kind="stable"), np.cumsum(sizes)
    groups, count = groups.copy(), sizes.size
    for g in np.flatnonzero(sizes >= 2 * least):
        records = order[ends[g] - sizes[g] : ends[g]]
        parts = deal_in_turn(kinds[records], int(sizes[g]) // least)
        groups[records] = np.where(parts > 0, parts + count - 1, g)
        count += int(parts.max())
    return groups


def _range_places(problem: Problem) -> Floats:
    """The places of all range values on their lines, laid out like the entries of the compiled columns."""
    start = problem.arrays.start
    places = np.zeros(start[-1])
    for j, column in enumerate(problem.columns):
        if isinstance(column.form, RangeForm):
            values = value_places(column.form)
            places[start[j] : start[j] + values.size] = values
    return places
