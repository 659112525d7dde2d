"""Grow groups of k one after the other, each from a record far from the last one's seed (Byun et al. 2007)."""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels.forms import open_closure, widen_closure
from shoal.kernels.rows import totals_with_each


@njit(cache=True)
def widens(c, closure, spare, record):
    """Let the closure cover a record; whether that changed it. `spare` is scratch."""
    spare[:, 0] = closure[:, 0]
    widen_closure(c, closure, 0, record)
    for s in range(closure.shape[0]):
        if closure[s, 0] != spare[s, 0]:
            return True
    return False


@njit(cache=True)
def compact(columns, classes, left, places):
    """Keep only points that still have records, in order; returns their number."""
    size = 0
    for i in range(left.size):
        if left[i] > 0:
            columns[:, size] = columns[:, i]
            classes[size], left[size], places[size] = classes[i], left[i], places[i]
            size += 1
    return size


@njit(cache=True)
def grow_groups(c, pairs, columns, classes, left, places, size, k, seed, most, taken):
    """Grow up to `most` groups of k records from the first `size` points; (groups, points left, last seed).

    `left` counts the records of each point not yet taken, `places` are the points' own numbers, all
    compacted in place. `seed` is the record of the last seed. Row g of `taken` receives the k points
    whose records group g takes.
    """
    out, scratch = np.empty(size), np.empty(size)
    closure, spare = np.empty((c.slot[-1], 1), np.int32), np.empty((c.slot[-1], 1), np.int32)
    counts = np.zeros((c.cost.shape[0], 1))
    records = 0
    for i in range(size):
        records += left[i]
    grown, spent = 0, 0
    while grown < most and records >= k:
        if 8 * spent > size:
            size = compact(columns, classes[:size], left[:size], places[:size])
            spent = 0
        open_closure(c, closure, 0, seed)
        counts[:, 0] = 0.0
        counts[0, 0] = 1.0
        totals_with_each(c, pairs, columns, classes, size, closure, counts, 0, out, scratch)
        for i in range(size):
            if left[i] == 0:
                out[i] = -np.inf
        best = np.argmax(out[:size])
        seed = columns[:, best].copy()
        open_closure(c, closure, 0, seed)
        counts[:, 0] = 0.0
        weigh = True
        for member in range(k):
            if member > 0 and (weigh or counts.shape[0] > 1):
                totals_with_each(c, pairs, columns, classes, size, closure, counts, 0, out, scratch)
                for i in range(size):
                    if left[i] == 0:
                        out[i] = np.inf
            if member > 0:
                best = np.argmin(out[:size])
                weigh = widens(c, closure, spare, columns[:, best])
            taken[grown, member] = places[best]
            counts[classes[best], 0] += 1.0
            left[best] -= 1
            if left[best] == 0:
                out[best] = np.inf
                spent += 1
        records -= k
        grown += 1
    return grown, size, seed
