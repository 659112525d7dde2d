"""Top-down splitting between far seeds (XU06 §4.2): segments parted again and again, groups below k repaired."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import copy_column, equal_columns, least_at, taken, taken_columns
from shoal.kernels.shared.forms import (
    closure_cost,
    open_closure,
    total_cost,
    value_cost,
    widen_closure,
)
from shoal.kernels.shared.groups import cover_costs, totals_with_each, totals_with_group
from shoal.kernels.shared.state import close, link, members_of, merge, unlink

EPSILON = 1e-9  # costs that differ by less than this count as equal


@bundle
class Segments(NamedTuple):
    """A stack of segments that are still to be parted, and the groups made so far."""

    order: np.ndarray  # int64[n], the records; a segment is a stretch of it
    stack: np.ndarray  # int64[n + 1, 2], where in `order` each segment begins and ends
    depth: np.ndarray  # int64[1], the number of segments on the stack
    group: np.ndarray  # int32[n], the group of each record, −1 for none yet
    groups: np.ndarray  # int64[1], the number of groups so far


def make_segments(order):
    """Make a stack that holds the whole order as one segment."""
    stack = np.empty((order.size + 1, 2), np.int64)
    stack[0] = 0, order.size
    group = np.full(order.size, -1, np.int32)
    return Segments(
        order=order,
        stack=stack,
        depth=np.ones(1, np.int64),
        group=group,
        groups=np.zeros(1, np.int64),
    )


@allocating
def take_segment(segments):
    """Take the segment on top of the stack and return its records; `keep_whole` or `part_segment` must follow."""
    segments.depth[0] -= 1
    low, high = segments.stack[segments.depth[0], 0], segments.stack[segments.depth[0], 1]
    return segments.order[low:high].copy()


@inner
def keep_whole(segments, segment):
    """Make a group of the segment just taken."""
    for i in segment:
        segments.group[i] = segments.groups[0]
    segments.groups[0] += 1


@inner
def part_segment(segments, segment, side):
    """Put both sides of the segment just taken on the stack, side 0 on top; side[i] is 0 or 1."""
    depth = segments.depth[0]
    low, high = segments.stack[depth, 0], segments.stack[depth, 1]
    middle = low
    for at in range(segment.size):
        if side[at] == 0:
            segments.order[middle] = segment[at]
            middle += 1
    end = middle
    for at in range(segment.size):
        if side[at] == 1:
            segments.order[end] = segment[at]
            end += 1
    segments.stack[depth, 0], segments.stack[depth, 1] = middle, high
    segments.stack[depth + 1, 0], segments.stack[depth + 1, 1] = low, middle
    segments.depth[0] += 2


@inner
def better_side(more, sizes):
    """Return the side, 0 or 1, that costs less, if side 1 costs `more` than side 0; the smaller side in a tie."""
    if abs(more) <= EPSILON:
        return 0 if sizes[0] <= sizes[1] else 1
    return 0 if more > 0.0 else 1


ROUNDS = 3  # steps from one record to the farthest in the search for seeds
LONGEST = 512  # records whose costs are computed ahead of time, at most


@kernel
def own_costs(c, codes, classes):
    """Return what each record costs in a group of its own: 0 except for `mi`, `pmi` and `wmi`, which have constants."""
    own = np.zeros(classes.size)
    for i in range(classes.size):
        for j in range(c.form.size):
            own[i] += value_cost(c, classes[i], j, codes[i, j])
    return own


@inner
def first_least(values):
    """Return the first place whose value equals the least one, up to rounding."""
    least = values[least_at(values, 0, values.size)]
    place = 0
    while values[place] > least + EPSILON:
        place += 1
    return place


@allocating
def find_seeds(c, pairs, columns, classes, own):
    """Return two records far apart: a record farthest from the first one, then one farthest from that, and so on.

    The farthest is the one whose common closure adds most cost. If both numbers are equal, no such pair was found.
    """
    closure = np.empty((c.slot[-1], 1), np.int32)
    counts = np.zeros((c.cost.shape[0], 1))
    added, scratch = np.empty(classes.size), np.empty(classes.size)
    other, seed = 0, 0
    for _ in range(ROUNDS):
        open_closure(c, closure, 0, columns[:, seed])
        counts[:] = 0.0
        counts[classes[seed], 0] = 1.0
        totals_with_each(
            c, pairs, columns, classes, classes.size, closure, counts, 0, added, scratch
        )
        for i in range(classes.size):
            added[i] = own[seed] + own[i] - added[i]
        far = first_least(added)
        if added[far] > -EPSILON:
            return seed, seed
        other, seed = seed, far
    return other, seed


@allocating
def part_by_seeds(c, pairs, codes, classes, own, segment):
    """Return the side, 0 or 1, of every record of a segment; all 0 if no seeds were found.

    In the order of the segment, each record joins the side to which it adds less cost; if it adds the same to both,
    the smaller side, and side 0 if they are equally large.
    """
    size = segment.size
    side = np.zeros(size, np.int8)
    columns = taken_columns(codes, segment)
    classes, own = taken(classes, segment), taken(own, segment)
    seeds = find_seeds(c, pairs, columns, classes, own)
    if seeds[0] == seeds[1]:
        return side
    closures, before = np.empty((c.slot[-1], 2), np.int32), np.empty((c.slot[-1], 1), np.int32)
    counts = np.zeros((c.cost.shape[0], 2))
    sizes, cost, joined = np.empty(2, np.int64), np.empty(2), np.empty(2)
    start, stop, reach = np.zeros(2, np.int64), np.zeros(2, np.int64), np.empty(2, np.int64)
    for g in range(2):
        sizes[g], reach[g] = 1, 1
        open_closure(c, closures, g, columns[:, seeds[g]])
        counts[classes[seeds[g]], g] = 1.0
        cost[g] = own[seeds[g]]
        side[seeds[g]] = g
    # Costs with each of the next records stay valid until the closure widens. They are computed ahead for the
    # next `reach` records, which doubles while the closure stays the same.
    ahead = np.empty((2, counts.shape[0], min(LONGEST, size)))
    for i in range(size):
        if i == seeds[0] or i == seeds[1]:
            continue
        y = classes[i]
        for g in range(2):
            if i >= stop[g]:
                reach[g] = min(2 * reach[g], ahead.shape[2])
                start[g], stop[g] = i, min(size, i + reach[g])
                for z in range(counts.shape[0]):
                    cover_costs(c, pairs, columns[:, i:], stop[g] - i, closures, g, z, ahead[g, z])
            joined[g] = ahead[g, y, i - start[g]]
            for z in range(counts.shape[0]):
                joined[g] += counts[z, g] * ahead[g, z, i - start[g]]
        g = better_side((joined[1] - cost[1]) - (joined[0] - cost[0]), sizes)
        copy_column(closures, g, before, 0)
        widen_closure(c, closures, g, columns[:, i])
        if not equal_columns(closures, g, before, 0):
            stop[g], reach[g] = 0, 4
        counts[y, g] += 1.0
        cost[g] = joined[g]
        sizes[g] += 1
        side[i] = g
    return side


@kernel
def split_top_down(c, pairs, codes, classes, own, segments, k, work):
    """Part segments until none is left or `work` records were handled.

    A segment becomes a group if it has at most k records, if it has no seeds, or if both of its sides would be
    below k.
    """
    while segments.depth[0] > 0 and work > 0:
        segment = take_segment(segments)
        work -= segment.size
        side = np.zeros(segment.size, np.int8)
        if segment.size > k:
            side = part_by_seeds(c, pairs, codes, classes, own, segment)
        second = 0
        for g in side:
            second += g
        if second == 0 or max(second, segment.size - second) < k:
            keep_whole(segments, segment)
        else:
            part_segment(segments, segment, side)


@allocating
def pick_records(c, pairs, s, codes, classes, g, h, need):
    """Choose `need` records of group h for group g, one after the other the one that adds least cost.

    Returns (records, by how much the costs of both groups together change).
    """
    members = members_of(s, h)
    columns, member_classes = taken_columns(codes, members), taken(classes, members)
    closure, counts = s.closures[:, g : g + 1].copy(), s.counts[:, g : g + 1].copy()
    leaves = np.empty(counts.shape[0])
    for y in range(leaves.size):
        leaves[y] = closure_cost(c, y, s.closures, h)
    added, scratch = np.empty(members.size), np.empty(members.size)
    before, picked = np.empty(closure.shape, np.int32), np.zeros(members.size, np.bool_)
    stale = True
    for _ in range(need):
        if stale:
            totals_with_each(
                c, pairs, columns, member_classes, members.size, closure, counts, 0, added, scratch
            )
            for at in range(members.size):
                added[at] = np.inf if picked[at] else added[at] - leaves[member_classes[at]]
        at = first_least(added)
        picked[at], added[at] = True, np.inf
        copy_column(closure, 0, before, 0)
        widen_closure(c, closure, 0, columns[:, at])
        counts[member_classes[at], 0] += 1.0
        stale = leaves.size > 1 or not equal_columns(closure, 0, before, 0)
    change = total_cost(c, closure, counts, 0) - s.cost[g] - s.cost[h]
    for y in range(leaves.size):
        counts[y, 0] = s.counts[y, g] + s.counts[y, h] - counts[y, 0]
    records, found, first = np.empty(need, np.int64), 0, True
    for at in range(members.size):
        if picked[at]:
            records[found] = members[at]
            found += 1
        elif first:
            open_closure(c, closure, 0, columns[:, at])
            first = False
        else:
            widen_closure(c, closure, 0, columns[:, at])
    return records, change + total_cost(c, closure, counts, 0)


@inner
def move_to_group(c, s, codes, classes, records, g):
    """Move some records, all of one group, to group g."""
    h = s.group[records[0]]
    for i in records:
        unlink(s, i)
        link(s, i, g)
        s.counts[classes[i], h] -= 1.0
        s.counts[classes[i], g] += 1.0
    close(c, s, codes, g)
    close(c, s, codes, h)


@allocating
def repair_group(c, pairs, s, codes, classes, k, candidates, g, row, scratch):
    """Bring group g, which is below k, up to k with records of another group, or merge it with the nearest one.

    Whichever costs less is done. Taking records is tried with the `candidates` groups for which it promises to cost
    least, among those that can spare enough. `row` and `scratch`, float64[groups], are scratch.
    """
    room = s.size.size
    need = k - s.size[g]
    totals_with_group(c, pairs, s.closures, s.counts, room, g, row, scratch)
    for h in range(room):
        if h != g and s.size[h] >= k + need:
            share = row[h] / (s.size[g] + s.size[h])
            scratch[h] = k * share - need * s.cost[h] / s.size[h]
        else:
            scratch[h] = np.inf
        row[h] = row[h] - s.cost[h] if h != g and s.size[h] > 0 else np.inf
    nearest = first_least(row)
    least = row[nearest] - s.cost[g] + 2 * EPSILON  # taking wins a tie
    best = np.empty(0, np.int64)
    for _ in range(candidates):
        h = first_least(scratch)
        if scratch[h] == np.inf:
            break
        scratch[h] = np.inf
        records, change = pick_records(c, pairs, s, codes, classes, g, h, need)
        if change < least - EPSILON:
            best, least = records, change
    if best.size > 0:
        move_to_group(c, s, codes, classes, best, g)
    else:
        merge(c, s, g, nearest)


@kernel
def repair_groups(c, pairs, s, codes, classes, k, candidates, groups):
    """Bring each of `groups` that is below k, and was not merged away meanwhile, up to k."""
    row, scratch = np.empty(s.size.size), np.empty(s.size.size)
    for g in groups:
        while 0 < s.size[g] < k:
            repair_group(c, pairs, s, codes, classes, k, candidates, g, row, scratch)
