"""Walk the closed cells of trees and ranges: every closure that some group of k records can have, once.

A cell is closed if no column's closure could be a lower one without losing a record; a group's closure always
is. The walk goes down from the whole domains, one column after the other, and never returns to an earlier
column (as in LCM, Uno et al. 2004): a cell whose records share a lower closure in an earlier column is met
elsewhere, and so is all below it. Columns of ranges come last.

Most of the walk is spared: a cell knows the least that any cell of k records at or below it costs, as columns
before the one that its parts differ in stay as they are, and others can only become what k of its records share.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.bounding.cell_columns import (
    lower_node,
    narrow_range,
    shares_child,
    sort_parts,
    spans,
)
from shoal.kernels.bounding.largest import keep_top, top_sum
from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.shared.forms import range_cost

RANGE_LOOKS = 3  # what a range takes beside its points


@allocating
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


@inner
def begin(w, f):
    """Begin the cell above f on the stack, like f but for the column that its parts differ in."""
    for i in range(w.at.shape[1]):
        w.at[f + 1, i] = w.at[f, i]
        w.to[f + 1, i] = w.to[f, i]
        w.depth[f + 1, i] = w.depth[f, i]
        w.cost[f + 1, i] = w.cost[f, i]
        w.least[f + 1, i] = w.least[f, i]


@inner
def mean_of_top(y, weights, top, floor, order, low, high, values, heavy):
    """The mean of the members' largest numbers, so many records; just the largest if that is at most `floor`."""
    largest = -np.inf
    for p in range(low, high):
        i = order[p]
        values[p - low] = y[i]
        heavy[p - low] = weights[i]
        largest = max(largest, y[i])
    if largest <= floor or top == 1:
        return largest
    return top_sum(values, heavy, high - low, top) / top


@inner
def begin_node(t, w, f, j, top, y):
    """Put the next part of cell f in a tree's column on the stack; whether it is wanted."""
    low = w.part[f]
    high = w.end[low]
    w.part[f] = high
    node = t.paths[w.order[low], t.slot[j] + w.depth[f, j]]
    floor = t.floor[t.node[j] + node]
    w.floor[f + 1] = w.floor[f] - w.least[f, j] + floor
    w.top[1] += high - low
    w.reach[f + 1] = mean_of_top(
        y, t.weights, top, w.floor[f + 1], w.order, low, high, w.values, w.weights
    )
    if w.reach[f + 1] <= w.floor[f + 1]:
        return False
    begin(w, f)
    w.low[f + 1], w.high[f + 1], w.free[f + 1] = low, high, w.free[f]
    w.first[f + 1] = j
    w.at[f + 1, j] = node
    w.depth[f + 1, j] += 1
    w.least[f + 1, j] = floor
    return True


@inner
def begin_range(t, w, f, j, k, top, y):
    """Put the next wanted part of cell f in a column of ranges on the stack; whether there is one.

    From each code present up, ranges grow until they cost too much for the cell. Null stands alone or, with others,
    for the whole domain, which is the cell itself.
    """
    slot, e = t.slot[j], t.ranged[j]
    null = t.compiled.null[e]
    order, values, weights = w.order, w.largest[f], w.heavy[f]
    low, stop, last, reach = w.part[f], w.stop[f], w.last[f], w.reach[f]
    mass, size, held, total = w.mass[f], w.held[f, 0], w.held[f, 1], w.sum[f]
    others = w.floor[f] - w.least[f, j]
    looks = 0
    while low < last:
        a = t.paths[order[low], slot]
        start = stop
        b = t.paths[order[start], slot] if start < last else a
        cost = range_cost(t.compiled, 0, e, a, b)
        looks += RANGE_LOOKS
        if start == last or (b == null and a != null) or others + cost >= reach:
            low = stop = w.end[low]  # on to the next code
            mass, size, held, total = 0, 0, 0, 0.0
            continue
        stop = w.end[start]
        looks += stop - start
        for p in range(start, stop):
            i = order[p]
            mass += t.weights[i]
            if held < top or y[i] > values[size - 1]:
                looks += size // 16
                size, held, total = keep_top(
                    values, weights, size, held, total, top, y[i], t.weights[i]
                )
        if mass < k or values[0] <= others + cost or (low == w.low[f] and stop == w.high[f]):
            continue
        mean = (total - (held - top) * values[size - 1]) / top
        if mean <= others + cost:
            continue
        begin(w, f)
        to = w.free[f]
        for p in range(low, stop):
            order[to + p - low] = order[p]
        looks += stop - low
        w.low[f + 1], w.high[f + 1], w.free[f + 1] = to, to + stop - low, to + stop - low
        w.first[f + 1] = j + 1
        w.at[f + 1, j], w.to[f + 1, j] = a, b
        w.cost[f + 1, j] = w.least[f + 1, j] = cost
        w.floor[f + 1], w.reach[f + 1] = others + cost, mean
        break
    w.part[f], w.stop[f] = low, stop
    w.mass[f], w.held[f, 0], w.held[f, 1], w.sum[f] = mass, size, held, total
    w.top[1] += looks
    return low < last


@allocating
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
    w.stop[f], w.mass[f] = w.low[f], 0
    w.held[f] = 0
    w.sum[f] = 0.0
    return True


@allocating
def begin_table(t, w, k):
    """Put the whole table on the stack."""
    n = t.paths.shape[0]
    w.low[1], w.high[1], w.free[1], w.first[1] = 0, n, n, 0
    for j in range(t.root.size):
        w.at[1, j] = t.root[j]
        w.least[1, j] = t.floor[t.node[j] + t.root[j]]
        w.floor[1] += w.least[1, j]
    w.reach[1] = np.inf
    close(t, w, 1, k, np.inf)
    w.top[0] = 1


@allocating
def next_cell(t, w, k, top, y):
    """Go to the next cell; whether there is one.

    Wanted are cells of at least k records that cost less than the mean of their `top` largest numbers `y`; some
    others are met beside. The mean is the cell's `reach`; lower it when the numbers of its records are lowered.
    """
    f = w.top[0]
    if f < 0:
        begin_table(t, w, k)
        return True
    while f > 0:
        if w.part[f] == w.last[f]:
            if not next_column(t, w, f, k):
                f -= 1
            continue
        j = w.column[f]
        is_range = t.ranged[j] >= 0
        wanted = begin_range(t, w, f, j, k, top, y) if is_range else begin_node(t, w, f, j, top, y)
        if wanted and close(t, w, f + 1, k, min(w.reach[f], w.reach[f + 1])):
            w.top[0] = f + 1
            return True
    return False


@inner
def cell_cost(w):
    """What the cell's closure costs a record."""
    cost = 0.0
    for j in range(w.cost.shape[1]):
        cost += w.cost[w.top[0], j]
    return cost


@kernel
def cheapest_cells(t, w, k, most, least):
    """Lower `least` to what the cheapest closed cell of at least k records costs that holds each point.

    `w` is a walk at its beginning, by the single largest number. `least` must start at the cost of some such cell, or
    at infinity. Returns whether the walk was finished within looks at `most` points, and their number. Only cells that
    are too dear for all their records are not looked into.
    """
    while next_cell(t, w, k, 1, least):
        cost = cell_cost(w)
        f = w.top[0]
        if w.reach[f] > cost:
            w.reach[f] = cost
            for p in range(w.low[f], w.high[f]):
                least[w.order[p]] = min(least[w.order[p]], cost)
            w.top[1] += w.high[f] - w.low[f]
        if w.top[1] > most:
            return False, w.top[1]
    return True, w.top[1]
