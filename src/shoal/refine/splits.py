"""Splits: a large group becomes two."""

from __future__ import annotations

import numpy as np

from shoal.kernels.refining.search import GAIN
from shoal.kernels.refining.splits import split_groups
from shoal.refine.partition import Refined


def split_all(refined: Refined) -> int:
    """Split groups of at least 2k records as long as that lowers the cost; returns the number of splits."""
    x, splits = refined.search, 0
    groups = np.flatnonzero((x.s.size >= 2 * x.q.k) & (x.s.cost > GAIN))
    while len(groups):  # few tables of few records have any, and these need not compile the kernel
        groups = split_groups(x, groups)
        splits += len(groups) // 2
    return splits
