"""Groups from a fractional cover: cells that would cover some records in part become groups or not at all."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import kernel


@kernel
def round_cells(bounds, members, shares, order, first, records, k, fussy):
    """Open cells in order that still find k records; the group of every record, −1 for none.

    Cell c holds the distinct records members[bounds[c]:bounds[c + 1]], of which it covers `shares`; those of
    a distinct record p are records[first[p]:first[p + 1]]. An open cell takes of each as many as its share, rounded
    up where it exceeds a whole number by more than `fussy`, the largest shares first, and more while it lacks k.
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
