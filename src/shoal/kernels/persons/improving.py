"""Groups of persons mended and improved by local search."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.persons.counting import HEADS, begin_group, count_member, keeps
from shoal.kernels.refining.leaving_out import keep_if_cheaper
from shoal.kernels.refining.neighbourhoods import best_partner, price_swaps
from shoal.kernels.refining.search import (
    GAIN,
    cost_everywhere,
    free_group,
    reprice_groups,
    transfer,
)
from shoal.kernels.shared.arrays import least_at, order_of, taken
from shoal.kernels.shared.forms import closure_cost, open_closure, widen_closure
from shoal.kernels.shared.groups import totals_with_group, totals_with_record
from shoal.kernels.shared.state import add, close, cost_without, members_of, merge, unlink

EPSILON = 1e-9  # costs that differ by less than this count as equal


@inner
def closest(x, w, g, row, scratch):
    """Return the closest group whose union with g complies, −1 for none, the cost that this adds, and the closest."""
    s = x.s
    totals_with_group(x.c, x.pairs, s.closures, s.counts, s.size.size, g, row, scratch)
    best, least, nearest, nearby = -1, np.inf, -1, np.inf
    for h in range(s.size.size):
        more = row[h] - s.cost[h] - s.cost[g]
        if h == g or s.size[h] == 0:
            continue
        if more < nearby - EPSILON:
            nearest, nearby = h, more
        if more < least - EPSILON and keeps(x.q, w, s, h, g, -1, -1):
            best, least = h, more
    return best, least, nearest


@inner
def best_place_by_persons(x, w, complying, i, row, scratch):
    """Return the complying group that still complies with record i at least cost, −1 for none, and the cost added."""
    s = x.s
    totals_with_record(
        x.c, x.pairs, s.closures, s.counts, s.size.size, x.codes[i], x.classes[i], row, scratch
    )
    best, least = -1, np.inf
    for h in range(s.size.size):
        more = row[h] - s.cost[h]
        if complying[h] and more < least - EPSILON:
            if w.total.size == 0 or keeps(x.q, w, s, h, -1, -1, i):
                best, least = h, more
    return best, least


@allocating
def hand_out_by_persons(x, w, complying, g, row, scratch):
    """Move the records of group g, one after the other, to their best places; those without one stay."""
    s = x.s
    for i in members_of(s, g):
        h, _ = best_place_by_persons(x, w, complying, i, row, scratch)
        if h >= 0:
            unlink(s, i)
            s.counts[x.classes[i], g] -= 1.0
            add(x.c, s, x.codes, x.classes, i, h)
    close(x.c, s, x.codes, g)


@kernel
def mend_persons(x, w, groups, may_hand_out):
    """Mend each of `groups` that does not comply: by the union that costs least, or by handing out its records.

    Handing out is estimated as the sum of what each record would add if it were the only one. Where no union complies,
    the closest group is taken: in the end there is one group.
    """
    s = x.s
    row, scratch = np.empty(s.size.size), np.empty(s.size.size)
    complying = np.zeros(s.size.size, np.bool_)
    for g in range(s.size.size):
        complying[g] = s.size[g] > 0 and keeps(x.q, w, s, g, -1, -1, -1)
    for g in groups:
        if s.size[g] == 0 or complying[g]:
            continue
        best, more, nearest = closest(x, w, g, row, scratch)
        apart = -s.cost[g] if may_hand_out else np.inf
        if may_hand_out:
            for i in members_of(s, g):
                apart += best_place_by_persons(x, w, complying, i, row, scratch)[1]
                if apart >= more - EPSILON:
                    break
        if apart < more - EPSILON:
            hand_out_by_persons(x, w, complying, g, row, scratch)
            complying[g] = s.size[g] > 0 and keeps(x.q, w, s, g, -1, -1, -1)
            continue
        partner = best if best >= 0 else nearest
        if partner >= 0:
            merge(x.c, s, partner, g)
            complying[partner] = keeps(x.q, w, s, partner, -1, -1, -1)


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
            moves += keep_if_cheaper(x, w, 0.0)
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
                if keep_if_cheaper(x, w, 0.0):
                    swaps += 1
                    break
    return swaps


@kernel
def split_persons(x, w, groups):
    """Split each of `groups` in two if that gains; return the groups that are parts of a split.

    Members are ordered between two that are far apart, and cut where both parts have k persons and cost least.
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
        if keep_if_cheaper(x, w, 0.0):
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
def cut_of_persons(x, w, closures, members):
    """Return the place to cut an order of records so that both parts have k persons and cost least, −1 for none.

    Costs are computed as if all records were of one class.
    """
    size = members.size
    cost = np.zeros(size + 1)
    few = np.zeros(size + 1, np.bool_)
    for end in range(2):
        begin_group(w)
        open_closure(x.c, closures, 0, x.codes[members[0 if end == 0 else size - 1]])
        for at in range(size):
            i = members[at if end == 0 else size - 1 - at]
            count_member(w, i)
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
