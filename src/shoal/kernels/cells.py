"""Group weighted points by 64-bit cell keys and take every cell that is large enough."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def table_size(items):
    """A power of two at least twice as large as the number of items."""
    size = 16
    while size < 2 * items:
        size *= 2
    return size


@njit(cache=True)
def weigh_cells(keys, active, weights, k, table_key, table_weight):
    """Add up the records of every cell in a hash table; return how many cells hold at least k."""
    size = table_size(keys.size)
    mask = np.uint64(size - 1)
    table_weight[:size] = 0
    full = 0
    for i in range(keys.size):
        h = keys[i] & mask
        while table_weight[h] != 0 and table_key[h] != keys[i]:
            h = (h + np.uint64(1)) & mask
        table_key[h] = keys[i]
        before = table_weight[h]
        table_weight[h] = before + weights[active[i]]
        if before < k and table_weight[h] >= k:
            full += 1
    return full


@njit(cache=True)
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
        h = keys[i] & mask
        while table_key[h] != keys[i]:
            h = (h + np.uint64(1)) & mask
        if table_weight[h] < 0:  # the cell is a group already: minus its number, less one
            group[active[i]] = -table_weight[h] - 1
        elif table_weight[h] >= k:
            group[active[i]] = next_group
            table_weight[h] = -next_group - 1
            next_group += 1
        else:
            active[left] = active[i]
            left += 1
    return left, next_group


@njit(cache=True)
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


@njit(cache=True)
def walk_cells(part_keys, steps, columns, active, weights, k, group, next_group):
    """Visit lattice points in order, taking full cells at each; return the points left, next group number."""
    table_key = np.empty(table_size(active.size), np.uint64)
    table_weight = np.empty(table_size(active.size), np.int64)
    keys = np.empty(active.size, np.uint64)
    left = active.size
    for step in range(steps.shape[0]):
        if left == 0:
            break
        cell_keys(part_keys, steps[step], columns, active[:left], keys)
        left, next_group = take_full_cells(
            keys[:left], active[:left], weights, k, table_key, table_weight, group, next_group
        )
    return active[:left].copy(), next_group


@njit(cache=True)
def count_full_cells(part_keys, steps, columns, active, weights, k):
    """How many cells of at least k active records each lattice point has."""
    table_key = np.empty(table_size(active.size), np.uint64)
    table_weight = np.empty(table_size(active.size), np.int64)
    keys = np.empty(active.size, np.uint64)
    full = np.empty(steps.shape[0], np.int64)
    for step in range(steps.shape[0]):
        cell_keys(part_keys, steps[step], columns, active, keys)
        full[step] = weigh_cells(keys, active, weights, k, table_key, table_weight)
    return full
