"""Merge the closest groups again and again until none is too small (GT10 §6.2.1), with cached nearest neighbours."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import inner, unrolled
from shoal.kernels.shared.arrays import least_at
from shoal.kernels.shared.groups import totals_with_group, totals_with_record
from shoal.kernels.shared.state import (
    add,
    cost_without,
    group_complies,
    merge,
    remove,
    stays_diverse_with,
    stays_diverse_without,
)

# Distances of two groups: by how much merging raises the total cost, the same per record, or the union's cost.
DIFFERENCE, PER_RECORD, UNION = 0, 1, 2


@inner
def group_distances(c, pairs, s, room, a, kind, out, scratch):
    """Fill `out` with the distances of group a to the first `room` groups; infinite to itself and free groups."""
    totals_with_group(c, pairs, s.closures, s.counts, room, a, out, scratch)
    for g in range(room):
        if s.size[g] == 0:
            out[g] = np.inf
        elif kind == DIFFERENCE:
            out[g] -= s.cost[g] + s.cost[a]
        elif kind == PER_RECORD:
            out[g] = (out[g] - s.cost[g] - s.cost[a]) / (s.size[g] + s.size[a])
    out[a] = np.inf


@inner
def nearest(c, pairs, s, room, a, kind, allowed, out, scratch):
    """Return the allowed group closest to a, the one of lowest number among equals, and its distance."""
    group_distances(c, pairs, s, room, a, kind, out, scratch)
    best, least = -1, np.inf
    for g in range(room):
        if out[g] < least and allowed[g]:
            best, least = g, out[g]
    return best, least


@unrolled
def all_nearest(c, pairs, s, room, kind, allowed, chooses, near, gap):
    """Fill near[a] and gap[a] with the closest group and its distance, for every group a with chooses[a]."""
    out, scratch = np.empty(room), np.empty(room)
    for a in range(room):
        if chooses[a]:
            near[a], gap[a] = nearest(c, pairs, s, room, a, kind, allowed, out, scratch)


@unrolled
def merge_closest(c, pairs, q, s, room, kind, small_only, near, gap, stale, steps):
    """Merge the closest pair of groups, one of them small, up to `steps` times; return the number of merges.

    A group is small while it does not meet the requirement. near[g] and gap[g] are the closest group of a small
    group g and its distance (infinite gap: g is not small). When the closest group is merged away, the old distance
    is still a lower bound; so g is only marked as stale, and its neighbour is searched anew once g comes first.
    With `small_only`, both groups of a pair must be small.
    """
    out, scratch = np.empty(room), np.empty(room)
    allowed = np.empty(room, np.bool_)
    for g in range(room):
        allowed[g] = s.size[g] > 0 and not (small_only and group_complies(q, s, g))
    done = 0
    while done < steps:
        a = least_at(gap, 0, room)
        if gap[a] == np.inf:
            break
        if stale[a]:
            near[a], gap[a] = nearest(c, pairs, s, room, a, kind, allowed, out, scratch)
            stale[a] = False
            continue
        b = near[a]
        if b < 0:
            break
        if b < a:
            a, b = b, a
        merge(c, s, a, b)
        done += 1
        allowed[b] = False
        gap[b] = np.inf
        large = group_complies(q, s, a)
        if large:
            gap[a] = np.inf
            allowed[a] = not small_only
        group_distances(c, pairs, s, room, a, kind, out, scratch)
        best, least = -1, np.inf
        for g in range(room):
            if g == a or s.size[g] == 0:
                continue
            if allowed[g] and out[g] < least:
                best, least = g, out[g]
            if gap[g] == np.inf:
                continue
            gone = near[g] == a or near[g] == b
            closer = out[g] < gap[g] or (
                out[g] == gap[g] and not stale[g] and (gone or a < near[g])
            )
            if allowed[a] and closer:
                near[g], gap[g], stale[g] = a, out[g], False
            elif gone:
                stale[g] = True
        if not large:
            near[a], gap[a], stale[a] = best, least, False
    return done


@unrolled
def merge_round(c, pairs, q, s, kind, start, stop):
    """Merge each of the groups start..stop that does not meet the requirement with its closest group, in order."""
    room = s.size.size
    out, scratch = np.empty(room), np.empty(room)
    allowed = s.size > 0
    for a in range(start, stop):
        if s.size[a] == 0 or group_complies(q, s, a):
            continue
        b, _ = nearest(c, pairs, s, room, a, kind, allowed, out, scratch)
        if b >= 0:
            merge(c, s, a, b)
            allowed[b] = False


@unrolled
def sequential_pass(c, pairs, q, s, codes, classes, monotone, firm, start, stop):
    """Go over the records start..stop once, and move each to where it costs least; return the number of moves.

    A record moves if that gains or if it is alone in its group, provided that both groups, if they then have at
    least `firm` records, keep all limits except k. If joining a group never saves anything (`monotone`), a record
    that saves nothing by leaving stays, and is not tried in all groups.
    """
    room, is_limited = s.size.size, s.values.shape[1] > 0
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((s.closures.shape[0], 1), np.int32)
    counts = np.empty((s.counts.shape[0], 1))
    moves = 0
    for i in range(start, stop):
        own = s.group[i]
        if is_limited and s.size[own] > firm and not stays_diverse_without(q, s, i):
            continue
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
            best = best_open(q, s, firm, i, added, np.inf if alone else saved - 1e-9)
        else:
            best = least_at(added, 0, room)
        if best >= 0 and (added[best] < saved - 1e-9 or (alone and added[best] < np.inf)):
            remove(c, s, codes, classes, i)
            add(c, s, codes, classes, i, best)
            moves += 1
    return moves


@inner
def best_open(q, s, firm, i, added, least):
    """Return the group to which record i adds least, below `least`, without breaking a limit; -1 for none.

    A group that has fewer than `firm` records with i need not keep the limits.
    """
    best = -1
    for g in range(added.size):
        if added[g] < least and (s.size[g] + 1 < firm or stays_diverse_with(q, s, i, g)):
            best, least = g, added[g]
    return best
