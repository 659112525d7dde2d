"""What a choice of cells costs where more than k is required; see `diverse_repacking`.

A choice costs what it costs with k alone, and more: a cell whose records do not keep the limits draws records of the
values that it lacks from other cells, and if that does not suffice it sheds records of values that it has too many of.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import inner
from shoal.kernels.refining.diverse_base import cost_at, cost_near_base, place
from shoal.kernels.refining.repacking import ELSEWHERE, RIVALS, cheapest
from shoal.kernels.shared.rules import (
    complies,
    is_diverse,
    lacking_with,
    shortfall,
    tally_shortfall,
)

LITTLE = 1e-12  # differences of what is lacking below this are rounding


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
def price_diverse(pool, limits, q, choice, limit):
    """Return what a choice costs the pool, or any number not below `limit`; pool.chosen then says who goes where."""
    total = cost_near_base(pool, limits, choice)
    for turn in range(limits.opened[0]):
        if total >= limit:
            break
        rival = limits.open[RIVALS - 1 - turn]
        if not complies(q, limits.tally[rival], pool.size[rival]):
            total += draw_values(pool, limits, q, rival, limit - total)
            if total < limit and not complies(q, limits.tally[rival], pool.size[rival]):
                total += shed(pool, limits, q, choice, rival, limit - total)
    return total


@inner
def can_give(pool, limits, q, rival, other, at):
    """Return whether a record may leave a rival: that still complies then, or it lacks something and is yet to come.

    What was found out for a value is kept in `gives`, which the caller sets to −1 whenever the other rival changes.
    """
    if other == ELSEWHERE:
        return True
    if pool.size[other] <= q.k:
        return False
    last = limits.values[at, limits.values.shape[1] - 1]
    if limits.gives[last] >= 0:
        return limits.gives[last] > 0
    counts, size = limits.tally[other], pool.size[other]
    keeps = other > rival and not is_diverse(q, counts, size)
    if not keeps:
        for t in range(limits.values.shape[1]):
            counts[limits.values[at, t]] -= 1
        keeps = is_diverse(q, counts, size - 1)
        for t in range(limits.values.shape[1]):
            counts[limits.values[at, t]] += 1
    if limits.values.shape[1] == 1:
        limits.gives[last] = 1 if keeps else 0
    return keeps


@inner
def list_near(pool, limits, rival):
    """List the records that lie in a rival and go to others, by these, the most expensive first; return how many.

    Those that go to no rival of the pool come last. pool.drawn[other] is where the records of each begin in
    limits.near, and pool.shared[other] how many they are.
    """
    base, number, others = limits.base, 0, limits.open[RIVALS - limits.opened[0] :]
    for other in others:
        pool.shared[other] = 0
    for at in base.inside[base.begin[rival] : base.begin[rival + 1]]:
        pool.shared[pool.chosen[at]] += 1
    pool.shared[rival] = 0
    for other in others:
        pool.drawn[other] = number
        number += pool.shared[other]
    for at in base.inside[base.begin[rival] : base.begin[rival + 1]]:
        other = pool.chosen[at]
        if other != rival:
            limits.near[pool.drawn[other]] = at
            pool.drawn[other] += 1
    for other in others:
        pool.drawn[other] -= pool.shared[other]
    return number


@inner
def draw_values(pool, limits, q, rival, most):
    """Let a rival draw records that bring it closer to the requirement; return how much more they pay.

    Records come from the most expensive rivals first, and last from outside the pool: first those that bring it
    closer to its limits, then others up to k. Infinite if too few are left to reach k.
    """
    more, number = 0.0, list_near(pool, limits, rival)
    limits.work[0] += number
    if pool.size[rival] + number < q.k:
        return np.inf
    counts = limits.tally[rival]
    short = shortfall(q, counts, max(1, pool.size[rival]))
    lack = max(0, q.k - pool.size[rival]) / q.k + short
    for strict in (True, False):
        if strict and short <= 0.0:
            continue
        limits.kept[:] = -1.0
        for other in limits.open[RIVALS - limits.opened[0] :]:
            if pool.shared[other] == 0 or (other != ELSEWHERE and pool.size[other] <= q.k):
                continue
            limits.work[0] += pool.shared[other]
            limits.gives[:] = -1
            first = pool.drawn[other]
            for at in limits.near[first : first + pool.shared[other]]:
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
                limits.gives[:] = -1
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
def shed(pool, limits, q, choice, rival, most):
    """Let records leave a rival that has too many of their value; return how much more they pay.

    They go to the next cheapest chosen rival, whose turn is to come, or outside. Infinite if that does not suffice; it
    ends as soon as they pay `most`.
    """
    after = choice & ~((np.uint64(2) << np.uint64(rival)) - np.uint64(1))
    near, number, more, base = limits.near, 0, 0.0, limits.base
    for at in base.inside[base.begin[rival] : base.begin[rival + 1]]:
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
    for turn in range(limits.opened[0] + 1):
        target = limits.open[RIVALS - 1 - turn] if turn < limits.opened[0] else ELSEWHERE
        if target <= rival:
            continue
        limits.work[0] += number
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
            if lack <= 0.0 or more >= most:
                return more
    return np.inf
