"""Greedy set cover of weighted points by lattice cells, and the partition made of it (GiT09 §6.3).

A *rung* is one level of generalization of one column. Row rungs.start[j] + i is rung i of column j; a lattice
point, numbered in lexicographic order, picks a row of each column. The key of a cell is the xor of one key per
column, which stands for a set of values whatever the rung is; so each cell is listed once, at the first lattice
point that has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import copy_column
from shoal.kernels.shared.cells import table_size, weigh_cells
from shoal.kernels.shared.forms import join_closures, total_cost, widen_closure
from shoal.kernels.shared.state import add, merge, remove


@bundle
class RungCodes(NamedTuple):
    """What every rung of every column makes of every point; a row is a rung."""

    start: np.ndarray  # int64[r + 1], the first row of each column
    key: np.ndarray  # uint64[rows, points], the key of the set that the point's value falls into
    fresh: np.ndarray  # bool[rows, points], whether no lower rung of the column has the same set
    cost: np.ndarray  # float64[rows, points], what that set costs a record
    whole: np.ndarray  # uint64[r + 1], the key of all values of the columns j, j + 1, … together


@bundle
class CandidateCells(NamedTuple):
    """All cells with at least k records: the candidate sets of the set cover."""

    key: np.ndarray  # uint64[cells], the key of the cell
    place: np.ndarray  # int64[cells], the number of its lattice point
    cost: np.ndarray  # float64[cells], what it costs a record: d(c) of the paper
    left: np.ndarray  # int64[cells], number of its records that are not covered yet
    ratio: np.ndarray  # float64[cells], a lower bound of the cost per record newly covered
    heap: np.ndarray  # int64[cells], a heap of cells: least ratio first, then lowest number
    table: np.ndarray  # int32[a power of two], hash table of cell numbers by key, −1 for empty


@allocating
def rows_of(start, place):
    """Return the row of each column at a lattice point, int64[r], from the number of the lattice point."""
    rows = np.empty(start.size - 1, np.int64)
    for j in range(rows.size - 1, -1, -1):
        size = start[j + 1] - start[j]
        rows[j] = start[j] + place % size
        place //= size
    return rows


@kernel
def list_cells(rungs, weights, k, first, stop, key, place, cost, weight):
    """List the cells of the lattice points first..stop that have at least k records; return how many there are.

    Fills `key`, `place`, `cost` and `weight` (number of records) of each cell found.
    """
    columns, points = rungs.start.size - 1, weights.size
    before = np.full(columns, -1)
    active, size = np.empty((columns + 1, points), np.int64), np.zeros(columns + 1, np.int64)
    size[0] = points
    for p in range(points):
        active[0, p] = p
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
        for j in range(changed, columns):  # earlier columns are unchanged
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
                total = 0.0
                for row in rows:
                    total += rungs.cost[row, here[i]]
                cost[found] = total
                found += 1
                table_weight[bucket] = -1
    return found


@inner
def slot_of(table, keys, key):
    """Return the bucket of a hash table that holds the number of `key` in `keys`, or an empty one (−1) for it."""
    mask = np.uint64(table.size - 1)
    bucket = key & mask
    while table[bucket] >= 0 and keys[table[bucket]] != key:
        bucket = (bucket + np.uint64(1)) & mask
    return bucket


@kernel
def hash_cells(keys):
    """Return a hash table (open addressing) of the numbers of keys."""
    table = np.full(table_size(keys.size), -1, np.int32)
    for cell in range(keys.size):
        table[slot_of(table, keys, keys[cell])] = cell
    return table


@allocating
def take_from_cells(cells, start, whole, fresh, own, records):
    """Count some records of a point as covered in all cells that hold the point.

    own[i] is the point's key at row i, which counts if fresh[i]. The search fixes one column after the other and
    leaves the later ones whole; if the resulting cell is not listed, it has fewer than k records, and so has every
    cell inside it. whole[j] is the key of the columns j, j + 1, … left whole.
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
    """Return the cell of least cost per record newly covered, where at most `most` records count as covered.

    Ratios in the heap are lower bounds; the one on top is brought up to date and sinks until it stays on top (lazy
    greedy).
    """
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
    """Return whether point p lies in the cell with this key at the lattice point with these rows."""
    for row in rows:
        key ^= rungs.key[row, p]
    return key == np.uint64(0)


@kernel
def choose_cells(rungs, fresh, own, cells, left, members, bounds, k, chosen, set_of, done, steps):
    """Choose cells greedily, up to `steps` times; return the number of sets chosen so far, `done` included.

    Point p has the records members[bounds[p]:bounds[p + 1]], of which the last left[p] are not covered. Each set
    takes up to 2k − 1 uncovered records of its cell, which get its number in `set_of`; its cell is noted in
    `chosen`.
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
    """Make groups of the chosen sets; set i newly covers the records order[starts[i]:starts[i + 1]]."""
    g = 0
    for number in range(starts.size - 1):
        for i in order[starts[number] : starts[number + 1]]:
            add(c, s, codes, classes, i, g)
        if s.size[g] < k:
            pad(c, codes, classes, rungs, cells, members, bounds, k, chosen[number], s, g)
        g += s.size[g] > 0


@allocating
def pad(c, codes, classes, rungs, cells, members, bounds, k, cell, s, g):
    """Bring group g, which holds the newly covered records of a cell, up to k records, or unite it with a group.

    As in the paper, covered records of the cell either leave groups of more than k records for g, or a covered
    record unites its own group with g, if both have fewer than 2k records together. The cheapest of all these ways
    is taken. There is always one: a group that is too large to unite with g can spare all that g lacks.
    """
    rows = rows_of(rungs.start, cells.place[cell])
    inside = np.zeros(s.size.size, np.int64)  # records of each group in the cell
    closure, counts = s.closures[:, g : g + 1].copy(), s.counts[:, g : g + 1].copy()
    spare = np.empty(s.size.size, np.int64)  # below 0 for g itself
    for h in range(spare.size):
        spare[h] = s.size[h] - k
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
        copy_column(s.closures, h, closure, 0)
        join_closures(c, closure, 0, s.closures, g)
        for y in range(counts.shape[0]):
            counts[y, 0] = s.counts[y, g] + s.counts[y, h]
        added = total_cost(c, closure, counts, 0) - s.cost[h]
        if added < least:
            best, least = h, added
    if best >= 0:
        merge(c, s, best, g)
    else:
        for i in moved:
            remove(c, s, codes, classes, i)
            add(c, s, codes, classes, i, g)
