"""Groups that change: members in linked lists, closures, counts and costs kept up to date."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.shared.arrays import sort_numbers
from shoal.kernels.shared.forms import join_closures, open_closure, total_cost, widen_closure
from shoal.kernels.shared.rules import complies, is_diverse


@bundle
class State(NamedTuple):
    """A partition in the making, with room for `size.size` groups; a group of size 0 is free."""

    group: np.ndarray  # int32[n], of each record, -1 for none
    head: np.ndarray  # int32[groups], first member, -1 for none
    after: np.ndarray  # int32[n], next member of the same group, -1 at the end
    before: np.ndarray  # int32[n]
    size: np.ndarray  # int64[groups]
    closures: np.ndarray  # int32[slots, groups]
    counts: np.ndarray  # float64[classes, groups]
    cost: np.ndarray  # float64[groups], of all members together
    values: np.ndarray  # int32[n, tallies], what each record counts as
    tally: np.ndarray  # int32[groups, values], records of each group by value


def make_state(c, values, tallied, room):
    """A state without groups; `tallied` is the number of values that are counted."""
    classes, records = c.cost.shape[0], values.shape[0]
    return State(
        group=np.full(records, -1, np.int32),
        head=np.full(room, -1, np.int32),
        after=np.full(records, -1, np.int32),
        before=np.full(records, -1, np.int32),
        size=np.zeros(room, np.int64),
        closures=np.zeros((c.slot[-1], room), np.int32),
        counts=np.zeros((classes, room)),
        cost=np.zeros(room),
        values=values,
        tally=np.zeros((room, tallied), np.int32),
    )


@inner
def link(s, i, g):
    """Make record i the first member of group g; closure and cost are left as they are."""
    s.after[i] = s.head[g]
    s.before[i] = -1
    if s.head[g] >= 0:
        s.before[s.head[g]] = i
    s.head[g] = i
    s.group[i] = g
    s.size[g] += 1
    for t in range(s.values.shape[1]):
        s.tally[g, s.values[i, t]] += 1


@inner
def unlink(s, i):
    """Take record i out of its group; closure and cost are left as they are."""
    g = s.group[i]
    if s.before[i] >= 0:
        s.after[s.before[i]] = s.after[i]
    else:
        s.head[g] = s.after[i]
    if s.after[i] >= 0:
        s.before[s.after[i]] = s.before[i]
    s.group[i] = -1
    s.size[g] -= 1
    for t in range(s.values.shape[1]):
        s.tally[g, s.values[i, t]] -= 1


@inner
def add(c, s, codes, classes, i, g):
    """Put record i into group g."""
    if s.size[g] == 0:
        open_closure(c, s.closures, g, codes[i])
        s.counts[:, g] = 0.0
    else:
        widen_closure(c, s.closures, g, codes[i])
    s.counts[classes[i], g] += 1.0
    link(s, i, g)
    s.cost[g] = total_cost(c, s.closures, s.counts, g)


@inner
def remove(c, s, codes, classes, i):
    """Take record i out of its group and close that again."""
    g = s.group[i]
    unlink(s, i)
    s.counts[classes[i], g] -= 1.0
    close(c, s, codes, g)


@inner
def close(c, s, codes, g):
    """Close group g anew from its members and cost it; counts must be right."""
    m = s.head[g]
    if m < 0:
        s.cost[g] = 0.0
        return
    open_closure(c, s.closures, g, codes[m])
    m = s.after[m]
    while m >= 0:
        widen_closure(c, s.closures, g, codes[m])
        m = s.after[m]
    s.cost[g] = total_cost(c, s.closures, s.counts, g)


@allocating
def cost_without(c, s, codes, classes, i, closure, counts):
    """Cost of record i's group if i left it; `closure` and `counts` are scratch for one group."""
    g = s.group[i]
    if s.size[g] == 1:
        return 0.0
    first = True
    m = s.head[g]
    while m >= 0:
        if m != i:
            if first:
                open_closure(c, closure, 0, codes[m])
                first = False
            else:
                widen_closure(c, closure, 0, codes[m])
        m = s.after[m]
    for y in range(counts.shape[0]):
        counts[y, 0] = s.counts[y, g]
    counts[classes[i], 0] -= 1.0
    return total_cost(c, closure, counts, 0)


@inner
def stays_diverse_without(q, s, i):
    """Whether the group of record i would keep all limits but k if i left it."""
    g = s.group[i]
    if s.values.shape[1] == 0 or s.size[g] == 1:
        return True
    counts = s.tally[g]
    for t in range(s.values.shape[1]):
        counts[s.values[i, t]] -= 1
    kept = is_diverse(q, counts, s.size[g] - 1)
    for t in range(s.values.shape[1]):
        counts[s.values[i, t]] += 1
    return kept


@inner
def stays_diverse_with(q, s, i, g):
    """Whether group g would keep all limits but k if record i joined it."""
    if s.values.shape[1] == 0:
        return True
    counts = s.tally[g]
    for t in range(s.values.shape[1]):
        counts[s.values[i, t]] += 1
    kept = is_diverse(q, counts, s.size[g] + 1)
    for t in range(s.values.shape[1]):
        counts[s.values[i, t]] -= 1
    return kept


@inner
def group_complies(q, s, g):
    """Whether group g meets the requirement."""
    return complies(q, s.tally[g], s.size[g])


@kernel
def offending(q, s):
    """Which groups, free ones aside, do not meet the requirement."""
    found = np.zeros(s.size.size, np.bool_)
    for g in range(s.size.size):
        found[g] = s.size[g] > 0 and not group_complies(q, s, g)
    return found


@kernel
def merge(c, s, a, b):
    """Move all members of group b into group a; b becomes free."""
    join_closures(c, s.closures, a, s.closures, b)
    m = s.head[b]
    while m >= 0:
        following = s.after[m]
        unlink(s, m)
        link(s, m, a)
        m = following
    for y in range(s.counts.shape[0]):
        s.counts[y, a] += s.counts[y, b]
        s.counts[y, b] = 0.0
    s.cost[b] = 0.0
    s.cost[a] = total_cost(c, s.closures, s.counts, a)


@allocating
def members_of(s, g):
    """The records of group g, ascending."""
    found = np.empty(s.size[g], np.int64)
    m = s.head[g]
    at = 0
    while m >= 0:
        found[at] = m
        at += 1
        m = s.after[m]
    sort_numbers(found)
    return found


@kernel
def pack(s):
    """Renumber groups without gaps, in order of number: (group per record, number of groups)."""
    number = np.full(s.size.size, -1, np.int32)
    groups = 0
    for g in range(s.size.size):
        if s.size[g] > 0:
            number[g] = groups
            groups += 1
    packed = np.empty(s.group.size, np.int32)
    for i in range(packed.size):
        packed[i] = number[s.group[i]] if s.group[i] >= 0 else -1
    return packed, groups


@kernel
def fill(c, s, codes, classes, groups):
    """Start from a given group per record (−1: none)."""
    for i in range(groups.size - 1, -1, -1):
        if groups[i] >= 0:
            s.counts[classes[i], groups[i]] += 1.0
            link(s, i, groups[i])
    for g in range(s.size.size):
        if s.size[g] > 0:
            close(c, s, codes, g)
