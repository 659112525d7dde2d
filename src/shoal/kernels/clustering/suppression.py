"""Leave out records that cost their group more than they would cost fully suppressed.

A group's closure without one of its records follows from how many members share each of its values, or each node of
a tree above them, so no question about a record looks at the other members. Groups do not influence each other
except by the limit on how many records may be left out in all, so each group is looked at alone, and a round that
exceeds the limit is cut back afterwards.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import order_of
from shoal.kernels.shared.forms import BITS, RANGE, TREE, total_cost
from shoal.kernels.shared.state import members_of, stays_diverse_without, unlink

GAIN = 1e-9  # the least decrease of cost that counts as an improvement


@inner
def count_values_of(c, shared, record, by):
    """Add `by` to the members that share each value of a record, or each node of a tree above it."""
    for j in range(c.form.size):
        node = record[j]
        shared[c.start[j] + node] += by
        while c.form[j] == TREE and c.parent[c.start[j] + node] != node:
            node = c.parent[c.start[j] + node]
            shared[c.start[j] + node] += by


@inner
def close_without(c, s, codes, shared, i, closure):
    """Set `closure` to that of the group of record i without i, whom `shared` does not count; return if it differs."""
    g = s.group[i]
    other = s.head[g] if s.head[g] != i else s.after[i]
    differs = False
    for slot in range(closure.shape[0]):
        closure[slot, 0] = s.closures[slot, g]
    for j in range(c.form.size):
        base, first, code = c.start[j], c.slot[j], codes[i, j]
        if shared[base + code] > 0:
            continue
        if c.form[j] == TREE:
            node = np.int64(codes[other, j])
            while shared[base + node] < s.size[g] - 1:
                node = np.int64(c.parent[base + node])
            differs |= node != closure[first, 0]
            closure[first, 0] = node
        elif c.form[j] == RANGE:
            low, high = closure[first, 0], closure[first + 1, 0]
            while shared[base + low] == 0:
                low += 1
            while shared[base + high] == 0:
                high -= 1
            differs |= low != closure[first, 0] or high != closure[first + 1, 0]
            closure[first, 0], closure[first + 1, 0] = low, high
        else:
            closure[first + code // BITS, 0] &= ~(1 << (code % BITS))
            differs = True
    return differs


@inner
def cost_left(c, q, s, codes, classes, shared, i, closure, counts, known):
    """Return what the group of record i would cost without i, infinite if it would then miss the requirement.

    `closure` becomes the group's closure without i. known[y] is what the group costs without a record of class y that
    does not change its closure, −inf where nobody asked yet.
    """
    g, own = s.group[i], classes[i]
    if s.size[g] <= q.k or not stays_diverse_without(q, s, i):
        return np.inf
    count_values_of(c, shared, codes[i], -1)
    differs = close_without(c, s, codes, shared, i, closure)
    count_values_of(c, shared, codes[i], 1)
    if not differs and known[own] > -np.inf:
        return known[own]
    for y in range(counts.shape[0]):
        counts[y, 0] = s.counts[y, g]
    counts[own, 0] -= 1.0
    cost = total_cost(c, closure, counts, 0)
    if not differs:
        known[own] = cost
    return cost


@inner
def leave_out(c, s, codes, classes, shared, i, closure, cost):
    """Take record i out of its group, which then has this closure and cost."""
    g = s.group[i]
    count_values_of(c, shared, codes[i], -1)
    unlink(s, i)
    s.counts[classes[i], g] -= 1.0
    for slot in range(closure.shape[0]):
        s.closures[slot, g] = closure[slot, 0]
    s.cost[g] = cost


@allocating
def thin_group(c, q, s, codes, classes, whole, g, shared, closure, counts, gains):
    """Leave records out of group g where that gains, those first that gain most at the start; return how many.

    gains[i] becomes what record i gains at the start, in units of GAIN and rounded, so that gains which differ by
    rounding errors only are equal. `shared` holds zeros, before and after.
    """
    members = members_of(s, g)
    known, less = np.full(counts.shape[0], -np.inf), np.empty(members.size)
    for i in members:
        count_values_of(c, shared, codes[i], 1)
    for at in range(members.size):
        i = members[at]
        cost = cost_left(c, q, s, codes, classes, shared, i, closure, counts, known)
        gains[i] = np.rint((s.cost[g] - cost - whole[classes[i]]) / GAIN)
        less[at] = -gains[i]
    left_out = 0
    for at in order_of(less):
        i = members[at]
        if gains[i] < 1.0:
            break
        cost = cost_left(c, q, s, codes, classes, shared, i, closure, counts, known)
        if s.cost[g] - cost - whole[classes[i]] > GAIN:
            leave_out(c, s, codes, classes, shared, i, closure, cost)
            left_out += 1
            for y in range(known.size):
                known[y] = -np.inf
    m = s.head[g]
    while m >= 0:
        count_values_of(c, shared, codes[m], -1)
        m = s.after[m]
    return left_out


@kernel
def suppress_records(c, q, s, codes, classes, whole, most):
    """Leave out up to `most` records, in each round those that gain most first; return the group of each, −1 for none.

    whole[y] is what a fully suppressed record of class y costs. The state is used up.
    """
    closure = np.empty((s.closures.shape[0], 1), np.int32)
    counts = np.empty((s.counts.shape[0], 1))
    shared = np.zeros(c.start[-1], np.int64)
    kept, gains = s.group.copy(), np.empty(s.group.size)
    changed = s.size > 0
    done, left_out = 0, 1
    while left_out > 0 and done < most:
        left_out = 0
        for g in range(changed.size):
            if changed[g]:
                number = thin_group(
                    c, q, s, codes, classes, whole, g, shared, closure, counts, gains
                )
                changed[g] = number > 0
                left_out += number
        for i in range(gains.size):
            gains[i] = -gains[i] if s.group[i] < 0 <= kept[i] else np.inf
        for i in order_of(gains):
            if gains[i] == np.inf or done == most:
                break
            kept[i] = -1
            done += 1
    return kept
