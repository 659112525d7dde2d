"""What it costs a record to share a closure with its k − 1 nearest others (GiT09 Lemma 6.10)."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.shared.forms import (
    BITS,
    LINEAR,
    RANGE,
    open_closure,
    range_cost,
    set_cost,
    value_cost,
)
from shoal.kernels.shared.rows import cover_costs


@inner
def least_holding(costs, weights, k, found, held):
    """Return the k-th smallest cost, where costs[i] counts weights[i] times; `found` and `held` are scratch [k + 1]."""
    # The smallest costs stand in found[:size], ascending, and hold `total` records; without the last one, below k.
    size, total = 0, 0
    for i in range(costs.size):
        if total >= k and costs[i] >= found[size - 1]:
            continue
        at = size
        while at > 0 and found[at - 1] > costs[i]:
            found[at], held[at] = found[at - 1], held[at - 1]
            at -= 1
        found[at], held[at] = costs[i], weights[i]
        size += 1
        total += weights[i]
        while total - held[size - 1] >= k:
            size -= 1
            total -= held[size]
    return found[size - 1]


@kernel
def nearest_costs(c, pairs, points, columns, weights, k, least):
    """Fill least[i] with the least cost up to which k records, its own among them, can share a closure with point i.

    `points` holds the codes of all points, int32[points, r]; `columns` the same transposed.
    """
    size = weights.size
    costs = np.empty(size)
    found, held = np.empty(k + 1), np.empty(k + 1, np.int64)
    closure = np.zeros((c.slot[-1], 1), np.int32)
    for i in range(size):
        open_closure(c, closure, 0, points[i])
        cover_costs(c, pairs, columns, size, closure, 0, 0, costs)
        least[i] = least_holding(costs, weights, k, found, held)


@inner
def cheapest_pair(c, j, values):
    """Return the two values of a SET column that cost least together: least addends, or fewest records."""
    a, b, least, second = -1, -1, 0.0, 0.0
    for v in range(values):
        e = c.start[j] + v
        key = c.cost[0, e] if c.kind[j] == LINEAR else c.records[e]
        if v == c.null[j] or (c.kind[j] != LINEAR and key == 0.0):
            continue  # null with others is the whole domain; unused values are in no closure
        if a < 0 or key < least:
            b, second = a, least
            a, least = v, key
        elif b < 0 or key < second:
            b, second = v, key
    return a, b


@kernel
def flat_costs(c, j):
    """Return what each single value of a RANGE or SET column costs, and last the least that several of them cost."""
    size = c.start[j + 1] - c.start[j]
    values = size - 1 if c.form[j] == RANGE else size  # ranges have one entry more than values
    costs = np.empty(values + 1)
    for a in range(values):
        costs[a] = value_cost(c, 0, j, a)
    least = np.inf
    if c.form[j] == RANGE:
        for a in range(values - 1):
            least = min(least, range_cost(c, 0, j, a, a + 1))
    else:
        a, b = cheapest_pair(c, j, values)
        if b >= 0:
            closure = np.zeros((c.slot[-1], 1), np.int32)
            closure[c.slot[j] + a // BITS, 0] = 1 << (a % BITS)
            least = set_cost(c, 0, j, closure, 0, closure, -1, b)
    if least == np.inf:
        for a in range(values):
            least = min(least, costs[a])
    costs[values] = least
    return costs
