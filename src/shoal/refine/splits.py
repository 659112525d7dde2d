"""Splits: a large group becomes two."""

from __future__ import annotations

import numpy as np

from shoal.kernels.refining.splits import split_groups
from shoal.refine.partition import Refined


def split_all(refined: Refined) -> int:
    """Split groups of at least 2k records as long as that lowers the cost; returns the number of splits."""
    groups, splits = np.arange(len(refined.search.s.size)), 0
    while len(groups):
        groups = split_groups(refined.search, groups)
        splits += len(groups) // 2
    return splits
