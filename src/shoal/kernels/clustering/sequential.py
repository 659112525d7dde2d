"""One pass of sequential clustering: every record moves to the group where it costs least (GT10 Algs. 1, 2)."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import inner, unrolled
from shoal.kernels.shared.arrays import least_at
from shoal.kernels.shared.rows import totals_with_record
from shoal.kernels.shared.state import (
    add,
    cost_without,
    remove,
    stays_diverse_with,
    stays_diverse_without,
)


@unrolled
def sequential_pass(c, pairs, q, s, codes, classes, monotone, firm, start, stop):
    """Go over the records start..stop once, and move each to where it costs least; return the number of moves.

    A record moves if that gains or if it is alone in its group, provided that both groups, if they then have at
    least `firm` records, keep all limits except k. If joining a group never saves anything (`monotone`), a record
    that saves nothing by leaving stays, and is not tried in all groups.
    """
    room, is_limited = s.size.size, s.values.shape[1] > 0
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((s.closures.shape[0], 1), np.int32)
    counts = np.empty((s.counts.shape[0], 1))
    moves = 0
    for i in range(start, stop):
        own = s.group[i]
        if is_limited and s.size[own] > firm and not stays_diverse_without(q, s, i):
            continue
        alone = s.size[own] == 1
        saved = s.cost[own] - cost_without(c, s, codes, classes, i, closure, counts)
        if monotone and saved <= 1e-9 and not alone:
            continue
        totals_with_record(
            c, pairs, s.closures, s.counts, room, codes[i], classes[i], added, scratch
        )
        for g in range(room):
            added[g] = added[g] - s.cost[g] if s.size[g] > 0 else np.inf
        added[own] = np.inf
        if is_limited:
            best = best_open(q, s, firm, i, added, np.inf if alone else saved - 1e-9)
        else:
            best = least_at(added, 0, room)
        if best >= 0 and (added[best] < saved - 1e-9 or (alone and added[best] < np.inf)):
            remove(c, s, codes, classes, i)
            add(c, s, codes, classes, i, best)
            moves += 1
    return moves


@inner
def best_open(q, s, firm, i, added, least):
    """Return the group to which record i adds least, below `least`, without breaking a limit; -1 for none.

    A group that has fewer than `firm` records with i need not keep the limits.
    """
    best = -1
    for g in range(added.size):
        if added[g] < least and (s.size[g] + 1 < firm or stays_diverse_with(q, s, i, g)):
            best, least = g, added[g]
    return best
