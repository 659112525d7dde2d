"""Chains of moves: every group on the way takes in a record of the one before and passes one of its own on."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.refining.reach import NONE, find_supplies, holds
from shoal.kernels.refining.search import GAIN, keep_if_better, transfer

ROUNDS = 8
ENOUGH = 0.5  # of what a chain could gain at best
MOST_PAIRS = 3_000  # that a search for a chain looks at
MOST_SEARCHES = 1_000


@kernel
def shift_chains(x, w):
    """Shift records along chains from dear groups to cheap ones while that gains; returns the number of chains.

    Chains that others have broken are searched for anew, so many times in all.
    """
    shifted, searches = 0, 0
    less = np.empty(w.value.size)
    for _ in range(ROUNDS):
        before = shifted
        find_supplies(x, w)
        for g in range(less.size):
            less[g] = -(w.value[g] - w.price[g])
        for g in np.argsort(less):
            gain = -less[g]
            if gain <= GAIN:
                break
            if is_open(x, w, g):
                draw(x, w, g)
            elif x.s.size[g] > 0 and w.source[g] != g and searches < MOST_SEARCHES:
                pull(x, w, g, w.price[g] + GAIN, w.price[g] + ENOUGH * gain)
                searches += 1
            shifted += keep_if_better(x) > 0.0
        if shifted == before:
            break
    return shifted


@inner
def is_open(x, w, g):
    """Whether the chain of group g's supply is as it was found."""
    source = w.source[g]
    if source == NONE or source == g or x.s.size[source] <= x.q.k:
        return False
    while g != source:
        if x.s.group[w.via[g]] != w.origin[g]:
            return False
        g = w.origin[g]
    return True


@inner
def draw(x, w, g):
    """Bring a record into group g along the chain of its supply, as part of the change under way."""
    source = w.source[g]
    while g != source:
        to, g = g, w.origin[g]
        transfer(x, w.via[to], to)


@inner
def pull(x, w, g, least, enough):
    """Bring a record into group g along a chain from a group that can spare one and costs over `least`.

    The search ends at one that costs `enough`, or else takes the dearest among those near. The moves are part of the
    change under way. Returns whether there is one.
    """
    s = x.s
    w.clock[0] += 1
    w.seen[g] = w.clock[0]
    w.queue[0] = g
    head, tail = 0, 1
    best, most, pairs = NONE, least, 0
    while head < tail and most < enough and pairs < MOST_PAIRS:
        to = w.queue[head]
        head += 1
        pairs += w.end[to] - w.begin[to]
        for e in range(w.begin[to], w.end[to]):
            p = w.covered[e]
            if w.passed[p] == w.clock[0]:
                continue
            w.passed[p] = w.clock[0]
            for at in range(w.first[p], w.first[p + 1]):
                i = w.records[at]
                h = s.group[i]
                if w.seen[h] != w.clock[0] and holds(x, w, to, p):
                    w.seen[h] = w.clock[0]
                    w.gives[h] = i
                    w.next[h] = to
                    w.queue[tail] = h
                    tail += 1
                    if s.size[h] > x.q.k and w.price[h] > most:
                        best, most = h, w.price[h]
    if best == NONE:
        return False
    while best != g:
        to = w.next[best]
        transfer(x, w.gives[best], to)
        best = to
    return True
