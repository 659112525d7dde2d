"""Dissolving: all records of a group move to other groups."""

from __future__ import annotations

import numpy as np

from shoal.kernels.refining.dissolving import dissolve_groups
from shoal.refine.partition import Refined


def dissolve_all(refined: Refined) -> int:
    """Dissolve every group whose records cost less in other groups; returns the number of groups dissolved."""
    return int(dissolve_groups(refined.search, np.arange(len(refined.search.s.size))))
