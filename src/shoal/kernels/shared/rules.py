"""What a requirement asks of a group beyond its size, as limits on the counts of its sensitive values.

A tally counts the values of one sensitive column (or what they are mapped to) in one group. All tallies of a group
stand in one row of counts, in which tally t owns the entries start[t]:start[t + 1]; a *value* v is an index into
that row. All three ground distances of t-closeness are lengths of paths in a tree whose first nodes are the values,
so one sum over edges computes the earth mover's distance for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel

EPSILON = 1e-9  # tolerance for rounding in comparisons with limits
# Bits of what is known of a group and a value: whether it is known that the group may take in or give up a record of
# that value, and whether it may.
TAKE_KNOWN, TAKES, GIVE_KNOWN, GIVES = 1, 2, 4, 8
# n·ln n of small numbers: entropy is asked for so often that logarithms would take most of the time.
SURPRISE = np.arange(1024) * np.log(np.maximum(1, np.arange(1024)))


@bundle
class Rules(NamedTuple):
    """The limits on every group: at least k records, and what each of its tallies must look like."""

    k: int  # the least number of records
    start: np.ndarray  # int64[tallies + 1], the first value of each tally in a row of counts
    cap: np.ndarray  # float64[values], the largest share of each value in a group; 1 for no limit
    capped: np.ndarray  # bool[tallies], whether any cap of the tally is below 1
    distinct: np.ndarray  # int64[tallies], the least number of distinct values
    entropy: np.ndarray  # float64[tallies], the least entropy in nats, 0 for no limit
    depth: np.ndarray  # int64[tallies], the ℓ of recursive (c,ℓ)-diversity, 0 for no limit
    factor: np.ndarray  # float64[tallies], the c of recursive (c,ℓ)-diversity
    # float64[tallies], the largest distance to the whole table, infinite for no limit
    distance: np.ndarray
    share: np.ndarray  # float64[values], the share of each value in the whole table
    node: np.ndarray  # int64[tallies + 1], the first node of each tally in the two arrays below
    # int64[nodes], numbered within the tally's tree; parents come after children
    parent: np.ndarray
    edge: np.ndarray  # float64[nodes], the length of the edge to the parent


@inner
def spread_enough(q, t, counts, size):
    """Return whether tally t of a group of `size` records keeps the caps and the least number of distinct values."""
    distinct = 0
    for v in range(q.start[t], q.start[t + 1]):
        if counts[v] > 0:
            distinct += 1
            if counts[v] > q.cap[v] * size + EPSILON:
                return False
    return distinct >= q.distinct[t]


@inner
def surprise_of(number):
    """Return n·ln n of a number that is not negative."""
    return SURPRISE[number] if number < SURPRISE.size else number * np.log(number)


@inner
def entropy_of(q, t, counts, size):
    """Return the entropy of tally t in nats."""
    total = surprise_of(size)
    for v in range(q.start[t], q.start[t + 1]):
        if counts[v] > 1:
            total -= surprise_of(counts[v])
    return total / size


@allocating
def rank_values(q, t, counts):
    """Return the records with the most frequent value of tally t, and those with its ℓ-th and rarer values."""
    first = q.start[t]
    left = np.empty(q.start[t + 1] - first, np.int64)
    most, rest = 0, 0
    for v in range(left.size):
        left[v] = counts[first + v]
        most = max(most, left[v])
        rest += left[v]
    for _ in range(q.depth[t] - 1):  # ℓ is small, and a sort would take long to compile
        top = 0
        for v in range(1, left.size):
            if left[v] > left[top]:
                top = v
        rest -= left[top]
        left[top] = 0
    return most, rest


@inner
def is_recursive(q, t, counts):
    """Return whether the most frequent value has fewer than c times the records of the ℓ-th and rarer values."""
    most, rest = rank_values(q, t, counts)
    return most < q.factor[t] * rest - EPSILON


@allocating
def distance_of(q, t, counts, size):
    """Return the earth mover's distance between tally t of a group and the same tally of the whole table."""
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
def tally_is_diverse(q, t, counts, size):
    """Return whether tally t of a group of `size` records keeps its limits."""
    if (q.capped[t] or q.distinct[t] > 1) and not spread_enough(q, t, counts, size):
        return False
    if q.entropy[t] > 0.0 and entropy_of(q, t, counts, size) < q.entropy[t] - EPSILON:
        return False
    if q.depth[t] > 0 and not is_recursive(q, t, counts):
        return False
    return not (
        q.distance[t] < np.inf and distance_of(q, t, counts, size) > q.distance[t] + EPSILON
    )


@inner
def is_diverse(q, counts, size):
    """Return whether a group of `size` records with these counts keeps all limits except k."""
    for t in range(q.start.size - 1):
        if not tally_is_diverse(q, t, counts, size):
            return False
    return True


@inner
def may_take(q, tally, known, size, g, t, v):
    """Return whether tally t of group g, which has `size` records, keeps its limits with one more of value v.

    What was found out stands in `known`, whose row of a group must be cleared by `forget_known` when the group changes.
    """
    if known[g, v] & TAKE_KNOWN == 0:
        counts = tally[g]
        counts[v] += 1
        kept = tally_is_diverse(q, t, counts, size + 1)
        counts[v] -= 1
        known[g, v] |= TAKE_KNOWN | TAKES if kept else TAKE_KNOWN
    return known[g, v] & TAKES != 0


@inner
def may_give(q, tally, known, size, g, t, v):
    """Return whether tally t of group g, which has `size` records, keeps its limits with one less of value v.

    `known` is that of `may_take`.
    """
    if known[g, v] & GIVE_KNOWN == 0:
        counts = tally[g]
        counts[v] -= 1
        kept = tally_is_diverse(q, t, counts, size - 1)
        counts[v] += 1
        known[g, v] |= GIVE_KNOWN | GIVES if kept else GIVE_KNOWN
    return known[g, v] & GIVES != 0


@inner
def forget_known(known, g):
    """Clear what `may_take` and `may_give` found out about group g."""
    for v in range(known.shape[1]):
        known[g, v] = 0


@kernel
def keeps_limits(q, counts, size):
    """Return whether a group keeps all limits except k; `is_diverse` for calls from Python."""
    return is_diverse(q, counts, size)


@inner
def tally_shortfall(q, t, counts, size):
    """Return how far tally t of a group is from keeping its limits; see `shortfall`."""
    total = 0.0
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
        total += max(extra, 0.0) + 2 * EPSILON  # being equal misses this limit, too
    if q.distance[t] < np.inf:
        extra = distance_of(q, t, counts, size) - q.distance[t]
        total += extra if extra > EPSILON else 0.0
    return total


@inner
def shortfall(q, counts, size):
    """Return how far a group is from keeping all limits except k: 0 if it does, otherwise less the closer it comes.

    This is the sum over all limits that are missed, each in its own unit: records above a cap, missing distinct
    values, nats of entropy, records of recursive diversity, distance to the table. It serves to compare groups; its
    value has no meaning of its own.
    """
    total = 0.0
    for t in range(q.start.size - 1):
        total += tally_shortfall(q, t, counts, size)
    return total


@inner
def lacking(q, counts, size):
    """Return how far a group is from meeting the whole requirement, k included: 0 if it does."""
    return max(0, q.k - size) / q.k + shortfall(q, counts, size)


@inner
def lacking_with(q, values, i, counts, size, kept):
    """Return what `lacking` says of a group of `size` records with these counts once record i has joined it.

    kept[v] is the shortfall of its tally with one more record of value v, −1 where it is not known: the caller sets
    all to −1 whenever the group changes.
    """
    total = max(0, q.k - size - 1) / q.k
    for t in range(values.shape[1]):
        v = values[i, t]
        if kept[v] < 0.0:
            counts[v] += 1
            kept[v] = tally_shortfall(q, t, counts, size + 1)
            counts[v] -= 1
        total += kept[v]
    return total


@inner
def complies(q, counts, size):
    """Return whether a group of `size` records with these counts meets the whole requirement, k included."""
    return size >= q.k and is_diverse(q, counts, size)


@inner
def count_values(values, records, counts):
    """Add the sensitive values of some records to one row of counts."""
    for i in records:
        for t in range(values.shape[1]):
            counts[values[i, t]] += 1


@kernel
def count_groups(values, groups, counts):
    """Add the sensitive values of all records that have a group to the counts of their groups: counts[group, value]."""
    for i in range(groups.size):
        if groups[i] >= 0:
            for t in range(values.shape[1]):
                counts[groups[i], values[i, t]] += 1
