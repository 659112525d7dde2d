"""Linear inequalities that every group keeps which keeps the requirements; see `diverse_groups`."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import inner
from shoal.kernels.shared.rules import EPSILON

HALF = 0.5  # a record, in place of none, whose logarithm is infinite
MIXINGS = 12  # steps of the search for a distribution that has just the entropy asked for
TOLERANCE = 4 * EPSILON  # by which slopes are raised, since limits are kept up to rounding


@inner
def limits_shares(q, t):
    """Return whether a tally has limits that follow from shares of values, not from their number alone."""
    return q.capped[t] or q.entropy[t] > 0.0 or q.depth[t] > 0 or q.distance[t] < np.inf


@inner
def set_slopes(q, t, cell, kinds):
    """Set slopes by which the records that were summed up miss a limit of tally t; return whether they miss one.

    Every group that keeps the limits has slopes that sum up to at least 0: a cap allows at most so many records of a
    value; no distribution has more surprise under its own probabilities than under those of another (Gibbs'
    inequality), so that the mean surprise under any is at least the entropy asked for; at most c times the records
    outside the ℓ − 1 most frequent values may have one value; and the earth mover's distance is at least what any
    potential on the tree of values says.
    """
    missed = add_limits(q, t, cell, kinds, False)
    for m in range(kinds):
        cell.slope[m] += TOLERANCE
    return missed


@inner
def set_gradient(q, t, cell, kinds):
    """Set slopes: by how much one more record of a value makes up for missed limits; return whether any is missed."""
    return add_limits(q, t, cell, kinds, True)


@inner
def add_limits(q, t, cell, kinds, as_picked):
    """Add up the slopes of all limits that are missed; return whether any is. `as_picked` is meant for entropy."""
    records = 0.0
    for m in range(kinds):
        cell.slope[m] = 0.0
        records += cell.picked[m]
    missed = False
    if q.capped[t]:
        missed = add_caps(q, cell, kinds, records)
    if q.entropy[t] > 0.0:
        missed |= add_entropy(q, t, cell, kinds, records, as_picked)
    if q.depth[t] > 0:
        missed |= add_recursion(q, t, cell, kinds)
    if q.distance[t] < np.inf:
        missed |= add_distance(q, t, cell, kinds, records)
    return missed


@inner
def surprise_slopes(q, t, cell, kinds):
    """Set slopes by the surprise under the shares of what was picked, half a record where there is none."""
    records = 0.0
    for m in range(kinds):
        records += max(cell.picked[m], HALF)
    for m in range(kinds):
        cell.slope[m] = np.log(records / max(cell.picked[m], HALF)) - q.entropy[t] + TOLERANCE


@inner
def add_caps(q, cell, kinds, records):
    """Add the slopes of all caps that are exceeded; return whether any is."""
    missed = False
    for m in range(kinds):
        cap = q.cap[cell.kind[m]]
        if cell.picked[m] > cap * records + EPSILON:
            missed = True
            for other in range(kinds):
                cell.slope[other] += cap
            cell.slope[m] -= 1.0
    return missed


@inner
def add_entropy(q, t, cell, kinds, records, as_picked):
    """Add the slopes of too small an entropy; return whether it is.

    Slopes are those of the shares that were picked, or else of shares near them that have just enough entropy.
    """
    if mixed_entropy(cell, kinds, records, 0.0) >= q.entropy[t] - EPSILON:
        return False
    if as_picked:
        for m in range(kinds):
            cell.slope[m] += np.log(records / max(cell.picked[m], HALF)) - q.entropy[t]
        return True
    low, high = 0.0, 1.0
    for _ in range(MIXINGS):
        middle = (low + high) / 2
        if mixed_entropy(cell, kinds, records, middle) < q.entropy[t]:
            low = middle
        else:
            high = middle
    for m in range(kinds):
        share = mixed_share(cell, m, kinds, records, high)
        cell.slope[m] -= np.log(share) + q.entropy[t]
    return True


@inner
def mixed_share(cell, m, kinds, records, part):
    """Return the share of a value among the records that were summed up, mixed with equal shares of all values."""
    return (1 - part) * cell.picked[m] / records + part / kinds


@inner
def mixed_entropy(cell, kinds, records, part):
    """Return the entropy of the records that were summed up, mixed with equal shares of all values."""
    entropy = 0.0
    for m in range(kinds):
        share = mixed_share(cell, m, kinds, records, part)
        if share > 0.0:
            entropy -= share * np.log(share)
    return entropy


@inner
def add_recursion(q, t, cell, kinds):
    """Add the slopes of too frequent a value under recursive diversity; return whether there is one."""
    for m in range(kinds):
        cell.best[m] = cell.picked[m]
    top, rest = -1, 0.0
    for m in range(kinds):
        rest += cell.picked[m]
        top = m if top < 0 or cell.picked[m] > cell.picked[top] else top
    for _ in range(min(q.depth[t] - 1, kinds)):
        most = 0
        for m in range(kinds):
            most = m if cell.best[m] > cell.best[most] else most
        rest -= cell.picked[most]
        cell.best[most] = -1.0
    if cell.picked[top] < q.factor[t] * rest - EPSILON:
        return False
    for m in range(kinds):
        cell.slope[m] += (q.factor[t] if cell.best[m] >= 0.0 else 0.0) - (m == top)
    return True


@inner
def add_distance(q, t, cell, kinds, records):
    """Add the slopes of too large a distance to the table; return whether it is."""
    first, base = q.node[t], q.start[t]
    nodes, values = q.node[t + 1] - first, q.start[t + 1] - base
    extra, potential = cell.node[:nodes], cell.node[nodes : 2 * nodes]
    extra[:] = 0.0
    for v in range(values):
        extra[v] = -q.share[base + v]
    for m in range(kinds):
        extra[cell.kind[m] - base] += cell.picked[m] / records
    distance = 0.0
    for v in range(nodes):
        distance += abs(extra[v]) * q.edge[first + v]
        if q.parent[first + v] != v:
            extra[q.parent[first + v]] += extra[v]
    if distance <= q.distance[t] + EPSILON:
        return False
    for v in range(nodes - 1, -1, -1):
        above = q.parent[first + v]
        way = q.edge[first + v] if extra[v] > 0.0 else -q.edge[first + v]
        potential[v] = way + potential[above] if above != v else 0.0
    mean = 0.0
    for v in range(values):
        mean += q.share[base + v] * potential[v]
    for m in range(kinds):
        cell.slope[m] += q.distance[t] + mean - potential[cell.kind[m] - base]
    return True


MOST_STEPS = 80  # steps after which a group is given up
PART = 30  # a step changes a group by this part of its records, and by one record at least


@inner
def mend(q, t, cell, kinds):
    """Add and remove picked records, those of least worth first, until all limits are kept; return whether they are."""
    for _ in range(MOST_STEPS):
        if not set_gradient(q, t, cell, kinds):
            return True
        records = 0.0
        for m in range(kinds):
            records += cell.picked[m]
        step = max(1.0, records / PART)
        best, ratio, amount = -1, np.inf, 0.0
        for m in range(kinds):
            slope, low, high = cell.slope[m], cell.begin[m], cell.begin[m + 1]
            if slope > 0.0:
                left = cell.held[high] - cell.held[low] - cell.picked[m]
                if left > 0.0:
                    price = -cell.z[place_of(cell, m, cell.picked[m])] / slope
                    if price < ratio:
                        best, ratio, amount = m, price, min(step, left)
            elif slope < 0.0 and cell.picked[m] > 0.0 and records > q.k:
                less = min(step, cell.picked[m], records - q.k)
                price = cell.z[place_of(cell, m, cell.picked[m] - less)] / -slope
                if price < ratio:
                    best, ratio, amount = m, price, -less
        if best < 0:
            return False
        cell.picked[best] += amount
    return False


@inner
def place_of(cell, m, number):
    """Return the place of the record of a value that has so many better ones before it, the value's end if none has."""
    low, high = cell.begin[m], cell.begin[m + 1]
    held = cell.held[low] + number
    while low < high:
        middle = (low + high) // 2
        if cell.held[middle + 1] <= held:
            low = middle + 1
        else:
            high = middle
    return low
