"""Where the records of a pool go by cost alone, for choices of cells that differ little; see `diverse_pricing`.

Choices that are tried differ from the present one by a cell or two, so that most records go where they went before:
where they go by cost alone is kept for one choice, and only records of cells that differ are looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner
from shoal.kernels.refining.repacking import ELSEWHERE, RIVALS, cheapest, flip, has
from shoal.kernels.shared.rules import (
    complies,
    is_diverse,
    lacking_with,
    shortfall,
    tally_shortfall,
)


@bundle
class Base(NamedTuple):
    """Where the records of a pool go under some choice by cost alone, before any cell draws or sheds."""

    choice: np.ndarray  # uint64[1], the choice
    cost: np.ndarray  # float64[1], the cost of all records that have a place
    homeless: np.ndarray  # int64[1], records that have none
    chosen: np.ndarray  # int64[m], size and tally are as in `Pool` and `Limits`
    size: np.ndarray  # int64[RIVALS + 1]
    tally: np.ndarray  # int32[RIVALS + 1, values]
    begin: (
        np.ndarray
    )  # int64[rivals + 1], where the records that lie in each rival begin in `inside`
    inside: np.ndarray  # int64[pairs], records, by rival


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
    gives: np.ndarray  # int8[values], scratch, see `can_give`
    # int64[RIVALS + 1], at its end the rivals of the choice that is priced, the most expensive first, and ELSEWHERE
    open: np.ndarray
    opened: np.ndarray  # int64[1], how many rivals these are
    base: Base


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


@allocating
def make_base(pool, tally):
    """Make room for a base, and list the records of each rival."""
    begin = np.zeros(pool.rivals.size + 1, np.int64)
    for within in pool.lies_in:
        while within != np.uint64(0):
            rival = cheapest(within)
            within = flip(within, rival)
            begin[rival + 1] += 1
    for rival in range(pool.rivals.size):
        begin[rival + 1] += begin[rival]
    inside, end = np.empty(begin[-1], np.int64), begin.copy()
    for at in range(pool.records.size):
        within = pool.lies_in[at]
        while within != np.uint64(0):
            rival = cheapest(within)
            within = flip(within, rival)
            inside[end[rival]] = at
            end[rival] += 1
    return Base(
        choice=np.zeros(1, np.uint64),
        cost=np.zeros(1),
        homeless=np.zeros(1, np.int64),
        chosen=np.empty(pool.records.size, np.int64),
        size=np.zeros(RIVALS + 1, np.int64),
        tally=np.zeros(tally.shape, np.int32),
        begin=begin,
        inside=inside,
    )


@inner
def goes_to(pool, at, choice):
    """Return the rival, or ELSEWHERE, that costs a record least."""
    within = pool.lies_in[at] & choice
    if within != np.uint64(0):
        first = cheapest(within)
        if pool.cost[first] < pool.outside[at]:
            return first
    return ELSEWHERE


@inner
def start_from(pool, limits, choice):
    """Make a choice the base."""
    base = limits.base
    for rival in range(RIVALS + 1):
        base.size[rival] = 0
        for v in range(base.tally.shape[1]):
            base.tally[rival, v] = 0
    base.choice[0], base.cost[0], base.homeless[0] = choice, 0.0, 0
    limits.work[0] += pool.records.size
    for at in range(pool.records.size):
        rival = goes_to(pool, at, choice)
        cost = cost_at(pool, at, rival)
        if cost < np.inf:
            base.cost[0] += cost
        else:
            base.homeless[0] += 1
        base.chosen[at] = rival
        base.size[rival] += 1
        for t in range(limits.values.shape[1]):
            base.tally[rival, limits.values[at, t]] += 1


@inner
def copy_base(pool, limits, choice):
    """Let all records go where they go in the base, and list the rivals of a choice, the most expensive first."""
    base = limits.base
    for at in range(pool.records.size):
        pool.chosen[at] = base.chosen[at]
    copy_counts(pool, limits, ELSEWHERE)
    left, end = choice | base.choice[0], 0
    while left != np.uint64(0):
        rival = cheapest(left)
        left = flip(left, rival)
        copy_counts(pool, limits, rival)
        if has(choice, rival):
            end += 1
            limits.open[RIVALS - end] = rival
    limits.opened[0] = end


@inner
def copy_counts(pool, limits, rival):
    """Bring the counts of a rival to those of the base."""
    pool.size[rival] = limits.base.size[rival]
    for v in range(limits.tally.shape[1]):
        limits.tally[rival, v] = limits.base.tally[rival, v]


@inner
def cost_near_base(pool, limits, choice):
    """Let all records go where they cost least, and return their cost."""
    base = limits.base
    copy_base(pool, limits, choice)
    cost, homeless, differing = base.cost[0], base.homeless[0], choice ^ base.choice[0]
    while differing != np.uint64(0):
        rival = cheapest(differing)
        differing = flip(differing, rival)
        limits.work[0] += base.begin[rival + 1] - base.begin[rival]
        for at in base.inside[base.begin[rival] : base.begin[rival + 1]]:
            old, new = pool.chosen[at], goes_to(pool, at, choice)
            if new != old:
                before, after = cost_at(pool, at, old), cost_at(pool, at, new)
                if before < np.inf:
                    cost -= before
                else:
                    homeless -= 1
                if after < np.inf:
                    cost += after
                else:
                    homeless += 1
                place(pool, limits, at, new)
    return cost if homeless == 0 else np.inf


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
