"""The hot loops: what one record or group would cost in every group, column by column, vectorised.

`Pairs` holds, for trees that are small enough, the cost of the lowest common ancestor of any two nodes. Flat trees
(suppression) need no table, and in large deep trees the common ancestor is searched for each time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.forms import LINEAR, RANGE, TREE, meet, range_cost, set_cost

FLAT, TABLE, CLIMB = 0, 1, 2
LARGEST_TABLE = 1 << 20  # pairs of nodes; larger trees are climbed


@bundle
class Pairs(NamedTuple):
    """How the cost of two nodes' lowest common ancestor is found in each column of the form TREE."""

    mode: np.ndarray  # int64[r], FLAT, TABLE or CLIMB
    # int64[r], TABLE: where the column's square of nodes × nodes begins in `table`
    offset: np.ndarray
    table: np.ndarray  # float64[classes, sum of nodes² over all TABLE columns], the costs


def make_pairs(c):
    """Choose the mode of each column and fill the tables."""
    mode = np.zeros(c.form.size, np.int64)
    offset = np.zeros(c.form.size, np.int64)
    total = 0
    for j in range(c.form.size):
        nodes = c.start[j + 1] - c.start[j]
        if c.form[j] != TREE:
            continue
        if (c.parent[c.start[j] : c.start[j + 1]] == nodes - 1).all():
            mode[j] = FLAT
        elif nodes * nodes <= LARGEST_TABLE:
            mode[j], offset[j] = TABLE, total
            total += nodes * nodes
        else:
            mode[j] = CLIMB
    table = np.zeros((c.cost.shape[0], total))
    fill_tables(c, mode, offset, table)
    return Pairs(mode=mode, offset=offset, table=table)


@kernel
def fill_tables(c, mode, offset, table):
    """Fill the squares of all columns whose mode is TABLE."""
    for j in range(c.form.size):
        if c.form[j] == TREE and mode[j] == TABLE:
            base = c.start[j]
            nodes = c.start[j + 1] - base
            for a in range(nodes):
                for b in range(nodes):
                    at = base + meet(c.parent, base, a, b)
                    for y in range(table.shape[0]):
                        table[y, offset[j] + a * nodes + b] = c.cost[y, at]


@inner
def add_tree(c, pairs, y, j, nodes, node, out):
    """Add to out[g] what the lowest common ancestor of nodes[g] and `node` costs in column j."""
    base = c.start[j]
    size = c.start[j + 1] - base
    if pairs.mode[j] == FLAT:
        same, other = c.cost[y, base + node], c.cost[y, base + size - 1]
        for g in range(out.size):
            out[g] += same if nodes[g] == node else other
    elif pairs.mode[j] == TABLE:
        row = pairs.table[y, pairs.offset[j] + node * size : pairs.offset[j] + (node + 1) * size]
        for g in range(out.size):
            out[g] += row[nodes[g]]
    else:
        for g in range(out.size):
            out[g] += c.cost[y, base + meet(c.parent, base, nodes[g], node)]


@inner
def add_range(c, y, j, lows, highs, low, high, out):
    """Add to out[g] what the range lows[g]..highs[g], joined with low..high, costs in column j."""
    base = c.start[j]
    unit, jump = c.unit[j], c.jump[j]
    if unit > 0.0 and jump == 0.0 and c.null[j] < 0:
        for g in range(out.size):
            out[g] += (max(highs[g], high) - min(lows[g], low)) * unit
    elif c.kind[j] == LINEAR and c.null[j] < 0:
        prefix = c.cost[y, base : c.start[j + 1]]
        for g in range(out.size):
            a, b = min(lows[g], low), max(highs[g], high)
            out[g] += prefix[b] - prefix[a] + (jump if a < b else 0.0)
    else:
        for g in range(out.size):
            out[g] += range_cost(c, y, j, min(lows[g], low), max(highs[g], high))


@inner
def record_joins(c, pairs, closures, size, record, y, out):
    """Fill `out` with what each of the first `size` closures costs a record of class y once it covers `record` too."""
    out = out[:size]
    out[:] = 0.0
    for j in range(c.form.size):
        first, code = c.slot[j], record[j]
        if c.form[j] == TREE:
            add_tree(c, pairs, y, j, closures[first, :size], code, out)
        elif c.form[j] == RANGE:
            add_range(c, y, j, closures[first, :size], closures[first + 1, :size], code, code, out)
        else:
            for g in range(size):
                out[g] += set_cost(c, y, j, closures, g, closures, -1, code)


@inner
def group_joins(c, pairs, closures, size, a, y, out):
    """Fill `out` with what the first `size` closures cost a record of class y once each covers closure a too."""
    out = out[:size]
    out[:] = 0.0
    for j in range(c.form.size):
        first = c.slot[j]
        if c.form[j] == TREE:
            add_tree(c, pairs, y, j, closures[first, :size], closures[first, a], out)
        elif c.form[j] == RANGE:
            low, high = closures[first, a], closures[first + 1, a]
            add_range(c, y, j, closures[first, :size], closures[first + 1, :size], low, high, out)
        else:
            for g in range(size):
                out[g] += set_cost(c, y, j, closures, g, closures, a, -1)


@inner
def cover_costs(c, pairs, columns, size, closures, g, y, out):
    """Fill `out` with what closure g costs a record of class y once it also covers one more record.

    There is an entry for each of the first `size` records as the one more. `columns` holds their codes, int32[r,
    records].
    """
    out = out[:size]
    out[:] = 0.0
    for j in range(c.form.size):
        first = c.slot[j]
        codes = columns[j, :size]
        if c.form[j] == TREE:
            add_tree(c, pairs, y, j, codes, closures[first, g], out)
        elif c.form[j] == RANGE:
            add_range(c, y, j, codes, codes, closures[first, g], closures[first + 1, g], out)
        else:
            for i in range(size):
                out[i] += set_cost(c, y, j, closures, g, closures, -1, codes[i])


@inner
def totals_with_record(c, pairs, closures, counts, size, record, y, out, scratch):
    """Fill `out` with the total cost of each of the first `size` groups once it holds `record` too, of class y."""
    classes = counts.shape[0]
    if classes == 1:
        record_joins(c, pairs, closures, size, record, 0, out)
        for g in range(size):
            out[g] *= counts[0, g] + 1.0
        return
    out[:size] = 0.0
    for z in range(classes):
        record_joins(c, pairs, closures, size, record, z, scratch)
        more = 1.0 if z == y else 0.0
        for g in range(size):
            out[g] += (counts[z, g] + more) * scratch[g]


@inner
def totals_with_group(c, pairs, closures, counts, size, a, out, scratch):
    """Fill `out` with the total cost of the union of group a with each of the first `size` groups."""
    out[:size] = 0.0
    for z in range(counts.shape[0]):
        group_joins(c, pairs, closures, size, a, z, scratch)
        more = counts[z, a]
        for g in range(size):
            out[g] += (counts[z, g] + more) * scratch[g]


@inner
def totals_with_each(c, pairs, columns, classes, size, closures, counts, g, out, scratch):
    """Fill `out` with the total cost of group g once it also holds each of the first `size` records.

    `columns` holds the codes of these records, int32[r, records]. `scratch` is as long as `out`.
    """
    if counts.shape[0] == 1:
        cover_costs(c, pairs, columns, size, closures, g, 0, out)
        for i in range(size):
            out[i] *= counts[0, g] + 1.0
        return
    out[:size] = 0.0
    for z in range(counts.shape[0]):
        cover_costs(c, pairs, columns, size, closures, g, z, scratch)
        for i in range(size):
            out[i] += (counts[z, g] + (1.0 if classes[i] == z else 0.0)) * scratch[i]
