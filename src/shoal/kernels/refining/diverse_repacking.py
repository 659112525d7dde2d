"""Choose cells anew where more than k is required; see `repacking`, and `diverse_pricing` for what a choice costs."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.refining.diverse_pricing import (
    Limits,
    can_comply,
    make_base,
    price_diverse,
    start_from,
)
from shoal.kernels.refining.repacking import (
    ELSEWHERE,
    GAIN,
    RIVALS,
    flip,
    has,
    make_cell_pool,
    make_repacking_scratch,
    owners_of,
)
from shoal.kernels.shared.state import group_complies, link, stays_diverse_with, unlink


@allocating
def make_limits(candidates, q, pool, choice, scratch, work):
    """Make the limits of a pool, and bring `outside` to what cells cost that can take a record in.

    The rivals of the present choice are able to comply.
    """
    s, size = candidates.s, pool.records.size
    values = np.empty((size, s.values.shape[1]), np.int32)
    home = np.empty(size, np.int64)
    for at in range(size):
        i = pool.records[at]
        for t in range(values.shape[1]):
            values[at, t] = s.values[i, t]
        home[at], pool.outside[at] = -1, np.inf
        p = candidates.point[i]
        for pair in range(candidates.start[p], candidates.start[p + 1]):
            cell = candidates.owner[pair]
            if scratch.rival[cell] < 0 and s.size[cell] > 0 and stays_diverse_with(q, s, i, cell):
                home[at], pool.outside[at] = cell, candidates.cost[cell]
                break
    tally, able = np.zeros((RIVALS + 1, s.tally.shape[1]), np.int32), np.empty(1, np.uint64)
    able[0] = choice
    meets = np.zeros(RIVALS, np.uint64)
    for rival in range(pool.rivals.size):
        for at in range(size):
            if has(pool.lies_in[at], rival):
                meets[rival] |= pool.lies_in[at]
        if not has(choice, rival):
            counts, held = tally[rival], 0
            for at in range(size):
                if has(pool.lies_in[at], rival):
                    held += 1
                    for t in range(values.shape[1]):
                        counts[values[at, t]] += 1
            if can_comply(q, counts, held):
                able[0] = flip(able[0], rival)
            work[0] += size
    return Limits(
        values=values,
        tally=tally,
        home=home,
        able=able,
        meets=meets,
        work=work,
        near=np.empty(size, np.int64),
        target=np.empty(size, np.int64),
        kept=np.empty(s.tally.shape[1]),
        gives=np.empty(s.tally.shape[1], np.int8),
        open=np.full(RIVALS + 1, ELSEWHERE),
        opened=np.zeros(1, np.int64),
        base=make_base(pool, tally),
    )


@inner
def improve_diverse(pool, limits, q, choice, cost):
    """Add, remove or exchange rivals that are able to comply while that lowers the cost: (choice, cost).

    Rivals are exchanged only if they share records.
    """
    number, gains, able = pool.rivals.size, True, limits.able[0]
    start_from(pool, limits, choice)
    while gains:
        gains = False
        for a in range(number):
            if not has(able, a):
                continue
            other = flip(choice, a)
            found = price_diverse(pool, limits, q, other, cost - GAIN)
            if found < cost - GAIN:
                choice, cost, gains = other, found, True
                start_from(pool, limits, choice)
        if gains:
            continue
        for a in range(number):
            for b in range(number):
                if has(choice, a) and has(able & ~choice & limits.meets[a], b):
                    other = flip(flip(choice, a), b)
                    found = price_diverse(pool, limits, q, other, cost - GAIN)
                    if found < cost - GAIN:
                        choice, cost, gains = other, found, True
                        start_from(pool, limits, choice)
    return choice, cost


@allocating
def move(candidates, q, pool, limits):
    """Move the records of a pool to where they were placed, unless a cell would not comply; return whether they moved.

    Several records that go to the same cell outside the pool may break its limits, though none does alone.
    """
    s = candidates.s
    before = np.empty(pool.records.size, np.int64)
    for at in range(before.size):
        before[at] = s.group[pool.records[at]]
        to = pool.chosen[at]
        relink(s, pool.records[at], limits.home[at] if to == ELSEWHERE else pool.rivals[to])
    kept = True
    for rival in pool.rivals:
        kept = kept and (s.size[rival] == 0 or group_complies(q, s, rival))
    for at in range(before.size):
        if pool.chosen[at] == ELSEWHERE:
            kept = kept and group_complies(q, s, limits.home[at])
    if not kept:
        for at in range(before.size):
            relink(s, pool.records[at], before[at])
    return kept


@inner
def relink(s, i, cell):
    """Move a record to another cell."""
    if s.group[i] != cell:
        unlink(s, i)
        link(s, i, cell)


@kernel
def repack_diverse(candidates, q, around, numbers, most, chance, kicks, work, until):
    """Choose cells anew around some candidates, as `repack` does, under the limits of q; return the gain.

    `work` counts what is looked at; there are no more pools once it is at least `until`.
    """
    scratch = make_repacking_scratch(candidates.cost.size)
    gained = 0.0
    for turn in range(around.size):
        if work[0] >= until:
            break
        cells = owners_of(candidates, around[turn], numbers[turn], most, scratch)
        if cells.size < 2:
            continue
        pool, choice, cost = make_cell_pool(candidates, q.k, cells, chance, scratch)
        limits = make_limits(candidates, q, pool, choice, scratch, work)
        best, least = improve_diverse(pool, limits, q, choice, cost)
        for kick in kicks[turn]:
            other = best
            for random in kick:
                rival = random % pool.rivals.size
                other = flip(other, rival) if has(limits.able[0], rival) else other
            other, found = improve_diverse(pool, limits, q, other, np.inf)
            if found < least - GAIN:
                best, least = other, found
        if least < cost - GAIN:
            price = price_diverse(pool, limits, q, best, np.inf)
            if price < cost - GAIN and move(candidates, q, pool, limits):
                gained += cost - price
        for rival in pool.rivals:
            scratch.rival[rival] = -1
    return gained
