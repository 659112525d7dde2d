"""Where the records of a pool go by cost alone, for choices of cells that differ little; see `diverse_pricing`.

Choices that are tried differ from the present one by a cell or two, so that most records go where they went before:
where they go by cost alone is kept for one choice, and only records of cells that differ are looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import allocating, inner
from shoal.kernels.refining.repacking import ELSEWHERE, RIVALS, cheapest, flip, has


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
