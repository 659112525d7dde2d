"""Closures and costs of all groups at once, and where a record joins at least cost."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from shoal.kernels.forms import (
    BITS,
    RANGE,
    TREE,
    closure_cost,
    column_cost,
    cost_with,
    open_closure,
    widen_closure,
)


@njit(cache=True)
def members(groups, count):
    """Records sorted by group: (order, bounds), group g being order[bounds[g]:bounds[g + 1]]."""
    bounds = np.zeros(count + 1, np.int64)
    for g in groups:
        bounds[g + 1] += 1
    for g in range(count):
        bounds[g + 1] += bounds[g]
    place = bounds[:-1].copy()
    order = np.empty(groups.size, np.int64)
    for i in range(groups.size):
        order[place[groups[i]]] = i
        place[groups[i]] += 1
    return order, bounds


@njit(cache=True)
def close_groups(c, codes, order, bounds):
    """Closure of every group, in the canonical shape: equal closures are equal columns."""
    closures = np.zeros((c.slot[-1], bounds.size - 1), np.int32)
    for g in range(bounds.size - 1):
        open_closure(c, closures, g, codes[order[bounds[g]]])
        for i in range(bounds[g] + 1, bounds[g + 1]):
            widen_closure(c, closures, g, codes[order[i]])
    spread_nulls(c, closures)
    return closures


@njit(cache=True)
def spread_nulls(c, closures):
    """Write out closures that mix null with anything else as the whole domain."""
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
                for s in range(first, c.slot[j + 1]):
                    bit = 1 << (null % BITS) if s == first + null // BITS else 0
                    alone &= closures[s, g] == bit
                if not alone:
                    for code in range(c.start[j + 1] - c.start[j]):
                        closures[first + code // BITS, g] |= 1 << (code % BITS)


@njit(cache=True, parallel=True)
def group_costs(c, closures):
    """What each closure costs a record, per column: float64[r, groups]."""
    costs = np.empty((c.form.size, closures.shape[1]))
    for g in prange(closures.shape[1]):
        for j in range(c.form.size):
            costs[j, g] = column_cost(c, j, closures, g)
    return costs


@njit(cache=True, parallel=True)
def join_costs(c, closures, record):
    """What each closure would cost a record if it also covered `record`: float64[groups]."""
    costs = np.empty(closures.shape[1])
    for g in prange(closures.shape[1]):
        costs[g] = cost_with(c, closures, g, record)
    return costs


@njit(cache=True)
def join_cheapest(c, codes, groups, closures, sizes, records):
    """Put each of `records` into the group where it adds least cost, one after the other, in place."""
    current = np.empty(closures.shape[1])
    for g in range(current.size):
        current[g] = closure_cost(c, closures, g)
    for i in records:
        added = join_costs(c, closures, codes[i])
        for g in range(current.size):
            added[g] = (sizes[g] + 1) * added[g] - sizes[g] * current[g]
        best = np.argmin(added)
        widen_closure(c, closures, best, codes[i])
        current[best] = closure_cost(c, closures, best)
        sizes[best] += 1
        groups[i] = best


@njit(cache=True)
def covers(c, j, closures, g, code):
    """Whether the closure of column j in group g holds `code`."""
    first = c.slot[j]
    if c.form[j] == TREE:
        node = closures[first, g]
        while code < node:
            code = c.parent[c.start[j] + code]
        return code == node
    if c.form[j] == RANGE:
        return closures[first, g] <= code <= closures[first + 1, g]
    return closures[first + code // BITS, g] >> (code % BITS) & 1 == 1


@njit(cache=True, parallel=True)
def induced_shares(c, closures, density, points):
    """For each point, the summed density of all closures that hold it: what the release induces (`kl`)."""
    shares = np.zeros(points.shape[0])
    for i in prange(points.shape[0]):
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


@njit(cache=True)
def count_outside(c, closures, groups, codes):
    """Per column, how many records are not inside their group's closure."""
    outside = np.zeros(c.form.size, np.int64)
    for i in range(groups.size):
        for j in range(c.form.size):
            outside[j] += not covers(c, j, closures, groups[i], codes[i, j])
    return outside
