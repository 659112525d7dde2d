"""Carve new groups out of others: in a lattice cell, the records that cost more where they are.

A record *wants* into a cell if that would cost it less. Groups let records go that they can spare, or dissolve
where the rest fits elsewhere; records that lose least by it fill a cell up to k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels.borrowing import NUMBERED, sort_by_cell
from shoal.kernels.cells import table_size, weigh_cells
from shoal.kernels.moves import dissolve
from shoal.kernels.rules import lacking
from shoal.kernels.search import (
    FAR,
    GAIN,
    can_spare,
    finish,
    free_group,
    keep_if_better,
    transfer,
    undo,
)

ELSEWHERE, HERE, TAKEN = 0, 1, 2  # where a record stands towards the cell at hand
FEWEST = 10  # a cell is looked at if this part of k wants into it
ROUNDING = 1e-5  # costs in cells are sums of single-precision numbers
DISSOLVED, LISTED = -1, -2  # groups that are to end


class Cells(NamedTuple):
    """Every record's cell and what it costs there, at the points of a lattice, and scratch."""

    keys: np.ndarray  # uint64[rows, distinct records]
    costs: np.ndarray  # float32[rows, distinct records]
    least: np.ndarray  # float32[rows]
    column: np.ndarray  # int32[n], the distinct record of each
    pooled: np.ndarray  # int32[n], scratch for another such array
    here: np.ndarray  # float64[n], cost of a record in the cell at hand
    place: np.ndarray  # int8[n], ELSEWHERE for all between two cells
    number: np.ndarray  # int64[1], cells looked at so far
    looked: np.ndarray  # int64[groups], when a group was last looked at
    spare: np.ndarray  # int64[groups], what a group can still spare, or DISSOLVED
    worth: np.ndarray  # float64[groups], what dissolving it would gain
    key: np.ndarray  # uint64[n]
    wanting: np.ndarray  # int32[n]
    slot: np.ndarray  # int64[n]
    first: np.ndarray  # int64[n], first record in a cell that does not want, -1 for none
    following: np.ndarray  # int64[n], the next one
    others: np.ndarray  # int64[n], how many there are
    table_key: np.ndarray  # uint64[table]
    table_weight: np.ndarray  # int64[table]


def make_cells(keys, costs, column, room):
    """Cells of a lattice for a search with room for so many groups."""
    n = column.size
    return Cells(
        keys,
        costs,
        costs.min(axis=1),
        column,
        np.zeros(n, np.int32),
        np.zeros(n),
        np.zeros(n, np.int8),
        np.zeros(1, np.int64),
        np.zeros(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(n, np.uint64),
        np.empty(n, np.int32),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(table_size(n), np.uint64),
        np.empty(table_size(n), np.int64),
    )


@njit(cache=True)
def price_out_rare(keys, costs, weights, k):
    """Let records cost FAR where even the cell of a part of the columns holds fewer than k of them."""
    table_key = np.empty(table_size(weights.size), np.uint64)
    table_weight = np.empty(table_size(weights.size), np.int64)
    mask = np.uint64(table_size(weights.size) - 1)
    every = np.arange(weights.size)
    for row in range(keys.shape[0]):
        weigh_cells(keys[row], every, weights, k, table_key, table_weight)
        for i in range(weights.size):
            h = keys[row, i] & mask
            while table_key[h] != keys[row, i]:
                h = (h + np.uint64(1)) & mask
            if table_weight[h] < k:
                costs[row, i] = FAR


@njit(cache=True)
def cost_at(v, step, i):
    """What record i costs in its cell at a lattice point."""
    total = 0.0
    for row in step:
        total += v.costs[row, v.column[i]]
    return total


@njit(cache=True)
def key_at(v, step, i):
    """The cell of record i at a lattice point."""
    key = v.keys[step[0], v.column[i]]
    for part in range(1, step.size):
        key ^= v.keys[step[part], v.column[i]]
    return key


@njit(cache=True)
def carve_points(x, v, steps, dearest, prices):
    """Carve what gains at each of some lattice points: (groups carved, what they gained, full cells seen).

    `dearest` are all records in descending order of what they cost at some earlier time: their `prices`.
    """
    carved, gained = 0, 0.0
    full = np.zeros(steps.shape[0], np.int64)
    for at in range(steps.shape[0]):
        least = 0.0
        for part in range(steps.shape[1]):
            least += v.least[steps[at, part]]
        if prices.size == 0 or prices[0] <= least + GAIN:  # most points of a small pool
            continue
        step = steps[at]
        wanting = find_wanting(x, v, step, dearest, prices, least)
        if wanting == 0:
            continue
        order, bounds = sort_by_cell(
            v.key[:wanting], max(1, x.q.k // FEWEST), v.table_key, v.table_weight, v.slot
        )
        slack = most_to_spend(x, v, order, bounds)
        add_others(x, v, step, wanting, bounds.size - 1, dearest, prices, least - slack)
        for cell in range(bounds.size - 1):
            wants = v.wanting[order[bounds[cell] : bounds[cell + 1]]]
            size = wants.size + v.others[cell]
            if size >= x.q.k:
                full[at] += 1
                gain = carve(x, v, step, wants, v.first[cell])
                carved += gain > 0.0
                gained += gain
        for i in v.wanting[:wanting]:
            v.place[i] = ELSEWHERE
    return carved, gained, full


@njit(cache=True)
def find_wanting(x, v, step, dearest, prices, least):
    """List the records that would cost less in their cell, with its key; returns how many there are."""
    wanting = 0
    for at in range(dearest.size):
        if prices[at] <= least + GAIN:
            break
        i = dearest[at]
        if x.price[i] > least + GAIN:
            v.here[i] = cost_at(v, step, i)
            if x.price[i] > v.here[i] + ROUNDING:
                v.wanting[wanting] = i
                v.key[wanting] = key_at(v, step, i)
                v.place[i] = HERE
                wanting += 1
    return wanting


@njit(cache=True)
def most_to_spend(x, v, order, bounds):
    """The most that any cell could spend on each record that it lacks, generously."""
    most = 0.0
    for cell in range(bounds.size - 1):
        lack = x.q.k - (bounds[cell + 1] - bounds[cell])
        if lack > 0:
            gain = 0.0
            for at in range(bounds[cell], bounds[cell + 1]):
                i = v.wanting[order[at]]
                gain += x.price[i] - v.here[i]
            most = max(most, 2.0 * gain / max(lack, x.q.k - lack))
    return most


@njit(cache=True)
def count_from(prices, least):
    """How many of some descending prices are at least so high."""
    low, high = 0, prices.size
    while low < high:
        middle = (low + high) // 2
        if prices[middle] >= least:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def add_others(x, v, step, wanting, cells, dearest, prices, least):
    """Chain, for each cell that some record wants into, other records in it, dearest first.

    Those that cost less than `least` are left out.
    """
    v.first[:cells] = -1
    v.others[:cells] = 0
    mask = np.uint64(table_size(wanting) - 1)
    for at in range(count_from(prices, least) - 1, -1, -1):
        i = dearest[at]
        if v.place[i] == HERE:
            continue
        key = key_at(v, step, i)
        h = key & mask
        while v.table_weight[h] != 0 and v.table_key[h] != key:
            h = (h + np.uint64(1)) & mask
        if v.table_weight[h] <= NUMBERED:
            cell = NUMBERED - v.table_weight[h]
            v.following[i] = v.first[cell]
            v.first[cell] = i
            v.others[cell] += 1


@njit(cache=True)
def carve(x, v, step, wants, other):
    """Make a group of the records of one cell if that gains; returns what it gained."""
    gain, taken = take_spared(x, v, wants)
    gain, taken = take_from_dissolved(x, v, wants, gain, taken)
    if gain > GAIN and taken < x.q.k:
        gain -= price_of_padding(x, v, step, other, x.q.k - taken, gain)
    gained = found_group(x, v, wants, other) if gain > GAIN else 0.0
    for i in wants:
        v.place[i] = HERE
    return gained


@njit(cache=True)
def look_at(x, v, g):
    """Note what group g can spare and what dissolving it would gain, once for every cell."""
    if v.looked[g] != v.number[0]:
        v.looked[g] = v.number[0]
        v.spare[g] = max(0, x.s.size[g] - x.q.k)
        v.worth[g] = x.rest[g]


@njit(cache=True)
def take_spared(x, v, wants):
    """Take the records that want into the cell and that their groups can spare: (what they gain, how many).

    For the other groups, `worth` becomes what dissolving would gain.
    """
    gain, taken = 0.0, 0
    v.number[0] += 1
    for i in wants:
        g = x.s.group[i]
        look_at(x, v, g)
        if v.spare[g] > 0:
            v.spare[g] -= 1
            v.place[i] = TAKEN
            taken += 1
            gain += x.price[i] - v.here[i]
            v.worth[g] += x.joins[i] - x.price[i]
        else:
            v.worth[g] += max(0.0, x.joins[i] - v.here[i])
    return gain, taken


@njit(cache=True)
def take_from_dissolved(x, v, wants, gain, taken):
    """Take the records whose groups cannot spare them but had better dissolve: (what all gain, how many)."""
    for i in wants:
        g = x.s.group[i]
        if v.place[i] == TAKEN or v.worth[g] <= GAIN:
            continue
        if v.spare[g] != DISSOLVED:
            v.spare[g] = DISSOLVED
            gain += v.worth[g]
        if v.here[i] < x.joins[i]:
            v.place[i] = TAKEN
            taken += 1
    return gain, taken


@njit(cache=True)
def price_of_padding(x, v, step, other, need, most):
    """What filling a cell with `need` more records would cost, infinite if too few can be had for `most`."""
    cost = 0.0
    while other >= 0 and need > 0:
        g = x.s.group[other]
        look_at(x, v, g)
        if v.spare[g] > 0:
            v.spare[g] -= 1
            cost += cost_at(v, step, other) - x.price[other]
            need -= 1
            if cost >= most:
                break
        other = v.following[other]
    return cost if need <= 0 else np.inf


@njit(cache=True)
def found_group(x, v, wants, other):
    """Make a group of what was taken, filled with what serves the requirement; returns what it gained."""
    g = free_group(x)
    if g < 0:
        return 0.0
    dissolved = [np.int32(0) for _ in range(0)]
    for i in wants:
        own = x.s.group[i]
        if v.spare[own] == DISSOLVED:
            dissolved.append(own)
            v.spare[own] = LISTED
        if v.place[i] == TAKEN and (v.spare[own] == LISTED or can_spare(x, i)):
            transfer(x, i, g)
    fill_up(x, v, other, g)
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    for h in dissolved:
        if x.s.size[h] > 0 and not dissolve(x, h, added, scratch):
            finish(x)
            undo(x)
            return 0.0
    return keep_if_better(x)


@njit(cache=True)
def fill_up(x, v, other, g):
    """Let records join group g, those that lose least first, until it meets the requirement."""
    counts = x.s.tally[g]
    lack = lacking(x.q, counts, max(1, x.s.size[g]))
    while other >= 0 and lack > 0.0:
        if can_spare(x, other):
            for t in range(x.s.values.shape[1]):
                counts[x.s.values[other, t]] += 1
            now = lacking(x.q, counts, x.s.size[g] + 1)
            for t in range(x.s.values.shape[1]):
                counts[x.s.values[other, t]] -= 1
            if now < lack:
                transfer(x, other, g)
                lack = now
        other = v.following[other]
