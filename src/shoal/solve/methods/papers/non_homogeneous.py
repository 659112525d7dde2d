"""Ring generalization, "NH" (Wong et al. 2010, the baseline of HE12; spec §5.13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.shared.groups import members
from shoal.kernels.splitting.hilbert import draw_matching
from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition, choice_problems
from shoal.solve.methods.mondrian import Mondrian
from shoal.solve.methods.papers.hilbert import Hilbert
from shoal.solve.methods.papers.top_down import TopDown
from shoal.solve.methods.papers.two_means import TwoMeans
from shoal.solve.problem import Problem

WITHIN: dict[str, type[Method]] = {
    kind.name: kind for kind in (TopDown, TwoMeans, Mondrian, Hilbert)
}


@dataclass(frozen=True)
class NonHomogeneous(Method):
    """Release for every record the closure of k neighbours in its group, itself among them.

    Another method cuts the table into groups; the records of a group are arranged in a ring, in the order of a
    Hilbert curve. On a ring, window i covers the records i … i + k − 1, and a random matching decides which
    record carries which window. A window is part of its group, so that this never loses more than the groups
    closed as they are, under a monotone objective. Every record suits k windows and every window k records,
    which is what the audit proves: released records do NOT look the same. The matching is random and no seed
    repeats it, because anyone who knew it would know the records. O(n·(k + log n)) in time and O(n·k) in
    memory, in addition to the other method's.

    Parameters
    ----------
    within
        The method that makes the groups: "top_down", "two_means", "mondrian" or "hilbert".
    """

    within: str = "top_down"

    name = "non_homogeneous"
    source = "Wong et al. 2010; HE12"
    recoding = "non-homogeneous"
    promise = "none"
    growth = "n²"
    seconds = 0.58
    summary = "generalizes each record with k neighbours of its own; released records do not look the same"
    homogeneous = False

    def problems(self) -> list[str]:
        return choice_problems("within", self.within, WITHIN)

    def honours_requirements(self) -> bool:
        return False

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        n, k = problem.table.records, problem.k
        groups = WITHIN[self.within]().partition(problem, seed, progress).groups
        rank = np.empty(n, dtype=np.int64)
        rank[Hilbert().order(problem)] = np.arange(n)
        order, bounds = members(groups, int(groups.max()) + 1)
        rng = np.random.default_rng()  # whoever knew a seed could repeat the draw and link records
        windows = np.empty((n, k), dtype=np.int32)
        for g in range(len(bounds) - 1):
            progress("drawing windows", g, len(bounds) - 1)
            ring = order[bounds[g] : bounds[g + 1]]
            ring = ring[np.argsort(rank[ring])]
            window = draw_matching(ring.size, k, rng)
            places = (window[:, None] + np.arange(k)) % ring.size
            windows[ring] = ring[places]
        note = "records of a group do not look the same: the audit proves k-regular compatibility"
        return Partition(np.arange(n, dtype=np.int32), (note,), windows)
