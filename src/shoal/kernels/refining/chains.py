"""Chains of moves (augmenting paths): every group on the way takes in a record and passes one of its own on."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.refining.reach import NONE, holds, supply_groups
from shoal.kernels.refining.search import (
    GAIN,
    can_spare,
    keep_if_better,
    may_exchange,
    transfer,
)
from shoal.kernels.shared.arrays import order_of
from shoal.kernels.shared.state import stays_diverse_with

ROUNDS = 8  # at most this many times all supplies are found anew
ENOUGH = 0.5  # a search for a chain ends at this share of the best possible gain
MOST_PAIRS = 3_000  # pairs of a group and a point that one search for a chain looks at
MOST_SEARCHES = 1_000  # searches for a chain in one call


@kernel
def shift_chains(x, reach):
    """Shift records along chains from expensive groups to cheap ones while that gains; return the number of chains.

    A chain that an earlier one has broken is searched for anew, up to MOST_SEARCHES times in all.
    """
    shifted, searches = 0, 0
    less = np.empty(reach.value.size)
    for _ in range(ROUNDS):
        before = shifted
        supply_groups(x, reach)
        for g in range(less.size):
            less[g] = -(reach.value[g] - reach.price[g])
        for g in order_of(less):
            gain = -less[g]
            if gain <= GAIN:
                break
            if is_open(x, reach, g):
                if stays_diverse_with(x.q, x.s, reach.via[g], g):
                    draw(x, reach, g)
            elif x.s.size[g] > 0 and reach.source[g] != g and searches < MOST_SEARCHES:
                pull(x, reach, g, reach.price[g] + GAIN, reach.price[g] + ENOUGH * gain)
                searches += 1
            shifted += keep_if_better(x) > 0.0
        if shifted == before:
            break
    return shifted


@inner
def is_open(x, reach, g):
    """Return whether the stored chain of group g's supply (augmenting path) is still valid."""
    source = reach.source[g]
    if source == NONE or source == g or x.s.size[source] <= x.q.k:
        return False
    while g != source:
        if x.s.group[reach.via[g]] != reach.origin[g]:
            return False
        g = reach.origin[g]
    return True


@inner
def draw(x, reach, g):
    """Bring a record into group g along the stored chain of its supply, as part of the change."""
    source = reach.source[g]
    while g != source:
        to, g = g, reach.origin[g]
        transfer(x, reach.via[to], to)


@inner
def may_enter(x, reach, g, to, i):
    """Return whether group `to` keeps all limits with record i: at the end g of a chain, or as it gives up another."""
    if to == g:
        return stays_diverse_with(x.q, x.s, i, g)
    return may_exchange(x, to, reach.gives[to], i)


@inner
def pull(x, reach, g, least, enough):
    """Search a chain that brings a record into group g, and move records along it as part of the change.

    The chain must start at a group of more than k records whose price is above `least`. The search goes backwards
    from g, breadth first; it ends at a group whose price reaches `enough`, or else takes the most expensive one
    among MOST_PAIRS pairs. Returns whether a chain was found.
    """
    s = x.s
    reach.clock[0] += 1
    reach.seen[g] = reach.clock[0]
    reach.queue[0] = g
    head, tail = 0, 1
    best, most, pairs = NONE, least, 0
    while head < tail and most < enough and pairs < MOST_PAIRS:
        to = reach.queue[head]
        head += 1
        pairs += reach.end[to] - reach.begin[to]
        for pair in range(reach.begin[to], reach.end[to]):
            p = reach.covered[pair]
            if reach.passed[p] == reach.clock[0]:
                continue
            reach.passed[p] = reach.clock[0]
            for at in range(reach.first[p], reach.first[p + 1]):
                i = reach.records[at]
                h = s.group[i]
                if (
                    reach.seen[h] != reach.clock[0]
                    and holds(x, reach, to, p)
                    and may_enter(x, reach, g, to, i)
                ):
                    reach.seen[h] = reach.clock[0]
                    reach.gives[h] = i
                    reach.next[h] = to
                    reach.queue[tail] = h
                    tail += 1
                    if reach.price[h] > most and can_spare(x, i):
                        best, most = h, reach.price[h]
    if best == NONE:
        return False
    while best != g:
        to = reach.next[best]
        transfer(x, reach.gives[best], to)
        best = to
    return True
