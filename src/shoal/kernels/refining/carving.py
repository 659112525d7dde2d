"""Carve new groups out of existing ones: in each lattice cell, the records that cost more where they are now.

A record *wants* into a cell if the cell costs it less than its present group does. Groups give up records that they
can spare, or dissolve if their other records fit elsewhere; if fewer than k records want into a cell, it is filled up
with the records whose cost rises least.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.refining.carving_cells import (
    CARVED,
    ELSEWHERE,
    HERE,
    LOOKED,
    ROUNDING,
    TAKEN,
    TRIED,
    add_others,
    find_budgets,
    find_wanting,
    has_supply,
    look_at,
    note_offers,
    price_of_filling,
    sum_parts,
)
from shoal.kernels.refining.neighbourhoods import dissolve
from shoal.kernels.refining.reach import draw, is_open, list_pairs
from shoal.kernels.refining.search import (
    GAIN,
    can_spare,
    finish,
    free_group,
    keep_if_better,
    may_exchange,
    transfer,
    undo,
)
from shoal.kernels.shared.arrays import order_of, taken
from shoal.kernels.shared.cells import sort_by_cell
from shoal.kernels.shared.rules import lacking, lacking_with
from shoal.kernels.shared.state import stays_diverse_without

FEWEST = 10  # a cell is examined if at least k / FEWEST records want into it
PATIENCE = 50  # attempts to found a group in one call of `carve_points`
DIVERSE_PATIENCE = 25  # the same where shares of values are limited, and attempts take longer
LUCK = 20  # further attempts for each one that succeeded
# Cells of a lattice point that are examined where a number of distinct values is required, and where shares of values
# are limited: those that gain most.
MOST_DISTINCT, MOST_DIVERSE = 40, 20
DISSOLVED, LISTED = -1, -2  # values of Scratch.spare for a group that is to dissolve


@kernel
def carve_points(x, lattice, reach, steps):
    """Carve groups at each of some lattice points if that gains: (groups carved, gain, full cells per lattice point).

    `steps` has a row for each lattice point, see `Cells`. A cell is full if it has k records, counting those that
    want in and those that it could afford.
    """
    carved, gained = 0, 0.0
    full = np.zeros(steps.shape[0], np.int64)
    note_offers(x, lattice, reach)
    highest, buffers = lattice.top[0], lattice.scratch
    for p in range(lattice.top.size):
        highest = max(highest, lattice.top[p])
    buffers.number[TRIED:] = 0
    for at in range(steps.shape[0]):
        least = 0.0
        for part in range(steps.shape[1]):
            least += lattice.least[steps[at, part]]
        if highest <= least + ROUNDING:  # no record can gain; so at most points of a small pool
            continue
        sum_parts(lattice.costs, lattice.keys, steps[at], lattice.at, lattice.key)
        wanting = find_wanting(
            x.price, lattice.top, lattice.at, lattice.key, lattice.first, lattice.records, buffers
        )
        if wanting == 0:
            continue
        order, bounds = sort_by_cell(
            buffers.key[:wanting],
            max(1, x.q.k // FEWEST),
            buffers.table_key,
            buffers.table_weight,
            buffers.slot,
        )
        cells = bounds.size - 1
        if cells > 0:
            most = find_budgets(x, buffers, order, bounds)
            add_others(
                lattice.best,
                lattice.at,
                lattice.key,
                lattice.first,
                lattice.records,
                buffers,
                wanting,
                cells,
                most,
            )
        for cell in cells_to_try(x, buffers, order, bounds):
            wants = taken(buffers.wanting, order[bounds[cell] : bounds[cell + 1]])
            if wants.size + buffers.others[cell] >= x.q.k:
                full[at] += 1
                gain = carve(x, buffers, reach, wants, buffers.first[cell], buffers.others[cell])
                carved += gain > 0.0
                gained += gain
        for i in buffers.wanting[:wanting]:
            buffers.place[i] = ELSEWHERE
    return carved, gained, full


@allocating
def cells_to_try(x, buffers, order, bounds):
    """Return the cells in which a group may be carved: all, or where more than k is required those that gain most."""
    cells = bounds.size - 1
    less = np.zeros(cells)
    if x.s.values.shape[1] == 0:
        return order_of(less)
    for cell in range(cells):
        for at in range(bounds[cell], bounds[cell + 1]):
            i = buffers.wanting[order[at]]
            less[cell] -= x.price[i] - buffers.here[i]
    return order_of(less)[: MOST_DISTINCT if counts_values_only(x.q) else MOST_DIVERSE]


@allocating
def carve(x, buffers, reach, wants, other, others):
    """Make a group of records of one cell if that gains; return what it gained.

    `wants` are the records that want in; the `others` ones that could be added are linked from `other` on. First
    the gain is estimated; only if it is positive, the group is founded for a try.
    """
    less = np.empty(wants.size)
    for at in range(wants.size):
        less[at] = -x.price[wants[at]]
    wants = taken(wants, order_of(less))
    gain = take_spared(x, buffers, reach, wants)
    gain = take_from_dissolved(x, buffers, wants, gain)
    gained = 0.0
    if gain > GAIN:
        padding = best_of(buffers, other, others)
        gain -= price_of_filling(x, buffers, reach, wants, padding, gain)
        patience = PATIENCE if counts_values_only(x.q) else DIVERSE_PATIENCE
        if gain > GAIN and buffers.number[TRIED] < patience + LUCK * buffers.number[CARVED]:
            gained = found_group(x, buffers, reach, wants, padding)
            buffers.number[TRIED] += 1
            buffers.number[CARVED] += gained > 0.0
    for i in wants:
        buffers.place[i] = HERE
    return gained


@allocating
def best_of(buffers, other, others):
    """Return the records of a linked list that begins with `other`, those with the best offer first."""
    found, less = np.empty(others, np.int32), np.empty(others)
    for at in range(others):
        found[at], less[at] = other, -buffers.offer[other]
        other = buffers.following[other]
    return taken(found, order_of(less))


@inner
def take_spared(x, buffers, reach, wants):
    """Mark as TAKEN the records that want in and that their groups can spare; return the estimated gain.

    A group can spare a record if it has more than k or, while the cell needs more, if it has a supply. For the
    other groups, `worth` becomes what dissolving them would gain.
    """
    gain, taken = 0.0, 0
    buffers.number[LOOKED] += 1
    for i in wants:
        g = x.s.group[i]
        look_at(x, buffers, g)
        if buffers.spare[g] > 0 and stays_diverse_without(x.q, x.s, i):
            buffers.spare[g] -= 1
            buffers.place[i] = TAKEN
            taken += 1
            gain += x.price[i] - buffers.here[i]
            buffers.worth[g] += x.joins[i] - x.price[i]
        elif (
            taken < x.q.k
            and reach.value[g] > buffers.here[i] + GAIN
            and has_supply(x, buffers, reach, i)
        ):
            buffers.place[i] = TAKEN
            taken += 1
            gain += reach.value[g] - buffers.here[i]
        else:
            buffers.worth[g] += max(0.0, x.joins[i] - buffers.here[i])
    return gain


@inner
def take_from_dissolved(x, buffers, wants, gain):
    """Mark as TAKEN the records whose groups cannot spare them but gain by dissolving; return all gain together."""
    for i in wants:
        g = x.s.group[i]
        if buffers.place[i] == TAKEN or buffers.worth[g] <= GAIN:
            continue
        if buffers.spare[g] != DISSOLVED:
            buffers.spare[g] = DISSOLVED
            gain += buffers.worth[g]
        if buffers.here[i] < x.joins[i]:
            buffers.place[i] = TAKEN
    return gain


@inner
def counts_values_only(q):
    """Return whether nothing is asked of any tally but a number of distinct values."""
    for t in range(q.start.size - 1):
        if q.capped[t] or q.entropy[t] > 0.0 or q.depth[t] > 0 or q.distance[t] < np.inf:
            return False
    return True


@allocating
def found_group(x, buffers, reach, wants, padding):
    """Make a group of the records marked as TAKEN, add padding until it complies, and keep that if it gains.

    Groups marked as DISSOLVED hand their other records to the groups where they add least. Returns what was gained.
    """
    g = free_group(x)
    if g < 0:
        return 0.0
    reach.price[g] = -np.inf
    dissolved, number = np.empty(wants.size, np.int32), 0
    for i in wants:
        own = x.s.group[i]
        if buffers.spare[own] == DISSOLVED:
            dissolved[number] = own
            number += 1
            buffers.spare[own] = LISTED
        if buffers.place[i] == TAKEN and (buffers.spare[own] == LISTED or can_part(x, reach, i)):
            transfer(x, i, g)
    fill_up(x, reach, padding, g)
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    for h in dissolved[:number]:
        if x.s.size[h] > 0 and not dissolve(x, h, added, scratch):
            finish(x)
            undo(x)
            return 0.0
    gained = keep_if_better(x)
    if gained > 0.0:
        list_pairs(x, reach, g)
    return gained


@inner
def can_part(x, reach, i):
    """Return whether the group of record i can spare it; if it has k records, it may draw one along its chain first."""
    own = x.s.group[i]
    if can_spare(x, i):
        return True
    if x.s.size[own] != x.q.k or not is_open(x, reach, own):
        return False
    if not may_exchange(x, own, i, reach.via[own]):
        return False
    draw(x, reach, own)
    return True


@allocating
def fill_up(x, reach, padding, g):
    """Let records of `padding` join group g in order until it meets the requirement; skip those that do not help."""
    counts = x.s.tally[g]
    lack = lacking(x.q, counts, max(1, x.s.size[g]))
    kept = np.full(counts.size, -1.0)
    for i in padding:
        if lack <= 0.0:
            break
        now = lacking_with(x.q, x.s.values, i, counts, x.s.size[g], kept)
        if now < lack and can_part(x, reach, i):
            transfer(x, i, g)
            lack = now
            kept[:] = -1.0
