"""One column of a cell: the closure of its records, what those of k of them cost at least, and its parts.

A cell is all records below one closure, a node of a tree or a range per column. Records are points with
weights; a point's way from the root to its value in every tree is a row of `paths`, in a column of ranges just its
code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import allocating, inner
from shoal.kernels.shared.arrays import sort_numbers
from shoal.kernels.shared.forms import Compiled, range_cost


@bundle
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


@inner
def shares_child(paths, slot, order, low, high):
    """Whether all members have the same node in a slot."""
    child = paths[order[low], slot]
    for at in range(low + 1, high):
        if paths[order[at], slot] != child:
            return False
    return True


@inner
def spans(paths, slot, order, low, high, least, most, null):
    """Whether the least range that holds all members' codes is that from `least` to `most`."""
    is_domain = most == null and least < most  # which null and any other value span
    has_least, has_most = False, False
    for at in range(low, high):
        code = paths[order[at], slot]
        has_least |= code == least or (is_domain and code != null)
        has_most |= code == most
        if has_least and has_most:
            return True
    return False


@inner
def weigh(paths, slot, weights, order, low, high, weight, touched):
    """Add the members' weights up by node, into `weight`; returns how many nodes there are, listed in `touched`."""
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
    """Lower a node of column j as far as all members go.

    Returns it, its depth, the least that a node at or below it with k members costs, and whether there are
    any below it.
    """
    first = trees.node[j]
    while at >= trees.leaves[j]:
        parts = weigh(
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
    """The least range of column j that holds all members; with null and others, the whole domain.

    Returns its ends, what it costs, and the least that a range of k members costs.
    """
    parts = weigh(trees.paths, trees.slot[j], trees.weights, order, low, high, weight, touched)
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
    return a, b, cost, least


@allocating
def sort_parts(
    paths, slot, weights, k, every, order, low, high, end, moved, tally, weight, touched
):
    """Sort members by their nodes in a slot, parts of at least k records first; `every` part if so asked, by code.

    `end` says at the beginning of each part where it ends; returns where the last one does.
    """
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
