"""Bottom-up local recoding (XU06 Fig. 4; spec §5.7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import Ints
from shoal.kernels.clustering.agglomerative import merge_round
from shoal.kernels.shared.state import offending, pack
from shoal.progress import Progress, silent
from shoal.solve.methods.agglomerative import DISTANCES
from shoal.solve.methods.base import Method, Partition, choice_problems, state_of
from shoal.solve.methods.papers.k_member import k_members
from shoal.solve.problem import Problem

CHUNK = 512  # groups between two reports of progress


@dataclass(frozen=True)
class BottomUp(Method):
    """Merge every group below k with its best partner, round by round.

    Starts from the distinct records. After each round a group of 2k or more records is split into as
    many parts of at least k as it allows. No guarantee. O(n² log k) in time, O(n) in memory.

    Parameters
    ----------
    distance
        What makes a partner best: "per_record", the cost that merging adds per record of the union;
        "difference", that cost in all; "union", the cost of the whole union, which is the paper's letter but
        shuns large groups and loses more.
    """

    distance: str = "per_record"

    name = "bottom_up"
    source = "XU06 §4.1, Fig. 4"
    recoding = "local"
    promise = "none"
    growth = "n²"
    seconds = 4.01
    summary = "merges every small group with its best partner, round by round"

    def problems(self) -> list[str]:
        return choice_problems("distance", self.distance, DISTANCES)

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        groups = problem.points.of_record.copy()
        while True:
            state = state_of(problem, groups)
            room = state.size.size
            for start in range(0, room, CHUNK):
                progress("merging groups", start, room)
                merge_round(
                    problem.arrays,
                    problem.pairs,
                    problem.rules,
                    state,
                    DISTANCES[self.distance],
                    start,
                    min(room, start + CHUNK),
                )
            missing = offending(problem.rules, state)
            groups, count = pack(state)
            groups = _split_large(problem, groups, missing[state.size > 0])
            if count == 1 or not missing.any():
                return Partition(groups)


def _split_large(problem: Problem, groups: Ints, missing: npt.NDArray[np.bool_]) -> Ints:
    """Split groups of 2k and more into as many parts of at least k as they allow.

    Groups that miss another requirement stay as they are; the parts of others keep it.
    """
    count = missing.size
    sizes = np.bincount(groups, minlength=count)
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(sizes)
    for g in np.flatnonzero((sizes >= 2 * problem.k) & ~missing):
        records = order[ends[g] - sizes[g] : ends[g]]
        parts = k_members(problem, records, problem.codes[records[0]], silent)
        groups[records] = np.where(parts > 0, parts + count - 1, g)
        count += int(parts.max())
    return groups
