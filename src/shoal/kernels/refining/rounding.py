"""Round a fractional cover (a solution of the relaxed problem): cells become groups as a whole or not at all."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import kernel


@kernel
def round_cells(bounds, members, shares, order, first, records, k, fussy):
    """Open cells in the given order if they still find k free records; return the group of each record, −1 for none.

    The cell holds the points members[bounds[cell]:bounds[cell + 1]], of whose records it covers the fractions
    `shares`; the records of point p are records[first[p]:first[p + 1]]. An open cell takes of each point as many
    records as its share amounts to, rounded up if the fractional part exceeds `fussy`; it begins with the largest
    shares, and takes more while it has fewer than k.
    """
    group = np.full(records.size, -1, np.int32)
    free = first[1:] - first[:-1]
    groups = 0
    for cell in order:
        within = members[bounds[cell] : bounds[cell + 1]]
        if free[within].sum() < k:
            continue
        size = 0
        for at in np.argsort(-shares[bounds[cell] : bounds[cell + 1]], kind="mergesort"):
            p = within[at]
            share = shares[bounds[cell] + at] * (first[p + 1] - first[p])
            takes = min(free[p], max(int(np.ceil(share - fussy)), k - size))
            for _ in range(takes):
                group[records[first[p + 1] - free[p]]] = groups
                free[p] -= 1
            size += max(0, takes)
        groups += 1
    return group
