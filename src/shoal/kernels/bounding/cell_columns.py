"""One column of a cell: the least that closures of k members cost, for cells and for single records (GiT09 Lemma
6.10).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import sort_numbers
from shoal.kernels.shared.forms import (
    BITS,
    LINEAR,
    RANGE,
    Compiled,
    range_cost,
    set_cost,
    value_cost,
)

SORTING_LOOKS = 4  # work of sorting one code, in points looked at


@bundle
class Trees(NamedTuple):
    """The trees of all columns, what their nodes cost, and the points below them.

    The nodes of column j are node[j]:node[j + 1] in the arrays by node; other numbers of nodes count from node[j].
    """

    # int32[points, slots], slot[j] + d: the ancestor d + 1 steps below column j's root
    paths: np.ndarray
    slot: np.ndarray  # int64[r + 1], the first slot of each column in a row of `paths`
    node: np.ndarray  # int64[r + 1], the first node of each column in the arrays by node
    root: np.ndarray  # int64[r], the root of each column's tree
    leaves: np.ndarray  # int64[r], nodes below this number are values
    cost: np.ndarray  # float64[nodes], what each node costs a record
    # float64[nodes], least cost of a node and all nodes below it; ranges: at the root only
    floor: np.ndarray
    weights: np.ndarray  # int64[points], number of records of each point
    ranged: np.ndarray  # int64[r], columns of ranges: their number in `compiled`; trees: −1
    compiled: Compiled  # what ranges cost


@inner
def shares_child(paths, slot, order, low, high):
    """Return whether all members have the same node in a slot of their paths."""
    child = paths[order[low], slot]
    for at in range(low + 1, high):
        if paths[order[at], slot] != child:
            return False
    return True


@inner
def spans(paths, slot, order, low, high, least, most, null):
    """Return whether the smallest range that holds all members' codes is the one from `least` to `most`."""
    is_domain = most == null and least < most  # null and any other value span the whole domain
    has_least, has_most = False, False
    for at in range(low, high):
        code = paths[order[at], slot]
        has_least |= code == least or (is_domain and code != null)
        has_most |= code == most
        if has_least and has_most:
            return True
    return False


@inner
def weigh_nodes(paths, slot, weights, order, low, high, weight, touched):
    """Sum the members' weights by node into `weight` and list the nodes in `touched`; return how many there are."""
    parts = 0
    for at in range(low, high):
        i = order[at]
        node = paths[i, slot]
        if weight[node] == 0:
            touched[parts] = node
            parts += 1
        weight[node] += weights[i]
    return parts


@inner
def lower_node(trees, j, k, order, low, high, at, depth, weight, touched):
    """Lower a node of column j to the lowest common ancestor of all members.

    `at` and `depth` are a node that holds all members, and its depth. Returns the ancestor, its depth, the least
    cost of a node at or below it that holds k records, and whether there is such a node below it. `weight` must be
    zero and is left so.
    """
    first = trees.node[j]
    while at >= trees.leaves[j]:
        parts = weigh_nodes(
            trees.paths, trees.slot[j] + depth, trees.weights, order, low, high, weight, touched
        )
        if parts > 1:
            least, has_parts = trees.cost[first + at], False
            for part in range(parts):
                child = touched[part]
                if weight[child] >= k:
                    has_parts = True
                    least = min(least, trees.floor[first + child])
                weight[child] = 0
            return at, depth, least, has_parts
        at = touched[0]
        weight[at] = 0
        depth += 1
    return at, depth, trees.cost[first + at], False


@allocating
def narrow_range(trees, j, k, order, low, high, weight, touched):
    """Return the smallest range of column j that holds all members; null and other values span the whole domain.

    Returns both ends, its cost, the least cost of a range within it that holds k records, and how many codes it holds.
    `weight` must be zero and is left so.
    """
    parts = weigh_nodes(
        trees.paths, trees.slot[j], trees.weights, order, low, high, weight, touched
    )
    codes = touched[:parts]
    sort_numbers(codes)
    c, column = trees.compiled, trees.ranged[j]
    null = c.null[column]
    a, b = codes[0], codes[parts - 1]
    if parts > 1 and b == null:
        a = 0
    cost = range_cost(c, 0, column, a, b)
    least = cost
    start, held = 0, 0
    for stop in range(parts):
        if codes[stop] == null:
            if weight[null] >= k:
                least = min(least, range_cost(c, 0, column, null, null))
            break
        held += weight[codes[stop]]
        if held >= k:
            while held - weight[codes[start]] >= k:
                held -= weight[codes[start]]
                start += 1
            least = min(least, range_cost(c, 0, column, codes[start], codes[stop]))
    for code in codes:
        weight[code] = 0
    return a, b, cost, least, parts


@allocating
def sort_parts(trees, walk, f, slot, k, every):
    """Sort the members of cell f by their nodes in a slot, parts of at least k records first; return where these end.

    With `every`, all parts count, and they are sorted by code. walk.end[b] becomes the end of the part that begins at
    place b.
    """
    paths, weights = trees.paths, trees.weights
    order, low, high = walk.order, walk.low[f], walk.high[f]
    end, moved, tally, weight, touched = walk.end, walk.moved, walk.tally, walk.weight, walk.touched
    parts = 0
    for at in range(low, high):
        i = order[at]
        child = paths[i, slot]
        if tally[child] == 0:
            touched[parts] = child
            parts += 1
        tally[child] += 1
        weight[child] += weights[i]
    if every:
        sort_numbers(touched[:parts])
        walk.top[1] += SORTING_LOOKS * parts
    start = low
    for part in range(parts):
        child = touched[part]
        if weight[child] >= k or every:
            end[start] = start + tally[child]
            weight[child] = start
            start += tally[child]
        else:
            weight[child] = -1
    last = start
    for at in range(low, high):
        i = order[at]
        child = paths[i, slot]
        to = weight[child]
        if to < 0:
            moved[start - low] = i
            start += 1
        else:
            moved[to - low] = i
            weight[child] += 1
    for at in range(low, high):
        order[at] = moved[at - low]
    for part in range(parts):
        tally[touched[part]] = 0
        weight[touched[part]] = 0
    return last


@inner
def cheapest_pair(c, j, values):
    """Return the two values of a SET column that cost least together: least addends, or fewest records."""
    a, b, least, second = -1, -1, 0.0, 0.0
    for v in range(values):
        e = c.start[j] + v
        key = c.cost[0, e] if c.kind[j] == LINEAR else c.records[e]
        if v == c.null[j] or (c.kind[j] != LINEAR and key == 0.0):
            continue  # null with others is the whole domain; unused values are in no closure
        if a < 0 or key < least:
            b, second = a, least
            a, least = v, key
        elif b < 0 or key < second:
            b, second = v, key
    return a, b


@kernel
def flat_costs(c, j):
    """Return what each single value of a RANGE or SET column costs, and last the least that several of them cost."""
    size = c.start[j + 1] - c.start[j]
    values = size - 1 if c.form[j] == RANGE else size  # ranges have one entry more than values
    costs = np.empty(values + 1)
    for a in range(values):
        costs[a] = value_cost(c, 0, j, a)
    least = np.inf
    if c.form[j] == RANGE:
        for a in range(values - 1):
            least = min(least, range_cost(c, 0, j, a, a + 1))
    else:
        a, b = cheapest_pair(c, j, values)
        if b >= 0:
            closure = np.zeros((c.slot[-1], 1), np.int32)
            closure[c.slot[j] + a // BITS, 0] = 1 << (a % BITS)
            least = set_cost(c, 0, j, closure, 0, closure, -1, b)
    if least == np.inf:
        for a in range(values):
            least = min(least, costs[a])
    costs[values] = least
    return costs
