"""k-member clustering (Byun et al. 2007; GT10 §6.2.1; spec §5.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.encoding.forms import Ints, Records
from shoal.kernels.clustering.k_member import Remaining, grow_groups
from shoal.kernels.shared.groups import members
from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition, join_rest
from shoal.solve.methods.completion import complete_groups
from shoal.solve.problem import Problem

CHUNK = 64  # groups between two reports of progress
# Under a requirement beyond k a group stops growing at 8k records, or at 64 where that is more: what misses it then
# is merged with its closest instead.
LONGEST, LEAST_LONGEST = 8, 64


@dataclass(frozen=True)
class KMember(Method):
    """Grow groups of k one after the other, always by the record that adds least cost.

    A group starts from the record farthest from the last group's first one; fewer than k records left at
    the end join where they cost least. No guarantee. O(n²) in time, O(n) in memory.

    Under a requirement beyond k, a group of k that misses it goes on growing by the cheapest of the records
    that bring it closer; what misses it all the same is merged with its closest.
    """

    name = "k_member"
    source = "Byun et al. 2007; GT10 §6.2.1"
    recoding = "local"
    promise = "none"
    growth = "n²"
    seconds = 2.22
    summary = "grows one group after the other by the record that adds least cost"

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        rng = np.random.default_rng(seed)
        start = problem.codes[rng.integers(problem.table.records)]
        return Partition(k_members(problem, np.arange(problem.table.records), start, progress))


def k_members(problem: Problem, records: Records, seed: Ints, progress: Progress) -> Ints:
    """Group some records, the first group grown from the record farthest from `seed`; none is left over.

    All groups meet the requirement if the records do as one group.
    """
    points = problem.points
    present, place = np.unique(points.of_record[records], return_inverse=True)
    place = place.reshape(-1).astype(np.int32)
    order, bounds = members(place, present.size)
    kind_values, kinds = np.unique(points.values[present], axis=0, return_inverse=True)
    remaining = Remaining(
        columns=np.ascontiguousarray(points.codes[present].T),
        classes=points.classes[present].copy(),
        kinds=kinds.reshape(-1),
        kind_values=kind_values,
        left=np.diff(bounds),
        places=np.arange(present.size),
    )
    size = present.size
    groups = np.full(records.size, -1, dtype=np.int32)
    longest = max(LONGEST * problem.k, LEAST_LONGEST) if problem.tallied else problem.k
    taken, sizes = np.empty((CHUNK, longest), dtype=np.int64), np.empty(CHUNK, dtype=np.int64)
    following = bounds[:-1].copy()
    done, total = 0, records.size // problem.k
    while True:
        progress("growing groups", done, total)
        grown, size, seed = grow_groups(
            problem.arrays,
            problem.pairs,
            problem.rules,
            remaining,
            size,
            seed,
            CHUNK,
            taken,
            sizes,
        )
        for g in range(grown):
            for point in taken[g, : sizes[g]]:
                groups[order[following[point]]] = done + g
                following[point] += 1
        done += grown
        if grown < CHUNK:
            break
    if problem.tallied:
        return complete_groups(problem, groups, progress, records)
    join_rest(problem, groups, records)
    return groups
