"""Chains of moves: every group on the way takes in a record of the one before and passes one of its own on."""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels.reach import NONE, find_supplies, holds
from shoal.kernels.search import GAIN, keep_if_better, transfer


@njit(cache=True)
def shift_chains(x, w):
    """Shift records along chains from dear groups to cheap ones while that gains; returns the number of chains."""
    origin = np.empty(x.s.size.size, np.int32)
    shifted, before = 0, -1
    while shifted > before:
        before = shifted
        find_supplies(x, w)
        for g in range(origin.size):
            origin[g] = x.s.group[w.via[g]] if w.via[g] != NONE else NONE
        gain = w.value - w.price
        for g in np.argsort(-gain):
            if gain[g] <= GAIN:
                break
            if x.s.size[g] > 0 and is_open(x, w, g, origin):
                to = g
                while to != w.source[g]:
                    transfer(x, w.via[to], to)
                    to = origin[to]
                shifted += keep_if_better(x) > 0.0
    return shifted


@njit(cache=True)
def is_open(x, w, g, origin):
    """Whether the chain to group g is as it was found."""
    source = w.source[g]
    if source == g or x.s.size[source] <= x.q.k:
        return False
    while g != source:
        if x.s.group[w.via[g]] != origin[g]:
            return False
        g = origin[g]
    return True


@njit(cache=True)
def pull(x, w, g, least):
    """Bring a record into group g along a chain from the dearest group that can spare one and costs over `least`.

    The moves are part of the change under way. Returns what the group pays that gave the first record, −inf if there
    is none.
    """
    s = x.s
    w.clock[0] += 1
    w.seen[g] = w.clock[0]
    w.queue[0] = g
    head, tail = 0, 1
    best, most = NONE, least
    while head < tail and most < w.value[g] - GAIN:
        to = w.queue[head]
        head += 1
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
        return -np.inf
    while best != g:
        to = w.next[best]
        transfer(x, w.gives[best], to)
        best = to
    return most
