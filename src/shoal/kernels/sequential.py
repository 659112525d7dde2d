"""Sequential clustering (GT10 Algs. 1 and 2): a pass of moves, and starts that keep to the requirement."""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels.rows import totals_with_record
from shoal.kernels.rules import shortfall
from shoal.kernels.state import (
    add,
    cost_without,
    remove,
    stays_diverse_with,
    stays_diverse_without,
)


@njit(cache=True)
def sequential_pass(c, pairs, q, s, codes, classes, monotone, start, stop):
    """Go over the records start..stop once, moving each where it costs least; returns the number of moves.

    A record moves if that gains, or if it is alone, and if both groups go on keeping all limits but k. Where
    joining a group never saves anything (`monotone`), records whose leaving saves nothing stay without being
    weighed against all groups.
    """
    room, is_limited = s.size.size, s.values.shape[1] > 0
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((s.closures.shape[0], 1), np.int32)
    counts = np.empty((s.counts.shape[0], 1))
    moves = 0
    for i in range(start, stop):
        if is_limited and not stays_diverse_without(q, s, i):
            continue
        own = s.group[i]
        alone = s.size[own] == 1
        saved = s.cost[own] - cost_without(c, s, codes, classes, i, closure, counts)
        if monotone and saved <= 1e-9 and not alone:
            continue
        totals_with_record(
            c, pairs, s.closures, s.counts, room, codes[i], classes[i], added, scratch
        )
        for g in range(room):
            added[g] = added[g] - s.cost[g] if s.size[g] > 0 else np.inf
        added[own] = np.inf
        if is_limited:
            best = best_open(q, s, i, added, np.inf if alone else saved - 1e-9)
        else:
            best = np.argmin(added)
        if best >= 0 and (added[best] < saved - 1e-9 or (alone and added[best] < np.inf)):
            remove(c, s, codes, classes, i)
            add(c, s, codes, classes, i, best)
            moves += 1
    return moves


@njit(cache=True)
def best_open(q, s, i, added, least):
    """The group to which record i adds least, and less than `least`, among those it does no harm; -1 for none."""
    best = -1
    for g in range(added.size):
        if added[g] < least and stays_diverse_with(q, s, i, g):
            best, least = g, added[g]
    return best


@njit(cache=True)
def unite_offenders(q, groups, tally, sizes, tries, rng):
    """Unite groups that miss a limit other than k with others until none is left, in place; returns their number.

    Each goes with that of a few random groups (`tries`) whose union is closest to the limits, the smallest of
    equals: two groups that lack the same stay wrong together, and one that has it to spare is soon found.
    """
    count = sizes.size
    into = np.arange(count)  # where a group's records are now; present ones come first in `present`
    present = np.arange(count)
    place = np.arange(count)
    left = count
    united = np.empty(tally.shape[1], tally.dtype)
    found = 0
    for a in range(count):
        first = True
        while into[a] == a and left > 1 and shortfall(q, tally[a], sizes[a]) > 0.0:
            found += first
            first = False
            best, least = -1, np.inf
            for _ in range(min(tries, 4 * left)):
                b = present[int(rng.random() * left)]
                if b == a:
                    continue
                united[:] = tally[a] + tally[b]
                lack = shortfall(q, united, sizes[a] + sizes[b])
                if lack < least or (lack == least and sizes[b] < sizes[best]):
                    best, least = b, lack
            if best < 0:
                continue
            tally[a] += tally[best]
            sizes[a] += sizes[best]
            into[best] = a
            left -= 1
            last = present[left]
            present[place[best]], place[last] = last, place[best]
    for g in range(count):
        root = g
        while into[root] != root:
            root = into[root]
        into[g] = root
    for i in range(groups.size):
        groups[i] = into[groups[i]]
    return found
