"""From which codes of a column of ranges the walk need not try any range.

Trying all ranges of a cell's codes would be most of a walk. Those that begin at one code and cost less than the cell's
reach lie within a window of codes. If the largest duals in the whole window are on average at most what the cheapest
range of k records from there costs, none of them is wanted.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.bounding.largest import keep_top, merged_mean
from shoal.kernels.compilation import allocating, inner
from shoal.kernels.shared.forms import range_cost

RANGE_LOOKS = 3  # work of a range besides its points, in points looked at
MOST_KEPT = 4_000_000  # duals that windows may take, to bound memory


@inner
def list_codes(trees, walk, f, j, k, others, places, codes, least):
    """List the codes of cell f in a column of ranges but null; return how many there are.

    places[c] becomes where the members of codes[c] begin in walk.order, places[c + 1] where they end, and least[c] the
    least cost of a range of at least k records that begins there, beside `others`.
    """
    order, slot, column = walk.order, trees.slot[j], trees.ranged[j]
    null = trees.compiled.null[column]
    mass = walk.weight  # zero between uses
    place, last, size = walk.low[f], walk.last[f], 0
    while place < last:
        code = trees.paths[order[place], slot]
        if code == null:
            break
        places[size], codes[size] = place, code
        for at in range(place, walk.end[place]):
            mass[size] += trees.weights[order[at]]
        place = walk.end[place]
        size += 1
    places[size] = place
    stop, held = 0, 0
    for start in range(size):
        while held < k and stop < size:
            held += mass[stop]
            stop += 1
        least[start] = np.inf
        if held >= k:
            cost = range_cost(trees.compiled, 0, column, codes[start], codes[stop - 1])
            least[start] = others + cost
        held -= mass[start]
    for c in range(size):
        mass[c] = 0
    return size


@inner
def list_windows(trees, j, others, reach, codes, size, ends, blocks):
    """Fill ends[c] with the first code from which on ranges that begin at code c cost `reach` or more.

    The codes are also cut into blocks such that what begins in one ends at most in the next. blocks[b] becomes the
    first code of block b, followed by `size`; returns the number of blocks.
    """
    column, end = trees.ranged[j], 0
    for c in range(size):
        end = max(end, c)
        while end < size:
            if others + range_cost(trees.compiled, 0, column, codes[c], codes[end]) >= reach:
                break
            end += 1
        ends[c] = end
    number, at = 0, 0
    while at < size:
        blocks[number] = at
        number += 1
        at = max(ends[at], at + 1)
    blocks[number] = size
    return number


@allocating
def list_prefixes(trees, walk, low, high, places, top, duals, prefixes, heavy, sizes):
    """Fill row c + 1 − low of `prefixes` with the largest duals in codes low to c, descending, `heavy` with weights.

    They make up `top` records if there are as many. `sizes` is how many they are.
    """
    size, held, total = 0, 0, 0.0
    values, weights = np.empty(top + 1), np.empty(top + 1, np.int64)
    sizes[0] = 0
    for c in range(low, high):
        for at in range(places[c], places[c + 1]):
            i = walk.order[at]
            if held < top or duals[i] > values[size - 1]:
                size, held, total = keep_top(
                    values, weights, size, held, total, top, duals[i], trees.weights[i]
                )
        row = c + 1 - low
        sizes[row] = size
        for at in range(size):
            prefixes[row, at] = values[at]
            heavy[row, at] = weights[at]


@allocating
def bound_starts(trees, walk, f, j, k, top, duals):
    """Set walk.limit at the first member of each code in column j of cell f, which is sorted by its codes.

    Ranges that begin there and cost at least this limit, all other columns at their least, are not wanted. It is the
    mean of the largest duals in the window, found from those at the end of a block and at the begin of the next.
    """
    most = walk.last[f] - walk.low[f] + 1
    reach, others = walk.reach[f], walk.floor[f] - walk.least[f, j]
    places, codes, least = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    size = list_codes(trees, walk, f, j, k, others, places, codes, least)
    walk.top[1] += most
    for c in range(size):
        walk.limit[places[c]] = reach
    if places[size] < walk.last[f]:
        walk.limit[places[size]] = reach  # null
    if size * (top + 1) > MOST_KEPT:
        return
    ends, blocks = np.empty(size, np.int64), np.empty(size + 1, np.int64)
    number = list_windows(trees, j, others, reach, codes, size, ends, blocks)
    longest = 0
    for b in range(number):
        longest = max(longest, blocks[b + 1] - blocks[b])
    prefixes, heavy = np.empty((longest + 1, top + 1)), np.empty((longest + 1, top + 1), np.int64)
    sizes = np.zeros(longest + 1, np.int64)
    values, weights = np.empty(top + 1), np.empty(top + 1, np.int64)
    for b in range(number - 1, -1, -1):
        length, held, total = 0, 0, 0.0
        end = blocks[b + 1]
        for c in range(end - 1, blocks[b] - 1, -1):
            for at in range(places[c], places[c + 1]):
                i = walk.order[at]
                if held < top or duals[i] > values[length - 1]:
                    length, held, total = keep_top(
                        values, weights, length, held, total, top, duals[i], trees.weights[i]
                    )
            limit = reach
            if least[c] < limit:
                row = max(0, ends[c] - end)
                limit = min(
                    limit,
                    merged_mean(
                        values, weights, length, prefixes[row], heavy[row], sizes[row], top
                    ),
                )
            walk.limit[places[c]] = limit if least[c] < limit else -np.inf
        if b > 0:
            list_prefixes(trees, walk, blocks[b], end, places, top, duals, prefixes, heavy, sizes)
    walk.top[1] += 2 * most + size * RANGE_LOOKS
