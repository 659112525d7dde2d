"""Exchange people of the same sensitive value between groups of a series, so that every group keeps its values."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.refining.search import GAIN, keep_if_better, transfer
from shoal.kernels.refining.swaps import change_of_swap, price_swaps
from shoal.kernels.shared.arrays import least_at
from shoal.kernels.shared.state import members_of


@kernel
def exchange_people(x, people, near, value, signature, is_new, holds):
    """Exchange each of `people` with the best of a near group, if that lowers the cost; return the exchanges.

    Who changes places has the same sensitive value. Between groups of one signature everybody may change places,
    between others only two newcomers may, who then change signatures, too. `signature` is that of each person and
    is kept up to date; `holds` says which values each signature has.
    """
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((x.s.closures.shape[0], 1), np.int32)
    counts = np.empty((x.s.counts.shape[0], 1))
    exchanges = 0
    for i in people:
        own = x.s.group[i]
        if own < 0 or not price_swaps(x, i, added, scratch, closure, counts):
            continue
        for g in range(room):
            if added[g] < np.inf and not may_go(x, i, g, value, signature, is_new, holds):
                added[g] = np.inf
        for _ in range(near):
            g = least_at(added, 0, room)
            if added[g] == np.inf:
                break
            added[g] = np.inf
            partner = best_counterpart(x, i, g, value, signature, is_new)
            if partner >= 0:
                transfer(x, partner, own)
                transfer(x, i, g)
                if keep_if_better(x) > 0.0:
                    signature[i], signature[partner] = signature[partner], signature[i]
                    exchanges += 1
                    break
    return exchanges


@inner
def may_go(x, i, g, value, signature, is_new, holds):
    """Return whether somebody of group g may change places with person i, as far as signatures tell."""
    there = signature[x.s.head[g]]
    return there == signature[i] or (is_new[i] and holds[there, value[i]])


@allocating
def best_counterpart(x, i, g, value, signature, is_new):
    """Return the member of group g whose exchange with person i lowers the cost most, −1 if none does."""
    best, least = -1, -GAIN
    for partner in members_of(x.s, g):
        if value[partner] != value[i]:
            continue
        if signature[partner] != signature[i] and not (is_new[i] and is_new[partner]):
            continue
        change = change_of_swap(x, i, partner)
        if change < least:
            best, least = partner, change
    return best
