"""Carve new groups out of others: in a lattice cell, the records that cost more where they are.

A record *wants* into a cell if that would cost it less. Groups let records go that they can spare, or dissolve
where the rest fits elsewhere; records that lose least by it fill a cell up to k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.covering.borrowing import NUMBERED, sort_by_cell
from shoal.kernels.refining.chains import draw, is_open
from shoal.kernels.refining.dissolving import dissolve
from shoal.kernels.refining.reach import list_pairs
from shoal.kernels.refining.search import (
    FAR,
    GAIN,
    can_spare,
    finish,
    free_group,
    keep_if_better,
    transfer,
    undo,
)
from shoal.kernels.shared.arrays import order_of, taken
from shoal.kernels.shared.cells import slots_for, table_size, weigh_cells
from shoal.kernels.shared.rules import lacking

ELSEWHERE, HERE, TAKEN = 0, 1, 2  # where a record stands towards the cell at hand
FEWEST = 10  # a cell is looked at if this part of k wants into it
ROUNDING = 1e-5  # costs in cells are sums of single-precision numbers
PATIENCE, LUCK = (
    50,
    20,
)  # tries in vain at some lattice points, and more for each group that was carved there
LOOKED, TRIED, CARVED = 0, 1, 2  # places in `number`
DISSOLVED, LISTED = -1, -2  # groups that are to end


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
    s: Scratch


def make_scratch(n, room):
    """Scratch for a search of so many records with room for so many groups."""
    return Scratch(
        np.zeros(n),
        np.zeros(n, np.int8),
        np.zeros(3, np.int64),
        np.zeros(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(n, np.uint64),
        np.empty(n, np.int32),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(slots_for(n), np.uint64),
        np.empty(slots_for(n), np.int64),
    )


def make_cells(keys, costs, first, records, column, s):
    """Cells of a lattice."""
    distinct = keys.shape[1]
    return Cells(
        keys,
        costs,
        costs.min(axis=1),
        first,
        records,
        column,
        np.zeros(distinct),
        np.zeros(distinct),
        np.zeros(distinct, np.float32),
        np.zeros(distinct, np.uint64),
        s,
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
            h = keys[row, i] & mask
            while table_key[h] != keys[row, i]:
                h = (h + np.uint64(1)) & mask
            if table_weight[h] < k:
                costs[row, i] = FAR


@inner
def note_offers(x, v, w):
    """Note the most that any record of a distinct one pays, and what taking records would save elsewhere."""
    for p in range(v.top.size):
        v.top[p], v.best[p] = 0.0, -np.inf
        for at in range(v.first[p], v.first[p + 1]):
            i = v.records[at]
            g = x.s.group[i]
            v.s.offer[i] = x.price[i] if x.s.size[g] > x.q.k else w.value[g]
            v.top[p] = max(v.top[p], x.price[i])
            v.best[p] = max(v.best[p], v.s.offer[i])


@inner
def sum_parts(costs, keys, step, at, key):
    """What every distinct record costs at a lattice point, and its cell there."""
    a, b, c, d = costs[step[0]], costs[step[1]], keys[step[0]], keys[step[1]]
    for p in range(at.size):
        at[p] = a[p] + b[p]
        key[p] = c[p] ^ d[p]
    for part in range(2, step.size):
        a, c = costs[step[part]], keys[step[part]]
        for p in range(at.size):
            at[p] += a[p]
            key[p] ^= c[p]


@kernel
def carve_points(x, v, w, steps):
    """Carve what gains at each of some lattice points: (groups carved, what they gained, full cells seen)."""
    carved, gained = 0, 0.0
    full = np.zeros(steps.shape[0], np.int64)
    note_offers(x, v, w)
    highest, s = v.top[0], v.s
    for p in range(v.top.size):
        highest = max(highest, v.top[p])
    s.number[TRIED:] = 0
    for at in range(steps.shape[0]):
        least = 0.0
        for part in range(steps.shape[1]):
            least += v.least[steps[at, part]]
        if highest <= least + ROUNDING:  # most points of a small pool
            continue
        sum_parts(v.costs, v.keys, steps[at], v.at, v.key)
        wanting = find_wanting(x.price, v.top, v.at, v.key, v.first, v.records, s)
        if wanting == 0:
            continue
        order, bounds = sort_by_cell(
            s.key[:wanting], max(1, x.q.k // FEWEST), s.table_key, s.table_weight, s.slot
        )
        cells = bounds.size - 1
        if cells > 0:
            most = find_budgets(x, s, order, bounds)
            add_others(v.best, v.at, v.key, v.first, v.records, s, wanting, cells, most)
        for cell in range(cells):
            wants = taken(s.wanting, order[bounds[cell] : bounds[cell + 1]])
            if wants.size + s.others[cell] >= x.q.k:
                full[at] += 1
                gain = carve(x, s, w, wants, s.first[cell], s.others[cell])
                carved += gain > 0.0
                gained += gain
        for i in s.wanting[:wanting]:
            s.place[i] = ELSEWHERE
    return carved, gained, full


@inner
def find_wanting(price, top, cost, key, first, records, s):
    """List the records that would cost less in their cell, with its key; returns how many there are."""
    wanting = 0
    for p in range(top.size):
        if top[p] > cost[p] + ROUNDING:
            for at in range(first[p], first[p + 1]):
                i = records[at]
                if price[i] > cost[p] + ROUNDING:
                    s.here[i] = cost[p]
                    s.wanting[wanting] = i
                    s.key[wanting] = key[p]
                    s.place[i] = HERE
                    wanting += 1
    return wanting


@inner
def find_budgets(x, s, order, bounds):
    """Note what each cell could spend on each record that it lacks, generously; returns the most."""
    most = 0.0
    for cell in range(bounds.size - 1):
        wants = bounds[cell + 1] - bounds[cell]
        gain = 0.0
        for at in range(bounds[cell], bounds[cell + 1]):
            i = s.wanting[order[at]]
            gain += x.price[i] - s.here[i]
        s.budget[cell] = 2.0 * gain / max(1, max(x.q.k - wants, wants))
        most = max(most, s.budget[cell])
    return most


@inner
def add_others(best, cost, key, first, records, s, wanting, cells, most):
    """Chain, for each cell that some record wants into, the other records in it that it could afford."""
    s.first[:cells] = -1
    s.others[:cells] = 0
    mask = np.uint64(table_size(wanting) - 1)
    for p in range(best.size):
        if best[p] < cost[p] - most:
            continue
        h = key[p] & mask
        while s.table_weight[h] != 0 and s.table_key[h] != key[p]:
            h = (h + np.uint64(1)) & mask
        if s.table_weight[h] <= NUMBERED:
            cell = NUMBERED - s.table_weight[h]
            least = cost[p] - s.budget[cell]
            if best[p] < least:
                continue
            for at in range(first[p], first[p + 1]):
                i = records[at]
                if s.place[i] != HERE and s.offer[i] >= least:
                    s.here[i] = cost[p]
                    s.following[i] = s.first[cell]
                    s.first[cell] = i
                    s.others[cell] += 1


@allocating
def carve(x, v, w, wants, other, others):
    """Make a group of the records of one cell if that gains; returns what it gained."""
    less = np.empty(wants.size)
    for at in range(wants.size):
        less[at] = -x.price[wants[at]]
    wants = taken(wants, order_of(less))
    gain, number = take_spared(x, v, w, wants)
    gain, number = take_from_dissolved(x, v, wants, gain, number)
    gained = 0.0
    if gain > GAIN:
        padding = best_of(v, other, others)
        if number < x.q.k:
            gain -= price_of_padding(x, v, w, padding, x.q.k - number, gain)
        if gain > GAIN and v.number[TRIED] < PATIENCE + LUCK * v.number[CARVED]:
            gained = found_group(x, v, w, wants, padding)
            v.number[TRIED] += 1
            v.number[CARVED] += gained > 0.0
    for i in wants:
        v.place[i] = HERE
    return gained


@allocating
def best_of(v, other, others):
    """The records of a chain, the best offer first."""
    found, less = np.empty(others, np.int32), np.empty(others)
    for at in range(others):
        found[at], less[at] = other, -v.offer[other]
        other = v.following[other]
    return taken(found, order_of(less))


@inner
def look_at(x, v, g):
    """Note what group g can spare and what dissolving it would gain, once for every cell."""
    if v.looked[g] != v.number[LOOKED]:
        v.looked[g] = v.number[LOOKED]
        v.spare[g] = max(0, x.s.size[g] - x.q.k)
        v.worth[g] = x.rest[g]


@inner
def has_supply(x, v, w, g):
    """Whether group g can still be supplied; if so, that counts as spent."""
    source = w.source[g]
    look_at(x, v, source)
    if v.spare[source] <= 0 or not is_open(x, w, g):
        return False
    to = g
    while to != source:
        if w.spent[to] == v.number[LOOKED]:
            return False
        to = w.origin[to]
    while g != source:
        w.spent[g] = v.number[LOOKED]
        g = w.origin[g]
    v.spare[source] -= 1
    return True


@inner
def take_spared(x, v, w, wants):
    """Take the records that want into the cell and that their groups can spare: (what they gain, how many).

    For the other groups, `worth` becomes what dissolving would gain.
    """
    gain, taken = 0.0, 0
    v.number[LOOKED] += 1
    for i in wants:
        g = x.s.group[i]
        look_at(x, v, g)
        if v.spare[g] > 0:
            v.spare[g] -= 1
            v.place[i] = TAKEN
            taken += 1
            gain += x.price[i] - v.here[i]
            v.worth[g] += x.joins[i] - x.price[i]
        elif taken < x.q.k and w.value[g] > v.here[i] + GAIN and has_supply(x, v, w, g):
            v.place[i] = TAKEN
            taken += 1
            gain += w.value[g] - v.here[i]
        else:
            v.worth[g] += max(0.0, x.joins[i] - v.here[i])
    return gain, taken


@inner
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


@inner
def price_of_padding(x, v, w, padding, need, most):
    """What filling a cell with `need` more records would cost, infinite if too few can be had for `most`."""
    cost = 0.0
    for i in padding:
        if need == 0 or cost >= most:
            break
        g = x.s.group[i]
        look_at(x, v, g)
        if v.spare[g] > 0:
            v.spare[g] -= 1
            cost += v.here[i] - x.price[i]
            need -= 1
        elif w.value[g] > -np.inf and has_supply(x, v, w, g):
            cost += v.here[i] - w.value[g]
            need -= 1
    return cost if need <= 0 else np.inf


@allocating
def found_group(x, v, w, wants, padding):
    """Make a group of what was taken, filled with what serves the requirement; returns what it gained."""
    g = free_group(x)
    if g < 0:
        return 0.0
    w.price[g] = -np.inf
    dissolved, number = np.empty(wants.size, np.int32), 0
    for i in wants:
        own = x.s.group[i]
        if v.spare[own] == DISSOLVED:
            dissolved[number] = own
            number += 1
            v.spare[own] = LISTED
        if v.place[i] == TAKEN and (v.spare[own] == LISTED or can_part(x, w, i)):
            transfer(x, i, g)
    fill_up(x, w, padding, g)
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    for h in dissolved[:number]:
        if x.s.size[h] > 0 and not dissolve(x, h, added, scratch):
            finish(x)
            undo(x)
            return 0.0
    gained = keep_if_better(x)
    if gained > 0.0:
        list_pairs(x, w, g)
    return gained


@inner
def can_part(x, w, i):
    """Whether the group of record i can spare it, maybe once another record has come for it."""
    own = x.s.group[i]
    if can_spare(x, i):
        return True
    if x.s.size[own] != x.q.k or not is_open(x, w, own):
        return False
    draw(x, w, own)
    return True


@inner
def fill_up(x, w, padding, g):
    """Let records join group g, those that lose least first, until it meets the requirement."""
    counts = x.s.tally[g]
    lack = lacking(x.q, counts, max(1, x.s.size[g]))
    for i in padding:
        if lack <= 0.0:
            break
        for t in range(x.s.values.shape[1]):
            counts[x.s.values[i, t]] += 1
        now = lacking(x.q, counts, x.s.size[g] + 1)
        for t in range(x.s.values.shape[1]):
            counts[x.s.values[i, t]] -= 1
        if now < lack and can_part(x, w, i):
            transfer(x, i, g)
            lack = now
