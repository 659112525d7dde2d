"""Groups dissolve into others."""

from __future__ import annotations

import numpy as np

from shoal.kernels.refining.dissolving import dissolve_groups
from shoal.refine.partition import Refined


def dissolve_all(refined: Refined) -> int:
    """Dissolve groups whose records cost less elsewhere; returns how many did."""
    return int(dissolve_groups(refined.search, np.arange(len(refined.search.s.size))))
