"""The position of a walk over closed cells, and up to which codes of a column of ranges it must try."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import inner
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


@bundle
class Walk(NamedTuple):
    """A walk over closed cells: a stack of cells, each of them a stretch of `order`; the lowest one stands for no cell.

    A cell's parts in a tree's column are stretches inside its own. Ranges overlap, so parts in a column of ranges
    are copied behind it. Arrays [stack] have an entry for each cell on the stack.
    """

    order: np.ndarray  # int32[points × (1 + columns of ranges)], points
    low: np.ndarray  # int64[stack], where the cell begins in `order`
    high: np.ndarray  # int64[stack], where it ends
    free: np.ndarray  # int64[stack], from where on `order` is not in use
    first: np.ndarray  # int64[stack], columns before this one stay as they are below the cell
    column: np.ndarray  # int64[stack], the column in which its parts differ
    part: np.ndarray  # int64[stack], where its next part begins
    last: np.ndarray  # int64[stack], where its parts of at least k records end
    codes: np.ndarray  # int64[stack], ranges: how many codes its members have
    start: (
        np.ndarray
    )  # int64[stack], ranges: the number of the code that its latest part begins with
    stop: np.ndarray  # int64[stack], ranges: the number of the code that its latest part ends below
    near: (
        np.ndarray
    )  # int64[stack], ranges: parts from this start that end below an earlier code are too small
    far: (
        np.ndarray
    )  # int64[stack], ranges: parts from this start that end below a later code are not wanted
    # float64[stack, top + 1], ranges: largest duals in its latest part, descending
    largest: np.ndarray
    heavy: np.ndarray  # int64[stack, top + 1], the weights of these duals
    held: np.ndarray  # int64[stack, 2], how many these duals are, and of how many records
    sum: np.ndarray  # float64[stack], the sum of these duals over their records
    reach: np.ndarray  # float64[stack], cells below it that cost this much or more are not wanted
    # float64[stack], the least cost of those cells below it that are still to come
    floor: np.ndarray
    depth: np.ndarray  # int64[stack, r], trees: depth of the closure's node
    at: np.ndarray  # int64[stack, r], trees: the closure's node; ranges: lowest code
    to: np.ndarray  # int64[stack, r], ranges: highest code
    cost: np.ndarray  # float64[stack, r], what the closure costs a record
    least: np.ndarray  # float64[stack, r], the least cost of a closure of k records at or below it
    has_parts: np.ndarray  # bool[stack, r], whether there are closures of k records below it
    end: np.ndarray  # int64[points × (1 + columns of ranges)], where the part that begins here ends
    # The codes of the cell that is parted in a column of ranges, for each of these columns, and sums over those before:
    place: (
        np.ndarray
    )  # int64[columns of ranges, codes + 1], where members with a code begin in `order`
    code: np.ndarray  # int64[columns of ranges, codes + 1], the code
    records: np.ndarray  # int64[columns of ranges, codes + 1], number of records
    # float64[columns of ranges, codes + 1, levels], what duals exceed level[:, 0] − i · level[:, 1] by, level i
    excess: np.ndarray
    level: (
        np.ndarray
    )  # float64[columns of ranges, 2], the highest level, and the difference of neighbours
    moved: np.ndarray  # int32[points], scratch
    values: np.ndarray  # float64[points], scratch
    weights: np.ndarray  # int64[points], scratch
    tally: np.ndarray  # int64[nodes of a column], scratch, zero between uses
    weight: np.ndarray  # int64[nodes of a column], scratch, zero between uses
    touched: np.ndarray  # int64[nodes of a column], scratch
    # int64[2], the cell at which the walk stands (-1: not begun), points looked at so far
    top: np.ndarray


def make_walk(trees, top):
    """Make a walk that has not begun, to cells in which the mean of the `top` largest duals exceeds the cost."""
    n, r = trees.paths.shape[0], trees.root.size
    stack = trees.paths.shape[1] + 3
    nodes = np.diff(trees.node).max()
    ranged = (trees.ranged >= 0).sum()
    room = n * (1 + ranged)
    codes = min(n, nodes) + 1 if ranged else 0
    levels = max(1, min(LEVELS, MOST_KEPT // max(1, codes)))
    place = np.zeros(2, np.int64)
    place[0] = -1
    return Walk(
        order=np.arange(room, dtype=np.int32),
        low=np.zeros(stack, np.int64),
        high=np.zeros(stack, np.int64),
        free=np.zeros(stack, np.int64),
        first=np.zeros(stack, np.int64),
        column=np.zeros(stack, np.int64),
        part=np.zeros(stack, np.int64),
        last=np.zeros(stack, np.int64),
        codes=np.zeros(stack, np.int64),
        start=np.zeros(stack, np.int64),
        stop=np.zeros(stack, np.int64),
        near=np.zeros(stack, np.int64),
        far=np.zeros(stack, np.int64),
        largest=np.zeros((stack, top + 1)),
        heavy=np.zeros((stack, top + 1), np.int64),
        held=np.zeros((stack, 2), np.int64),
        sum=np.zeros(stack),
        reach=np.zeros(stack),
        floor=np.zeros(stack),
        depth=np.zeros((stack, r), np.int64),
        at=np.zeros((stack, r), np.int64),
        to=np.zeros((stack, r), np.int64),
        cost=np.zeros((stack, r)),
        least=np.zeros((stack, r)),
        has_parts=np.zeros((stack, r), np.bool_),
        end=np.zeros(room, np.int64),
        place=np.zeros((ranged, codes), np.int64),
        code=np.zeros((ranged, codes), np.int64),
        records=np.zeros((ranged, codes), np.int64),
        excess=np.zeros((ranged, codes, levels)),
        level=np.zeros((ranged, 2)),
        moved=np.zeros(n, np.int32),
        values=np.zeros(n),
        weights=np.zeros(n, np.int64),
        tally=np.zeros(nodes, np.int64),
        weight=np.zeros(nodes, np.int64),
        touched=np.zeros(nodes, np.int64),
        top=place,
    )
