"""What a requirement asks of a group beyond its size, as limits on counts of its sensitive values.

A tally counts the values of one sensitive column (or what they are mapped to) in one group; all tallies of a
group stand in one row of counts, tally t owning entries start[t]:start[t+1]. All three ground distances of
t-closeness are lengths of paths in a tree whose first nodes are the values, so one sum over edges serves all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import allocating, inner, kernel

EPSILON = 1e-9


@bundle
class Rules(NamedTuple):
    """Limits on every group: at least k records, and what each tally must look like."""

    k: int
    start: np.ndarray  # int64[tallies + 1], into the counts
    cap: np.ndarray  # float64[values], the largest share of a value; 1 where it does not matter
    capped: np.ndarray  # bool[tallies], whether any cap is below 1
    distinct: np.ndarray  # int64[tallies], least number of distinct values
    entropy: np.ndarray  # float64[tallies], least entropy in nats, 0 for none
    depth: np.ndarray  # int64[tallies], ℓ of recursive (c,ℓ)-diversity, 0 for none
    factor: np.ndarray  # float64[tallies], its c
    distance: np.ndarray  # float64[tallies], largest distance to the table, infinite for none
    share: np.ndarray  # float64[values], of each value in the table
    node: np.ndarray  # int64[tallies + 1], into the nodes
    parent: np.ndarray  # int64[nodes], within the tally's tree, after its children
    edge: np.ndarray  # float64[nodes], length of the edge to the parent


@inner
def spread_enough(q, t, counts, size):
    """Whether the counts of tally t in a group of `size` records keep to caps and least distinct values."""
    distinct = 0
    for v in range(q.start[t], q.start[t + 1]):
        if counts[v] > 0:
            distinct += 1
            if counts[v] > q.cap[v] * size + EPSILON:
                return False
    return distinct >= q.distinct[t]


@inner
def entropy_of(q, t, counts, size):
    """Entropy of tally t in nats."""
    total = 0.0
    for v in range(q.start[t], q.start[t + 1]):
        if counts[v] > 0:
            total -= counts[v] * np.log(counts[v] / size)
    return total / size


@allocating
def rank_values(q, t, counts):
    """Records of tally t with its most frequent value, and with its ℓ-th and rarer ones."""
    first = q.start[t]
    left = np.empty(q.start[t + 1] - first, np.int64)
    most, rest = 0, 0
    for v in range(left.size):
        left[v] = counts[first + v]
        most = max(most, left[v])
        rest += left[v]
    for _ in range(q.depth[t] - 1):  # a few; to sort the counts takes long to compile
        top = 0
        for v in range(1, left.size):
            if left[v] > left[top]:
                top = v
        rest -= left[top]
        left[top] = 0
    return most, rest


@inner
def is_recursive(q, t, counts):
    """Whether the most frequent value of tally t has fewer than c times the records of the ℓ-th and rarer ones."""
    most, rest = rank_values(q, t, counts)
    return most < q.factor[t] * rest - EPSILON


@allocating
def distance_of(q, t, counts, size):
    """Earth mover's distance between tally t of a group and of the table."""
    values, first = q.start[t + 1] - q.start[t], q.node[t]
    extra = np.zeros(q.node[t + 1] - first)
    total = 0.0
    for v in range(extra.size):
        if v < values:
            extra[v] += counts[q.start[t] + v] / size - q.share[q.start[t] + v]
        total += abs(extra[v]) * q.edge[first + v]
        if q.parent[first + v] != v:
            extra[q.parent[first + v]] += extra[v]
    return total


@inner
def is_diverse(q, counts, size):
    """Whether a group meets all limits but k."""
    for t in range(q.start.size - 1):
        if (q.capped[t] or q.distinct[t] > 1) and not spread_enough(q, t, counts, size):
            return False
        if q.entropy[t] > 0.0 and entropy_of(q, t, counts, size) < q.entropy[t] - EPSILON:
            return False
        if q.depth[t] > 0 and not is_recursive(q, t, counts):
            return False
        if q.distance[t] < np.inf and distance_of(q, t, counts, size) > q.distance[t] + EPSILON:
            return False
    return True


@kernel
def keeps_limits(q, counts, size):
    """The same for calls from Python."""
    return is_diverse(q, counts, size)


@inner
def shortfall(q, counts, size):
    """How far a group is from meeting all limits but k: 0 where it does, less the closer it comes.

    A sum over all limits that are missed, each in its own unit: records above a cap, distinct values lacking,
    nats of entropy, records of recursive diversity, distance to the table. To compare groups, not to add up.
    """
    total = 0.0
    for t in range(q.start.size - 1):
        if q.capped[t] or q.distinct[t] > 1:
            distinct = 0
            for v in range(q.start[t], q.start[t + 1]):
                if counts[v] > 0:
                    distinct += 1
                    extra = counts[v] - q.cap[v] * size
                    total += extra if extra > EPSILON else 0.0
            total += max(0, q.distinct[t] - distinct)
        if q.entropy[t] > 0.0:
            lack = q.entropy[t] - entropy_of(q, t, counts, size)
            total += lack if lack > EPSILON else 0.0
        if q.depth[t] > 0 and not is_recursive(q, t, counts):
            most, rest = rank_values(q, t, counts)
            extra = most - q.factor[t] * rest
            total += max(extra, 0.0) + 2 * EPSILON  # equal is not enough
        if q.distance[t] < np.inf:
            extra = distance_of(q, t, counts, size) - q.distance[t]
            total += extra if extra > EPSILON else 0.0
    return total


@inner
def lacking(q, counts, size):
    """How far a group is from meeting the requirement, k included: 0 where it does."""
    return max(0, q.k - size) / q.k + shortfall(q, counts, size)


@inner
def complies(q, counts, size):
    """Whether a group meets the requirement."""
    return size >= q.k and is_diverse(q, counts, size)


@inner
def count_values(values, records, counts):
    """Add the values of some records to counts."""
    for i in records:
        for t in range(values.shape[1]):
            counts[values[i, t]] += 1


@kernel
def count_groups(values, groups, counts):
    """Add the values of all records that have a group to the counts of their groups: counts[group, value]."""
    for i in range(groups.size):
        if groups[i] >= 0:
            for t in range(values.shape[1]):
                counts[groups[i], values[i, t]] += 1
