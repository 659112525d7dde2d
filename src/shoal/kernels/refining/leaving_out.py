"""Leave out records that cost the others more than they would cost fully suppressed.

`remove_records` takes them out of finished groups, one by one: a group's closure without one of its records follows
from how many members share each of its values, or each node of a tree above them, so no question about a record looks
at the other members. `leave_records_out` also changes groups: a group that would be too small takes a record of
another one in place of the one left out, or is dissolved. The records left out are then a group of their own, `out`,
in which each pays its full price and which has to meet no requirement.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.persons.counting import keeps
from shoal.kernels.refining.search import (
    CHANGES,
    GAIN,
    TOUCHED,
    all_comply,
    can_spare,
    cheapest_other,
    finish,
    keep,
    touch,
    undo,
)
from shoal.kernels.shared.arrays import least_at, order_of, taken_columns
from shoal.kernels.shared.forms import BITS, RANGE, TREE, total_cost
from shoal.kernels.shared.groups import totals_with_each
from shoal.kernels.shared.state import add, close, link, members_of, unlink


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
def cost_left(c, s, codes, classes, shared, i, closure, counts, known):
    """Return what the group of record i would cost without i.

    `closure` becomes the group's closure without i. known[y] is what the group costs without a record of class y that
    does not change its closure, −inf where nobody asked yet.
    """
    g, own = s.group[i], classes[i]
    if s.size[g] == 1:
        return 0.0
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
def may_leave(x, w, i):
    """Return whether the group of record i complies without it."""
    if w.person.size == 0:
        return can_spare(x, i)
    return keeps(x.q, w, x.s, x.s.group[i], -1, i, -1)


@allocating
def gains_without(x, members, whole, shared, closure, counts):
    """Return what leaving out each of the members of a group gains, whether or not the group then complies.

    `shared` holds zeros, before and after.
    """
    s, known = x.s, np.full(counts.shape[0], -np.inf)
    gains = np.empty(members.size)
    for i in members:
        count_values_of(x.c, shared, x.codes[i], 1)
    for at in range(members.size):
        i = members[at]
        left = cost_left(x.c, s, x.codes, x.classes, shared, i, closure, counts, known)
        gains[at] = s.cost[s.group[i]] - left - whole[x.classes[i]]
    for i in members:
        count_values_of(x.c, shared, x.codes[i], -1)
    return gains


@inner
def leave_group(x, shared, i, closure, cost):
    """Take record i out of its group, which then has this closure and cost."""
    s, g = x.s, x.s.group[i]
    count_values_of(x.c, shared, x.codes[i], -1)
    unlink(s, i)
    s.counts[x.classes[i], g] -= 1.0
    for slot in range(closure.shape[0]):
        s.closures[slot, g] = closure[slot, 0]
    s.cost[g] = cost


@allocating
def thin_group(x, w, whole, g, shared, closure, counts, gains):
    """Remove records from group g where that gains, those first that gain most at the start; return how many.

    gains[i] becomes what record i gains at the start, in units of GAIN and rounded, so that gains which differ by
    rounding errors only are equal; −inf where the group would not comply. `shared` holds zeros, before and after.
    """
    s, known = x.s, np.empty(counts.shape[0])
    members = members_of(s, g)
    less = -np.rint(gains_without(x, members, whole, shared, closure, counts) / GAIN)
    for at in range(members.size):
        if less[at] > -1.0 or not may_leave(x, w, members[at]):
            less[at] = np.inf
        gains[members[at]] = -less[at]
    for i in members:
        count_values_of(x.c, shared, x.codes[i], 1)
    removed = 0
    for at in order_of(less):
        i = members[at]
        if less[at] == np.inf:
            break
        known[:] = -np.inf
        cost = cost_left(x.c, s, x.codes, x.classes, shared, i, closure, counts, known)
        if s.cost[g] - cost - whole[x.classes[i]] > GAIN and may_leave(x, w, i):
            leave_group(x, shared, i, closure, cost)
            removed += 1
    m = s.head[g]
    while m >= 0:
        count_values_of(x.c, shared, x.codes[m], -1)
        m = s.after[m]
    return removed


@kernel
def remove_records(x, w, whole, most):
    """Remove up to `most` records, in each round those that gain most first; return the group of each, −1 for none.

    whole[y] is what a fully suppressed record of class y costs. The search is used up.
    """
    s = x.s
    closure = np.empty((s.closures.shape[0], 1), np.int32)
    counts = np.empty((s.counts.shape[0], 1))
    shared = np.zeros(x.c.start[-1], np.int64)
    kept, gains = s.group.copy(), np.empty(s.group.size)
    changed = s.size > 0
    done, removed = 0, 1
    while removed > 0 and done < most:
        removed = 0
        for g in range(changed.size):
            if changed[g]:
                number = thin_group(x, w, whole, g, shared, closure, counts, gains)
                changed[g] = number > 0
                removed += number
        for i in range(gains.size):
            gains[i] = -gains[i] if s.group[i] < 0 <= kept[i] else np.inf
        for i in order_of(gains):
            if gains[i] == np.inf or done == most:
                break
            kept[i] = -1
            done += 1
    return kept


@inner
def shift(x, i, g, out):
    """Move record i to group g as part of the change, as `transfer` does; the undo log knows nothing of group `out`."""
    s, own = x.s, x.s.group[i]
    x.moved[x.number[CHANGES]], x.origin[x.number[CHANGES]] = i, own
    x.number[CHANGES] += 1
    if own != out:
        touch(x, own)
        x.lost[own] = True
    if g != out:
        touch(x, g)
    unlink(s, i)
    s.counts[x.classes[i], own] -= 1.0
    if g == out:
        link(s, i, out)
        s.counts[x.classes[i], out] += 1.0
    else:
        add(x.c, s, x.codes, x.classes, i, g)


@inner
def keep_if_cheaper(x, w, paid):
    """Keep the change if it lowers the cost by more than is paid for records left out and all groups comply."""
    kept = finish(x) + paid < -GAIN
    if kept and w.person.size == 0:
        kept = all_comply(x)
    elif kept:
        for at in range(x.number[TOUCHED]):
            g = x.touched[at]
            if kept and x.s.size[g] > 0:
                kept = keeps(x.q, w, x.s, g, -1, -1, -1)
    if kept:
        keep(x)
    else:
        undo(x)
    return kept


@allocating
def hand_out_or_leave(x, w, out, whole, most, g, added, scratch):
    """Dissolve group g if that gains: every member goes where it adds least, or out if that costs less."""
    paid = 0.0
    for i in members_of(x.s, g):
        best, more = cheapest_other(x, i, out, added, scratch)
        if best < 0 or more > whole[x.classes[i]] + GAIN:
            best = out
            paid += whole[x.classes[i]]
        shift(x, i, best, out)
    return keep_if_cheaper(x, w, paid if x.s.size[out] <= most else np.inf)


@inner
def price_refills(x, w, columns, g, out, costs, scratch):
    """Fill costs[j] with about what group g costs with record j of another group, less what j costs there.

    In units of GAIN, rounded; infinite for other records and for those that their groups cannot spare.
    """
    s = x.s
    totals_with_each(
        x.c, x.pairs, columns, x.classes, costs.size, s.closures, s.counts, g, costs, scratch
    )
    for j in range(costs.size):
        h = s.group[j]
        may_come = h != g and h != out and s.size[h] > x.q.k
        if may_come and (w.person.size > 0 or may_leave(x, w, j)):  # persons take longer to count
            costs[j] = np.rint((costs[j] - x.price[j]) / GAIN)
        else:
            costs[j] = np.inf


@allocating
def leave_one_out(x, w, out, whole, columns, g, shared, closure, counts, costs, scratch):
    """Leave out the member of group g that gains most, if another record is needed in its place with the best one."""
    s = x.s
    members = members_of(s, g)
    less = -np.rint(gains_without(x, members, whole, shared, closure, counts) / GAIN)
    for at in order_of(less):
        i = members[at]
        if less[at] > -1.0:
            break
        paid = whole[x.classes[i]]
        shift(x, i, out, out)
        if keep_if_cheaper(x, w, paid):
            return True
        if members.size == 1:
            continue
        shift(x, i, out, out)
        close(x.c, s, x.codes, g)
        price_refills(x, w, columns, g, out, costs, scratch)
        undo(x)
        j = best_refill(x, w, costs)
        if j >= 0:
            shift(x, i, out, out)
            shift(x, j, g, out)
            if keep_if_cheaper(x, w, paid):
                return True
    return False


@inner
def best_refill(x, w, costs):
    """Return the cheapest record that its group can spare, −1 for none; those that it cannot become infinitely dear."""
    while True:
        j = least_at(costs, 0, costs.size)
        if costs[j] == np.inf:
            return -1
        if may_leave(x, w, j):
            return j
        costs[j] = np.inf


@kernel
def leave_records_out(x, w, out, whole, most, groups):
    """Leave out records of `groups` where that gains, until `most` are out; return the number of changes.

    Each of `groups` is dissolved if that gains, and otherwise loses its most expensive member if that gains.
    """
    s = x.s
    closure = np.empty((s.closures.shape[0], 1), np.int32)
    counts = np.empty((s.counts.shape[0], 1))
    shared = np.zeros(x.c.start[-1], np.int64)
    room, n = s.size.size, s.group.size
    added, there = np.empty(room), np.empty(room)
    costs, scratch = np.empty(n), np.empty(n)
    columns = taken_columns(x.codes, np.arange(n))
    changes = 0
    for g in groups:
        while s.size[out] < most and s.size[g] > 0:
            if hand_out_or_leave(x, w, out, whole, most, g, added, there) or leave_one_out(
                x, w, out, whole, columns, g, shared, closure, counts, costs, scratch
            ):
                changes += 1
            else:
                break
    return changes


@kernel
def take_back(x, w, out, whole, records):
    """Let records that are left out join the group where each adds least, if that costs less; return how many do."""
    room, back = x.s.size.size, 0
    added, scratch = np.empty(room), np.empty(room)
    for i in records:
        best, _ = cheapest_other(x, i, out, added, scratch)
        if best >= 0:
            shift(x, i, best, out)
            back += keep_if_cheaper(x, w, -whole[x.classes[i]])
    return back
