"""Ring generalization, "NH" (Wong et al. 2010, the baseline of HE12; spec §5.13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.rings import draw_matching
from shoal.methods.base import Method, Partition, least_problems
from shoal.methods.hilbert import Hilbert
from shoal.problem import Problem
from shoal.progress import Progress


@dataclass(frozen=True)
class NonHomogeneous(Method):
    """Release for every record the closure of k neighbours on a ring, itself among them.

    Records are ordered along a Hilbert curve and cut into rings. On a ring, window i covers the records
    i … i + k − 1, and a random matching decides which record carries which window. Every record suits k
    windows and every window k records, which is what the audit proves: released records do NOT read the
    same. The matching is fresh chance that no seed repeats, for whoever knew it would know the records.
    O(n·(k + log n)) in time, O(n·k) in memory.

    Parameters
    ----------
    ring
        Least number of records on a ring as a multiple of k; 0 puts all records on one.
    """

    ring: int = 0

    name = "non_homogeneous"
    source = "Wong et al. 2010; HE12"
    recoding = "non-homogeneous"
    promise = "none"
    growth = "n log n"
    summary = "closes windows of k neighbours on rings; released records do not read the same"
    homogeneous = False

    def problems(self) -> list[str]:
        return least_problems("ring", self.ring, 0)

    def honours_requirements(self) -> bool:
        return False

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        n, k = problem.table.records, problem.k
        order = Hilbert().order(problem)
        rings = max(1, n // (k * self.ring)) if self.ring else 1
        rng = np.random.default_rng()  # whoever knew a seed could repeat the draw and link records
        windows = np.empty((n, k), dtype=np.int32)
        for number, ring in enumerate(np.array_split(order, rings)):
            progress("drawing windows", number, rings)
            window = draw_matching(ring.size, k, rng)
            places = (window[:, None] + np.arange(k)) % ring.size
            windows[ring] = ring[places]
        progress("drawing windows", rings, rings)
        note = "records of a group do not read the same: the audit proves k-regular compatibility"
        return Partition(np.arange(n, dtype=np.int32), (note,), windows)
