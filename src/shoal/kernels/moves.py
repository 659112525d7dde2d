"""Move single records to groups where they cost less, keeping every group's requirement."""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels.rows import totals_with_record
from shoal.kernels.state import add, cost_without, remove, stays_diverse_with, stays_diverse_without

GAIN = 1e-9


@njit(cache=True)
def move_records(c, pairs, q, s, codes, classes, monotone, records):
    """Move each of `records` that gains by it to the group where it costs least; returns the number of moves.

    Its own group must meet the requirement without it, the other one with it. Where joining a group never
    saves anything (`monotone`), records whose leaving saves nothing stay.
    """
    room = s.size.size
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((s.closures.shape[0], 1), np.int32)
    counts = np.empty((s.counts.shape[0], 1))
    moves = 0
    for i in records:
        own = s.group[i]
        if s.size[own] <= q.k or not stays_diverse_without(q, s, i):
            continue
        saved = s.cost[own] - cost_without(c, s, codes, classes, i, closure, counts)
        if monotone and saved <= GAIN:
            continue
        totals_with_record(
            c, pairs, s.closures, s.counts, room, codes[i], classes[i], added, scratch
        )
        best, least = -1, saved - GAIN
        for g in range(room):
            if g != own and s.size[g] > 0 and added[g] - s.cost[g] < least:
                if stays_diverse_with(q, s, i, g):
                    best, least = g, added[g] - s.cost[g]
        if best >= 0:
            remove(c, s, codes, classes, i)
            add(c, s, codes, classes, i, best)
            moves += 1
    return moves
