"""Count which records may have which released closure, for releases whose records do not read the same."""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels.groups import covers


@njit(cache=True)
def inside(c, closures, g, record):
    """Whether a record lies in closure g."""
    for j in range(c.form.size):
        if not covers(c, j, closures, g, record[j]):
            return False
    return True


@njit(cache=True)
def weigh_compatible(c, closures, sizes, points, weights):
    """For each closure the records inside it, and for each point the released records that may be its own."""
    of_closure, of_point = np.zeros(sizes.size, np.int64), np.zeros(weights.size, np.int64)
    for g in range(sizes.size):
        for i in range(weights.size):
            if inside(c, closures, g, points[i]):
                of_closure[g] += weights[i]
    for i in range(weights.size):
        for g in range(sizes.size):
            if inside(c, closures, g, points[i]):
                of_point[i] += sizes[g]
    return of_closure, of_point
