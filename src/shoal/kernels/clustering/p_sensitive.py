"""Groups take records from a pool: the one that makes them most diverse, then the one that adds least cost.

TCM07 §3.1: `Div` of a record and a group sums the number of values that the group still lacks over those sensitive
columns in which the record brings a new value (Definition 11); `Hom` sums it over all sensitive columns (Definition
12). Both weigh columns by `weight`; if all weights are 1 they are whole numbers and ties are exact. Among equal
records the first in the pool is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.clustering.k_member import compact
from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.arrays import copy_column, equal_columns, largest_at, least_at
from shoal.kernels.shared.groups import totals_with_each
from shoal.kernels.shared.state import add, members_of, unlink


@bundle
class RecordPool(NamedTuple):
    """The records without a group, as a list of entries; entries that were taken stay until there are many of them."""

    codes: np.ndarray  # int32[n, r], the quasi-identifiers of all records
    classes: np.ndarray  # int32[n], the classes of all records
    columns: np.ndarray  # int32[r, n], by entry: the codes
    kinds: np.ndarray  # int32[n], by entry: the class
    places: np.ndarray  # int64[n], by entry: the record
    left: np.ndarray  # int64[n], by entry: 1, or 0 once it was taken
    size: np.ndarray  # int64[2], number of entries, and how many of them were taken


def make_record_pool(codes, classes):
    """Make an empty pool with room for all records."""
    records, columns = codes.shape
    return RecordPool(
        codes=codes,
        classes=classes,
        columns=np.zeros((columns, records), np.int32),
        kinds=np.zeros(records, np.int32),
        places=np.zeros(records, np.int64),
        left=np.zeros(records, np.int64),
        size=np.zeros(2, np.int64),
    )


@inner
def tidy(pool):
    """Drop the entries that were taken."""
    size = pool.size[0]
    kinds = pool.kinds[:size]
    pool.size[0] = compact(pool.columns, kinds, kinds, pool.left[:size], pool.places[:size])
    pool.size[1] = 0


@inner
def put_all(pool, records):
    """Add records at the end of the pool."""
    tidy(pool)
    for i in records:
        at = pool.size[0]
        for j in range(pool.codes.shape[1]):
            pool.columns[j, at] = pool.codes[i, j]
        pool.kinds[at], pool.places[at], pool.left[at] = pool.classes[i], i, 1
        pool.size[0] += 1


@kernel
def put(pool, records):
    """Add records at the end of the pool."""
    put_all(pool, records)


@kernel
def refill(pool, records):
    """Empty the pool and put these records into it."""
    pool.size[:] = 0
    put_all(pool, records)


@inner
def move_entry(c, s, pool, at, g):
    """Move an entry of the pool into group g."""
    pool.left[at] = 0
    pool.size[1] += 1
    add(c, s, pool.codes, pool.classes, pool.places[at], g)


@kernel
def take_entry(c, s, pool, at, g):
    """Move an entry of the pool into group g."""
    move_entry(c, s, pool, at, g)


@kernel
def dissolve_into_pool(s, pool, g):
    """Put the records of group g into the pool; g becomes free."""
    records = members_of(s, g)
    for i in records:
        unlink(s, i)
    s.counts[:, g] = 0.0
    s.cost[g] = 0.0
    put_all(pool, records)


@inner
def lacking_values(q, weight, s, g, gain):
    """Return how many values group g lacks, weighed over all sensitive columns: Hom.

    gain[v] becomes what a record with sensitive value v adds to Div.
    """
    total = 0.0
    for t in range(q.start.size - 1):
        distinct = 0
        for v in range(q.start[t], q.start[t + 1]):
            distinct += s.tally[g, v] > 0
        missing = max(0, q.distinct[t] - distinct) * weight[t]
        total += missing
        for v in range(q.start[t], q.start[t + 1]):
            gain[v] = missing if s.tally[g, v] == 0 else 0.0
    return total


@kernel
def all_lacking(q, weight, s):
    """Return how many values each group lacks, weighed: float64[groups]."""
    gain = np.empty(s.tally.shape[1])
    found = np.empty(s.size.size)
    for g in range(found.size):
        found[g] = lacking_values(q, weight, s, g, gain)
    return found


@inner
def best_match(c, pairs, s, pool, g, gain, out, scratch):
    """Return the best entry for group g, with largest Div and then least added cost: (Div, cost, entry).

    The entry is −1 if the pool is empty. For a group without records, all entries cost the same. `gain` is that of
    `lacking_values`; `out` and `scratch` are as long as the pool.
    """
    size = pool.size[0]
    if s.size[g] > 0:
        totals_with_each(
            c, pairs, pool.columns, pool.kinds, size, s.closures, s.counts, g, out, scratch
        )
    else:
        out[:size] = 0.0
    best, most, least = -1, -1.0, np.inf
    for at in range(size):
        if pool.left[at] == 0:
            continue
        div = 0.0
        for t in range(s.values.shape[1]):
            div += gain[s.values[pool.places[at], t]]
        if div > most or (div == most and out[at] < least):
            best, most, least = at, div, out[at]
    return most, least - s.cost[g], best


@kernel
def deal(c, pairs, q, weight, s, pool, first, most):
    """Hand out up to `most` records of the pool: the groups from `first` on take their best matches in turn."""
    out, scratch = np.empty(pool.size[0]), np.empty(pool.size[0])
    gain = np.empty(s.tally.shape[1])
    for turn in range(min(most, pool.size[0])):
        g = (first + turn) % s.size.size
        lacking_values(q, weight, s, g, gain)
        at = best_match(c, pairs, s, pool, g, gain, out, scratch)[2]
        move_entry(c, s, pool, at, g)


@inner
def weigh_match(c, pairs, q, weight, s, pool, g, gain, out, scratch, most, least, entry):
    """Fill `most` (Div), `least` (cost) and `entry` with the best match of group g; see `best_match` for scratch."""
    lacking_values(q, weight, s, g, gain)
    most[g], least[g], entry[g] = best_match(c, pairs, s, pool, g, gain, out, scratch)


@kernel
def weigh_matches(c, pairs, q, weight, s, pool, groups, most, least, entry):
    """Fill `most` (Div), `least` (cost) and `entry` with the best match of each of some groups."""
    out, scratch = np.empty(pool.size[0]), np.empty(pool.size[0])
    gain = np.empty(s.tally.shape[1])
    for g in groups:
        weigh_match(c, pairs, q, weight, s, pool, g, gain, out, scratch, most, least, entry)


@kernel
def match_pairs(c, pairs, q, weight, s, pool, most, least, entry, rounds):
    """Let the group and the entry with the best match of all go together, `rounds` times; each group is matched once.

    A match whose entry is gone cannot have become better, so it is searched anew only when it comes first (lazily).
    """
    out, scratch = np.empty(pool.size[0]), np.empty(pool.size[0])
    gain = np.empty(s.tally.shape[1])
    for turn in range(rounds):
        while True:
            best = 0
            for g in range(1, most.size):
                if most[g] > most[best] or (most[g] == most[best] and least[g] < least[best]):
                    best = g
            if pool.left[entry[best]] == 1:
                break
            weigh_match(c, pairs, q, weight, s, pool, best, gain, out, scratch, most, least, entry)
        move_entry(c, s, pool, entry[best], best)
        most[best] = -1.0


@kernel
def diversify(c, pairs, q, weight, s, pool, g):
    """Let group g take its best match until it lacks no value; return False if no record of the pool helps."""
    if 8 * pool.size[1] > pool.size[0]:
        tidy(pool)
    out, scratch = np.empty(pool.size[0]), np.empty(pool.size[0])
    gain = np.empty(s.tally.shape[1])
    while lacking_values(q, weight, s, g, gain) > 0:
        div, _, at = best_match(c, pairs, s, pool, g, gain, out, scratch)
        if div <= 0:
            return False
        move_entry(c, s, pool, at, g)
    return True


@kernel
def grow(c, pairs, s, pool, g, k):
    """Let group g take the record that adds least cost until it has k; return False if the pool has too few."""
    if s.size[g] + pool.size[0] - pool.size[1] < k:
        return False
    if 8 * pool.size[1] > pool.size[0]:
        tidy(pool)
    size = pool.size[0]
    out, scratch = np.empty(size), np.empty(size)
    before = np.empty((s.closures.shape[0], 1), np.int32)
    changed = True
    while s.size[g] < k:
        if changed or s.counts.shape[0] > 1:
            totals_with_each(
                c, pairs, pool.columns, pool.kinds, size, s.closures, s.counts, g, out, scratch
            )
            for at in range(size):
                if pool.left[at] == 0:
                    out[at] = np.inf
        best = least_at(out, 0, size)
        copy_column(s.closures, g, before, 0)
        move_entry(c, s, pool, best, g)
        out[best] = np.inf
        changed = not equal_columns(before, 0, s.closures, g)
    return True


@kernel
def farthest_entry(c, pairs, s, pool, g):
    """Return the entry that would add most cost to group g."""
    size = pool.size[0]
    out, scratch = np.empty(size), np.empty(size)
    totals_with_each(
        c, pairs, pool.columns, pool.kinds, size, s.closures, s.counts, g, out, scratch
    )
    for at in range(size):
        if pool.left[at] == 0:
            out[at] = -np.inf
    return largest_at(out, 0, size)
