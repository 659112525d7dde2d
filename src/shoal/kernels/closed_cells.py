"""Walk the closed cells of trees and ranges: every closure that some group of k records can have, once.

A cell is closed if no column's closure could be a lower one without losing a record; a group's closure always
is. The walk goes down from the whole domains, one column after the other, and never returns to an earlier
column (as in LCM, Uno et al. 2004): a cell whose records share a lower closure in an earlier column is met
elsewhere, and so is all below it. Columns of ranges come last.

Most of the walk is spared: a cell knows the least that any cell of k records at or below it costs, as columns
before the one that its parts differ in stay as they are, and others can only become what k of its records share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels.cell_columns import (
    lower_node,
    narrow_range,
    shares_child,
    sort_parts,
    spans,
)
from shoal.kernels.forms import range_cost


class Walk(NamedTuple):
    """Where a walk stands: a stack of cells, each a stretch of `order`; the lowest stands for no cell.

    The parts of a cell in a tree's column are stretches inside its own. Ranges overlap, so those parts are
    copied behind it.
    """

    order: np.ndarray  # int32[points × (1 + columns of ranges)]
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
    floor: np.ndarray  # float64[stack], the least that cells below it cost that are still to come
    depth: np.ndarray  # int64[stack, r], steps from the root
    at: np.ndarray  # int64[stack, r], nodes; ranges: lowest codes
    to: np.ndarray  # int64[stack, r], ranges: highest codes
    cost: np.ndarray  # float64[stack, r], what the closure costs
    least: np.ndarray  # float64[stack, r], what closures of k records at or below it cost at least
    has_parts: np.ndarray  # bool[stack, r], whether there are any below it
    end: np.ndarray  # int64[points × (1 + columns of ranges)], where the part that begins here ends
    moved: np.ndarray  # int32[points], scratch
    tally: np.ndarray  # int64[nodes of a column], scratch, zero between uses
    weight: np.ndarray  # likewise
    touched: np.ndarray  # int64[nodes of a column], scratch
    top: np.ndarray  # int64[2]: the cell at which the walk stands, points looked at so far


@njit(cache=True)
def make_walk(t):
    """A walk at its beginning."""
    n, r = t.paths.shape[0], t.root.size
    stack = t.paths.shape[1] + 3
    nodes = np.diff(t.node).max()
    room = n * (1 + (t.ranged >= 0).sum())
    top = np.zeros(2, np.int64)
    top[0] = -1
    return Walk(
        np.arange(room).astype(np.int32),
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
        np.zeros(stack),
        np.zeros((stack, r), np.int64),
        np.zeros((stack, r), np.int64),
        np.zeros((stack, r), np.int64),
        np.zeros((stack, r)),
        np.zeros((stack, r)),
        np.zeros((stack, r), np.bool_),
        np.zeros(room, np.int64),
        np.zeros(n, np.int32),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        top,
    )


@njit(cache=True)
def close(t, w, f, k, limit):
    """Lower the closure of cell f from its first column on as far as it goes.

    Returns whether it is met only here and some cell at or below it can cost less than `limit`.
    """
    order, low, high = w.order, w.low[f], w.high[f]
    first, r = w.first[f], t.root.size
    for j in range(first):
        if t.ranged[j] >= 0:
            null = t.compiled.null[t.ranged[j]]
            if not spans(t.paths, t.slot[j], order, low, high, w.at[f, j], w.to[f, j], null):
                return False
        elif w.at[f, j] >= t.leaves[j]:
            if shares_child(t.paths, t.slot[j] + w.depth[f, j], order, low, high):
                return False
    for j in range(first, r):
        known = w.least[f, j]
        w.top[1] += high - low
        if t.ranged[j] >= 0:
            w.at[f, j], w.to[f, j], w.cost[f, j], least = narrow_range(
                t, j, k, order, low, high, w.weight, w.touched
            )
            w.has_parts[f, j] = w.at[f, j] < w.to[f, j]
        else:
            w.at[f, j], w.depth[f, j], least, w.has_parts[f, j] = lower_node(
                t, j, k, order, low, high, w.at[f, j], w.depth[f, j], w.weight, w.touched
            )
            w.cost[f, j] = t.cost[t.node[j] + w.at[f, j]]
        w.least[f, j] = least
        w.floor[f] += least - known
        if w.floor[f] >= limit:
            return False
    w.column[f] = first - 1
    w.part[f] = w.last[f] = low
    return True


@njit(cache=True)
def begin(w, f):
    """Begin the cell above f on the stack, like f but for the column that its parts differ in."""
    for i in range(w.at.shape[1]):
        w.at[f + 1, i] = w.at[f, i]
        w.to[f + 1, i] = w.to[f, i]
        w.depth[f + 1, i] = w.depth[f, i]
        w.cost[f + 1, i] = w.cost[f, i]
        w.least[f + 1, i] = w.least[f, i]


@njit(cache=True)
def begin_node(t, w, f, j, y):
    """Put the next part of cell f in a tree's column on the stack; returns the largest number of its records."""
    low = w.part[f]
    high = w.end[low]
    w.part[f] = high
    node = t.paths[w.order[low], t.slot[j] + w.depth[f, j]]
    floor = t.floor[t.node[j] + node]
    w.floor[f + 1] = w.floor[f] - w.least[f, j] + floor
    peak = -np.inf
    for p in range(low, high):
        peak = max(peak, y[w.order[p]])
    w.top[1] += high - low
    if peak > w.floor[f + 1]:
        begin(w, f)
        w.low[f + 1], w.high[f + 1], w.free[f + 1] = low, high, w.free[f]
        w.first[f + 1] = j
        w.at[f + 1, j] = node
        w.depth[f + 1, j] += 1
        w.least[f + 1, j] = floor
    return peak


@njit(cache=True)
def begin_range(t, w, f, j, k, y):
    """Put the next part of cell f in a column of ranges on the stack; returns the largest number of its records.

    From each code present up, ranges grow until they cost too much for the cell. Null stands alone or, with others,
    for the whole domain, which is the cell itself. Without a part the largest number is −∞.
    """
    low, slot, e = w.part[f], t.slot[j], t.ranged[j]
    null = t.compiled.null[e]
    a = t.paths[w.order[low], slot]
    start = w.stop[f]
    b = t.paths[w.order[start], slot] if start < w.last[f] else -1
    cost, floor = 0.0, np.inf
    if start < w.last[f] and (b != null or a == null):
        cost = range_cost(t.compiled, 0, e, a, b)
        floor = w.floor[f] - w.least[f, j] + cost
        w.top[1] += 1
    if floor >= w.reach[f]:  # on to the next code
        w.part[f] = w.stop[f] = w.end[low]
        w.mass[f], w.peak[f] = 0, -np.inf
        return -np.inf
    stop = w.end[start]
    for p in range(start, stop):
        w.mass[f] += t.weights[w.order[p]]
        w.peak[f] = max(w.peak[f], y[w.order[p]])
    w.stop[f] = stop
    w.top[1] += stop - start
    if w.mass[f] < k or w.peak[f] <= floor or (low == w.low[f] and stop == w.high[f]):
        return -np.inf
    begin(w, f)
    to = w.free[f]
    for p in range(low, stop):
        w.order[to + p - low] = w.order[p]
    w.top[1] += stop - low
    w.low[f + 1], w.high[f + 1], w.free[f + 1] = to, to + stop - low, to + stop - low
    w.first[f + 1] = j + 1
    w.at[f + 1, j], w.to[f + 1, j] = a, b
    w.cost[f + 1, j] = w.least[f + 1, j] = cost
    w.floor[f + 1] = floor
    return w.peak[f]


@njit(cache=True)
def next_column(t, w, f, k):
    """Sort cell f by the next column; whether there is one in which cells of it can cost less than its reach."""
    j = w.column[f]
    if j >= w.first[f]:
        w.floor[f] += w.cost[f, j] - w.least[f, j]
    j += 1
    while j < t.root.size and not w.has_parts[f, j]:
        j += 1  # there, the least is what the closure costs
    if j == t.root.size or w.floor[f] >= w.reach[f]:
        return False
    w.column[f] = j
    w.top[1] += w.high[f] - w.low[f]
    slot = t.slot[j] if t.ranged[j] >= 0 else t.slot[j] + w.depth[f, j]
    w.part[f] = w.low[f]
    w.last[f] = sort_parts(
        t.paths,
        slot,
        t.weights,
        k,
        t.ranged[j] >= 0,
        w.order,
        w.low[f],
        w.high[f],
        w.end,
        w.moved,
        w.tally,
        w.weight,
        w.touched,
    )
    w.stop[f], w.mass[f], w.peak[f] = w.low[f], 0, -np.inf
    return True


@njit(cache=True)
def begin_table(t, w, k):
    """Put the whole table on the stack."""
    n = t.paths.shape[0]
    w.low[1], w.high[1], w.free[1], w.first[1] = 0, n, n, 0
    for j in range(t.root.size):
        w.at[1, j] = t.root[j]
        w.least[1, j] = t.floor[t.node[j] + t.root[j]]
        w.floor[1] += w.least[1, j]
    close(t, w, 1, k, np.inf)
    w.top[0] = 1


@njit(cache=True)
def next_cell(t, w, k, reach, y):
    """Go to the next cell; whether there is one.

    Below the present one, only cells that can cost less than `reach` are wanted, and less than the largest of
    the numbers `y` of their records, some cells beside.
    """
    f = w.top[0]
    if f < 0:
        begin_table(t, w, k)
        return True
    w.reach[f] = reach
    while f > 0:
        if w.part[f] == w.last[f]:
            if not next_column(t, w, f, k):
                f -= 1
            continue
        j = w.column[f]
        peak = begin_range(t, w, f, j, k, y) if t.ranged[j] >= 0 else begin_node(t, w, f, j, y)
        limit = min(peak, w.reach[f])
        if peak > -np.inf and limit > w.floor[f + 1] and close(t, w, f + 1, k, limit):
            w.top[0] = f + 1
            return True
    return False


@njit(cache=True)
def cell_cost(w):
    """What the cell's closure costs a record."""
    cost = 0.0
    for j in range(w.cost.shape[1]):
        cost += w.cost[w.top[0], j]
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
        cost = cell_cost(w)
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
