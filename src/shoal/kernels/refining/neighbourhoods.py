"""Moves, swaps, splits and dissolving: the small changes of a partition that lower its cost."""

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
    free_group,
    keep_if_better,
    may_exchange,
    reprice_groups,
    transfer,
    undo,
)
from shoal.kernels.shared.arrays import least_at, order_of, taken
from shoal.kernels.shared.forms import closure_cost, open_closure, widen_closure
from shoal.kernels.shared.rules import is_diverse
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


@kernel
def split_groups(x, groups):
    """Split each of `groups` if that gains; return the groups that are parts of a split.

    Two members that are far apart serve as poles. All members are ordered by how much nearer they are to the one
    than to the other, and this order is cut where the two parts cost least.
    """
    closures = np.empty((x.s.closures.shape[0], 1), np.int32)
    parts, found = np.empty(2 * groups.size, np.int64), 0
    for g in groups:
        if x.s.size[g] < 2 * x.q.k or x.s.cost[g] <= GAIN:
            continue
        members = between_poles(x, closures, g)
        cut = best_cut(x, closures, members)
        if cut < 0:
            continue
        h = free_group(x)
        if h < 0:
            break
        for i in members[cut:]:
            transfer(x, i, h)
        if keep_if_better(x) > 0.0:
            parts[found], parts[found + 1] = g, h
            found += 2
    return parts[:found]


@allocating
def between_poles(x, closures, g):
    """Return the members of a group by how much nearer they are to one of two that are far apart than to the other."""
    members = members_of(x.s, g)
    a = farthest(x, closures, members, members[0])
    b = farthest(x, closures, members, a)
    nearer = np.empty(members.size)
    for at in range(members.size):
        nearer[at] = pair_cost(x, closures, a, members[at]) - pair_cost(x, closures, b, members[at])
    return taken(members, order_of(nearer))


@inner
def pair_cost(x, closures, i, other):
    """Return what the common closure of two records costs the first; `closures` is scratch for one closure."""
    open_closure(x.c, closures, 0, x.codes[i])
    widen_closure(x.c, closures, 0, x.codes[other])
    return closure_cost(x.c, x.classes[i], closures, 0)


@inner
def farthest(x, closures, members, i):
    """Return the member whose common closure with record i costs i most."""
    best, most = i, -1.0
    for other in members:
        cost = pair_cost(x, closures, i, other)
        if cost > most:
            best, most = other, cost
    return best


@allocating
def price_out_cuts(x, members, cost):
    """Set the cost of all cuts to infinity of which a part of at least k records does not keep the limits beyond k."""
    size, worst = members.size, cost[members.size]
    whole = x.s.tally[x.s.group[members[0]]]
    first, second = np.zeros(whole.size, np.int32), whole.copy()
    for cut in range(1, size):
        for t in range(x.s.values.shape[1]):
            first[x.s.values[members[cut - 1], t]] += 1
            second[x.s.values[members[cut - 1], t]] -= 1
        if cut < x.q.k or size - cut < x.q.k or cost[cut] >= worst - GAIN:
            continue
        if not (is_diverse(x.q, first, cut) and is_diverse(x.q, second, size - cut)):
            cost[cut] = np.inf


@allocating
def best_cut(x, closures, members):
    """Return the place at which to cut an order of records so that both parts have k records and cost least.

    Costs are computed as if all records were of one class. Where more than k is required, both parts must keep it.
    Returns -1 if the parts cost no less than the whole.
    """
    size = members.size
    cost = np.zeros(size + 1)
    for end in range(2):
        open_closure(x.c, closures, 0, x.codes[members[0 if end == 0 else size - 1]])
        for at in range(size):
            i = members[at if end == 0 else size - 1 - at]
            widen_closure(x.c, closures, 0, x.codes[i])
            here = (at + 1) * closure_cost(x.c, x.classes[i], closures, 0)
            cost[at + 1 if end == 0 else size - at - 1] += here
    if x.s.values.shape[1] > 0:
        price_out_cuts(x, members, cost)
    cut = least_at(cost, x.q.k, size - x.q.k + 1)
    return cut if cost[cut] < cost[size] - GAIN else -1


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
