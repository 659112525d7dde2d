"""Choose anew which cells a few neighbouring groups are made of (large neighbourhood search over a set cover).

*Candidates* are cells: closures with all points below them, and what they cost a record. Those that have records
are *open*, and each record belongs to one open cell that it lies in. Around one candidate after the other, the open
cells that own most of its records form a *pool*. Up to 64 candidates in which k records of the pool lie are its
*rivals*. A *choice* of rivals is a set of bits. Its cost is known as soon as every record has gone to the cheapest
chosen cell that it lies in, and cells with fewer than k have drawn records from others. That takes some
microseconds, so all choices that differ from the present one by a cell or two can be tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import largest_at, order_of, sort_numbers, sort_stably, taken
from shoal.kernels.shared.state import State, link, unlink

RIVALS = 64  # at most; one bit of a uint64 each
ELSEWHERE = RIVALS  # stands in place of a rival for an open cell outside the pool
GAIN = 1e-9  # the least decrease of cost that counts as an improvement
PRIME = np.uint64(67)  # all powers of two below 2^64 leave different remainders modulo 67
FIRST = np.zeros(67, np.int64)  # by remainder: the exponent of the power of two
for _bit in range(64):
    FIRST[2**_bit % 67] = _bit


@bundle
class Candidates(NamedTuple):
    """The candidate cells in order of cost, the points below them, and the partition of records into open cells."""

    cost: np.ndarray  # float64[cells], what each cell costs a record
    begin: np.ndarray  # int64[cells], where each cell's points begin in `covered`
    end: np.ndarray  # int64[cells], where they end
    covered: np.ndarray  # int32[pairs], points, by cell
    start: np.ndarray  # int64[points + 1], where each point's cells begin in `owner`
    owner: np.ndarray  # int32[pairs], cells, by point, the cheapest first
    point: np.ndarray  # int32[n], the point of each record
    first: np.ndarray  # int64[points + 1], where each point's records begin in `records`
    records: np.ndarray  # int32[n], the records, sorted by point
    s: State  # the open cells as groups, with the numbers of cells


@bundle
class CellPool(NamedTuple):
    """The records of a few open cells, and the rivals that could hold them."""

    records: np.ndarray  # int32[m], the records
    rivals: np.ndarray  # int64[rivals], candidates, in order of cost
    cost: np.ndarray  # float64[rivals], what each rival costs a record
    lies_in: np.ndarray  # uint64[m], by record: a bit for each rival in which it lies
    # float64[m], cost of the cheapest open cell outside the pool it lies in, or infinite
    outside: np.ndarray
    chosen: np.ndarray  # int64[m], the rival to which each record goes, or ELSEWHERE
    size: np.ndarray  # int64[RIVALS + 1], records that go to each rival, and ELSEWHERE
    shared: np.ndarray  # int64[RIVALS + 1], scratch
    drawn: np.ndarray  # int64[RIVALS + 1], scratch


@bundle
class RepackingScratch(NamedTuple):
    """Room for counting, with an entry for each cell."""

    rival: np.ndarray  # int64[cells], the rival that a cell is in the present pool; -1 for none
    tally: np.ndarray  # int64[cells], zero between uses
    promise: np.ndarray  # float64[cells], zero between uses
    found: np.ndarray  # int64[cells]


@inner
def has(choice, rival):
    """Return whether a choice contains a rival."""
    return choice >> np.uint64(rival) & np.uint64(1) != np.uint64(0)


@inner
def flip(choice, rival):
    """Return the choice with a rival added or, if it contains that, removed."""
    return choice ^ np.uint64(1) << np.uint64(rival)


@inner
def cheapest(choice):
    """Return the first, hence cheapest, rival of a choice that is not empty."""
    lowest = choice & (~choice + np.uint64(1))
    return FIRST[lowest % PRIME]


@inner
def price(pool, k, choice, limit):
    """Return what a choice costs the pool, or any number not below `limit`; pool.chosen then says who goes where.

    Records go to the cheapest chosen cell. A cell that then has fewer than k records draws what it lacks from other
    rivals with more than k, beginning with the most expensive one, and last from outside the pool.
    """
    for rival in range(RIVALS + 1):
        pool.size[rival] = 0
    total = 0.0
    for at in range(pool.records.size):
        within, rival, cost = pool.lies_in[at] & choice, ELSEWHERE, pool.outside[at]
        if within != np.uint64(0):
            first = cheapest(within)
            if pool.cost[first] < cost:
                rival, cost = first, pool.cost[first]
        total += cost
        pool.chosen[at] = rival
        pool.size[rival] += 1
    for rival in range(pool.rivals.size):
        if total >= limit:
            break
        if has(choice, rival) and pool.size[rival] < k:
            total += draw_for_rival(pool, k, rival)
    return total


@inner
def draw_for_rival(pool, k, rival):
    """Let a rival draw the records that it lacks; return how much more they pay, infinite if there are too few."""
    for other in range(RIVALS + 1):
        pool.shared[other] = pool.drawn[other] = 0
    for at in range(pool.records.size):
        if has(pool.lies_in[at], rival):
            pool.shared[pool.chosen[at]] += 1
    lacking, more = k - pool.size[rival], 0.0
    for other in range(pool.rivals.size - 1, -1, -1):
        if other != rival and pool.shared[other] > 0:
            pool.drawn[other] = max(0, min(pool.shared[other], pool.size[other] - k, lacking))
            lacking -= pool.drawn[other]
    pool.drawn[ELSEWHERE] = min(pool.shared[ELSEWHERE], lacking)
    if lacking > pool.drawn[ELSEWHERE]:
        return np.inf
    for at in range(pool.records.size):
        other = pool.chosen[at]
        if pool.drawn[other] > 0 and has(pool.lies_in[at], rival):
            more += pool.cost[rival] - (
                pool.outside[at] if other == ELSEWHERE else pool.cost[other]
            )
            pool.drawn[other] -= 1
            pool.size[other] -= 1
            pool.chosen[at] = rival
            pool.size[rival] += 1
    return more


@inner
def improve(pool, k, choice, cost, work):
    """Add, remove or exchange rivals while that lowers the cost (local search): (choice, cost).

    `work` counts the records that are looked at.
    """
    number, gains = pool.rivals.size, True
    while gains:
        gains = False
        work[0] += number * pool.records.size
        for a in range(number):
            other = flip(choice, a)
            found = price(pool, k, other, cost - GAIN)
            if found < cost - GAIN:
                choice, cost, gains = other, found, True
        if gains:
            continue
        for a in range(number):
            for b in range(number):
                if has(choice, a) and not has(choice, b):
                    work[0] += pool.records.size
                    other = flip(flip(choice, a), b)
                    found = price(pool, k, other, cost - GAIN)
                    if found < cost - GAIN:
                        choice, cost, gains = other, found, True
    return choice, cost


@allocating
def owners_of(candidates, candidate, number, most, scratch):
    """Return up to `number` open cells that own most records of a candidate, with at most `most` records in all."""
    owned, found, size = scratch.tally, scratch.found, 0
    for pair in range(candidates.begin[candidate], candidates.end[candidate]):
        p = candidates.covered[pair]
        for at in range(candidates.first[p], candidates.first[p + 1]):
            cell = candidates.s.group[candidates.records[at]]
            if owned[cell] == 0:
                found[size] = cell
                size += 1
            owned[cell] += 1
    less = np.empty(size, np.int64)
    for at in range(size):
        less[at] = -owned[found[at]]
        owned[found[at]] = 0
    cells = taken(found, order_of(less))
    kept, records = 0, 0
    while kept < min(size, number) and records + candidates.s.size[cells[kept]] <= most:
        records += candidates.s.size[cells[kept]]
        kept += 1
    return cells[:kept]


@allocating
def rivals_of(candidates, k, cells, records, chance, scratch):
    """Return some open cells together with the most promising candidates without records, in order of cost.

    What a candidate promises is how much less the records of the pool that lie in it would pay there, times a
    random number of `chance`; k records of the pool must lie in it. Cells are in order of cost, so that those from the
    most expensive one of the pool on promise nothing.
    """
    within, promise, found = scratch.tally, scratch.promise, scratch.found
    size, most = 0, cells[largest_at(cells, 0, cells.size)]
    for i in records:
        p, cost = candidates.point[i], candidates.cost[candidates.s.group[i]]
        for pair in range(candidates.start[p], candidates.start[p + 1]):
            cell = candidates.owner[pair]
            if cell >= most:
                break
            if candidates.s.size[cell] == 0:
                if within[cell] == 0:
                    found[size] = cell
                    size += 1
                within[cell] += 1
                promise[cell] += max(0.0, cost - candidates.cost[cell])
    less, others = np.empty(size), 0
    for at in range(size):
        cell = found[at]
        if within[cell] >= k and promise[cell] > 0.0:
            less[others] = -promise[cell] * chance[cell]
            found[others] = cell
            others += 1
        within[cell], promise[cell] = 0, 0.0
    order = order_of(less[:others])
    rivals = np.empty(min(cells.size + others, max(cells.size, RIVALS)), np.int64)
    for at in range(rivals.size):
        rivals[at] = cells[at] if at < cells.size else found[order[at - cells.size]]
    sort_numbers(rivals)
    return rivals


@allocating
def make_cell_pool(candidates, k, cells, chance, scratch):
    """Make the pool of some open cells: (pool, present choice, its cost).

    scratch.rival[c] becomes the rival that is candidate c, until the caller restores it.
    """
    size = 0
    for cell in cells:
        size += candidates.s.size[cell]
    records = np.empty(size, np.int32)
    at = 0
    for cell in cells:
        i = candidates.s.head[cell]
        while i >= 0:
            records[at] = i
            at += 1
            i = candidates.s.after[i]
    rivals = rivals_of(candidates, k, cells, records, chance, scratch)
    choice, cost = np.uint64(0), 0.0
    for a in range(rivals.size):
        scratch.rival[rivals[a]] = a
        if candidates.s.size[rivals[a]] > 0:
            choice = flip(choice, a)
    lies_in, outside, last = np.zeros(size, np.uint64), np.empty(size), rivals[rivals.size - 1]
    for at in range(size):
        cost += candidates.cost[candidates.s.group[records[at]]]
        outside[at] = np.inf
        p = candidates.point[records[at]]
        for pair in range(candidates.start[p], candidates.start[p + 1]):
            cell = candidates.owner[pair]
            if cell > last and outside[at] < np.inf:
                break
            if scratch.rival[cell] >= 0:
                lies_in[at] = flip(lies_in[at], scratch.rival[cell])
            elif candidates.s.size[cell] > 0 and outside[at] == np.inf:
                outside[at] = candidates.cost[cell]
    pool = CellPool(
        records=records,
        rivals=rivals,
        cost=taken(candidates.cost, rivals),
        lies_in=lies_in,
        outside=outside,
        chosen=np.empty(size, np.int64),
        size=np.zeros(RIVALS + 1, np.int64),
        shared=np.zeros(RIVALS + 1, np.int64),
        drawn=np.zeros(RIVALS + 1, np.int64),
    )
    return pool, choice, cost


@inner
def cheapest_outside(candidates, i, scratch):
    """Return the cheapest open cell outside the pool in which record i lies, -1 for none."""
    p = candidates.point[i]
    for pair in range(candidates.start[p], candidates.start[p + 1]):
        cell = candidates.owner[pair]
        if scratch.rival[cell] < 0 and candidates.s.size[cell] > 0:
            return cell
    return -1


@allocating
def make_repacking_scratch(cells):
    """Make room for counting cells."""
    scratch = RepackingScratch(
        rival=np.empty(cells, np.int64),
        tally=np.zeros(cells, np.int64),
        promise=np.zeros(cells),
        found=np.empty(cells, np.int64),
    )
    for cell in range(cells):
        scratch.rival[cell] = -1
    return scratch


@kernel
def repack(candidates, k, around, numbers, most, chance, kicks, work):
    """Choose cells anew around some candidates, and move records accordingly if that gains; return the gain.

    The pool of candidate around[t] has up to numbers[t] cells and `most` records. When the best choice near the
    present one is found, the search starts again from that with a few random rivals flipped (a kick), once for each
    row of kicks[t], which holds random numbers. `work` counts the records that are looked at.
    """
    scratch = make_repacking_scratch(candidates.cost.size)
    gained = 0.0
    for turn in range(around.size):
        cells = owners_of(candidates, around[turn], numbers[turn], most, scratch)
        if cells.size < 2:
            continue
        pool, choice, cost = make_cell_pool(candidates, k, cells, chance, scratch)
        best, least = improve(pool, k, choice, cost, work)
        for kick in kicks[turn]:
            other = best
            for random in kick:
                other = flip(other, random % pool.rivals.size)
            other, found = improve(pool, k, other, np.inf, work)
            if found < least - GAIN:
                best, least = other, found
        if least < cost - GAIN:
            gained += cost - price(pool, k, best, np.inf)
            for at in range(pool.records.size):
                i, to = pool.records[at], pool.chosen[at]
                cell = (
                    cheapest_outside(candidates, i, scratch) if to == ELSEWHERE else pool.rivals[to]
                )
                if cell != candidates.s.group[i]:
                    unlink(candidates.s, i)
                    link(candidates.s, i, cell)
        for rival in pool.rivals:
            scratch.rival[rival] = -1
    return gained


@kernel
def round_cells(bounds, members, shares, order, first, records, k, fussy):
    """Open cells in the given order if they still find k free records; return the group of each record, −1 for none.

    The cell holds the points members[bounds[cell]:bounds[cell + 1]], of whose records it covers the fractions
    `shares`; the records of point p are records[first[p]:first[p + 1]]. An open cell takes of each point as many
    records as its share amounts to, rounded up if the fractional part exceeds `fussy`; it begins with the largest
    shares, and takes more while it has fewer than k.
    """
    points = first.size - 1
    group, free = np.empty(records.size, np.int32), np.empty(points, np.int64)
    for at in range(records.size):
        group[at] = -1
    for p in range(points):
        free[p] = first[p + 1] - first[p]
    less, turns, spare = np.empty(points), np.empty(points, np.int64), np.empty(points, np.int64)
    groups = 0
    for cell in order:
        begin, size, left = bounds[cell], bounds[cell + 1] - bounds[cell], 0
        for at in range(size):
            left += free[members[begin + at]]
            less[at] = -shares[begin + at]
        if left < k:
            continue
        sort_stably(less[:size], turns[:size], spare[:size])
        held = 0
        for turn in range(size):
            at = begin + turns[turn]
            p = members[at]
            share = shares[at] * (first[p + 1] - first[p])
            takes = min(free[p], max(int(np.ceil(share - fussy)), k - held))
            for _ in range(takes):
                group[records[first[p + 1] - free[p]]] = groups
                free[p] -= 1
            held += max(0, takes)
        groups += 1
    return group
