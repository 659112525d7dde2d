"""Moves, swaps and dissolving: the small changes of a partition that lower its cost."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.refining.search import (
    GAIN,
    can_spare,
    cheapest_of,
    cheapest_other,
    cost_everywhere,
    finish,
    keep_if_better,
    may_exchange,
    reprice_groups,
    transfer,
    undo,
)
from shoal.kernels.shared.arrays import least_at
from shoal.kernels.shared.state import cost_without, members_of


@inner
def are_unlike(codes, i, other):
    """Return whether two records differ in any column."""
    for j in range(codes.shape[1]):
        if codes[i, j] != codes[other, j]:
            return True
    return False


@kernel
def move_records(x, records):
    """Move each of `records` to the group where it adds least cost, if that gains; return the number of moves.

    The group it leaves must meet the requirement without it, the other one with it. Afterwards `x.joins` says what
    each of `records` would add elsewhere.
    """
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((x.s.closures.shape[0], 1), np.int32)
    counts = np.empty((x.s.counts.shape[0], 1))
    moves, known = 0, -1  # `known` is the record for which `added` was computed
    for i in records:
        if known < 0 or x.classes[i] != x.classes[known] or are_unlike(x.codes, i, known):
            cost_everywhere(x, i, added, scratch)
            known = i
        best, x.joins[i] = cheapest_of(x, i, -1, added)
        own = x.s.group[i]
        if best < 0 or not can_spare(x, i):
            continue
        saved = x.s.cost[own] - cost_without(x.c, x.s, x.codes, x.classes, i, closure, counts)
        if x.joins[i] < saved - GAIN:
            x.joins[i] = saved
            transfer(x, i, best)
            moves += keep_if_better(x) > 0.0
            known = -1
    reprice_groups(x)
    return moves


@kernel
def swap_records(x, records, near):
    """Swap each of `records` that makes its group expensive with the best record of a near group, if that gains.

    Tried are the `near` groups to which the record would add least cost. Returns the number of swaps.
    """
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
                if keep_if_better(x) > 0.0:
                    swaps += 1
                    break
    return swaps


@inner
def price_swaps(x, i, added, scratch, closure, counts):
    """Fill `added` with what record i would add to each other group; return whether its own gets cheaper without it.

    Empty groups and its own add infinitely much. The last three are scratch.
    """
    own = x.s.group[i]
    saved = x.s.cost[own] - cost_without(x.c, x.s, x.codes, x.classes, i, closure, counts)
    if saved <= x.price[i] + GAIN:  # the other members would not get cheaper
        return False
    cost_everywhere(x, i, added, scratch)
    for g in range(added.size):
        added[g] = added[g] - x.s.cost[g] if x.s.size[g] > 0 and g != own else np.inf
    return True


@inner
def change_of_swap(x, i, partner):
    """Return by how much the cost changes if two records of different groups change places; they stay."""
    own, g = x.s.group[i], x.s.group[partner]
    transfer(x, partner, own)
    transfer(x, i, g)
    change = finish(x)
    undo(x)
    return change


@allocating
def best_partner(x, i, g):
    """Return the record of group g whose swap with record i lowers the cost most and may be, −1 if there is none."""
    best, least = -1, -GAIN
    own = x.s.group[i]
    for partner in members_of(x.s, g):
        if not (may_exchange(x, own, i, partner) and may_exchange(x, g, partner, i)):
            continue
        change = change_of_swap(x, i, partner)
        if change < least:
            best, least = partner, change
    return best


@allocating
def dissolve(x, g, added, scratch):
    """Send the records of group g one by one to where they add least, as part of the change; return whether all can go.

    `x.joins` is brought up to date, so that a group that does not gain is not tried again and again.
    """
    for i in members_of(x.s, g):
        best, x.joins[i] = cheapest_other(x, i, g, added, scratch)
        if best < 0:
            return False
        transfer(x, i, best)
    return True
