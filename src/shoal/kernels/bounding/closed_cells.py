"""Walk the closed cells of trees and ranges: every closure that some group of k records can have, once.

A cell is closed if no column's closure can be lowered without losing a record; the closure of a group always is.
The walk goes down from the whole domains, one column after the other, and never returns to an earlier column (as in
LCM, Uno et al. 2004): a cell whose records share a lower closure in an earlier column is met elsewhere, and so is
everything below it. Columns of ranges come last.

Most of the walk is pruned (branch and bound): for each cell the least cost of any cell of k records at or below it
is known, because the columns before the one in which its parts differ stay as they are, and the others can at best
become what k of its records share. `duals` are the numbers of records, one per point, that `ascent` explains.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.bounding.cell_columns import (
    SORTING_LOOKS,
    lower_node,
    narrow_range,
    shares_child,
    sort_parts,
    spans,
)
from shoal.kernels.bounding.cell_walk import furthest_end, list_codes, own_of
from shoal.kernels.compile.jit import allocating, inner
from shoal.kernels.shared.forms import range_cost


@inner
def top_sum(values, weights, size, k):
    """Return the sum of the k largest of the first `size` values, each counted `weights` times (by quickselect).

    Reorders `values` and `weights`.
    """
    low, high, need, total = 0, size, k, 0.0
    while need > 0 and low < high:
        first, middle, last = values[low], values[(low + high) // 2], values[high - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        above, at, end = low, low, high  # order: larger, equal, unseen, smaller
        heavier, equal, part = 0, 0, 0.0
        while at < end:
            value, weight = values[at], weights[at]
            if value > pivot:
                values[at], weights[at] = values[above], weights[above]
                values[above], weights[above] = value, weight
                heavier += weight
                part += weight * value
                above += 1
                at += 1
            elif value == pivot:
                equal += weight
                at += 1
            else:
                end -= 1
                values[at], weights[at] = values[end], weights[end]
                values[end], weights[end] = value, weight
        if heavier >= need:
            high = above
            continue
        total += part + min(equal, need - heavier) * pivot
        need -= min(need, heavier + equal)
        low = end
    return total


@inner
def keep_top(values, weights, size, held, total, top, value, weight):
    """Insert a number into a descending list of the largest ones, which keeps as few as make up `top` records.

    The list is values[:size] with `weights`, of `held` records in all, whose sum is `total`. Returns these three
    anew.
    """
    at = size
    while at > 0 and values[at - 1] < value:
        values[at], weights[at] = values[at - 1], weights[at - 1]
        at -= 1
    values[at], weights[at] = value, weight
    size += 1
    held += weight
    total += weight * value
    while held - weights[size - 1] >= top:
        size -= 1
        held -= weights[size]
        total -= weights[size] * values[size]
    return size, held, total


@inner
def mean_of_top(duals, weights, top, floor, order, low, high, values, heavy):
    """Return the mean of the members' largest duals, over `top` records.

    If even the largest dual is at most `floor`, that one is returned: the cell is not wanted anyway. `values` and
    `heavy` are scratch.
    """
    largest = -np.inf
    for at in range(low, high):
        i = order[at]
        values[at - low] = duals[i]
        heavy[at - low] = weights[i]
        largest = max(largest, duals[i])
    if largest <= floor or top == 1:
        return largest
    return top_sum(values, heavy, high - low, top) / top


RANGE_LOOKS = 3  # work of a range besides its points, in points looked at


@allocating
def close_cell(trees, walk, f, k, limit):
    """Lower the closure of cell f as far as its members allow, from column walk.first[f] on.

    Returns whether the walk meets this cell only here, and some cell at or below it can cost less than `limit`.
    """
    order, low, high = walk.order, walk.low[f], walk.high[f]
    first, r = walk.first[f], trees.root.size
    for j in range(first):
        if trees.ranged[j] >= 0:
            null = trees.compiled.null[trees.ranged[j]]
            if not spans(
                trees.paths, trees.slot[j], order, low, high, walk.at[f, j], walk.to[f, j], null
            ):
                return False
        elif walk.at[f, j] >= trees.leaves[j]:
            if shares_child(trees.paths, trees.slot[j] + walk.depth[f, j], order, low, high):
                return False
    for j in range(first, r):
        known = walk.least[f, j]
        walk.top[1] += high - low
        if trees.ranged[j] >= 0:
            walk.at[f, j], walk.to[f, j], walk.cost[f, j], least, codes = narrow_range(
                trees, j, k, order, low, high, walk.weight, walk.touched
            )
            walk.has_parts[f, j] = walk.at[f, j] < walk.to[f, j]
            walk.top[1] += SORTING_LOOKS * codes
        else:
            walk.at[f, j], walk.depth[f, j], least, walk.has_parts[f, j] = lower_node(
                trees,
                j,
                k,
                order,
                low,
                high,
                walk.at[f, j],
                walk.depth[f, j],
                walk.weight,
                walk.touched,
            )
            walk.cost[f, j] = trees.cost[trees.node[j] + walk.at[f, j]]
        walk.least[f, j] = least
        walk.floor[f] += least - known
        if walk.floor[f] >= limit:
            return False
    walk.column[f] = first - 1
    walk.part[f] = walk.last[f] = low
    return True


@inner
def push_cell(walk, f):
    """Copy the closure of cell f to the next cell on the stack."""
    for j in range(walk.at.shape[1]):
        walk.at[f + 1, j] = walk.at[f, j]
        walk.to[f + 1, j] = walk.to[f, j]
        walk.depth[f + 1, j] = walk.depth[f, j]
        walk.cost[f + 1, j] = walk.cost[f, j]
        walk.least[f + 1, j] = walk.least[f, j]


@inner
def begin_node(trees, walk, f, j, top, duals):
    """Put the next part of cell f in a tree's column j on the stack; return whether it is wanted."""
    low = walk.part[f]
    high = walk.end[low]
    walk.part[f] = high
    node = trees.paths[walk.order[low], trees.slot[j] + walk.depth[f, j]]
    floor = trees.floor[trees.node[j] + node]
    walk.floor[f + 1] = walk.floor[f] - walk.least[f, j] + floor
    walk.top[1] += high - low
    walk.reach[f + 1] = mean_of_top(
        duals,
        trees.weights,
        top,
        walk.floor[f + 1],
        walk.order,
        low,
        high,
        walk.values,
        walk.weights,
    )
    if walk.reach[f + 1] <= walk.floor[f + 1]:
        return False
    push_cell(walk, f)
    walk.low[f + 1], walk.high[f + 1], walk.free[f + 1] = low, high, walk.free[f]
    walk.first[f + 1] = j
    walk.at[f + 1, j] = node
    walk.depth[f + 1, j] += 1
    walk.least[f + 1, j] = floor
    return True


@inner
def begin_range(trees, walk, f, j, k, top, duals):
    """Put the next wanted part of cell f in a column of ranges on the stack; return whether there is one.

    From each code, ranges grow upwards as far as they may be wanted.
    """
    own, column, order = own_of(trees, walk, j), trees.ranged[j], walk.order
    place, code, records = walk.place[own], walk.code[own], walk.records[own]
    values, weights = walk.largest[f], walk.heavy[f]
    size, held, total = walk.held[f, 0], walk.held[f, 1], walk.sum[f]
    others = walk.floor[f] - walk.least[f, j]
    while walk.start[f] < walk.codes[f]:
        start, stop = walk.start[f], walk.stop[f]
        if stop == start:
            walk.far[f] = furthest_end(trees, walk, f, j, k, top)
        if stop >= walk.far[f]:
            walk.start[f] = walk.stop[f] = start + 1
            size, held, total = 0, 0, 0.0
            continue
        for at in range(place[stop], place[stop + 1]):
            i = order[at]
            if held < top or duals[i] > values[size - 1]:
                walk.top[1] += size // 16
                size, held, total = keep_top(
                    values, weights, size, held, total, top, duals[i], trees.weights[i]
                )
        walk.stop[f] = stop = stop + 1
        low, high = place[start], place[stop]
        walk.top[1] += RANGE_LOOKS + high - place[stop - 1]
        if records[stop] - records[start] < k:
            continue
        cost = range_cost(trees.compiled, 0, column, code[start], code[stop - 1])
        mean = (total - (held - top) * values[size - 1]) / top
        if mean <= others + cost or (low == walk.low[f] and high == walk.high[f]):
            continue
        push_cell(walk, f)
        to = walk.free[f]
        for at in range(low, high):
            order[to + at - low] = order[at]
        walk.top[1] += high - low
        walk.low[f + 1], walk.high[f + 1], walk.free[f + 1] = to, to + high - low, to + high - low
        walk.first[f + 1] = j + 1
        walk.at[f + 1, j], walk.to[f + 1, j] = code[start], code[stop - 1]
        walk.cost[f + 1, j] = walk.least[f + 1, j] = cost
        walk.floor[f + 1], walk.reach[f + 1] = others + cost, mean
        break
    walk.part[f] = place[walk.start[f]]
    walk.held[f, 0], walk.held[f, 1], walk.sum[f] = size, held, total
    return walk.start[f] < walk.codes[f]


@allocating
def next_column(trees, walk, f, k, top, duals):
    """Sort cell f by its next column; return whether there is one where its parts can cost less than its reach."""
    j = walk.column[f]
    if j >= walk.first[f]:
        walk.floor[f] += walk.cost[f, j] - walk.least[f, j]
    j += 1
    while j < trees.root.size and not walk.has_parts[f, j]:
        j += 1  # its only closure of k records is the present one
    if j == trees.root.size or walk.floor[f] >= walk.reach[f]:
        return False
    walk.column[f] = j
    walk.top[1] += walk.high[f] - walk.low[f]
    slot = trees.slot[j] if trees.ranged[j] >= 0 else trees.slot[j] + walk.depth[f, j]
    walk.part[f] = walk.low[f]
    walk.last[f] = sort_parts(trees, walk, f, slot, k, trees.ranged[j] >= 0)
    walk.held[f] = 0
    walk.sum[f] = 0.0
    if trees.ranged[j] >= 0:
        list_codes(trees, walk, f, j, duals)
    return True


@allocating
def begin_table(trees, walk, k):
    """Put the whole table on the stack, as the first cell."""
    n = trees.paths.shape[0]
    walk.low[1], walk.high[1], walk.free[1], walk.first[1] = 0, n, n, 0
    for j in range(trees.root.size):
        walk.at[1, j] = trees.root[j]
        walk.least[1, j] = trees.floor[trees.node[j] + trees.root[j]]
        walk.floor[1] += walk.least[1, j]
    walk.reach[1] = np.inf
    close_cell(trees, walk, 1, k, np.inf)
    walk.top[0] = 1


@allocating
def next_cell(trees, walk, k, top, duals):
    """Go to the next cell; return whether there is one.

    Wanted are cells of at least k records that cost less than the mean of their `top` largest duals; some others
    are met on the way. This mean is walk.reach of the cell; a caller that lowers duals of its records should lower
    it too.
    """
    f = walk.top[0]
    if f < 0:
        begin_table(trees, walk, k)
        return True
    while f > 0:
        if walk.part[f] == walk.last[f]:
            if not next_column(trees, walk, f, k, top, duals):
                f -= 1
            continue
        j = walk.column[f]
        is_range = trees.ranged[j] >= 0
        wanted = (
            begin_range(trees, walk, f, j, k, top, duals)
            if is_range
            else begin_node(trees, walk, f, j, top, duals)
        )
        if wanted and close_cell(trees, walk, f + 1, k, min(walk.reach[f], walk.reach[f + 1])):
            walk.top[0] = f + 1
            return True
    return False


@inner
def cell_cost(walk):
    """Return what the closure of the present cell costs a record."""
    cost = 0.0
    for j in range(walk.cost.shape[1]):
        cost += walk.cost[walk.top[0], j]
    return cost
