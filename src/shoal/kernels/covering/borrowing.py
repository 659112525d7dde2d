"""Walk over lattice points and make groups of their cells; cells that lack a few records borrow them.

A *cell* is the set of records that share all bins at a lattice point. A cell of uncovered records that meets the
requirement becomes a group. One that nearly meets it may borrow records in the same cell from finished groups; a
group lends a record if it still meets the requirement without it. Without borrowing, the first groups would use up
surplus records and rare sensitive values, and the remaining records could only be covered at great cost. Borrowed
records pay the difference between the cell's cost and what they paid in their group before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import taken
from shoal.kernels.shared.cells import NUMBERED, cell_keys, sort_by_cell, table_size
from shoal.kernels.shared.rules import (
    complies,
    forget_known,
    lacking,
    lacking_with,
    may_give,
)

ROUNDING = 1e-6  # tolerance, since the costs of parts are single-precision numbers


@bundle
class Covering(NamedTuple):
    """The cover so far: the group of each record, and what groups need to know to lend records."""

    values: np.ndarray  # int32[n, tallies], the sensitive value of each record in each tally
    # int32[n], the point of each record: its column in arrays of keys and costs
    columns: np.ndarray
    group: np.ndarray  # int32[n], the group of each record, -1 while it is uncovered
    uncovered: np.ndarray  # int32[n], a list of uncovered records; its length is kept by the caller
    covered: np.ndarray  # int32[n], a list of covered records that may be lent; its length likewise
    tally: np.ndarray  # int32[groups, values], members of each group by sensitive value
    known: np.ndarray  # int8[groups, values], what is known of groups and values, see `may_give`
    size: np.ndarray  # int64[groups], number of members
    price: np.ndarray  # float64[groups], what each member paid when the group was made


@bundle
class Visits(NamedTuple):
    """The visits of a walk over lattice points, in order, and the terms of each.

    A cell may borrow at most `shares` times its own number of records, and until that has added `markups` times the
    cell's cost to what each of its own records pays.
    """

    steps: np.ndarray  # int64[visits, parts], the lattice point: a row of keys and costs per part
    limits: np.ndarray  # float64[visits], the highest cost of a cell; others have to wait
    markups: np.ndarray  # float64[visits]
    shares: np.ndarray  # float64[visits]
    places: np.ndarray  # int64[visits], the entry of `waiting` that the visit reads and writes
    waiting: np.ndarray  # float64[places], cost of the cheapest cell that had to wait there last


@inner
def list_runs(columns, covered, first, runs, number):
    """List where runs of records of the same point begin in `covered`, from place `first` on; return their number.

    `runs` has `number` entries already. The entry after the last one is the length of `covered`.
    """
    column = -1
    for at in range(first, covered.size):
        if columns[covered[at]] != column:
            column = columns[covered[at]]
            runs[number] = at
            number += 1
    runs[number] = covered.size
    return number


@inner
def find_lenders(
    part_keys, step, columns, covered, runs, cells, table, table_key, table_weight, first, following
):
    """Build a linked list of the covered records in each cell: it starts at first[cell] and goes on by `following`.

    The hash table is that of `sort_by_cell`; `table` is its size. Records of a run, which are of the same point, are
    looked up once; `runs` says where each run begins in `covered`, and ends with the length of `covered`.
    """
    mask = np.uint64(table - 1)
    for run in range(runs.size - 1):
        column = columns[covered[runs[run]]]
        key = part_keys[step[0], column]
        for part in range(1, step.size):
            key ^= part_keys[step[part], column]
        bucket = key & mask
        while table_weight[bucket] != 0 and table_key[bucket] != key:
            bucket = (bucket + np.uint64(1)) & mask
        cell = NUMBERED - table_weight[bucket] if table_weight[bucket] < 0 else -1
        if 0 <= cell < cells:
            for at in range(runs[run], runs[run + 1]):
                i = covered[at]
                following[i] = first[cell]
                first[cell] = i


@inner
def cost_in_cell(part_costs, step, column):
    """Return what a record of a point pays in its cell: the sum over the parts of the columns.

    `step` names a row of `part_costs` for each part, `column` is the point.
    """
    cost = 0.0
    for part in range(step.size):
        cost += part_costs[step[part], column]
    return cost


@inner
def wants_lenders(q, cover, part_costs, step, limit, order, bounds):
    """Return whether a cell that costs no more than the limit may have to borrow; if none has to, nobody need lend."""
    for cell in range(bounds.size - 1):
        if bounds[cell + 1] - bounds[cell] < q.k or cover.values.shape[1] > 0:
            column = cover.columns[cover.uncovered[order[bounds[cell]]]]
            if cost_in_cell(part_costs, step, column) <= limit:
                return True
    return False


@inner
def shift(cover, i, counts, by):
    """Add record i to a row of counts (by = 1), or take it off (by = -1)."""
    for t in range(cover.values.shape[1]):
        counts[cover.values[i, t]] += by


@allocating
def borrow(q, cover, counts, size, most, first, following, cost, budget):
    """Borrow records from the linked list that begins with `first` until `counts` comply; return those borrowed.

    `counts` are the sensitive values of the cell's own `size` records; the cell may grow to `most` records. A
    borrowed record pays `cost` instead of its group's price; the sum of these differences stays within `budget`.
    The lenders and `counts` are changed in place; if borrowing does not suffice, `give_back` undoes the changes to
    lenders.
    """
    borrowed, number = np.empty(max(0, most - size), np.int32), 0
    lack = lacking(q, counts, size)
    kept = np.full(counts.size, -1.0)
    m = first
    while m >= 0 and size < most and lack > 0.0:
        g = cover.group[m]
        if cover.size[g] > q.k and cost - cover.price[g] <= budget + ROUNDING:
            now = lacking_with(q, cover.values, m, counts, size, kept)
            if now < lack - 1e-12 and lends(q, cover, m):
                shift(cover, m, counts, 1)
                shift(cover, m, cover.tally[g], -1)
                forget_known(cover.known, g)
                cover.size[g] -= 1
                size += 1
                lack = now
                kept[:] = -1.0
                budget -= cost - cover.price[g]
                borrowed[number] = m
                number += 1
        m = following[m]
    return borrowed[:number]


@inner
def lends(q, cover, m):
    """Return whether the group of record m keeps all limits except k without m."""
    g = cover.group[m]
    for t in range(cover.values.shape[1]):
        if not may_give(q, cover.tally, cover.known, cover.size[g], g, t, cover.values[m, t]):
            return False
    return True


@allocating
def give_back(cover, borrowed):
    """Return borrowed records to their groups (the undo of `borrow`)."""
    for m in borrowed:
        cover.size[cover.group[m]] += 1
        shift(cover, m, cover.tally[cover.group[m]], 1)
        forget_known(cover.known, cover.group[m])


@allocating
def found_borrowing_group(cover, members, borrowed, counts, cost, g):
    """Make group g of uncovered records (`members`) and borrowed ones, with these counts and this price."""
    for i in members:
        cover.group[i] = g
    for i in borrowed:
        cover.group[i] = g
    for value in range(counts.size):
        cover.tally[g, value] = counts[value]
    forget_known(cover.known, g)
    cover.size[g] = members.size + borrowed.size
    cover.price[g] = cost


@inner
def forget_poor(q, cover, covered):
    """Keep only those covered records whose group has more than k members and may still lend; return their number.

    Groups never grow, so the other records can never be lent again.
    """
    kept = 0
    for i in cover.covered[:covered]:
        if cover.size[cover.group[i]] > q.k:
            cover.covered[kept] = i
            kept += 1
    return kept


@inner
def set_apart(cover, left, covered):
    """Partition uncovered[:left] in place; return (records still uncovered, length of the list of covered records)."""
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
    visits,
    left,
    covered,
    groups,
):
    """Visit lattice points in the given order; at each, make groups of cells, which may borrow records.

    A cell that costs a record more than the limit of the visit has to wait for a later one. Cells only lose records,
    so a visit is skipped if the cheapest cell that had to wait at the same place costs more than its limit.

    `left` and `covered` are the lengths of the two lists in `cover`, `groups` is the number of groups so far.
    Returns these three after the walk.
    """
    steps, waiting, places = visits.steps, visits.waiting, visits.places
    limits, markups, shares = visits.limits, visits.markups, visits.shares
    covered = forget_poor(q, cover, covered)
    n = cover.group.size
    table_key, table_weight = np.empty(table_size(n), np.uint64), np.empty(table_size(n), np.int64)
    keys, place = np.empty(n, np.uint64), np.empty(n, np.int64)
    first, following = np.empty(n, np.int64), np.empty(n, np.int64)
    runs, columns = np.empty(n + 1, np.int64), cover.columns
    run = list_runs(columns, cover.covered[:covered], 0, runs, 0)
    counts = np.zeros(q.start[-1], np.int32)
    for step in range(steps.shape[0]):
        if left == 0:
            break
        limit, markup, share, before = limits[step], markups[step], shares[step], groups
        if waiting[places[step]] > limit:
            continue
        waiting[places[step]] = np.inf
        least = int(np.ceil(q.k / (1.0 + share) - 1e-9)) if markup > 0.0 else q.k
        cell_keys(part_keys, steps[step], columns, cover.uncovered[:left], keys)
        order, bounds = sort_by_cell(keys[:left], least, table_key, table_weight, place)
        cells = bounds.size - 1
        if cells == 0:
            continue
        if markup > 0.0:
            first[:cells] = -1
        if markup > 0.0 and wants_lenders(q, cover, part_costs, steps[step], limit, order, bounds):
            find_lenders(
                part_keys,
                steps[step],
                columns,
                cover.covered[:covered],
                runs[: run + 1],
                cells,
                table_size(left),
                table_key,
                table_weight,
                first,
                following,
            )
        for cell in range(cells):
            members = taken(cover.uncovered, order[bounds[cell] : bounds[cell + 1]])
            cost = cost_in_cell(part_costs, steps[step], cover.columns[members[0]])
            if cost > limit:
                waiting[places[step]] = min(waiting[places[step]], cost)
                continue
            counts[:] = 0
            for i in members:
                shift(cover, i, counts, 1)
            if complies(q, counts, members.size):
                found_borrowing_group(cover, members, members[:0], counts, cost, groups)
                groups += 1
            elif markup > 0.0 and first[cell] >= 0:
                most = int(members.size * (1.0 + share))
                budget = markup * cost * members.size
                borrowed = borrow(
                    q, cover, counts, members.size, most, first[cell], following, cost, budget
                )
                if complies(q, counts, members.size + borrowed.size):
                    found_borrowing_group(cover, members, borrowed, counts, cost, groups)
                    groups += 1
                else:
                    give_back(cover, borrowed)
        if groups > before:
            known = covered
            left, covered = set_apart(cover, left, covered)
            run = list_runs(columns, cover.covered[:covered], known, runs, run)
    return left, covered, groups
