"""Walk the closed cells of trees: every closure that some group of at least k records can have, once.

A cell is all records below one closure (a node per column). It is closed if no column's node could be a lower
one without losing a record; a group's closure always is. The walk goes down from the roots, one column after
the other, and never returns to an earlier column (as in LCM, Uno et al. 2004): a cell whose records share a
lower node in an earlier column is met elsewhere, and so is all below it.

Records are points with weights; a point's way from the root to its value in every column is a row of `paths`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


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
    floor: np.ndarray  # float64[nodes], the least cost of a node and all below it
    weights: np.ndarray  # int64[points]


class Walk(NamedTuple):
    """Where a walk stands: a stack of cells, each a stretch of `order` inside that of the cell above it."""

    order: np.ndarray  # int64[points]
    low: np.ndarray  # int64[stack]
    high: np.ndarray
    first: np.ndarray  # int64[stack], columns before this one stay as they are below the cell
    column: np.ndarray  # int64[stack], the column its parts differ in
    part: np.ndarray  # int64[stack], where its next part begins
    last: np.ndarray  # int64[stack], where its parts of at least k records end
    depth: np.ndarray  # int64[stack, r], steps from the root
    at: np.ndarray  # int64[stack, r], nodes
    end: np.ndarray  # int64[points], where the part that begins here ends
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
    top = np.zeros(2, np.int64)
    top[0] = -1
    return Walk(
        np.arange(n),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros(stack, np.int64),
        np.zeros((stack, r), np.int64),
        np.zeros((stack, r), np.int64),
        np.zeros(n, np.int64),
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
def close(t, w, f):
    """Lower the nodes of cell f from its first column on as far as they go; whether it is met only here."""
    for j in range(w.first[f]):
        if shares_child(t, w, f, j) >= 0:
            return False
    for j in range(w.first[f], t.root.size):
        child = shares_child(t, w, f, j)
        while child >= 0:
            w.at[f, j] = child
            w.depth[f, j] += 1
            child = shares_child(t, w, f, j)
    return True


@njit(cache=True)
def split(t, w, f, j, k):
    """Sort cell f by the nodes below that of column j, parts of at least k records first."""
    w.part[f] = w.last[f] = w.low[f]
    if w.at[f, j] < t.leaves[j]:
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
    start = low
    for q in range(parts):
        child = w.touched[q]
        if w.weight[child] >= k:
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
                w.moved[start] = i
                start += 1
            else:
                w.moved[to] = i
                w.weight[child] += 1
        for p in range(low, high):
            w.order[p] = w.moved[p]
    for q in range(parts):
        w.tally[w.touched[q]] = 0
        w.weight[w.touched[q]] = 0


@njit(cache=True)
def next_cell(t, w, k, below):
    """Go to the next cell; `below` whether cells below this one are wanted. False at the end of the walk."""
    r = t.root.size
    f = w.top[0]
    if f < 0:  # the whole table
        w.low[0], w.high[0], w.first[0] = 0, w.order.size, 0
        for j in range(r):
            w.at[0, j] = t.root[j]
            w.depth[0, j] = 0
        close(t, w, 0)
        w.column[0] = -1
        w.part[0] = w.last[0] = 0
        w.top[0] = 0
        return True
    if not below:
        f -= 1
    while f >= 0:
        if w.part[f] == w.last[f]:
            w.column[f] += 1
            if w.column[f] == r:
                f -= 1
            else:
                split(t, w, f, w.column[f], k)
            continue
        j, low = w.column[f], w.part[f]
        w.low[f + 1], w.high[f + 1] = low, w.end[low]
        w.part[f] = w.end[low]
        w.first[f + 1] = j
        for i in range(r):
            w.at[f + 1, i] = w.at[f, i]
            w.depth[f + 1, i] = w.depth[f, i]
        w.at[f + 1, j] = t.paths[w.order[low], t.slot[j] + w.depth[f, j]]
        w.depth[f + 1, j] += 1
        if close(t, w, f + 1):
            f += 1
            w.column[f] = j - 1
            w.part[f] = w.last[f] = w.low[f]
            w.top[0] = f
            return True
    return False


@njit(cache=True)
def cell_cost(t, w):
    """What the cell's closure costs a record, and the least that a closure at or below it can cost."""
    f = w.top[0]
    cost, least = 0.0, 0.0
    for j in range(t.root.size):
        e = t.node[j] + w.at[f, j]
        cost += t.cost[e]
        least += t.cost[e] if j < w.first[f] else t.floor[e]
    return cost, least


@njit(cache=True)
def cheapest_cells(t, k, most, least):
    """Lower `least` to what the cheapest closed cell of at least k records costs that holds each point.

    It must start at the cost of some such cell, or at infinity. Returns whether the walk was finished within
    looks at `most` points. Only cells that are too dear for all their records are not looked into.
    """
    w = make_walk(t)
    below = True
    while next_cell(t, w, k, below):
        cost, floor = cell_cost(t, w)
        f = w.top[0]
        dearest = -np.inf
        for p in range(w.low[f], w.high[f]):
            i = w.order[p]
            if least[i] > cost:
                least[i] = cost
            dearest = max(dearest, least[i])
        below = dearest > floor
        w.top[1] += w.high[f] - w.low[f]
        if w.top[1] > most:
            return False
    return True
