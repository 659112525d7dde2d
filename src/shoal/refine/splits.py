"""Large groups split in two."""

from __future__ import annotations

import numpy as np

from shoal.kernels.splits import split_groups
from shoal.refine.partition import Refined


def split_all(refined: Refined) -> int:
    """Split groups of at least 2k records that gain by it, again and again; returns how often."""
    splits = some = int(split_groups(refined.search, np.arange(len(refined.search.s.size))))
    while some:
        some = int(split_groups(refined.search, np.arange(len(refined.search.s.size))))
        splits += some
    return splits
