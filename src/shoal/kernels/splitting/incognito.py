"""Which cells of full-domain recoding meet the requirement."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import kernel
from shoal.kernels.shared.rules import complies


@kernel
def offending_cells(q, values, weights, order, bounds):
    """Return which cells do not meet the requirement; cell g holds the points order[bounds[g]:bounds[g + 1]]."""
    found = np.empty(bounds.size - 1, np.bool_)
    tally = np.zeros(q.start[-1], np.int64)
    for g in range(found.size):
        points = order[bounds[g] : bounds[g + 1]]
        size = 0
        for p in points:
            size += weights[p]
            for t in range(values.shape[1]):
                tally[values[p, t]] += weights[p]
        found[g] = not complies(q, tally, size)
        for p in points:
            for t in range(values.shape[1]):
                tally[values[p, t]] = 0
    return found
