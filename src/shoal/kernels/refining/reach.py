"""Which groups could take in which records without growing, and what a record of each group is worth to others.

A record that lies in the closure of another group can move there and pays that group's price. Along a chain of
groups, each of which takes in a record of the one before, all that changes is that one record pays the last group's
price instead of the first one's (an augmenting path in the graph of groups). So a group of only k records can give
up a record if a chain leads to it from a group with more than k. The most expensive such group is the source of its
*supply*, and that group's price is what a record of the supplied group is worth: its `value`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.refining.search import may_exchange, transfer
from shoal.kernels.shared.arrays import order_of
from shoal.kernels.shared.forms import BITS, RANGE, SET, TREE
from shoal.kernels.shared.state import stays_diverse_without

NONE = -1  # no group, record or pair


@bundle
class Reach(NamedTuple):
    """The pairs of a group and a point that its closure covers, listed by group and by point; and the supply of groups.

    The values of each column have ranks such that all values below a node have consecutive ranks. "When" means the
    time of a clock that counts searches, so that marks of earlier searches need not be erased.
    """

    ranks: np.ndarray  # int32[points, r], the rank of each point's value in each column
    by_column: np.ndarray  # int32[r, points], the same
    point: np.ndarray  # int32[n], the point of each record
    first: np.ndarray  # int64[points + 1], where each point's records begin in `records`
    records: np.ndarray  # int32[n], all records, sorted by point
    low: np.ndarray  # int32[entries], TREE: the lowest rank below each node
    high: np.ndarray  # int32[entries], TREE: one above the highest rank below each node
    sorted: np.ndarray  # int32[r, points], the points sorted by rank in each column
    below: np.ndarray  # int64[ranks + 1 per column], the number of points of a lower rank
    column: np.ndarray  # int64[r + 1], where each column begins in `below`
    begin: np.ndarray  # int64[groups], where each group's pairs begin
    end: np.ndarray  # int64[groups], where they end
    covered: np.ndarray  # int32[pairs], the point of each pair
    owner: np.ndarray  # int32[pairs], the group of each pair
    newest: np.ndarray  # int64[points], the latest pair of each point, NONE for none
    older: np.ndarray  # int64[pairs], the pair of the same point before this one, NONE for none
    # int64[1], the number of pairs listed; pairs that no longer hold are among them
    used: np.ndarray
    price: np.ndarray  # float64[groups], the mean cost of a member
    # float64[groups], price at the source of the group's supply, -inf without supply
    value: np.ndarray
    source: np.ndarray  # int32[groups], the group at the start of the chain of supply, NONE without
    # int32[groups], the record that moves into the group, as the last move of the chain
    via: np.ndarray
    # int32[groups], the group from which that record comes: the one before in the chain
    origin: np.ndarray
    spent: np.ndarray  # int64[groups], the cell of carving (a count) that last planned this move
    passed: np.ndarray  # int64[points], when a search last met the point
    queue: np.ndarray  # int32[groups], the queue of a breadth-first search
    clock: np.ndarray  # int64[1], the number of searches so far


def make_reach(c, codes, point, room, pairs):
    """Make a reach without pairs, for points with these codes; at most `pairs` pairs are kept.

    point[i] is the point of record i; `room` is the number of groups that there is room for.
    """
    points = codes.shape[0]
    low, high, ranks = (
        np.zeros(c.parent.size, np.int32),
        np.zeros(c.parent.size, np.int32),
        codes.copy(),
    )
    rank_leaves(c, low, high)
    below = []
    for j in range(codes.shape[1]):
        if c.form[j] == TREE:
            ranks[:, j] = low[c.start[j] + codes[:, j]]
        counts = np.bincount(ranks[:, j], minlength=c.start[j + 1] - c.start[j])
        below.append(np.append(0, np.cumsum(counts)))
    return Reach(
        ranks=ranks,
        by_column=np.ascontiguousarray(ranks.T),
        point=point,
        first=np.append(0, np.cumsum(np.bincount(point, minlength=points))),
        records=np.argsort(point, kind="stable").astype(np.int32),
        low=low,
        high=high,
        sorted=np.ascontiguousarray(np.argsort(ranks, axis=0, kind="stable").T.astype(np.int32)),
        below=np.concatenate(below),
        column=np.append(0, np.cumsum([part.size for part in below])),
        begin=np.zeros(room, np.int64),
        end=np.zeros(room, np.int64),
        covered=np.empty(pairs, np.int32),
        owner=np.empty(pairs, np.int32),
        newest=np.full(points, NONE, np.int64),
        older=np.empty(pairs, np.int64),
        used=np.zeros(1, np.int64),
        price=np.zeros(room),
        value=np.full(room, -np.inf),
        source=np.full(room, NONE, np.int32),
        via=np.full(room, NONE, np.int32),
        origin=np.full(room, NONE, np.int32),
        spent=np.zeros(room, np.int64),
        passed=np.zeros(points, np.int64),
        queue=np.empty(room, np.int32),
        clock=np.zeros(1, np.int64),
    )


@kernel
def rank_leaves(c, low, high):
    """Rank the values of every tree so that those below a node have the ranks from its `low` to below its `high`."""
    for j in range(c.form.size):
        if c.form[j] != TREE:
            continue
        base, end = c.start[j], c.start[j + 1]
        leaves = np.zeros(end - base, np.int32)
        for node in range(end - base):
            leaves[node] = 1
        for node in range(end - base - 1):  # children have lower numbers than their parents
            if c.parent[base + node] != node:
                leaves[c.parent[base + node]] += leaves[node]
        high[end - 1] = leaves[-1]
        taken = np.zeros(end - base, np.int32)
        for node in range(end - base - 2, -1, -1):
            parent = c.parent[base + node]
            low[base + node] = low[base + parent] + taken[parent]
            taken[parent] += leaves[node]
            high[base + node] = low[base + node] + leaves[node]


@njit(inline="always")
def span(x, reach, g, j):
    """Return the ranks that column j of group g covers, as (first, one after the last); all ranks for a set."""
    first = x.c.slot[j]
    if x.c.form[j] == TREE:
        at = x.c.start[j] + x.s.closures[first, g]
        return reach.low[at], reach.high[at]
    if x.c.form[j] == RANGE:
        return x.s.closures[first, g], x.s.closures[first + 1, g] + 1
    return np.int32(0), np.int32(x.c.start[j + 1] - x.c.start[j])


@inner
def holds(x, reach, g, p):
    """Return whether the closure of group g covers point p."""
    for j in range(x.c.form.size):
        low, high = span(x, reach, g, j)
        rank = reach.ranks[p, j]
        if rank < low or rank >= high:
            return False
        if x.c.form[j] == SET:
            word = x.s.closures[x.c.slot[j] + rank // BITS, g]
            if word >> (rank % BITS) & 1 == 0:
                return False
    return True


@allocating
def list_pairs(x, reach, g):
    """List the pairs of group g with all points that its closure covers; its earlier pairs no longer count."""
    r, points, has_sets = x.c.form.size, reach.ranks.shape[0], False
    low, high = np.empty(r, np.int32), np.empty(r, np.int32)
    columns, inside_column, some = np.empty(r, np.int64), np.empty(r, np.int64), 0
    best, begin, end = 0, 0, points
    for j in range(r):
        low[j], high[j] = span(x, reach, g, j)
        first, last = reach.below[reach.column[j] + low[j]], reach.below[reach.column[j] + high[j]]
        if last - first < end - begin:
            best, begin, end = j, first, last
        has_sets |= x.c.form[j] == SET
        if (
            last - first < points
        ):  # keep the columns that rule points out, those that rule out most first
            to = some
            while to > 0 and inside_column[to - 1] > last - first:
                columns[to], inside_column[to] = columns[to - 1], inside_column[to - 1]
                to -= 1
            columns[to], inside_column[to] = j, last - first
            some += 1
    used, ranks, order = reach.used[0], reach.by_column, reach.sorted[best]
    reach.begin[g] = used
    for at in range(begin, end):
        p = order[at]
        inside = True
        for place in range(some):
            j = columns[place]
            if ranks[j, p] < low[j] or ranks[j, p] >= high[j]:
                inside = False
                break
        if inside and used < reach.covered.size and (not has_sets or holds(x, reach, g, p)):
            reach.covered[used], reach.owner[used] = p, g
            reach.older[used] = reach.newest[p]
            reach.newest[p] = used
            used += 1
    reach.end[g] = reach.used[0] = used


@kernel
def list_all_pairs(x, reach):
    """List the pairs of all groups anew."""
    reach.used[0] = 0
    reach.newest[:] = NONE
    reach.begin[:] = 0
    reach.end[:] = 0
    for g in range(x.s.size.size):
        if x.s.size[g] > 0:
            list_pairs(x, reach, g)


@kernel
def find_supplies(x, reach):
    """Find for each group its supply: the most expensive group of more than k records from which a chain leads to it.

    Breadth-first searches start from such groups in descending order of price, so the first to meet a group is its
    source.
    """
    s = x.s
    for g in range(s.size.size):
        reach.value[g], reach.source[g], reach.via[g] = -np.inf, NONE, NONE
        reach.price[g] = s.cost[g] / s.size[g] if s.size[g] > 0 else 0.0
    reach.clock[0] += 1
    less = np.empty(s.size.size)
    for g in range(less.size):
        less[g] = -reach.price[g]
    for source in order_of(less):
        if s.size[source] > x.q.k and reach.source[source] == NONE:
            reach.value[source], reach.source[source] = reach.price[source], source
            reach.queue[0] = source
            head, tail = 0, 1
            while head < tail:
                tail = spread_supply(x, reach, reach.queue[head], tail)
                head += 1


@inner
def may_leave(x, reach, g, i):
    """Return whether group g keeps the requirement without record i: at the source of a chain, or on its way."""
    if reach.source[g] == g:
        return stays_diverse_without(x.q, x.s, i)
    return may_exchange(x, g, i, reach.via[g])


@inner
def spread_supply(x, reach, g, tail):
    """Hand the supply of group g on to the groups that could take in one of its records, and queue these.

    Returns the new end of the queue.
    """
    i = x.s.head[g]
    while i >= 0:
        p = reach.point[i]
        if reach.passed[p] != reach.clock[0] and may_leave(x, reach, g, i):
            reach.passed[p] = reach.clock[0]
            pair = reach.newest[p]
            while pair >= 0:
                to = reach.owner[pair]
                if (
                    reach.source[to] == NONE
                    and reach.begin[to] <= pair < reach.end[to]
                    and x.s.size[to] > 0
                ):
                    reach.value[to], reach.source[to], reach.via[to] = (
                        reach.value[g],
                        reach.source[g],
                        i,
                    )
                    reach.origin[to] = g
                    reach.queue[tail] = to
                    tail += 1
                pair = reach.older[pair]
        i = x.s.after[i]
    return tail


@inner
def is_open(x, reach, g):
    """Return whether the stored chain of group g's supply (augmenting path) is still valid."""
    source = reach.source[g]
    if source == NONE or source == g or x.s.size[source] <= x.q.k:
        return False
    while g != source:
        if x.s.group[reach.via[g]] != reach.origin[g]:
            return False
        g = reach.origin[g]
    return True


@inner
def draw(x, reach, g):
    """Bring a record into group g along the stored chain of its supply, as part of the change."""
    source = reach.source[g]
    while g != source:
        to, g = g, reach.origin[g]
        transfer(x, reach.via[to], to)
