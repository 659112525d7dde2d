"""Walk lattice points like `cells`, by single records: cells that lack little borrow it from finished groups.

A finished group lends a record if it meets the requirement without it. Cells of uncovered records that meet
the requirement with a few borrowed ones become groups; without borrowing, surplus records and rare sensitive
values would be used up by the first groups, and what is left could only be covered at great cost. The price of a
cell is its cost per record newly covered: lenders' records pay what they did not pay before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.shared.arrays import taken
from shoal.kernels.shared.cells import cell_keys, table_size
from shoal.kernels.shared.rules import complies, is_diverse, lacking

ROUNDING = 1e-6  # costs of parts are numbers of single precision
NUMBERED = -(1 << 40)  # table entries from here down are numbers of cells


@bundle
class Covering(NamedTuple):
    """Which records have which group, and what groups could lend."""

    values: np.ndarray  # int32[n, tallies]
    columns: np.ndarray  # int32[n], where a record's keys stand
    group: np.ndarray  # int32[n], -1 for none
    uncovered: np.ndarray  # int32[n], the first few are meant
    covered: np.ndarray  # int32[n], likewise
    tally: np.ndarray  # int32[groups, values]
    size: np.ndarray  # int64[groups]
    price: np.ndarray  # float64[groups], what a record paid when the group was made


@allocating
def sort_by_cell(keys, least, table_key, table_weight, place):
    """Sort records by cell: (order, bounds); cells below `least` records are left out.

    The hash table then holds NUMBERED − cell for those cells; it and `place` are scratch.
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


@inner
def find_lenders(
    part_keys, step, columns, covered, cells, table, table_key, table_weight, first, following
):
    """Chain the covered records in each cell: from first[cell] on by following[record].

    `table` is the size of the hash table. Records with equal keys, which mostly follow each other, are looked
    up once.
    """
    mask = np.uint64(table - 1)
    column, cell = -1, -1
    for i in covered:
        if columns[i] != column:
            column = columns[i]
            key = part_keys[step[0], column]
            for part in range(1, step.size):
                key ^= part_keys[step[part], column]
            bucket = key & mask
            while table_weight[bucket] != 0 and table_key[bucket] != key:
                bucket = (bucket + np.uint64(1)) & mask
            cell = NUMBERED - table_weight[bucket] if table_weight[bucket] < 0 else -1
        if 0 <= cell < cells:
            following[i] = first[cell]
            first[cell] = i


@inner
def shift(cover, i, counts, by):
    """Add record i to some counts, or take it off."""
    for t in range(cover.values.shape[1]):
        counts[cover.values[i, t]] += by


@allocating
def borrow(q, cover, counts, size, most, first, following, cost, budget):
    """Borrow records from the chain that begins with `first` until `counts` comply; returns those borrowed.

    All that they pay more than before, now that they pay `cost`, must stay within the budget. Lenders are
    changed and `counts` too; where it does not suffice, `give_back` undoes it.
    """
    borrowed, number = np.empty(max(0, most - size), np.int32), 0
    lack = lacking(q, counts, size)
    m = first
    while m >= 0 and size < most and lack > 0.0:
        g = cover.group[m]
        if cover.size[g] > q.k and cost - cover.price[g] <= budget + ROUNDING:
            shift(cover, m, counts, 1)
            now = lacking(q, counts, size + 1)
            lends = False
            if now < lack - 1e-12:
                shift(cover, m, cover.tally[g], -1)
                lends = is_diverse(q, cover.tally[g], cover.size[g] - 1)
                if not lends:
                    shift(cover, m, cover.tally[g], 1)
            if lends:
                cover.size[g] -= 1
                size += 1
                lack = now
                budget -= cost - cover.price[g]
                borrowed[number] = m
                number += 1
            else:
                shift(cover, m, counts, -1)
        m = following[m]
    return borrowed[:number]


@allocating
def give_back(cover, borrowed):
    """Undo `borrow`."""
    for m in borrowed:
        cover.size[cover.group[m]] += 1
        shift(cover, m, cover.tally[cover.group[m]], 1)


@allocating
def found_group(cover, members, borrowed, counts, cost, g):
    """Make a group of uncovered records and borrowed ones."""
    for i in members:
        cover.group[i] = g
    for i in borrowed:
        cover.group[i] = g
    for value in range(counts.size):
        cover.tally[g, value] = counts[value]
    cover.size[g] = members.size + borrowed.size
    cover.price[g] = cost


@inner
def cell_cost(part_costs, step, column):
    """What a record whose costs stand in a column pays in its cell."""
    cost = 0.0
    for part in range(step.size):
        cost += part_costs[step[part], column]
    return cost


@inner
def forget_poor(q, cover, covered):
    """Keep, of the covered records, those whose group may still lend: groups never grow. Returns their number."""
    kept = 0
    for i in cover.covered[:covered]:
        if cover.size[cover.group[i]] > q.k:
            cover.covered[kept] = i
            kept += 1
    return kept


@inner
def set_apart(cover, left, covered):
    """Sort the first `left` uncovered records into those that are and those now covered: the number of each."""
    still = 0
    for at in range(left):
        i = cover.uncovered[at]
        if cover.group[i] < 0:
            cover.uncovered[still] = i
            still += 1
        else:
            cover.covered[covered] = i
            covered += 1
    return still, covered


@kernel
def walk_lending(
    q,
    cover,
    part_keys,
    part_costs,
    steps,
    limits,
    markups,
    shares,
    places,
    waiting,
    left,
    covered,
    groups,
):
    """Visit lattice points in order; at each, cells may borrow within the terms of the visit.

    Cells that cost more than `limits` wait. Cells never grow, so a visit is left out where even the cheapest that had
    to wait at the last one costs more, which is kept in `waiting`, at the visit's place. A cell borrows at most
    `shares` of its own number of records and until that has added `markups` of the cell's cost to what each of its
    own pays. Returns (records left uncovered, covered records that may lend, number of groups).
    """
    covered = forget_poor(q, cover, covered)
    n = cover.group.size
    table_key, table_weight = np.empty(table_size(n), np.uint64), np.empty(table_size(n), np.int64)
    keys, place = np.empty(n, np.uint64), np.empty(n, np.int64)
    first, following = np.empty(n, np.int64), np.empty(n, np.int64)
    counts = np.zeros(q.start[-1], np.int32)
    for step in range(steps.shape[0]):
        if left == 0:
            break
        limit, markup, share, before = limits[step], markups[step], shares[step], groups
        if waiting[places[step]] > limit:
            continue
        waiting[places[step]] = np.inf
        least = int(np.ceil(q.k / (1.0 + share) - 1e-9)) if markup > 0.0 else q.k
        cell_keys(part_keys, steps[step], cover.columns, cover.uncovered[:left], keys)
        order, bounds = sort_by_cell(keys[:left], least, table_key, table_weight, place)
        cells = bounds.size - 1
        if cells == 0:
            continue
        if markup > 0.0:
            first[:cells] = -1
            find_lenders(
                part_keys,
                steps[step],
                cover.columns,
                cover.covered[:covered],
                cells,
                table_size(left),
                table_key,
                table_weight,
                first,
                following,
            )
        for cell in range(cells):
            members = taken(cover.uncovered, order[bounds[cell] : bounds[cell + 1]])
            cost = cell_cost(part_costs, steps[step], cover.columns[members[0]])
            if cost > limit:
                waiting[places[step]] = min(waiting[places[step]], cost)
                continue
            counts[:] = 0
            for i in members:
                shift(cover, i, counts, 1)
            if complies(q, counts, members.size):
                found_group(cover, members, members[:0], counts, cost, groups)
                groups += 1
            elif markup > 0.0 and first[cell] >= 0:
                most = int(members.size * (1.0 + share))
                budget = markup * cost * members.size
                borrowed = borrow(
                    q, cover, counts, members.size, most, first[cell], following, cost, budget
                )
                if complies(q, counts, members.size + borrowed.size):
                    found_group(cover, members, borrowed, counts, cost, groups)
                    groups += 1
                else:
                    give_back(cover, borrowed)
        if groups > before:
            left, covered = set_apart(cover, left, covered)
    return left, covered, groups
