"""Group weighted points by 64-bit cell keys and take every cell that is large enough."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import inner, kernel


def slots_for(items):
    """A power of two at least twice as large as the number of items."""
    size = 16
    while size < 2 * items:
        size *= 2
    return size


table_size = inner(slots_for)  # for kernels


@inner
def weigh_cells(keys, active, weights, k, table_key, table_weight):
    """Add up the records of every cell in a hash table; return how many cells hold at least k."""
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

    Returns the number of points still active, to which `active` is compacted, and the next free group
    number; `group` is filled for the points taken. The tables are scratch.
    """
    if weigh_cells(keys, active, weights, k, table_key, table_weight) == 0:
        return keys.size, next_group
    mask = np.uint64(table_size(keys.size) - 1)
    left = 0
    for i in range(keys.size):
        bucket = keys[i] & mask
        while table_key[bucket] != keys[i]:
            bucket = (bucket + np.uint64(1)) & mask
        if table_weight[bucket] < 0:  # the cell is a group already: minus its number, less one
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
    """Fill `keys` with the active points' cell keys at one lattice point.

    A lattice point is one row of `part_keys` per part, whose xor is the key. The keys of point p stand in
    column columns[p].
    """
    a, b = part_keys[step[0]], part_keys[step[1]]
    for i in range(active.size):
        keys[i] = a[columns[active[i]]] ^ b[columns[active[i]]]
    for part in range(2, step.size):
        row = part_keys[step[part]]
        for i in range(active.size):
            keys[i] ^= row[columns[active[i]]]
