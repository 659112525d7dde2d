"""Agglomerative clustering (GT10 §6.2.1; spec §5.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.clustering.agglomerative import (
    DIFFERENCE,
    PER_RECORD,
    UNION,
    all_nearest,
    merge_closest,
)
from shoal.kernels.shared.state import State, merge, offending, pack
from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition, choice_problems, state_of
from shoal.solve.problem import Problem

DISTANCES = {"difference": DIFFERENCE, "per_record": PER_RECORD, "union": UNION}
CHUNK = 500  # merges between two reports of progress


@dataclass(frozen=True)
class Agglomerative(Method):
    """Merge the two closest groups, one of them below k, until no group is.

    Starts from the distinct records. No guarantee; among the lowest losses of the papers' methods.
    O(n²) in time, O(n) in memory.

    Parameters
    ----------
    distance
        What makes two groups close: "difference", the cost their union adds; "per_record", that per
        record of the union; "union", the cost of the union.
    """

    distance: str = "difference"

    name = "agglomerative"
    source = "GT10 §6.2.1"
    recoding = "local"
    promise = "none"
    growth = "n²"
    seconds = 7.97
    summary = "starts with single records and merges the closest groups"

    def problems(self) -> list[str]:
        return choice_problems("distance", self.distance, DISTANCES)

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        state = state_of(problem, problem.points.of_record)
        merge_small(problem, state, DISTANCES[self.distance], False, progress)
        return Partition(pack(state)[0])


def merge_small(
    problem: Problem, state: State, distance: int, small_only: bool, progress: Progress
) -> None:
    """Merge the closest groups until all meet the requirement; with `small_only`, those that do not first."""
    c, pairs, rules = problem.arrays, problem.pairs, problem.rules
    room = state.size.size
    small = offending(rules, state)
    total = int(small.sum())
    near, gap = np.full(room, -1, np.int64), np.full(room, np.inf)
    progress("merging groups", 0, total)
    allowed = small if small_only else state.size > 0
    all_nearest(c, pairs, state, room, distance, allowed, small, near, gap)
    stale = np.zeros(room, np.bool_)
    done = 0
    while True:
        merged = merge_closest(
            c, pairs, rules, state, room, distance, small_only, near, gap, stale, CHUNK
        )
        done += merged
        progress("merging groups", min(done, total), total)
        if merged < CHUNK:
            break
    left = np.flatnonzero(offending(rules, state))
    while left.size and np.count_nonzero(state.size) > 1:
        closest = _closest(problem, state, int(left[0]), distance)
        merge(c, state, closest, int(left[0]))
        left = np.flatnonzero(offending(rules, state))


def _closest(problem: Problem, state: State, group: int, distance: int) -> int:
    """The group closest to one that is left over."""
    room = state.size.size
    near, gap = np.full(room, -1, np.int64), np.full(room, np.inf)
    chooses = np.arange(room) == group
    all_nearest(
        problem.arrays, problem.pairs, state, room, distance, state.size > 0, chooses, near, gap
    )
    return int(near[group])
