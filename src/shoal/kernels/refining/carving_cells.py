"""The tables that carving works on, and the search for the cells of a lattice point that records want into.

A record *wants* into a cell if the cell costs it less than its present group does. `carving` makes groups of what is
found here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.refining.reach import is_open
from shoal.kernels.refining.search import FAR, can_spare, may_exchange
from shoal.kernels.shared.cells import NUMBERED, slots_for, table_size, weigh_cells
from shoal.kernels.shared.rules import lacking, lacking_with
from shoal.kernels.shared.state import stays_diverse_without

# Values of Scratch.place: the record does not want into its cell, wants into it, is taken for the new group.
ELSEWHERE, HERE, TAKEN = 0, 1, 2
LOOKED, TRIED, CARVED = 0, 1, 2  # indices of the counters in Scratch.number
# Where more than k is required, a record of a rare value may let so many others in, and be worth as much as they gain.
RARE = 6
ROUNDING = 1e-5  # tolerance, since costs in cells are sums of single-precision numbers


@bundle
class CarvingScratch(NamedTuple):
    """Scratch buffers of carving; `place` is ELSEWHERE for all records before and after each call of `carve_points`.

    The *cell at hand* is the one that carving is trying to make a group of. Arrays [n] by cell have an entry for
    each numbered cell of a lattice point.
    """

    here: np.ndarray  # float64[n], what each record would cost in the cell at hand
    place: np.ndarray  # int8[n], by record: ELSEWHERE, HERE or TAKEN
    # int64[3], counters of cells looked at (a clock), groups tried, groups carved
    number: np.ndarray
    looked: np.ndarray  # int64[groups], the value of that clock when the group was last looked at
    # int64[groups], records that the group can still spare; or DISSOLVED or LISTED
    spare: np.ndarray
    worth: np.ndarray  # float64[groups], what dissolving the group would gain
    key: np.ndarray  # uint64[n], by place in `wanting`: the cell key of the record
    wanting: np.ndarray  # int32[n], a list of the records that want into their cells
    slot: np.ndarray  # int64[n], scratch of `sort_by_cell`
    # float64[n], by record: saving elsewhere if it is taken, -inf if it cannot be spared
    offer: np.ndarray
    budget: np.ndarray  # float64[n], by cell: what it can spend on each further record it needs
    # int64[n], by cell: first record of a linked list of those that do not want in, or -1
    first: np.ndarray
    following: np.ndarray  # int64[n], by record: the next one in that list
    others: np.ndarray  # int64[n], by cell: the length of that list
    table_key: np.ndarray  # uint64[a power of two], hash table: cell keys
    table_weight: np.ndarray  # int64[a power of two], hash table: see `sort_by_cell`


@bundle
class LatticeCells(NamedTuple):
    """The cell of every point and what it costs there, at all points of a lattice.

    A point of the lattice picks a row for each part of the columns: the xor of keys is the cell, the sum of costs
    the cost of a record. (A *point* of these arrays is a distinct combination of values, as everywhere.)
    """

    keys: np.ndarray  # uint64[rows, points]
    costs: np.ndarray  # float32[rows, points], FAR if no cell of k records can hold the point
    least: np.ndarray  # float32[rows], the least cost in each row
    first: np.ndarray  # int64[points + 1], where each point's records begin in `records`
    records: np.ndarray  # int32[n], the records, sorted by point
    column: np.ndarray  # int32[n], the point of each record
    top: np.ndarray  # float64[points], the highest price of any of its records when last noted
    best: np.ndarray  # float64[points], the best offer of any of its records when last noted
    at: np.ndarray  # float32[points], the point's cost at the lattice point at hand
    key: np.ndarray  # uint64[points], the point's cell key at the lattice point at hand
    scratch: CarvingScratch  # scratch buffers


def make_carving_scratch(n, room):
    """Make scratch for a search of n records with room for so many groups."""
    return CarvingScratch(
        here=np.zeros(n),
        place=np.zeros(n, np.int8),
        number=np.zeros(3, np.int64),
        looked=np.zeros(room, np.int64),
        spare=np.empty(room, np.int64),
        worth=np.empty(room),
        key=np.empty(n, np.uint64),
        wanting=np.empty(n, np.int32),
        slot=np.empty(n, np.int64),
        offer=np.empty(n),
        budget=np.empty(n),
        first=np.empty(n, np.int64),
        following=np.empty(n, np.int64),
        others=np.empty(n, np.int64),
        table_key=np.empty(slots_for(n), np.uint64),
        table_weight=np.empty(slots_for(n), np.int64),
    )


def make_cells(keys, costs, first, records, column, buffers):
    """Make the cells of a lattice from their keys and costs, with the records of each point."""
    distinct = keys.shape[1]
    return LatticeCells(
        keys=keys,
        costs=costs,
        least=costs.min(axis=1),
        first=first,
        records=records,
        column=column,
        top=np.zeros(distinct),
        best=np.zeros(distinct),
        at=np.zeros(distinct, np.float32),
        key=np.zeros(distinct, np.uint64),
        scratch=buffers,
    )


@kernel
def price_out_rare(keys, costs, weights, k):
    """Set the cost of a point to FAR in rows where its cell has fewer than k records: no cell there can be a group.

    A row covers some columns only; a cell of all columns is never larger.
    """
    table_key = np.empty(table_size(weights.size), np.uint64)
    table_weight = np.empty(table_size(weights.size), np.int64)
    mask = np.uint64(table_size(weights.size) - 1)
    every = np.empty(weights.size, np.int64)
    for i in range(weights.size):
        every[i] = i
    for row in range(keys.shape[0]):
        weigh_cells(keys[row], every, weights, k, table_key, table_weight)
        for i in range(weights.size):
            bucket = keys[row, i] & mask
            while table_key[bucket] != keys[row, i]:
                bucket = (bucket + np.uint64(1)) & mask
            if table_weight[bucket] < k:
                costs[row, i] = FAR


@inner
def note_offers(x, lattice, reach):
    """Note for each point the highest price and the best offer of its records, and each record's offer.

    The offer of a record is the saving elsewhere if it is removed from its group: its price if the group can spare it,
    otherwise the value of the group's supply, see `reach`.
    """
    for p in range(lattice.top.size):
        lattice.top[p], lattice.best[p] = 0.0, -np.inf
        for at in range(lattice.first[p], lattice.first[p + 1]):
            i = lattice.records[at]
            lattice.scratch.offer[i] = x.price[i] if can_spare(x, i) else supply_of(x, reach, i)
            lattice.top[p] = max(lattice.top[p], x.price[i])
            lattice.best[p] = max(lattice.best[p], lattice.scratch.offer[i])


@inner
def supply_of(x, reach, i):
    """Return the value of the supply of record i's group, −inf where the record that comes cannot take its place."""
    g = x.s.group[i]
    if reach.via[g] < 0 or may_exchange(x, g, i, reach.via[g]):
        return reach.value[g]
    return -np.inf


@inner
def sum_parts(costs, keys, step, at, key):
    """Compute cost and cell key of every point at a lattice point, whose rows are `step`: into `at` and `key`."""
    first_costs, second_costs, first_keys, second_keys = (
        costs[step[0]],
        costs[step[1]],
        keys[step[0]],
        keys[step[1]],
    )
    for p in range(at.size):
        at[p] = first_costs[p] + second_costs[p]
        key[p] = first_keys[p] ^ second_keys[p]
    for part in range(2, step.size):
        first_costs, first_keys = costs[step[part]], keys[step[part]]
        for p in range(at.size):
            at[p] += first_costs[p]
            key[p] ^= first_keys[p]


@inner
def find_wanting(price, top, cost, key, first, records, buffers):
    """List the records that would cost less in their cell than in their group, with the cell keys; return how many."""
    wanting = 0
    for p in range(top.size):
        if top[p] > cost[p] + ROUNDING:
            for at in range(first[p], first[p + 1]):
                i = records[at]
                if price[i] > cost[p] + ROUNDING:
                    buffers.here[i] = cost[p]
                    buffers.wanting[wanting] = i
                    buffers.key[wanting] = key[p]
                    buffers.place[i] = HERE
                    wanting += 1
    return wanting


@inner
def find_budgets(x, buffers, order, bounds):
    """Set for each cell what it could spend on each record it needs to reach k; return the highest of these.

    The estimate is generous: twice the gain of the records that want in.
    """
    most = 0.0
    for cell in range(bounds.size - 1):
        wants = bounds[cell + 1] - bounds[cell]
        gain = 0.0
        for at in range(bounds[cell], bounds[cell + 1]):
            i = buffers.wanting[order[at]]
            gain += x.price[i] - buffers.here[i]
        needs = wants if x.s.values.shape[1] == 0 else wants // RARE
        buffers.budget[cell] = 2.0 * gain / max(1, max(x.q.k - wants, needs))
        most = max(most, buffers.budget[cell])
    return most


@inner
def add_others(best, cost, key, first, records, buffers, wanting, cells, most):
    """Link, for each cell, the records in it that do not want in but that it could afford, into a list.

    `most` is the highest budget of all cells, `wanting` the number of records that the hash table was made of.
    """
    buffers.first[:cells] = -1
    buffers.others[:cells] = 0
    mask = np.uint64(table_size(wanting) - 1)
    for p in range(best.size):
        if best[p] < cost[p] - most:
            continue
        bucket = key[p] & mask
        while buffers.table_weight[bucket] != 0 and buffers.table_key[bucket] != key[p]:
            bucket = (bucket + np.uint64(1)) & mask
        if buffers.table_weight[bucket] <= NUMBERED:
            cell = NUMBERED - buffers.table_weight[bucket]
            least = cost[p] - buffers.budget[cell]
            if best[p] < least:
                continue
            for at in range(first[p], first[p + 1]):
                i = records[at]
                if buffers.place[i] != HERE and buffers.offer[i] >= least:
                    buffers.here[i] = cost[p]
                    buffers.following[i] = buffers.first[cell]
                    buffers.first[cell] = i
                    buffers.others[cell] += 1


@inner
def look_at(x, buffers, g):
    """Set what group g can spare and what dissolving it would gain, unless that was done for the cell at hand."""
    if buffers.looked[g] != buffers.number[LOOKED]:
        buffers.looked[g] = buffers.number[LOOKED]
        buffers.spare[g] = max(0, x.s.size[g] - x.q.k)
        buffers.worth[g] = x.rest[g]


@inner
def has_supply(x, buffers, reach, i):
    """Return whether the group of record i can still be supplied along its stored chain; if so, mark that as used up.

    The record that comes must be able to take the place of i.
    """
    g = x.s.group[i]
    source = reach.source[g]
    look_at(x, buffers, source)
    if buffers.spare[source] <= 0 or source == g or not is_open(x, reach, g):
        return False
    if not may_exchange(x, g, i, reach.via[g]):
        return False
    to = g
    while to != source:
        if reach.spent[to] == buffers.number[LOOKED]:
            return False
        to = reach.origin[to]
    while g != source:
        reach.spent[g] = buffers.number[LOOKED]
        g = reach.origin[g]
    buffers.spare[source] -= 1
    return True


@allocating
def price_of_filling(x, buffers, reach, wants, padding, most):
    """Return the estimated cost of making the TAKEN records a group that complies; infinite if it exceeds `most` first.

    Records of `padding` that bring it closer are added in order; those whose groups cannot spare them are skipped. If
    that does not suffice, TAKEN records of the value that is most in excess are left where they are, those that gain
    least first.
    """
    counts, size, cost = np.zeros(x.s.tally.shape[1], np.int32), 0, 0.0
    for i in wants:
        if buffers.place[i] == TAKEN:
            size += 1
            for t in range(x.s.values.shape[1]):
                counts[x.s.values[i, t]] += 1
    lack = lacking(x.q, counts, max(1, size))
    kept = np.full(counts.size, -1.0)
    for i in padding:
        if lack <= 0.0 or cost >= most:
            break
        g = x.s.group[i]
        look_at(x, buffers, g)
        now = lacking_with(x.q, x.s.values, i, counts, size, kept)
        if now >= lack:
            continue
        if buffers.spare[g] > 0 and stays_diverse_without(x.q, x.s, i):
            buffers.spare[g] -= 1
            cost += buffers.here[i] - x.price[i]
        elif reach.value[g] > -np.inf and has_supply(x, buffers, reach, i):
            cost += buffers.here[i] - reach.value[g]
        else:
            continue
        lack, size = now, size + 1
        for t in range(x.s.values.shape[1]):
            counts[x.s.values[i, t]] += 1
        kept[:] = -1.0
    at = wants.size - 1
    while lack > 0.0 and cost < most and size > x.q.k and at >= 0:
        i = wants[at]
        at -= 1
        if buffers.place[i] != TAKEN or not is_in_excess(x, i, counts, size):
            continue
        buffers.place[i] = HERE
        cost += x.price[i] - buffers.here[i]
        size -= 1
        for t in range(x.s.values.shape[1]):
            counts[x.s.values[i, t]] -= 1
        lack = lacking(x.q, counts, size)
    return cost if lack <= 0.0 else np.inf


@inner
def is_in_excess(x, i, counts, size):
    """Return whether a group with these counts has no value, in some tally, further above its share than record i's."""
    for t in range(x.s.values.shape[1]):
        near = x.q.distance[t] < np.inf  # then frequent values may be frequent
        own = x.s.values[i, t]
        extra = counts[own] / size - (x.q.share[own] if near else 0.0)
        for v in range(x.q.start[t], x.q.start[t + 1]):
            if counts[v] / size - (x.q.share[v] if near else 0.0) > extra:
                return False
    return True
