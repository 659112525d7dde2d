"""Up to which codes of a column of ranges the walk must try the ranges that begin at one of them.

Trying all ranges of a cell's codes would be most of a walk. The `top` largest duals of a range sum up to at most `top`
times any level, and all that duals of the range exceed this level by. For a few levels that excess is summed up over
the codes, once for each cell, so that ranges are bounded by a subtraction. Many are bounded at once: those that begin
at one code and end at some neighbouring ones hold no more than the longest of them and cost no less than the shortest.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import inner
from shoal.kernels.shared.forms import range_cost

# Levels lie between the largest dual and so much of the least cost of any cell below. With 8 or 24 of them, or from 0.7
# on, walks over Adult take the same time.
LEVELS, LOWEST = 8, 0.5
MOST_KEPT = 4_000_000  # sums for a column; where codes are many, levels are fewer
# Sums round: a range is ruled out if it is so with this share of its cost less, and this share of a sum more.
HAIR, ROUNDED = 1e-9, 1e-12


@inner
def own_of(trees, walk, j):
    """Return the row of a column of ranges in arrays that have one for each; these columns come last."""
    return j - trees.root.size + walk.place.shape[0]


@inner
def list_codes(trees, walk, f, j, duals):
    """List the codes of cell f in a column of ranges, which it is sorted by; sum up records and excess over them."""
    own, slot, order = own_of(trees, walk, j), trees.slot[j], walk.order
    place, code, records, excess = (
        walk.place[own],
        walk.code[own],
        walk.records[own],
        walk.excess[own],
    )
    low, last = walk.low[f], walk.last[f]
    highest = -np.inf
    for at in range(low, last):
        highest = max(highest, duals[order[at]])
    highest = min(highest, walk.reach[f])
    levels = excess.shape[1]
    step = max(0.0, highest - LOWEST * walk.floor[f]) / levels
    walk.level[own, 0], walk.level[own, 1] = highest, step
    records[0] = 0
    for level in range(levels):
        excess[0, level] = 0.0
    size, begin = 0, low
    while begin < last:
        place[size], code[size] = begin, trees.paths[order[begin], slot]
        records[size + 1] = records[size]
        for level in range(levels):
            excess[size + 1, level] = excess[size, level]
        for at in range(begin, walk.end[begin]):
            i = order[at]
            records[size + 1] += trees.weights[i]
            above = duals[i] - highest
            for level in range(levels):
                excess[size + 1, level] += trees.weights[i] * max(0.0, above + level * step)
        begin = walk.end[begin]
        size += 1
    place[size] = last
    walk.codes[f] = size
    walk.start[f] = walk.stop[f] = walk.near[f] = 0
    walk.top[1] += 2 * (last - low)


@inner
def is_ruled_out(walk, own, start, end, top, cost):
    """Return whether no range of the codes from `start` to below `end` is wanted that costs at least `cost`."""
    excess, highest, step = walk.excess[own], walk.level[own, 0], walk.level[own, 1]
    room = top * (cost * (1 - HAIR) - highest)
    for level in range(excess.shape[1]):
        most = excess[end, level] * (1 + ROUNDED) - excess[start, level]
        if most <= room + top * level * step:
            return True
    return False


@inner
def furthest_end(trees, walk, f, j, k, top):
    """Return the code below which all wanted ranges from code walk.start[f] end, or that code itself if none is wanted.

    Null stands alone: with other values it stands for the whole domain, which is the cell itself.
    """
    own, column, start = own_of(trees, walk, j), trees.ranged[j], walk.start[f]
    code, records = walk.code[own], walk.records[own]
    others, reach = walk.floor[f] - walk.least[f, j], walk.reach[f]
    last = walk.codes[f]  # the ranges still in question end below this code
    if code[last - 1] == trees.compiled.null[column] and start < last - 1:
        last -= 1
    near = max(walk.near[f], start + 1)
    while near <= last and records[near] - records[start] < k:
        near += 1
    walk.near[f] = near
    width = max(1, last - near)
    while last >= near:
        first = max(near, last - width + 1)
        cost = others + range_cost(trees.compiled, 0, column, code[start], code[first - 1])
        walk.top[1] += 1
        if cost >= reach or is_ruled_out(walk, own, start, last, top, cost):
            last = first - 1
            width *= 2
        elif first == last:
            return last
        else:
            width = (last - first + 1) // 2
    return start
