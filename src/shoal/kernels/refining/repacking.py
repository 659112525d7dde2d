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
def price(o, k, choice, limit):
    """What a choice costs the pool, or any number that is not below `limit`; `chosen` then says who goes where.

    Records go to the cheapest cell. A cell that has fewer than k then draws what it lacks from other rivals with more,
    from the dearest on, and last from outside the pool.
    """
    o.size[:] = 0
    total = 0.0
    for at in range(o.records.size):
        within, rival, cost = o.lies_in[at] & choice, ELSEWHERE, o.outside[at]
        if within != np.uint64(0):
            first = cheapest(within)
            if o.cost[first] < cost:
                rival, cost = first, o.cost[first]
        total += cost
        o.chosen[at] = rival
        o.size[rival] += 1
    for rival in range(o.rivals.size):
        if total >= limit:
            break
        if has(choice, rival) and o.size[rival] < k:
            total += draw(o, k, rival)
    return total


@allocating
def draw(o, k, rival):
    """Let a rival draw the records that it lacks; returns what they pay more."""
    o.shared[:] = 0
    o.drawn[:] = 0
    for at in range(o.records.size):
        if has(o.lies_in[at], rival):
            o.shared[o.chosen[at]] += 1
    lacking, more = k - o.size[rival], 0.0
    for other in range(o.rivals.size - 1, -1, -1):
        if other != rival and o.shared[other] > 0:
            o.drawn[other] = max(0, min(o.shared[other], o.size[other] - k, lacking))
            lacking -= o.drawn[other]
    o.drawn[ELSEWHERE] = min(o.shared[ELSEWHERE], lacking)
    if lacking > o.drawn[ELSEWHERE]:
        return np.inf
    for at in range(o.records.size):
        other = o.chosen[at]
        if o.drawn[other] > 0 and has(o.lies_in[at], rival):
            more += o.cost[rival] - (o.outside[at] if other == ELSEWHERE else o.cost[other])
            o.drawn[other] -= 1
            o.size[other] -= 1
            o.chosen[at] = rival
            o.size[rival] += 1
    return more


@allocating
def improve(o, k, choice, cost):
    """Take rivals in or out, or exchange two, while that gains: (choice, cost)."""
    number, gains = o.rivals.size, True
    while gains:
        gains = False
        for a in range(number):
            other = flip(choice, a)
            found = price(o, k, other, cost - GAIN)
            if found < cost - GAIN:
                choice, cost, gains = other, found, True
        if gains:
            continue
        for a in range(number):
            for b in range(number):
                if has(choice, a) and not has(choice, b):
                    other = flip(flip(choice, a), b)
                    found = price(o, k, other, cost - GAIN)
                    if found < cost - GAIN:
                        choice, cost, gains = other, found, True
    return choice, cost


@allocating
def owners_of(v, c, number, most, owned):
    """The open cells, up to `number`, that own most records of candidate c, with at most so many records in all.

    `owned` is scratch, zero between uses.
    """
    found = [np.int64(0) for _ in range(0)]
    for e in range(v.begin[c], v.end[c]):
        p = v.covered[e]
        for i in v.records[v.first[p] : v.first[p + 1]]:
            if owned[v.s.group[i]] == 0:
                found.append(np.int64(v.s.group[i]))
            owned[v.s.group[i]] += 1
    cells = np.array(found)
    cells = cells[np.argsort(-owned[cells], kind="mergesort")][:number]
    for cell in found:
        owned[cell] = 0
    kept, records = 0, 0
    while kept < cells.size and records + v.s.size[cells[kept]] <= most:
        records += v.s.size[cells[kept]]
        kept += 1
    return cells[:kept]


@allocating
def rivals_of(v, k, cells, records, chance, within, promise):
    """Some open cells, and the candidates without records that promise most to them, in order of cost.

    What a candidate promises is what records of the pool that lie in it would pay less there, times a random number
    of `chance`; k of them must lie in it. `within` and `promise` are scratch, zero between uses.
    """
    found = [np.int64(0) for _ in range(0)]
    for i in records:
        p, cost = v.point[i], v.cost[v.s.group[i]]
        for c in v.owner[v.start[p] : v.start[p + 1]]:
            if v.s.size[c] == 0:
                if within[c] == 0:
                    found.append(np.int64(c))
                within[c] += 1
                promise[c] += max(0.0, cost - v.cost[c])
    others = np.array([c for c in found if within[c] >= k and promise[c] > 0.0], np.int64)
    order = np.argsort(-promise[others] * chance[others], kind="mergesort")
    for c in found:
        within[c] = 0
        promise[c] = 0.0
    return np.sort(np.concatenate((cells, others[order[: RIVALS - cells.size]])))


@allocating
def make_pool(v, k, cells, chance, number, within, promise):
    """The records of some open cells with their rivals, and the present choice: (pool, choice, cost).

    `number` is scratch: -1 between uses.
    """
    records = np.empty(v.s.size[cells].sum(), np.int32)
    at = 0
    for c in cells:
        i = v.s.head[c]
        while i >= 0:
            records[at] = i
            at += 1
            i = v.s.after[i]
    rivals = rivals_of(v, k, cells, records, chance, within, promise)
    choice, cost = np.uint64(0), 0.0
    for a in range(rivals.size):
        number[rivals[a]] = a
        if v.s.size[rivals[a]] > 0:
            choice = flip(choice, a)
    lies_in, outside = np.zeros(records.size, np.uint64), np.full(records.size, np.inf)
    for at in range(records.size):
        cost += v.cost[v.s.group[records[at]]]
        p = v.point[records[at]]
        for c in v.owner[v.start[p] : v.start[p + 1]]:
            if number[c] >= 0:
                lies_in[at] = flip(lies_in[at], number[c])
            elif v.s.size[c] > 0:
                outside[at] = min(outside[at], v.cost[c])
    pool = Pool(
        records,
        rivals,
        v.cost[rivals],
        lies_in,
        outside,
        np.empty(records.size, np.int64),
        np.zeros(RIVALS + 1, np.int64),
        np.zeros(RIVALS + 1, np.int64),
        np.zeros(RIVALS + 1, np.int64),
    )
    return pool, choice, cost


@allocating
def cheapest_outside(v, i, number):
    """The cheapest open cell outside the pool that record i lies in."""
    p = v.point[i]
    for c in v.owner[v.start[p] : v.start[p + 1]]:
        if number[c] < 0 and v.s.size[c] > 0:
            return c
    return -1


@kernel
def repack(v, k, around, numbers, most, chance, kicks):
    """Choose anew around some candidates, with pools of so many cells each and at most so many records.

    After the best choice near the present one is found, search starts again from that with a few random rivals taken
    in or out: as many times as there are rows of `kicks`, which are random numbers for each candidate. Returns what
    was gained.
    """
    owned, within = np.zeros(v.cost.size, np.int64), np.zeros(v.cost.size, np.int64)
    number, promise = np.full(v.cost.size, -1, np.int64), np.zeros(v.cost.size)
    gained = 0.0
    for t in range(around.size):
        cells = owners_of(v, around[t], numbers[t], most, owned)
        if cells.size < 2:
            continue
        o, choice, cost = make_pool(v, k, cells, chance, number, within, promise)
        best, least = improve(o, k, choice, cost)
        for kick in kicks[t]:
            other = best
            for random in kick:
                other = flip(other, random % o.rivals.size)
            other, found = improve(o, k, other, np.inf)
            if found < least - GAIN:
                best, least = other, found
        if least < cost - GAIN:
            gained += cost - price(o, k, best, np.inf)
            for at in range(o.records.size):
                i, to = o.records[at], o.chosen[at]
                c = cheapest_outside(v, i, number) if to == ELSEWHERE else o.rivals[to]
                if c != v.s.group[i]:
                    unlink(v.s, i)
                    link(v.s, i, c)
        number[o.rivals] = -1
    return gained
