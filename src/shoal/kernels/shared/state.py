"""Groups that change: members in doubly linked lists; closures, counts and costs kept up to date."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import sort_numbers
from shoal.kernels.shared.forms import join_closures, open_closure, total_cost, widen_closure
from shoal.kernels.shared.rules import complies, forget_known, may_give, may_take


@bundle
class State(NamedTuple):
    """A partition in the making, with room for a fixed number of groups; a group of size 0 is free for use."""

    group: np.ndarray  # int32[n], the group of each record, -1 for none
    head: np.ndarray  # int32[groups], the first member of each group, -1 if it is empty
    after: np.ndarray  # int32[n], the next member of the same group, -1 for the last
    before: np.ndarray  # int32[n], the previous member of the same group, -1 for the first
    size: np.ndarray  # int64[groups], number of members
    closures: np.ndarray  # int32[slots, groups], see `forms`
    counts: np.ndarray  # float64[classes, groups], members of each class
    cost: np.ndarray  # float64[groups], what all members of a group cost together
    # int32[n, tallies], the sensitive value as which each record counts in each tally
    values: np.ndarray
    # int32[groups, values], how many members of each group have each sensitive value
    tally: np.ndarray
    known: np.ndarray  # int8[groups, values], what is known of groups and values, see `may_take`


def make_state(c, values, tallied, room):
    """Make a state without groups, with room for `room`; `tallied` is the number of sensitive values counted."""
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
        known=np.zeros((room, tallied), np.int8),
    )


@inner
def link(s, i, g):
    """Make record i the first member of group g; the group's closure, class counts and cost stay unchanged."""
    s.after[i] = s.head[g]
    s.before[i] = -1
    if s.head[g] >= 0:
        s.before[s.head[g]] = i
    s.head[g] = i
    s.group[i] = g
    s.size[g] += 1
    for t in range(s.values.shape[1]):
        s.tally[g, s.values[i, t]] += 1
    forget_known(s.known, g)


@inner
def unlink(s, i):
    """Take record i out of its group; the group's closure, class counts and cost stay unchanged."""
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
    forget_known(s.known, g)


@inner
def add(c, s, codes, classes, i, g):
    """Put record i into group g and bring the group's closure, counts and cost up to date."""
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
    """Take record i out of its group and bring that group's closure, counts and cost up to date."""
    g = s.group[i]
    unlink(s, i)
    s.counts[classes[i], g] -= 1.0
    close(c, s, codes, g)


@inner
def close(c, s, codes, g):
    """Compute closure and cost of group g from its members; its class counts must be right already."""
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
    """Return what the group of record i would cost without i; `closure` and `counts` are scratch for one group."""
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
    """Return whether the group of record i would keep all limits except k without i."""
    g = s.group[i]
    if s.size[g] == 1:
        return True
    for t in range(s.values.shape[1]):
        if not may_give(q, s.tally, s.known, s.size[g], g, t, s.values[i, t]):
            return False
    return True


@inner
def stays_diverse_with(q, s, i, g):
    """Return whether group g would keep all limits except k with record i."""
    for t in range(s.values.shape[1]):
        if not may_take(q, s.tally, s.known, s.size[g], g, t, s.values[i, t]):
            return False
    return True


@inner
def group_complies(q, s, g):
    """Return whether group g meets the whole requirement."""
    return complies(q, s.tally[g], s.size[g])


@kernel
def offending(q, s):
    """Return which groups have members and do not meet the requirement: bool[groups]."""
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
    """Return the records of group g in ascending order."""
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
    """Renumber the groups without gaps, in the same order: (group of each record, number of groups)."""
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
    """Fill an empty state from the group of each record (−1 for none)."""
    for i in range(groups.size - 1, -1, -1):
        if groups[i] >= 0:
            s.counts[classes[i], groups[i]] += 1.0
            link(s, i, groups[i])
    for g in range(s.size.size):
        if s.size[g] > 0:
            close(c, s, codes, g)
