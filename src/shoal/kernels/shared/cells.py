"""Group weighted points or records by 64-bit cell keys, and make a group of every cell that is large enough.

Hash tables here use open addressing with linear probing; their sizes are powers of two.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.rules import complies

NUMBERED = -(1 << 40)  # in a hash table of weights, NUMBERED − c stands for cell number c


def slots_for(items):
    """Return the size of a hash table for so many items: a power of two, at least twice their number."""
    size = 16
    while size < 2 * items:
        size *= 2
    return size


table_size = inner(slots_for)  # the same, compiled


@inner
def weigh_cells(keys, active, weights, k, table_key, table_weight):
    """Sum the weights of every cell in a hash table; return how many cells weigh at least k.

    keys[i] is the cell of point active[i], which stands for weights[active[i]] records. In the table, a weight of 0
    marks an empty bucket.
    """
    size = table_size(keys.size)
    mask = np.uint64(size - 1)
    table_weight[:size] = 0
    full = 0
    for i in range(keys.size):
        bucket = keys[i] & mask
        while table_weight[bucket] != 0 and table_key[bucket] != keys[i]:
            bucket = (bucket + np.uint64(1)) & mask
        table_key[bucket] = keys[i]
        before = table_weight[bucket]
        table_weight[bucket] = before + weights[active[i]]
        if before < k and table_weight[bucket] >= k:
            full += 1
    return full


@kernel
def take_full_cells(keys, active, weights, k, table_key, table_weight, group, next_group):
    """Make a group of every cell of the active points that holds at least k records.

    Fills `group` for the points taken and moves the other active points to the front of `active`. Returns the
    number of points that are still active and the next free group number. The tables are scratch.
    """
    if weigh_cells(keys, active, weights, k, table_key, table_weight) == 0:
        return keys.size, next_group
    mask = np.uint64(table_size(keys.size) - 1)
    left = 0
    for i in range(keys.size):
        bucket = keys[i] & mask
        while table_key[bucket] != keys[i]:
            bucket = (bucket + np.uint64(1)) & mask
        if table_weight[bucket] < 0:  # the cell became group −weight − 1
            group[active[i]] = -table_weight[bucket] - 1
        elif table_weight[bucket] >= k:
            group[active[i]] = next_group
            table_weight[bucket] = -next_group - 1
            next_group += 1
        else:
            active[left] = active[i]
            left += 1
    return left, next_group


@inner
def cell_keys(part_keys, step, columns, active, keys):
    """Fill `keys` with the cell keys of the active points at one lattice point.

    `step` names two rows of `part_keys` or more; the xor of these rows is the key.
    columns[p] is the place of point p in these rows.
    """
    a, b = part_keys[step[0]], part_keys[step[1]]
    for i in range(active.size):
        keys[i] = a[columns[active[i]]] ^ b[columns[active[i]]]
    for part in range(2, step.size):
        row = part_keys[step[part]]
        for i in range(active.size):
            keys[i] ^= row[columns[active[i]]]


@allocating
def sort_by_cell(keys, least, table_key, table_weight, place):
    """Sort records by cell: (order, bounds), where order[bounds[c]:bounds[c + 1]] are the places of cell c's records.

    Cells of fewer than `least` records are left out; the others are numbered from 0. keys[i] is the cell key at
    place i. Afterwards the hash table (open addressing) holds NUMBERED − cell for numbered cells and the number of
    records for the others. `place`, int64[records], is scratch.
    """
    size = table_size(keys.size)
    mask = np.uint64(size - 1)
    table_weight[:size] = 0
    for i in range(keys.size):
        bucket = keys[i] & mask
        while table_weight[bucket] != 0 and table_key[bucket] != keys[i]:
            bucket = (bucket + np.uint64(1)) & mask
        table_key[bucket] = keys[i]
        table_weight[bucket] += 1
        place[i] = bucket
    most = keys.size // max(1, least)
    bounds, at, cells = np.zeros(most + 1, np.int64), np.empty(most, np.int64), 0
    for i in range(keys.size):
        weight = table_weight[place[i]]
        if weight >= least:
            table_weight[place[i]] = NUMBERED - cells
            at[cells] = bounds[cells]
            bounds[cells + 1] = bounds[cells] + weight
            cells += 1
    order = np.empty(bounds[cells], np.int64)
    if cells > 0:
        for i in range(keys.size):
            cell = NUMBERED - table_weight[place[i]]
            if cell >= 0:
                order[at[cell]] = i
                at[cell] += 1
    return order, bounds[: cells + 1]


@kernel
def offending_cells(q, values, weights, order, bounds):
    """Return which cells do not meet the requirement; cell g holds the points order[bounds[g]:bounds[g + 1]]."""
    found = np.empty(bounds.size - 1, np.bool_)
    tally = np.zeros(q.start[-1], np.int64)
    for g in range(found.size):
        points = order[bounds[g] : bounds[g + 1]]
        size = 0
        for p in points:
            size += weights[p]
            for t in range(values.shape[1]):
                tally[values[p, t]] += weights[p]
        found[g] = not complies(q, tally, size)
        for p in points:
            for t in range(values.shape[1]):
                tally[values[p, t]] = 0
    return found
