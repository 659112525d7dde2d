"""Top-down local recoding (XU06 §4.2, Fig. 5; spec §5.8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.encoding.forms import Ints
from shoal.kernels.shared.state import pack
from shoal.kernels.splitting.top_down import make_segments, own_costs, repair_groups, split_top_down
from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition, least_problems, state_of
from shoal.solve.methods.completion import complete_groups
from shoal.solve.problem import Problem

WORK = 1 << 17  # records handled between two reports of progress
COMPARISONS = 1 << 22  # comparisons of two groups between two reports of progress


@dataclass(frozen=True)
class TopDown(Method):
    """Split the table between two far records again and again, then repair the groups that fell below k.

    Seeds are found in three rounds of going to the farthest record; the others, in random order, join the side
    where they add less cost. Sides larger than k are split again where one part at least keeps k records. A
    group below k, the smallest first, takes what it lacks from a group that can spare it or merges with its
    nearest, whichever costs less. Where more than k is required, the groups that do not meet it are then
    merged with others or handed out to them; to split only where both sides meet it would end too soon. No
    guarantee. O(n log n) in time for the splits as a rule, O(n²) at worst and O(small groups × groups) for
    the repair, O(n) in memory.

    Parameters
    ----------
    candidates
        Groups that a small group tries to take records from.
    """

    candidates: int = 8

    name = "top_down"
    source = "XU06 §4.2, Fig. 5"
    recoding = "local"
    promise = "none"
    growth = "n²"
    seconds = 0.28
    summary = "splits groups between two distant records, then repairs those that are too small"

    def problems(self) -> list[str]:
        return least_problems("candidates", self.candidates, 0)

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        groups, count = _split(problem, np.random.default_rng(seed), progress)
        groups = self._repair(problem, groups, count, progress)
        return Partition(complete_groups(problem, groups, progress) if problem.tallied else groups)

    def _repair(self, problem: Problem, groups: Ints, count: int, progress: Progress) -> Ints:
        """Bring all groups up to k, smallest first."""
        state = state_of(problem, groups)
        small = np.argsort(state.size, kind="stable")[: np.count_nonzero(state.size < problem.k)]
        step = max(1, COMPARISONS // count)
        for first in range(0, small.size, step):
            progress("repairing groups", first, small.size)
            repair_groups(
                problem.arrays,
                problem.pairs,
                state,
                problem.codes,
                problem.classes,
                problem.k,
                self.candidates,
                small[first : first + step],
            )
        return pack(state)[0]


def _split(problem: Problem, rng: np.random.Generator, progress: Progress) -> tuple[Ints, int]:
    """Split until no side can be split; returns the group of each record and the number of groups.

    Many of these groups have fewer than k records.
    """
    n = problem.table.records
    own = own_costs(problem.arrays, problem.codes, problem.classes)
    segments = make_segments(rng.permutation(n))
    while segments.depth[0]:
        progress("splitting groups", int(np.count_nonzero(segments.group >= 0)), n)
        split_top_down(
            problem.arrays,
            problem.pairs,
            problem.codes,
            problem.classes,
            own,
            segments,
            problem.k,
            WORK,
        )
    return segments.group, int(segments.groups[0])
