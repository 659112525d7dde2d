"""Split groups of 2k records and more in two."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.refining.search import GAIN, free_group, keep_if_better, transfer
from shoal.kernels.shared.arrays import least_at, order_of, taken
from shoal.kernels.shared.forms import closure_cost, open_closure, widen_closure
from shoal.kernels.shared.rules import is_diverse
from shoal.kernels.shared.state import members_of


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
