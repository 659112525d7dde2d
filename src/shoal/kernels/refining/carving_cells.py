"""The tables that carving works on, and the search for the cells of a lattice point that records want into.

A record *wants* into a cell if the cell costs it less than its present group does. `carving` makes groups of what is
found here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import inner, kernel
from shoal.kernels.covering.borrowing import NUMBERED
from shoal.kernels.refining.search import FAR
from shoal.kernels.shared.cells import slots_for, table_size, weigh_cells

ELSEWHERE, HERE, TAKEN = (
    0,
    1,
    2,
)  # values of Scratch.place: not wanting, wanting, taken for the new group
ROUNDING = 1e-5  # tolerance, since costs in cells are sums of single-precision numbers


@bundle
class Scratch(NamedTuple):
    """What carving writes on; all between two cells as it was made."""

    here: np.ndarray  # float64[n], cost of a record in the cell at hand
    place: np.ndarray  # int8[n], ELSEWHERE for all between two cells
    number: (
        np.ndarray
    )  # int64[3], cells looked at so far; tries and successes at some lattice points
    looked: np.ndarray  # int64[groups], when a group was last looked at
    spare: np.ndarray  # int64[groups], what a group can still spare, or DISSOLVED
    worth: np.ndarray  # float64[groups], what dissolving it would gain
    key: np.ndarray  # uint64[n]
    wanting: np.ndarray  # int32[n]
    slot: np.ndarray  # int64[n]
    offer: (
        np.ndarray
    )  # float64[n], what is saved elsewhere by taking a record, -inf if it cannot be spared
    budget: np.ndarray  # float64[n], what a cell can spend on each record that it lacks
    first: np.ndarray  # int64[n], first record in a cell that does not want, -1 for none
    following: np.ndarray  # int64[n], the next one
    others: np.ndarray  # int64[n], how many there are
    table_key: np.ndarray  # uint64[table]
    table_weight: np.ndarray  # int64[table]


@bundle
class Cells(NamedTuple):
    """Every distinct record's cell and what it costs there, at the points of a lattice, and scratch."""

    keys: np.ndarray  # uint64[rows, distinct]
    costs: np.ndarray  # float32[rows, distinct]
    least: np.ndarray  # float32[rows]
    first: np.ndarray  # int64[distinct + 1], into `records`
    records: np.ndarray  # int32[n], those of each distinct one
    column: np.ndarray  # int32[n], the distinct one of each
    top: np.ndarray  # float64[distinct], the most that one of its records paid when last looked
    best: np.ndarray  # float64[distinct], the best offer of one of its records
    at: np.ndarray  # float32[distinct], what it costs at the lattice point at hand
    key: np.ndarray  # uint64[distinct], its cell there
    scratch: Scratch


def make_scratch(n, room):
    """Scratch for a search of so many records with room for so many groups."""
    return Scratch(
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
    """Cells of a lattice."""
    distinct = keys.shape[1]
    return Cells(
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
    """Let records cost FAR where even the cell of a part of the columns holds fewer than k of them."""
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
    """Note the most that any record of a distinct one pays, and what taking records would save elsewhere."""
    for p in range(lattice.top.size):
        lattice.top[p], lattice.best[p] = 0.0, -np.inf
        for at in range(lattice.first[p], lattice.first[p + 1]):
            i = lattice.records[at]
            g = x.s.group[i]
            lattice.scratch.offer[i] = x.price[i] if x.s.size[g] > x.q.k else reach.value[g]
            lattice.top[p] = max(lattice.top[p], x.price[i])
            lattice.best[p] = max(lattice.best[p], lattice.scratch.offer[i])


@inner
def sum_parts(costs, keys, step, at, key):
    """What every distinct record costs at a lattice point, and its cell there."""
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
    """List the records that would cost less in their cell, with its key; returns how many there are."""
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
    """Note what each cell could spend on each record that it lacks, generously; returns the most."""
    most = 0.0
    for cell in range(bounds.size - 1):
        wants = bounds[cell + 1] - bounds[cell]
        gain = 0.0
        for at in range(bounds[cell], bounds[cell + 1]):
            i = buffers.wanting[order[at]]
            gain += x.price[i] - buffers.here[i]
        buffers.budget[cell] = 2.0 * gain / max(1, max(x.q.k - wants, wants))
        most = max(most, buffers.budget[cell])
    return most


@inner
def add_others(best, cost, key, first, records, buffers, wanting, cells, most):
    """Chain, for each cell that some record wants into, the other records in it that it could afford."""
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
