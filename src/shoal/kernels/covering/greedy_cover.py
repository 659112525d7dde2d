"""Greedy cover of weighted points by lattice cells, and the partition made of it (GiT09 §6.3).

Row `rungs.start[j] + i` is rung i of column j; a lattice point, numbered in lexicographic order, picks a row
of each column. A cell's key is the xor of one key per column, which stands for a set of values whatever the
rung: cells are listed once, at the first lattice point that has them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.shared.cells import table_size, weigh_cells
from shoal.kernels.shared.forms import join_closures, total_cost, widen_closure
from shoal.kernels.shared.state import add, merge, remove


@bundle
class Rungs(NamedTuple):
    """What every rung makes of every point."""

    start: np.ndarray  # int64[columns + 1]
    key: np.ndarray  # uint64[rows, points], of the set the point's value falls into
    fresh: np.ndarray  # bool[rows, points], whether no rung below has the same set
    cost: np.ndarray  # float64[rows, points], of that set
    whole: np.ndarray  # uint64[columns + 1], the key of all values of columns j, j + 1, …


@bundle
class Cells(NamedTuple):
    """All cells with at least k records."""

    key: np.ndarray  # uint64[cells]
    place: np.ndarray  # int64[cells], the lattice point
    cost: np.ndarray  # float64[cells], of a record: d(c)
    left: np.ndarray  # int64[cells], records not covered
    ratio: np.ndarray  # float64[cells], a lower bound of cost over records newly covered
    heap: np.ndarray  # int64[cells], the least ratio first, then the lowest number
    table: np.ndarray  # int32[a power of two], cell numbers by key, −1 for none


@allocating
def rows_of(start, place):
    """The row per column of a lattice point."""
    rows = np.empty(start.size - 1, np.int64)
    for j in range(rows.size - 1, -1, -1):
        size = start[j + 1] - start[j]
        rows[j] = start[j] + place % size
        place //= size
    return rows


@kernel
def list_cells(rungs, weights, k, first, stop, key, place, cost, weight):
    """List the cells with at least k records of the lattice points first..stop; return their number."""
    columns, points = rungs.start.size - 1, weights.size
    before = np.full(columns, -1)
    active, size = np.empty((columns + 1, points), np.int64), np.zeros(columns + 1, np.int64)
    active[0], size[0] = np.arange(points), points
    keys = np.zeros((columns + 1, points), np.uint64)
    slots = table_size(points)
    table_key, table_weight = np.empty(slots, np.uint64), np.empty(slots, np.int64)
    found = 0
    for at in range(first, stop):
        rows = rows_of(rungs.start, at)
        changed = 0
        while rows[changed] == before[changed]:
            changed += 1
        before = rows
        for j in range(changed, columns):  # lower columns stand as they were
            n = 0
            for i in range(size[j]):
                p = active[j, i]
                if rungs.fresh[rows[j], p]:
                    active[j + 1, n], keys[j + 1, n] = p, keys[j, i] ^ rungs.key[rows[j], p]
                    n += 1
            size[j + 1] = n
        n, here = size[columns], active[columns, : size[columns]]
        if weigh_cells(keys[columns, :n], here, weights, k, table_key, table_weight) == 0:
            continue
        mask = np.uint64(table_size(n) - 1)
        for i in range(n):
            bucket = keys[columns, i] & mask
            while table_key[bucket] != keys[columns, i]:
                bucket = (bucket + np.uint64(1)) & mask
            if table_weight[bucket] >= k:
                key[found], place[found], weight[found] = (
                    table_key[bucket],
                    at,
                    table_weight[bucket],
                )
                cost[found] = rungs.cost[:, here[i]][rows].sum()
                found += 1
                table_weight[bucket] = -1
    return found


@inner
def slot_of(table, keys, key):
    """Where a hash table of numbers of `keys` has that of a key, or an empty slot (−1) for it."""
    mask = np.uint64(table.size - 1)
    bucket = key & mask
    while table[bucket] >= 0 and keys[table[bucket]] != key:
        bucket = (bucket + np.uint64(1)) & mask
    return bucket


@kernel
def hash_cells(keys):
    """The numbers of keys in a hash table."""
    table = np.full(table_size(keys.size), -1, np.int32)
    for cell in range(keys.size):
        table[slot_of(table, keys, keys[cell])] = cell
    return table


@allocating
def take_from_cells(cells, start, whole, fresh, own, records):
    """Count records of a point as covered in all its cells; row i of the point has key own[i] if fresh[i].

    Goes through the columns one by one; with the other ones left whole, a cell that is not listed has
    fewer than k records, and so have all cells within it. whole[j] is the key of columns j, j + 1, … whole.
    """
    columns = start.size - 1
    row, key = start[:-1].copy(), np.zeros(columns + 1, np.uint64)
    j = 0
    while j >= 0:
        if row[j] == start[j + 1]:
            row[j] = start[j]
            j -= 1
        elif fresh[row[j]]:
            key[j + 1] = key[j] ^ own[row[j]]
            cell = cells.table[slot_of(cells.table, cells.key, key[j + 1] ^ whole[j + 1])]
            if cell >= 0:
                if j + 1 < columns:
                    j += 1
                    continue
                cells.left[cell] -= records
        if j >= 0:
            row[j] += 1


@inner
def best_cell(cells, most):
    """The cell with the least cost over records newly covered, of which there are at most `most`."""
    heap, ratio = cells.heap, cells.ratio
    while True:
        best = heap[0]
        left = min(most, cells.left[best])
        now = cells.cost[best] / left if left else np.inf
        if now <= ratio[best]:
            return best
        ratio[best] = now
        at, below = 0, 1
        while below < heap.size:
            a, b = heap[below], heap[min(below + 1, heap.size - 1)]
            if (ratio[b], b) < (ratio[a], a):
                a, below = b, below + 1
            if (now, best) < (ratio[a], a):
                break
            heap[at] = a
            at, below = below, 2 * below + 1
        heap[at] = best


@inner
def in_cell(rungs, rows, key, p):
    """Whether point p falls into the cell with this key at the lattice point with these rows."""
    for row in rows:
        key ^= rungs.key[row, p]
    return key == np.uint64(0)


@kernel
def choose_cells(rungs, fresh, own, cells, left, members, bounds, k, chosen, set_of, done, steps):
    """Choose cells greedily, up to `steps` times; return the sets chosen, all told.

    Point p has the records members[bounds[p]:bounds[p + 1]], of which the last left[p] are not covered. The
    next set takes 2k − 1 uncovered records of its cell, or all: they get its number in `set_of`.
    """
    for number in range(done, done + steps):
        best = best_cell(cells, 2 * k - 1)
        if cells.left[best] == 0:
            return number
        chosen[number] = best
        rows = rows_of(rungs.start, cells.place[best])
        room = 2 * k - 1
        for p in range(left.size):
            if room == 0 or left[p] == 0 or not in_cell(rungs, rows, cells.key[best], p):
                continue
            taken = min(room, left[p])
            at = bounds[p + 1] - left[p]
            set_of[members[at : at + taken]] = number
            left[p], room = left[p] - taken, room - taken
            take_from_cells(cells, rungs.start, rungs.whole, fresh[p], own[p], taken)
    return done + steps


@kernel
def part_cover(c, codes, classes, rungs, cells, members, bounds, k, chosen, order, starts, s):
    """Make groups of the chosen sets, set i being the newly covered records order[starts[i]:starts[i + 1]]."""
    g = 0
    for number in range(starts.size - 1):
        for i in order[starts[number] : starts[number + 1]]:
            add(c, s, codes, classes, i, g)
        if s.size[g] < k:
            pad(c, codes, classes, rungs, cells, members, bounds, k, chosen[number], s, g)
        g += s.size[g] > 0


@allocating
def pad(c, codes, classes, rungs, cells, members, bounds, k, cell, s, g):
    """Fill group g, the uncovered records of a cell, to k with covered ones, or unite it with a group.

    As in the paper, a covered record of the cell leaves a group above k for g, or, being the record that g
    is filled with, it unites g and its own group, which stay below 2k together. Of all this, the cheapest.
    There is always a way: a group that is too large to unite with g can spare all that g lacks.
    """
    rows = rows_of(rungs.start, cells.place[cell])
    inside = np.zeros(s.size.size, np.int64)  # records of each group in the cell
    closure, counts = s.closures[:, g : g + 1].copy(), s.counts[:, g : g + 1].copy()
    spare = s.size - k  # below 0 for g itself
    moved = np.empty(k - s.size[g], np.int64)
    moves, saved = 0, 0.0
    for p in range(bounds.size - 1):
        if not in_cell(rungs, rows, cells.key[cell], p):
            continue
        for i in members[bounds[p] : bounds[p + 1]]:
            h = s.group[i]
            inside[h] += h >= 0
            if moves < moved.size and h >= 0 and spare[h] > 0:
                moved[moves] = i
                moves, spare[h] = moves + 1, spare[h] - 1
                saved += s.cost[h] / s.size[h]
                widen_closure(c, closure, 0, codes[i])
                counts[classes[i], 0] += 1.0
    least = total_cost(c, closure, counts, 0) - saved if moves == moved.size else np.inf
    best = -1
    for h in range(s.size.size):
        if h == g or inside[h] == 0 or s.size[g] + s.size[h] >= 2 * k:
            continue
        closure[:, 0] = s.closures[:, h]
        join_closures(c, closure, 0, s.closures, g)
        counts[:, 0] = s.counts[:, g] + s.counts[:, h]
        added = total_cost(c, closure, counts, 0) - s.cost[h]
        if added < least:
            best, least = h, added
    if best >= 0:
        merge(c, s, best, g)
    else:
        for i in moved:
            remove(c, s, codes, classes, i)
            add(c, s, codes, classes, i, g)
