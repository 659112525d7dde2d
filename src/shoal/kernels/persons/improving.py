"""Local search over groups of persons: a change is kept if it lowers the cost and every group touched complies."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.persons.counting import HEADS, begin, count, keeps
from shoal.kernels.refining.search import (
    GAIN,
    TOUCHED,
    cost_everywhere,
    finish,
    free_group,
    keep,
    reprice_groups,
    transfer,
    undo,
)
from shoal.kernels.refining.splits import between_poles
from shoal.kernels.refining.swaps import best_partner, price_swaps
from shoal.kernels.shared.arrays import least_at
from shoal.kernels.shared.forms import closure_cost, open_closure, widen_closure
from shoal.kernels.shared.state import cost_without


@inner
def keep_if_complying(x, w):
    """Keep the change if it lowers the cost and all groups comply, else undo it; return what it gained, 0 if undone."""
    change = finish(x)
    kept = change < -GAIN
    for at in range(x.number[TOUCHED]):
        g = x.touched[at]
        if kept and x.s.size[g] > 0:
            kept = keeps(x.q, w, x.s, g, -1, -1, -1)
    if kept:
        keep(x)
        return -change
    undo(x)
    return 0.0


@kernel
def move_among_persons(x, w, records):
    """Move each of `records` to the group where it adds least cost, if that gains; return the number of moves."""
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((x.s.closures.shape[0], 1), np.int32)
    counts = np.empty((x.s.counts.shape[0], 1))
    moves = 0
    for i in records:
        own = x.s.group[i]
        saved = x.s.cost[own] - cost_without(x.c, x.s, x.codes, x.classes, i, closure, counts)
        if saved <= GAIN or not keeps(x.q, w, x.s, own, -1, i, -1):
            continue
        cost_everywhere(x, i, added, scratch)
        best, least = -1, saved
        for g in range(room):  # of groups that add the same but for rounding, the first is taken
            if g != own and x.s.size[g] > 0 and added[g] - x.s.cost[g] < least - GAIN:
                if w.total.size == 0 or keeps(x.q, w, x.s, g, -1, -1, i):
                    best, least = g, added[g] - x.s.cost[g]
        if best >= 0:
            transfer(x, i, best)
            moves += keep_if_complying(x, w) > 0.0
    reprice_groups(x)
    return moves


@kernel
def swap_among_persons(x, w, records, near):
    """Swap each of `records` with the best record of one of the `near` closest groups, if that gains."""
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((x.s.closures.shape[0], 1), np.int32)
    counts = np.empty((x.s.counts.shape[0], 1))
    swaps = 0
    for i in records:
        own = x.s.group[i]
        if not price_swaps(x, i, added, scratch, closure, counts):
            continue
        for _ in range(near):
            g = least_at(added, 0, room)
            if added[g] == np.inf:
                break
            added[g] = np.inf
            partner = best_partner(x, i, g)
            if partner >= 0:
                transfer(x, partner, own)
                transfer(x, i, g)
                if keep_if_complying(x, w) > 0.0:
                    swaps += 1
                    break
    return swaps


@kernel
def split_persons(x, w, groups):
    """Split each of `groups` in two if that gains; return the groups that are parts of a split.

    As in `refining.splits`, members are ordered between two that are far apart, and cut where both parts have k
    persons and cost least.
    """
    closures = np.empty((x.s.closures.shape[0], 1), np.int32)
    parts, found = np.empty(2 * groups.size, np.int64), 0
    for g in groups:
        if x.s.size[g] < 2 * x.q.k or x.s.cost[g] <= GAIN:
            continue
        members = between_poles(x, closures, g)
        cut = cut_of_persons(x, w, closures, members)
        if cut < 0:
            continue
        h = free_group(x)
        if h < 0:
            break
        for i in members[cut:]:
            transfer(x, i, h)
        if keep_if_complying(x, w) > 0.0:
            parts[found], parts[found + 1] = g, h
            found += 2
    return parts[:found]


@allocating
def cut_of_persons(x, w, closures, members):
    """Return the place to cut an order of records so that both parts have k persons and cost least, −1 for none.

    Costs are computed as if all records were of one class.
    """
    size = members.size
    cost = np.zeros(size + 1)
    few = np.zeros(size + 1, np.bool_)
    for end in range(2):
        begin(w)
        open_closure(x.c, closures, 0, x.codes[members[0 if end == 0 else size - 1]])
        for at in range(size):
            i = members[at if end == 0 else size - 1 - at]
            count(w, i)
            widen_closure(x.c, closures, 0, x.codes[i])
            cut = at + 1 if end == 0 else size - at - 1
            cost[cut] += (at + 1) * closure_cost(x.c, x.classes[i], closures, 0)
            if w.number[HEADS] < x.q.k:
                few[cut] = True
    few[0] = True
    few[size] = True
    best = -1
    for cut in range(size):
        if not few[cut] and (best < 0 or cost[cut] < cost[best]):
            best = cut
    return best if best >= 0 and cost[best] < cost[size] - GAIN else -1
