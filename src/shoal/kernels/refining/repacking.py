"""Choose anew which cells a few neighbouring groups are made of.

Candidates are cells: closures with all that lies below them, and what they cost a record. Those that have records
are open, and each record lies in the cell that it belongs to. Around one candidate after the other, the open cells
that own most of its records form a pool, and up to 64 candidates that k records of the pool lie in are its rivals.
A choice of rivals is a set of bits; what it costs is known as soon as every record goes to the cheapest chosen cell
that it lies in and cells below k have drawn records from others. So a choice takes some microseconds, and all that
differ from the present one by a cell or two can be tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.shared.state import State, link, unlink

RIVALS = 64
ELSEWHERE = RIVALS  # in place of a rival: an open cell outside the pool
GAIN = 1e-9
PRIME = np.uint64(67)  # the powers of two below 2^64 leave different remainders
FIRST = np.zeros(67, np.int64)  # the bit of the power that leaves a remainder
for _bit in range(64):
    FIRST[2**_bit % 67] = _bit


@bundle
class Candidates(NamedTuple):
    """Cells in order of cost, the records below them, and the cell that each record belongs to."""

    cost: np.ndarray  # float64[cells], of a record
    begin: np.ndarray  # int64[cells], a cell's pairs
    end: np.ndarray  # int64[cells]
    covered: np.ndarray  # int32[pairs], a distinct record
    start: np.ndarray  # int64[points + 1], a distinct record's pairs
    owner: np.ndarray  # int32[pairs], a cell, the cheapest first
    point: np.ndarray  # int32[n], the distinct record of each
    first: np.ndarray  # int64[points + 1], into `records`
    records: np.ndarray  # int32[n], by distinct record
    s: State  # the cells as groups


@bundle
class Pool(NamedTuple):
    """A few records and the cells that could hold them."""

    records: np.ndarray  # int32[m]
    rivals: np.ndarray  # int64[rivals], in order of cost
    cost: np.ndarray  # float64[rivals]
    lies_in: np.ndarray  # uint64[m], a bit per rival
    outside: (
        np.ndarray
    )  # float64[m], cost of the cheapest open cell outside the pool, infinite for none
    chosen: np.ndarray  # int64[m], the rival that each record goes to, or ELSEWHERE
    size: np.ndarray  # int64[RIVALS + 1]
    shared: np.ndarray  # int64[RIVALS + 1], scratch
    drawn: np.ndarray  # int64[RIVALS + 1], scratch


@inner
def has(choice, rival):
    """Whether a choice contains a rival."""
    return choice >> np.uint64(rival) & np.uint64(1) != np.uint64(0)


@inner
def flip(choice, rival):
    """The choice with a rival or without it."""
    return choice ^ np.uint64(1) << np.uint64(rival)


@inner
def cheapest(choice):
    """The first rival of a choice that is not empty."""
    lowest = choice & (~choice + np.uint64(1))
    return FIRST[lowest % PRIME]


@allocating
def price(pool, k, choice, limit):
    """What a choice costs the pool, or any number that is not below `limit`; `chosen` then says who goes where.

    Records go to the cheapest cell. A cell that has fewer than k then draws what it lacks from other rivals with more,
    from the dearest on, and last from outside the pool.
    """
    pool.size[:] = 0
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
            total += draw(pool, k, rival)
    return total


@allocating
def draw(pool, k, rival):
    """Let a rival draw the records that it lacks; returns what they pay more."""
    pool.shared[:] = 0
    pool.drawn[:] = 0
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


@allocating
def improve(pool, k, choice, cost):
    """Take rivals in or out, or exchange two, while that gains: (choice, cost)."""
    number, gains = pool.rivals.size, True
    while gains:
        gains = False
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
                    other = flip(flip(choice, a), b)
                    found = price(pool, k, other, cost - GAIN)
                    if found < cost - GAIN:
                        choice, cost, gains = other, found, True
    return choice, cost


@allocating
def owners_of(candidates, candidate, number, most, owned):
    """The open cells, up to `number`, that own most records of candidate c, with at most so many records in all.

    `owned` is scratch, zero between uses.
    """
    found = [np.int64(0) for _ in range(0)]
    for pair in range(candidates.begin[candidate], candidates.end[candidate]):
        p = candidates.covered[pair]
        for i in candidates.records[candidates.first[p] : candidates.first[p + 1]]:
            if owned[candidates.s.group[i]] == 0:
                found.append(np.int64(candidates.s.group[i]))
            owned[candidates.s.group[i]] += 1
    cells = np.array(found)
    cells = cells[np.argsort(-owned[cells], kind="mergesort")][:number]
    for cell in found:
        owned[cell] = 0
    kept, records = 0, 0
    while kept < cells.size and records + candidates.s.size[cells[kept]] <= most:
        records += candidates.s.size[cells[kept]]
        kept += 1
    return cells[:kept]


@allocating
def rivals_of(candidates, k, cells, records, chance, within, promise):
    """Some open cells, and the candidates without records that promise most to them, in order of cost.

    What a candidate promises is what records of the pool that lie in it would pay less there, times a random number
    of `chance`; k of them must lie in it. `within` and `promise` are scratch, zero between uses.
    """
    found = [np.int64(0) for _ in range(0)]
    for i in records:
        p, cost = candidates.point[i], candidates.cost[candidates.s.group[i]]
        for cell in candidates.owner[candidates.start[p] : candidates.start[p + 1]]:
            if candidates.s.size[cell] == 0:
                if within[cell] == 0:
                    found.append(np.int64(cell))
                within[cell] += 1
                promise[cell] += max(0.0, cost - candidates.cost[cell])
    others = np.array(
        [cell for cell in found if within[cell] >= k and promise[cell] > 0.0], np.int64
    )
    order = np.argsort(-promise[others] * chance[others], kind="mergesort")
    for cell in found:
        within[cell] = 0
        promise[cell] = 0.0
    return np.sort(np.concatenate((cells, others[order[: RIVALS - cells.size]])))


@allocating
def make_pool(candidates, k, cells, chance, number, within, promise):
    """The records of some open cells with their rivals, and the present choice: (pool, choice, cost).

    `number` is scratch: -1 between uses.
    """
    records = np.empty(candidates.s.size[cells].sum(), np.int32)
    at = 0
    for cell in cells:
        i = candidates.s.head[cell]
        while i >= 0:
            records[at] = i
            at += 1
            i = candidates.s.after[i]
    rivals = rivals_of(candidates, k, cells, records, chance, within, promise)
    choice, cost = np.uint64(0), 0.0
    for a in range(rivals.size):
        number[rivals[a]] = a
        if candidates.s.size[rivals[a]] > 0:
            choice = flip(choice, a)
    lies_in, outside = np.zeros(records.size, np.uint64), np.full(records.size, np.inf)
    for at in range(records.size):
        cost += candidates.cost[candidates.s.group[records[at]]]
        p = candidates.point[records[at]]
        for cell in candidates.owner[candidates.start[p] : candidates.start[p + 1]]:
            if number[cell] >= 0:
                lies_in[at] = flip(lies_in[at], number[cell])
            elif candidates.s.size[cell] > 0:
                outside[at] = min(outside[at], candidates.cost[cell])
    pool = Pool(
        records=records,
        rivals=rivals,
        cost=candidates.cost[rivals],
        lies_in=lies_in,
        outside=outside,
        chosen=np.empty(records.size, np.int64),
        size=np.zeros(RIVALS + 1, np.int64),
        shared=np.zeros(RIVALS + 1, np.int64),
        drawn=np.zeros(RIVALS + 1, np.int64),
    )
    return pool, choice, cost


@allocating
def cheapest_outside(candidates, i, number):
    """The cheapest open cell outside the pool that record i lies in."""
    p = candidates.point[i]
    for cell in candidates.owner[candidates.start[p] : candidates.start[p + 1]]:
        if number[cell] < 0 and candidates.s.size[cell] > 0:
            return cell
    return -1


@kernel
def repack(candidates, k, around, numbers, most, chance, kicks):
    """Choose anew around some candidates, with pools of so many cells each and at most so many records.

    After the best choice near the present one is found, search starts again from that with a few random rivals taken
    in or out: as many times as there are rows of `kicks`, which are random numbers for each candidate. Returns what
    was gained.
    """
    owned, within = (
        np.zeros(candidates.cost.size, np.int64),
        np.zeros(candidates.cost.size, np.int64),
    )
    number, promise = np.full(candidates.cost.size, -1, np.int64), np.zeros(candidates.cost.size)
    gained = 0.0
    for turn in range(around.size):
        cells = owners_of(candidates, around[turn], numbers[turn], most, owned)
        if cells.size < 2:
            continue
        pool, choice, cost = make_pool(candidates, k, cells, chance, number, within, promise)
        best, least = improve(pool, k, choice, cost)
        for kick in kicks[turn]:
            other = best
            for random in kick:
                other = flip(other, random % pool.rivals.size)
            other, found = improve(pool, k, other, np.inf)
            if found < least - GAIN:
                best, least = other, found
        if least < cost - GAIN:
            gained += cost - price(pool, k, best, np.inf)
            for at in range(pool.records.size):
                i, to = pool.records[at], pool.chosen[at]
                cell = (
                    cheapest_outside(candidates, i, number) if to == ELSEWHERE else pool.rivals[to]
                )
                if cell != candidates.s.group[i]:
                    unlink(candidates.s, i)
                    link(candidates.s, i, cell)
        number[pool.rivals] = -1
    return gained
