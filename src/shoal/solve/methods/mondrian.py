"""Mondrian multidimensional partitioning (LeFevre et al. 2006; spec §5.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.splitting.mondrian import split_records
from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition
from shoal.solve.problem import Problem


@dataclass(frozen=True)
class Mondrian(Method):
    """Split the table again and again on the column in which the group's closure costs most.

    Numbers, dates and subsets are cut at the median, or as near to it as leaves two groups that meet the
    requirement; a hierarchy node (and `*` of a suppressed column) is split into its children, those that do
    not meet it alone staying together. O(n log n) in time, O(n) in memory.

    Parameters
    ----------
    strict
        Keep equal values of the split column together. Otherwise cuts are balanced exactly.
    """

    strict: bool = True

    name = "mondrian"
    source = "LeFevre et al. 2006"
    recoding = "multidimensional"
    promise = "none"
    growth = "n log n"
    seconds = 0.09
    summary = "splits records at medians again and again; the fastest, loses more"

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        progress("splitting groups", 0, 1)
        records = np.arange(problem.table.records)
        groups = split_records(
            problem.arrays,
            problem.rules,
            problem.codes,
            problem.classes,
            problem.values,
            records,
            not self.strict,
        )
        progress("splitting groups", 1, 1)
        return Partition(groups)
