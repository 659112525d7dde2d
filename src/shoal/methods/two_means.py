"""Top-down two-means clustering, "CB" (HE12 §3, Fig. 4; spec §5.9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.generalization.forms import Floats, RangeForm
from shoal.kernels.segments import make_segments
from shoal.kernels.two_means import split_segments
from shoal.methods.base import Method, Partition, least_problems
from shoal.methods.hilbert import value_places
from shoal.problem import Problem
from shoal.progress import Progress

WORK = 1 << 14  # records handled between two reports of progress


@dataclass(frozen=True)
class TwoMeans(Method):
    """Split every group of 2k records or more in two by a few rounds of two-means.

    The first centres are two random records, later ones the means (intervals) and modes (other models) of the
    sides, and random again once those stay. A record goes to the centre with which its closure costs it less,
    and a side below k borrows the records that lose least. The cheapest round is kept if it costs no more
    than the group unsplit, as it always does under a monotone objective. No guarantee. O(rounds × n log n) in
    time as a rule, O(n) in memory.

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
            split_segments(
                problem.arrays,
                problem.pairs,
                problem.codes,
                problem.classes,
                places,
                segments,
                problem.k,
                self.rounds,
                rng,
                WORK,
            )
        return Partition(segments.group)


def _range_places(problem: Problem) -> Floats:
    """Places of all range values, laid out as the compiled columns' entries."""
    start = problem.arrays.start
    places = np.zeros(start[-1])
    for j, column in enumerate(problem.columns):
        if isinstance(column.form, RangeForm):
            values = value_places(column.form)
            places[start[j] : start[j] + values.size] = values
    return places
