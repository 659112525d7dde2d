"""Closures and costs of all groups at once, and the groups that records join at least cost."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.forms import (
    BITS,
    RANGE,
    TREE,
    column_cost,
    open_closure,
    total_cost,
    widen_closure,
)
from shoal.kernels.shared.rows import totals_with_record
from shoal.kernels.shared.rules import forget_known, may_take


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
