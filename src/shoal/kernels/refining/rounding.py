"""Round a fractional cover (a solution of the relaxed problem): cells become groups as a whole or not at all."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import kernel
from shoal.kernels.shared.arrays import sort_stably


@kernel
def round_cells(bounds, members, shares, order, first, records, k, fussy):
    """Open cells in the given order if they still find k free records; return the group of each record, −1 for none.

    The cell holds the points members[bounds[cell]:bounds[cell + 1]], of whose records it covers the fractions
    `shares`; the records of point p are records[first[p]:first[p + 1]]. An open cell takes of each point as many
    records as its share amounts to, rounded up if the fractional part exceeds `fussy`; it begins with the largest
    shares, and takes more while it has fewer than k.
    """
    points = first.size - 1
    group, free = np.empty(records.size, np.int32), np.empty(points, np.int64)
    for at in range(records.size):
        group[at] = -1
    for p in range(points):
        free[p] = first[p + 1] - first[p]
    less, turns, spare = np.empty(points), np.empty(points, np.int64), np.empty(points, np.int64)
    groups = 0
    for cell in order:
        begin, size, left = bounds[cell], bounds[cell + 1] - bounds[cell], 0
        for at in range(size):
            left += free[members[begin + at]]
            less[at] = -shares[begin + at]
        if left < k:
            continue
        sort_stably(less[:size], turns[:size], spare[:size])
        held = 0
        for turn in range(size):
            at = begin + turns[turn]
            p = members[at]
            share = shares[at] * (first[p + 1] - first[p])
            takes = min(free[p], max(int(np.ceil(share - fussy)), k - held))
            for _ in range(takes):
                group[records[first[p + 1] - free[p]]] = groups
                free[p] -= 1
            held += max(0, takes)
        groups += 1
    return group
