"""What a choice of cells costs where more than k is required; see `diverse_repacking`.

A choice costs what it costs with k alone, and more: a cell whose records do not keep the limits draws records of the
values that it lacks from other cells, and if that does not suffice it sheds records of values that it has too many of.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import inner
from shoal.kernels.refining.repacking import ELSEWHERE, RIVALS, cheapest, has
from shoal.kernels.shared.rules import (
    complies,
    is_diverse,
    lacking,
    lacking_with,
    shortfall,
    tally_shortfall,
)

LITTLE = 1e-12  # differences of what is lacking below this are rounding


@bundle
class Limits(NamedTuple):
    """The sensitive values of a pool's records, and how often they occur in the rivals of a choice."""

    values: np.ndarray  # int32[m, tallies], the values of each record
    tally: np.ndarray  # int32[RIVALS + 1, values], records of each value that go to each rival
    home: np.ndarray  # int64[m], the open cell outside the pool that each record would go to, or -1
    # uint64[1], a bit for each rival that can comply with records of the pool, as far as is known
    able: np.ndarray
    meets: np.ndarray  # uint64[RIVALS], by rival: a bit for each rival that shares records with it
    work: np.ndarray  # int64[1], records and values looked at so far
    near: np.ndarray  # int64[m], scratch: a list of records
    target: np.ndarray  # int64[m], scratch: where these would go
    kept: np.ndarray  # float64[values], scratch, see `lacking_with`


@inner
def can_comply(q, counts, size):
    """Return whether a group complies once records of its most excessive values have left, or may do so.

    With several tallies, a record counts in each of them, so that only one tally can be looked at: the counts of one
    say nothing about those of others, and the answer is yes.
    """
    if q.start.size != 2:
        return True
    near = q.distance[0] < np.inf  # then frequent values may be frequent
    while size >= q.k:
        if is_diverse(q, counts, size):
            return True
        top, most = 0, -np.inf
        for v in range(counts.size):
            extra = counts[v] - (q.share[v] * size if near else 0.0)
            if counts[v] > 0 and extra > most:
                top, most = v, extra
        counts[top] -= 1
        size -= 1
    return False


@inner
def place(pool, limits, at, rival):
    """Let a record of the pool go to another rival than before."""
    old = pool.chosen[at]
    for t in range(limits.values.shape[1]):
        limits.tally[old, limits.values[at, t]] -= 1
        limits.tally[rival, limits.values[at, t]] += 1
    pool.size[old] -= 1
    pool.size[rival] += 1
    pool.chosen[at] = rival


@inner
def cost_at(pool, at, rival):
    """Return what a record of the pool costs in a rival, or outside the pool."""
    return pool.outside[at] if rival == ELSEWHERE else pool.cost[rival]


@inner
def price_diverse(pool, limits, q, choice, limit):
    """Return what a choice costs the pool, or any number not below `limit`; pool.chosen then says who goes where."""
    for rival in range(RIVALS + 1):
        pool.size[rival] = 0
        if rival == ELSEWHERE or has(choice, rival):
            for v in range(limits.tally.shape[1]):
                limits.tally[rival, v] = 0
    total = 0.0
    limits.work[0] += pool.records.size
    for at in range(pool.records.size):
        within, rival, cost = pool.lies_in[at] & choice, ELSEWHERE, pool.outside[at]
        if within != np.uint64(0):
            first = cheapest(within)
            if pool.cost[first] < cost:
                rival, cost = first, pool.cost[first]
        total += cost
        pool.chosen[at] = rival
        pool.size[rival] += 1
        for t in range(limits.values.shape[1]):
            limits.tally[rival, limits.values[at, t]] += 1
    for rival in range(pool.rivals.size):
        if total >= limit:
            break
        if has(choice, rival) and not complies(q, limits.tally[rival], pool.size[rival]):
            total += draw_values(pool, limits, q, rival, limit - total)
            if total < limit and not complies(q, limits.tally[rival], pool.size[rival]):
                total += shed(pool, limits, q, choice, rival)
    return total


@inner
def can_give(pool, limits, q, rival, other, at):
    """Return whether a record may leave a rival: that still complies then, or it lacks something and is yet to come."""
    if other == ELSEWHERE:
        return True
    if pool.size[other] <= q.k:
        return False
    counts, size = limits.tally[other], pool.size[other]
    open_still = other > rival and not is_diverse(q, counts, size)
    for t in range(limits.values.shape[1]):
        counts[limits.values[at, t]] -= 1
    keeps = open_still or is_diverse(q, counts, size - 1)
    for t in range(limits.values.shape[1]):
        counts[limits.values[at, t]] += 1
    return keeps


@inner
def draw_values(pool, limits, q, rival, most):
    """Let a rival draw records that bring it closer to the requirement; return how much more they pay.

    Records come from the most expensive rivals first, and last from outside the pool: first those that bring it
    closer to its limits, then others up to k. Infinite if too few are left to reach k.
    """
    for other in range(RIVALS + 1):
        pool.shared[other] = 0
    near, number, more = limits.near, 0, 0.0
    for at in range(pool.records.size):
        if pool.chosen[at] != rival and has(pool.lies_in[at], rival):
            near[number] = at
            number += 1
            pool.shared[pool.chosen[at]] += 1
    if pool.size[rival] + number < q.k:
        return np.inf
    counts = limits.tally[rival]
    lack = lacking(q, counts, max(1, pool.size[rival]))
    for strict in (True, False):
        if strict and shortfall(q, counts, max(1, pool.size[rival])) <= 0.0:
            continue
        limits.kept[:] = -1.0
        for turn in range(pool.rivals.size + 1):
            other = pool.rivals.size - 1 - turn if turn < pool.rivals.size else ELSEWHERE
            if other == rival or pool.shared[other] == 0:
                continue
            limits.work[0] += number
            for at in near[:number]:
                if pool.chosen[at] != other:
                    continue
                size = pool.size[rival]
                now = lacking_with(q, limits.values, at, counts, size, limits.kept)
                step = 1.0 / q.k if strict and size < q.k else 0.0
                if now >= lack - step - LITTLE:
                    continue
                if not can_give(pool, limits, q, rival, other, at):
                    continue
                more += pool.cost[rival] - cost_at(pool, at, other)
                place(pool, limits, at, rival)
                limits.kept[:] = -1.0
                limits.work[0] += counts.size
                lack = now
                if lack <= 0.0 or more >= most:
                    return more
    return more if pool.size[rival] >= q.k else np.inf


@inner
def lacking_without(q, limits, at, counts, size, kept):
    """Return what `shortfall` says of a group once a record of it has left; `kept` is that of `lacking_with`."""
    total = 0.0
    for t in range(limits.values.shape[1]):
        v = limits.values[at, t]
        if kept[v] < 0.0:
            counts[v] -= 1
            kept[v] = tally_shortfall(q, t, counts, size - 1)
            counts[v] += 1
        total += kept[v]
    return total


@inner
def shed(pool, limits, q, choice, rival):
    """Let records leave a rival that has too many of their value; return how much more they pay.

    They go to the next cheapest chosen rival, whose turn is to come, or outside. Infinite if that does not suffice.
    """
    after = choice & ~((np.uint64(2) << np.uint64(rival)) - np.uint64(1))
    near, number, more = limits.near, 0, 0.0
    for at in range(pool.records.size):
        if pool.chosen[at] == rival:
            within, target = pool.lies_in[at] & after, ELSEWHERE
            if within != np.uint64(0):
                first = cheapest(within)
                target = first if pool.cost[first] <= pool.outside[at] else ELSEWHERE
            if target != ELSEWHERE or pool.outside[at] < np.inf:
                near[number], limits.target[number] = at, target
                number += 1
    counts = limits.tally[rival]
    lack = shortfall(q, counts, pool.size[rival])
    limits.kept[:] = -1.0
    for turn in range(rival + 1, pool.rivals.size + 1):
        limits.work[0] += number
        target = turn if turn < pool.rivals.size else ELSEWHERE
        for place_in_list in range(number):
            if limits.target[place_in_list] != target:
                continue
            if pool.size[rival] <= q.k:
                return np.inf
            at = near[place_in_list]
            now = lacking_without(q, limits, at, counts, pool.size[rival], limits.kept)
            if now >= lack - LITTLE:
                continue
            more += cost_at(pool, at, target) - pool.cost[rival]
            place(pool, limits, at, target)
            limits.kept[:] = -1.0
            limits.work[0] += counts.size
            lack = now
            if lack <= 0.0:
                return more
    return np.inf
