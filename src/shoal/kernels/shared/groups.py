"""Closures and costs of all groups at once; what one record or group would cost in every group, vectorised."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.forms import (
    BITS,
    LINEAR,
    RANGE,
    TREE,
    column_cost,
    meet,
    open_closure,
    range_cost,
    set_cost,
    total_cost,
    widen_closure,
)
from shoal.kernels.shared.rules import forget_known, may_take

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


@kernel
def members(groups, count):
    """Sort records by group: (order, bounds), where order[bounds[g]:bounds[g + 1]] are the records of group g."""
    bounds = np.zeros(count + 1, np.int64)
    for g in groups:
        bounds[g + 1] += 1
    for g in range(count):
        bounds[g + 1] += bounds[g]
    place = np.empty(count, np.int64)
    for g in range(count):
        place[g] = bounds[g]
    order = np.empty(groups.size, np.int64)
    for i in range(groups.size):
        order[place[groups[i]]] = i
        place[groups[i]] += 1
    return order, bounds


@kernel
def count_classes(classes, class_count, order, bounds):
    """Count the records of each class in each group: float64[classes, groups]; `order` is that of `members`."""
    counts = np.zeros((class_count, bounds.size - 1))
    for g in range(bounds.size - 1):
        for i in range(bounds[g], bounds[g + 1]):
            counts[classes[order[i]], g] += 1.0
    return counts


@kernel
def close_groups(c, codes, order, bounds):
    """Return the closure of every group: int32[slots, groups].

    A null may still stand beside other values in a closure, as it does while groups grow; `spread_nulls` writes
    such closures out.
    """
    closures = np.zeros((c.slot[-1], bounds.size - 1), np.int32)
    for g in range(bounds.size - 1):
        open_closure(c, closures, g, codes[order[bounds[g]]])
        for i in range(bounds[g] + 1, bounds[g + 1]):
            widen_closure(c, closures, g, codes[order[i]])
    return closures


@kernel
def spread_nulls(c, closures):
    """Write closures that mix null with other values as the whole domain, in place, so that equal ones look equal."""
    for j in range(c.form.size):
        null, first = c.null[j], c.slot[j]
        if null < 0 or c.form[j] == TREE:
            continue
        for g in range(closures.shape[1]):
            if c.form[j] == RANGE:
                if closures[first + 1, g] == null and closures[first, g] < null:
                    closures[first, g] = 0
            elif closures[first + null // BITS, g] >> (null % BITS) & 1:
                alone = True
                for slot in range(first, c.slot[j + 1]):
                    bit = 1 << (null % BITS) if slot == first + null // BITS else 0
                    alone &= closures[slot, g] == bit
                if not alone:
                    for code in range(c.start[j + 1] - c.start[j]):
                        closures[first + code // BITS, g] |= 1 << (code % BITS)


@kernel
def group_costs(c, closures, counts):
    """Return what each group costs in each column, all its records together: float64[r, groups]."""
    costs = np.zeros((c.form.size, closures.shape[1]))
    for g in range(closures.shape[1]):
        for j in range(c.form.size):
            for y in range(counts.shape[0]):
                if counts[y, g] > 0.0:
                    costs[j, g] += counts[y, g] * column_cost(c, y, j, closures, g)
    return costs


@kernel
def join_cheapest(c, pairs, q, codes, classes, values, groups, closures, counts, tally, records):
    """Put each of `records`, one after the other, into the group where it adds least cost, in place.

    A group may take a record only if it keeps all limits of the requirement with it. A record that no group may
    take stays without a group.
    """
    size = closures.shape[1]
    current, added, scratch = np.empty(size), np.empty(size), np.empty(size)
    records_of, known = np.zeros(size, np.int64), np.zeros(tally.shape, np.int8)
    for g in range(size):
        current[g] = total_cost(c, closures, counts, g)
        for y in range(counts.shape[0]):
            records_of[g] += counts[y, g]
    for i in records:
        totals_with_record(c, pairs, closures, counts, size, codes[i], classes[i], added, scratch)
        best, least = -1, np.inf
        for g in range(size):
            if added[g] - current[g] >= least:
                continue
            takes = True
            for t in range(values.shape[1]):
                if not may_take(q, tally, known, records_of[g], g, t, values[i, t]):
                    takes = False
                    break
            if takes:
                best, least = g, added[g] - current[g]
        if best < 0:
            continue
        widen_closure(c, closures, best, codes[i])
        counts[classes[i], best] += 1.0
        records_of[best] += 1
        for t in range(values.shape[1]):
            tally[best, values[i, t]] += 1
        forget_known(known, best)
        current[best] = total_cost(c, closures, counts, best)
        groups[i] = best


@inner
def covers(c, j, closures, g, code):
    """Return whether the closure of column j in group g holds `code`."""
    first = c.slot[j]
    if c.form[j] == TREE:
        node = closures[first, g]
        while code < node:
            code = c.parent[c.start[j] + code]
        return code == node
    if c.form[j] == RANGE:
        return closures[first, g] <= code <= closures[first + 1, g]
    return closures[first + code // BITS, g] >> (code % BITS) & 1 == 1


@kernel
def induced_shares(c, closures, density, points):
    """Return the summed density of all closures that hold each point: the distribution a release induces (`kl`)."""
    shares = np.zeros(points.shape[0])
    for i in range(points.shape[0]):
        total = 0.0
        for g in range(closures.shape[1]):
            inside = True
            for j in range(c.form.size):
                if not covers(c, j, closures, g, points[i, j]):
                    inside = False
                    break
            if inside:
                total += density[g]
        shares[i] = total
    return shares


@kernel
def count_outside(c, closures, groups, codes):
    """Count, for each column, the records that are not inside their group's closure: int64[r]."""
    outside = np.zeros(c.form.size, np.int64)
    for i in range(groups.size):
        for j in range(c.form.size):
            outside[j] += not covers(c, j, closures, groups[i], codes[i, j])
    return outside
