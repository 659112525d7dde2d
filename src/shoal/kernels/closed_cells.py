"""Walk the closed cells of trees and ranges: every closure that some group of k records can have, once.

A cell is all records below one closure (a node or a range per column). It is closed if no column's closure
could be a lower one without losing a record; a group's closure always is. The walk goes down from the whole
domains, one column after the other, and never returns to an earlier column (as in LCM, Uno et al. 2004): a cell
whose records share a lower closure in an earlier column is met elsewhere, and so is all below it.

Records are points with weights; a point's way from the root to its value in every column is a row of `paths`,
in a column of ranges just its code. Columns of ranges come last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels.forms import Compiled, range_cost


class Trees(NamedTuple):
    """The columns' trees, what nodes cost, and the points below them; a column's nodes begin at node[j]."""

    paths: (
        np.ndarray
    )  # int32[points, slots]: in slot[j] + t the ancestor t + 1 steps below column j's root
    slot: np.ndarray  # int64[r + 1]
    node: np.ndarray  # int64[r + 1]
    root: np.ndarray  # int64[r]
    leaves: np.ndarray  # int64[r], nodes below this number are values
    cost: np.ndarray  # float64[nodes]
    floor: (
        np.ndarray
    )  # float64[nodes], the least cost of a node and all below it; of ranges at the root
    weights: np.ndarray  # int64[points]
    ranged: np.ndarray  # int64[r]: the number of a column of ranges in `compiled`, −1 for trees
    compiled: Compiled  # what ranges cost


class Walk(NamedTuple):
    """Where a walk stands: a stack of cells, each a stretch of `order`.

    The parts of a cell in a tree's column are stretches inside its own. Ranges overlap, so those parts are
    copied behind it.
    """

    order: np.ndarray  # int64[points × (1 + columns of ranges)]
    low: np.ndarray  # int64[stack]
    high: np.ndarray
    free: np.ndarray  # int64[stack], where `order` is not in use
    first: np.ndarray  # int64[stack], columns before this one stay as they are below the cell
    column: np.ndarray  # int64[stack], the column its parts differ in
    part: np.ndarray  # int64[stack], where its next part begins
    last: np.ndarray  # int64[stack], where its parts of at least k records end
    stop: np.ndarray  # int64[stack], ranges: where its latest part ends
    mass: np.ndarray  # int64[stack], ranges: records in its latest part
    peak: np.ndarray  # float64[stack], ranges: the largest number of a record in its latest part
    reach: np.ndarray  # float64[stack], cells that cost this much are not wanted below it
    depth: np.ndarray  # int64[stack, r], steps from the root
    at: np.ndarray  # int64[stack, r], nodes; ranges: lowest codes
    to: np.ndarray  # int64[stack, r], ranges: highest codes
    end: np.ndarray  # int64[points × (1 + columns of ranges)], where the part that begins here ends
    moved: np.ndarray  # int64[points], scratch
    tally: np.ndarray  # int64[nodes of a column], scratch, zero between uses
    weight: np.ndarray  # likewise
    touched: np.ndarray  # int64[nodes of a column], scratch
    top: np.ndarray  # int64[2]: the cell at which the walk stands, points looked at so far


@njit(cache=True)
def make_walk(t):
    """A walk at its beginning."""
    n, r = t.paths.shape[0], t.root.size
    stack = t.paths.shape[1] + 2
    nodes = np.diff(t.node).max()
    room = n * (1 + (t.ranged >= 0).sum())
    top = np.zeros(2, np.int64)
    top[0] = -1
    return Walk(
        np.arange(room),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack),
        np.zeros(stack),
        np.zeros((stack, r), np.int64),
        np.zeros((stack, r), np.int64),
        np.zeros((stack, r), np.int64),
        np.zeros(room, np.int64),
        np.zeros(n, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        top,
    )


@njit(cache=True)
def shares_child(t, w, f, j):
    """The node of column j, one step down, that all records of cell f share, or −1."""
    if w.at[f, j] < t.leaves[j]:
        return -1
    slot = t.slot[j] + w.depth[f, j]
    child = t.paths[w.order[w.low[f]], slot]
    for p in range(w.low[f] + 1, w.high[f]):
        if t.paths[w.order[p], slot] != child:
            return -1
    return child


@njit(cache=True)
def spanned(t, w, f, j):
    """The least range of column j that holds all records of cell f; with null and others, the whole domain."""
    low, high = t.leaves[j], -1
    for p in range(w.low[f], w.high[f]):
        code = t.paths[w.order[p], t.slot[j]]
        low, high = min(low, code), max(high, code)
    if low < high and high == t.compiled.null[t.ranged[j]]:
        low = 0
    return low, high


@njit(cache=True)
def close(t, w, f):
    """Lower the closure of cell f from its first column on as far as it goes; whether it is met only here."""
    for j in range(w.first[f]):
        if t.ranged[j] >= 0:
            low, high = spanned(t, w, f, j)
            if low != w.at[f, j] or high != w.to[f, j]:
                return False
        elif shares_child(t, w, f, j) >= 0:
            return False
    for j in range(w.first[f], t.root.size):
        if t.ranged[j] >= 0:
            w.at[f, j], w.to[f, j] = spanned(t, w, f, j)
            continue
        child = shares_child(t, w, f, j)
        while child >= 0:
            w.at[f, j] = child
            w.depth[f, j] += 1
            child = shares_child(t, w, f, j)
    return True


@njit(cache=True)
def split(t, w, f, j, k):
    """Sort cell f by the nodes below that of column j, parts of at least k records first; ranges by code."""
    w.part[f] = w.last[f] = w.low[f]
    is_range = t.ranged[j] >= 0
    if w.at[f, j] == w.to[f, j] if is_range else w.at[f, j] < t.leaves[j]:
        return
    low, high, slot = w.low[f], w.high[f], t.slot[j] + w.depth[f, j]
    w.top[1] += high - low
    parts = 0
    for p in range(low, high):
        i = w.order[p]
        child = t.paths[i, slot]
        if w.tally[child] == 0:
            w.touched[parts] = child
            parts += 1
        w.tally[child] += 1
        w.weight[child] += t.weights[i]
    if is_range:
        w.touched[:parts].sort()
    start = low
    for q in range(parts):
        child = w.touched[q]
        if w.weight[child] >= k or is_range:
            w.end[start] = start + w.tally[child]
            w.weight[child] = start
            start += w.tally[child]
        else:
            w.weight[child] = -1
    if start > low:
        w.last[f] = start
        for p in range(low, high):
            i = w.order[p]
            child = t.paths[i, slot]
            to = w.weight[child]
            if to < 0:
                w.moved[start - low] = i
                start += 1
            else:
                w.moved[to - low] = i
                w.weight[child] += 1
        for p in range(low, high):
            w.order[p] = w.moved[p - low]
    for q in range(parts):
        w.tally[w.touched[q]] = 0
        w.weight[w.touched[q]] = 0
    w.stop[f], w.mass[f], w.peak[f] = low, 0, -np.inf


@njit(cache=True)
def closure_cost(t, w, f, j):
    """What the closure of cell f costs in column j."""
    if t.ranged[j] >= 0:
        return range_cost(t.compiled, 0, t.ranged[j], w.at[f, j], w.to[f, j])
    return t.cost[t.node[j] + w.at[f, j]]


@njit(cache=True)
def least_cost(t, w, f):
    """The least that a closure at or below that of cell f can cost."""
    least = 0.0
    for j in range(t.root.size):
        if j < w.first[f]:
            least += closure_cost(t, w, f, j)
        elif t.ranged[j] >= 0:
            least += t.floor[t.node[j] + t.root[j]]
        else:
            least += t.floor[t.node[j] + w.at[f, j]]
    return least


@njit(cache=True)
def begin_part(t, w, f):
    """Begin the cell above f on the stack, like f but for the column that its parts differ in."""
    for i in range(t.root.size):
        w.at[f + 1, i] = w.at[f, i]
        w.to[f + 1, i] = w.to[f, i]
        w.depth[f + 1, i] = w.depth[f, i]


@njit(cache=True)
def next_node(t, w, f, j):
    """Put the next part of cell f in a tree's column on the stack; whether it is wanted."""
    low = w.part[f]
    begin_part(t, w, f)
    w.low[f + 1], w.high[f + 1], w.free[f + 1] = low, w.end[low], w.free[f]
    w.part[f] = w.end[low]
    w.first[f + 1] = j
    w.at[f + 1, j] = t.paths[w.order[low], t.slot[j] + w.depth[f, j]]
    w.depth[f + 1, j] += 1
    return least_cost(t, w, f + 1) < w.reach[f]


@njit(cache=True)
def next_range(t, w, f, j, k, y):
    """Put the next part of cell f in a column of ranges on the stack; whether it is wanted.

    From each code present up, ranges grow until they cost too much for the cell; those that cost too much for
    all their records, whose numbers are `y`, are left out. Null stands alone or, with others, for
    the whole domain, which is the cell itself.
    """
    low, slot, null = w.part[f], t.slot[j], t.compiled.null[t.ranged[j]]
    a = t.paths[w.order[low], slot]
    start = w.stop[f]
    b = t.paths[w.order[start], slot] if start < w.last[f] else -1
    grows, least = start < w.last[f] and (b != null or a == null), 0.0
    if grows:
        begin_part(t, w, f)
        w.first[f + 1] = j + 1
        w.at[f + 1, j], w.to[f + 1, j] = a, b
        least = least_cost(t, w, f + 1)
        grows = least < w.reach[f]
    if not grows:  # on to the next code
        w.part[f] = w.stop[f] = w.end[low]
        w.mass[f], w.peak[f] = 0, -np.inf
        return False
    stop = w.end[start]
    for p in range(start, stop):
        w.mass[f] += t.weights[w.order[p]]
        w.peak[f] = max(w.peak[f], y[w.order[p]])
    w.stop[f] = stop
    w.top[1] += stop - start
    if w.mass[f] < k or w.peak[f] <= least or (low == w.low[f] and stop == w.high[f]):
        return False
    to = w.free[f]
    for p in range(low, stop):
        w.order[to + p - low] = w.order[p]
    w.low[f + 1], w.high[f + 1] = to, to + stop - low
    w.free[f + 1] = to + stop - low
    w.top[1] += stop - low
    return True


@njit(cache=True)
def next_cell(t, w, k, reach, y):
    """Go to the next cell; whether there is one.

    Below the present one, only cells that can cost less than `reach` are wanted, and less than the largest of
    the numbers `y` of their records, some cells beside.
    """
    r = t.root.size
    f = w.top[0]
    if f < 0:  # the whole table
        n = t.paths.shape[0]
        w.low[0], w.high[0], w.free[0], w.first[0] = 0, n, n, 0
        for j in range(r):
            w.at[0, j] = t.root[j]
            w.depth[0, j] = 0
        close(t, w, 0)
        w.column[0] = -1
        w.part[0] = w.last[0] = 0
        w.top[0] = 0
        return True
    w.reach[f] = reach
    if least_cost(t, w, f) >= reach:
        f -= 1
    while f >= 0:
        if w.part[f] == w.last[f]:
            w.column[f] += 1
            if w.column[f] == r:
                f -= 1
            else:
                split(t, w, f, w.column[f], k)
            continue
        j = w.column[f]
        wanted = next_range(t, w, f, j, k, y) if t.ranged[j] >= 0 else next_node(t, w, f, j)
        if wanted and close(t, w, f + 1):
            f += 1
            w.column[f] = w.first[f] - 1
            w.part[f] = w.last[f] = w.low[f]
            w.top[0] = f
            return True
    return False


@njit(cache=True)
def cell_cost(t, w):
    """What the cell's closure costs a record."""
    cost = 0.0
    for j in range(t.root.size):
        cost += closure_cost(t, w, w.top[0], j)
    return cost


@njit(cache=True)
def cheapest_cells(t, k, most, least):
    """Lower `least` to what the cheapest closed cell of at least k records costs that holds each point.

    It must start at the cost of some such cell, or at infinity. Returns whether the walk was finished within
    looks at `most` points. Only cells that are too dear for all their records are not looked into.
    """
    w = make_walk(t)
    dearest = np.inf
    while next_cell(t, w, k, dearest, least):
        cost = cell_cost(t, w)
        f = w.top[0]
        dearest = -np.inf
        for p in range(w.low[f], w.high[f]):
            i = w.order[p]
            if least[i] > cost:
                least[i] = cost
            dearest = max(dearest, least[i])
        w.top[1] += w.high[f] - w.low[f]
        if w.top[1] > most:
            return False
    return True
