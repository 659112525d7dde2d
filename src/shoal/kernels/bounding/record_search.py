"""Make dual variables valid record by record: for each, the sets of k records that it can be in are searched.

Dual variables are valid if no k records have more of them than k times what a closure of them costs. Each set of k
records is looked at from the first of its records in one fixed order, that of descending duals. Seen from there, every
other record has an *extra* in each column: what the column costs more once a closure covers both. A closure of several
records costs the sum of their largest extras, column by column; a range whose costs add up has a part for either end.

The search is branch and bound, depth first. In a branch some parts are paid up to a level, and records whose extra in a
part is too large are excluded. Each one left has a *rest*, the sum of its extras beyond what is paid. A set that costs
at most what is paid plus some rest has no records of a larger rest; so the largest duals within each rest bound how far
a set of the branch can be violated. The branch is divided by a part of the set that this bound comes from: exclude the
records that need it, or pay for it.

This is for tables with so many columns that cells are too many to walk over. Where a search takes too long, the dual of
its own record is lowered as far as the open branches may need it. Then it is at most what any set costs that was not
looked at, or else no such set is violated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bounding.ascent import cap_of, sort_down
from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import sort_stably
from shoal.kernels.shared.forms import range_cost

ENDS = 3  # parts of a range whose costs add up: several values at all, the lower end, the upper end
HAIR = 1e-11  # a set is violated if its duals exceed k times its cost by this
GIVEN_UP = 1 << 40  # added to the turn of a point that is given up
SPREAD = 8  # times its share of what is left: the looks that one search may take
DEPTH, ROOM = (
    1_000,
    2_000_000,
)  # branches of one search at a time, and the points that they may hold


@bundle
class Points(NamedTuple):
    """Points among which sets are searched, sorted by columns so that many too far away are passed over at once."""

    point: np.ndarray  # int32[near], their numbers in the trees
    codes: np.ndarray  # int32[near, r], their values, numbered without gaps
    column: np.ndarray  # int64[r], the columns as they are sorted
    differs: np.ndarray  # int64[near], the first column in which one differs from the one before
    ends: np.ndarray  # int32[near, r], where those end that agree with one up to a column
    first: np.ndarray  # int64[r + 1], where the values of each column begin
    sample: np.ndarray  # int32[values of all columns], a point of the trees that has the value
    part: np.ndarray  # int64[r + 1], the first part of each column


@bundle
class Branches(NamedTuple):
    """What is known of the neighbourhood of one point, and the open branches of the search."""

    extra: np.ndarray  # float64[values of all columns], of each value
    prefix: np.ndarray  # float64[r + 1], sums of extras up to a column
    near: np.ndarray  # int32[points], the points within reach
    parts: np.ndarray  # float64[points, parts], their extras
    item: np.ndarray  # int32[room], of the branches: places in `near`, by ascending rest
    rest: np.ndarray  # float64[room], their rests
    low: np.ndarray  # int64[depth], where a branch begins in `item`
    high: np.ndarray  # int64[depth], where it ends
    excess: np.ndarray  # float64[depth], how far a set of the branch can be violated, at most
    least: np.ndarray  # float64[depth], the least that a violated set of it can cost
    total: np.ndarray  # float64[depth], the sum of `paid`, and what the point costs alone
    paid: np.ndarray  # float64[depth, parts], what each part is paid up to
    top: np.ndarray  # float64[parts], the largest extras of the set that may be violated most
    needed: np.ndarray  # float64[parts], scratch: how many points need each up to `top`
    value: np.ndarray  # float64[k + 1], scratch: the largest duals
    weight: np.ndarray  # int64[k + 1], the records of these
    who: np.ndarray  # int64[k + 1], and their places in `item`
    margin: np.ndarray  # float64[points], scratch
    order: np.ndarray  # int64[points + 1], scratch
    spare: np.ndarray  # int64[points + 1], scratch
    values: np.ndarray  # float64[points + 2], scratch
    less: np.ndarray  # float64[points + 1], scratch
    items: np.ndarray  # int64[points + 1], scratch
    heavy: np.ndarray  # int64[points + 1], scratch


@allocating
def make_branches(points, k):
    """Make scratch for searches among points."""
    n, parts = points.point.size, points.part[-1]
    return Branches(
        np.empty(points.first[-1]),
        np.zeros(points.column.size + 1),
        np.empty(n, np.int32),
        np.empty((n, parts)),
        np.empty(ROOM + n, np.int32),
        np.empty(ROOM + n),
        np.zeros(DEPTH, np.int64),
        np.zeros(DEPTH, np.int64),
        np.empty(DEPTH),
        np.empty(DEPTH),
        np.empty(DEPTH),
        np.empty((DEPTH, parts)),
        np.empty(parts),
        np.empty(parts),
        np.empty(k + 1),
        np.empty(k + 1, np.int64),
        np.empty(k + 1, np.int64),
        np.empty(n + 1),
        np.empty(n + 1, np.int64),
        np.empty(n + 1, np.int64),
        np.empty(n + 2),
        np.empty(n + 1),
        np.empty(n + 1, np.int64),
        np.empty(n + 1, np.int64),
    )


@inner
def set_extras(trees, points, b, p):
    """Fill `extra` for a point; return what a closure of the point alone costs."""
    c, paths, alone = trees.compiled, trees.paths, 0.0
    for at in range(points.column.size):
        j = points.column[at]
        begin, end = trees.slot[j], trees.slot[j + 1]
        own = paths[p, end - 1]
        if trees.ranged[j] >= 0:
            base = range_cost(c, 0, trees.ranged[j], own, own)
        else:
            base = trees.cost[trees.node[j] + own]
        alone += base
        for value in range(points.first[at], points.first[at + 1]):
            other = points.sample[value]
            if trees.ranged[j] >= 0:
                code = paths[other, begin]
                cost = range_cost(c, 0, trees.ranged[j], min(own, code), max(own, code))
            else:
                cost = trees.cost[trees.node[j] + trees.root[j]]
                for slot in range(begin, end):
                    if paths[p, slot] != paths[other, slot]:
                        break
                    cost = trees.cost[trees.node[j] + paths[p, slot]]
            b.extra[value] = max(0.0, cost - base)
    return alone


@inner
def set_parts(trees, points, b, p, at, size):
    """Fill row `size` of `parts` with the extras of the point at a place, seen from point p."""
    for column in range(points.column.size):
        j, part = points.column[column], points.part[column]
        extra = b.extra[points.first[column] + points.codes[at, column]]
        b.parts[size, part] = extra
        if points.part[column + 1] == part + 1:
            continue
        c, ranged, slot = trees.compiled, trees.ranged[j], trees.slot[j]
        own, code = trees.paths[p, slot], trees.paths[points.point[at], slot]
        null = c.null[ranged]
        several = low = high = 0.0
        if own == null:
            several = extra
        elif code != own:
            several = min(extra, c.jump[ranged])
            if code == null:
                if own > 0:
                    low = max(0.0, range_cost(c, 0, ranged, 0, own) - several)
                high = extra - several - low
            elif code < own:
                low = extra - several
            else:
                high = extra - several
        b.parts[size, part], b.parts[size, part + 1], b.parts[size, part + 2] = several, low, high


@inner
def sort_rests(b, low, high):
    """Sort the points of a branch by ascending rest."""
    size = high - low
    sort_stably(b.rest[low:high], b.order[:size], b.spare[:size])
    for at in range(size):
        b.values[at], b.items[at] = b.rest[low + b.order[at]], b.item[low + b.order[at]]
    for at in range(size):
        b.rest[low + at], b.item[low + at] = b.values[at], b.items[at]


@inner
def begin_search(trees, points, b, p, limit, turn):
    """Open the first branch, of all points whose turn is later than p's and that cost less than `limit` with it.

    Returns how many points were looked at.
    """
    alone = set_extras(trees, points, b, p)
    codes, differs, ends, extra, first = (
        points.codes,
        points.differs,
        points.ends,
        b.extra,
        points.first,
    )
    prefix, n, r = b.prefix, points.point.size, points.column.size
    size, looks, at = 0, extra.size, 0
    while at < n:
        j = differs[at]
        total = prefix[j]
        while j < r:
            total += extra[first[j] + codes[at, j]]
            looks += 1
            if total >= limit - alone:
                break
            j += 1
            prefix[j] = total
        if j < r:
            at = ends[at, j]
            continue
        if turn[points.point[at]] > turn[p]:
            b.near[size] = points.point[at]
            set_parts(trees, points, b, p, at, size)
            b.item[size], b.rest[size] = size, total
            size += 1
        at += 1
    sort_rests(b, 0, size)
    b.low[0], b.high[0], b.total[0] = 0, size, alone
    b.excess[0], b.least[0] = np.inf, alone
    for part in range(b.top.size):
        b.paid[0, part] = 0.0
    return looks + size


@inner
def keep_largest(b, size, held, total, need, value, weight, who):
    """Insert a dual into the descending list of the largest ones, which keeps as few as make up `need` records."""
    at = size
    while at > 0 and b.value[at - 1] < value:
        b.value[at], b.weight[at], b.who[at] = b.value[at - 1], b.weight[at - 1], b.who[at - 1]
        at -= 1
    b.value[at], b.weight[at], b.who[at] = value, weight, who
    size += 1
    held += weight
    total += weight * value
    while size > 0 and held - b.weight[size - 1] >= need:
        size -= 1
        held -= b.weight[size]
        total -= b.weight[size] * b.value[size]
    return size, held, total


@inner
def look_at(trees, b, f, p, k, duals):
    """Bound how far a set of branch f is violated, and drop points that are in none.

    Returns how many points the set that may be violated most is chosen from.
    """
    low, high, need = b.low[f], b.high[f], k - 1
    own, paid = duals[p], b.total[f]
    excess, last, least = 0.0, low, np.inf
    size, held, total = keep_largest(b, 0, 0, 0.0, need, own, trees.weights[p] - 1, -1)
    if held >= need and own > paid:
        excess, least = k * (own - paid), paid
    for at in range(low, high):
        point = b.near[b.item[at]]
        value = duals[point]
        if held < need or (size > 0 and value > b.value[size - 1]):
            size, held, total = keep_largest(
                b, size, held, total, need, value, trees.weights[point], at
            )
        if held < need or size == 0:
            b.margin[at - low] = -np.inf
            continue
        smallest = b.value[size - 1]
        found = own + total - (held - need) * smallest - k * (paid + b.rest[at])
        b.margin[at - low] = found - smallest
        if found > excess:
            excess, last = found, at + 1
        if found > 0.0:
            least = min(least, paid + b.rest[at])
    b.excess[f], b.least[f] = excess, least
    for at in range(high - low - 2, -1, -1):
        b.margin[at] = max(b.margin[at], b.margin[at + 1])
    end, to = last, low
    for at in range(low, high):
        if at == end:
            last = to
        if b.margin[at - low] + duals[b.near[b.item[at]]] > 0.0:
            b.item[to], b.rest[to] = b.item[at], b.rest[at]
            to += 1
    b.high[f] = to
    return last if end < high else to


@inner
def sum_of_set(trees, b, f, p, k, last, duals):
    """Set `top` to the largest extras of the set of largest duals before place `last`.

    Returns the sum of its duals and what it costs.
    """
    need = k - 1
    size, held, total = keep_largest(b, 0, 0, 0.0, need, duals[p], trees.weights[p] - 1, -1)
    for at in range(b.low[f], last):
        point = b.near[b.item[at]]
        if held < need or (size > 0 and duals[point] > b.value[size - 1]):
            size, held, total = keep_largest(
                b, size, held, total, need, duals[point], trees.weights[point], at
            )
    if size > 0:
        total -= (held - need) * b.value[size - 1]
    cost = b.total[f]
    for part in range(b.top.size):
        b.top[part] = b.paid[f, part]
        for at in range(size):
            if b.who[at] >= 0:
                b.top[part] = max(b.top[part], b.parts[b.item[b.who[at]], part])
        cost += b.top[part] - b.paid[f, part]
    return duals[p] + total, cost


@inner
def list_members(trees, b, f, p, cost, duals):
    """List the points of branch f in the cell of `top` by descending duals; return how many there are."""
    b.values[0], b.items[0], b.heavy[0] = duals[p], p, trees.weights[p]
    size = 1
    for at in range(b.low[f], b.high[f]):
        if b.total[f] + b.rest[at] > cost + HAIR:
            break
        row = b.item[at]
        is_inside = True
        for part in range(b.top.size):
            is_inside &= b.parts[row, part] <= b.top[part]
        if is_inside:
            point = b.near[row]
            b.values[size], b.items[size] = duals[point], point
            b.heavy[size] = trees.weights[point]
            size += 1
    sort_down(b.values, b.items, b.heavy, size, b.less, b.order, b.spare)
    return size


@inner
def choose_part(b, f):
    """Return the part that costs the points of branch f most beyond what is paid, up to `top`."""
    b.needed[:] = 0.0
    for at in range(b.low[f], b.high[f]):
        row = b.item[at]
        for part in range(b.top.size):
            b.needed[part] += b.parts[row, part] >= b.top[part]
    best, most = 0, -1.0
    for part in range(b.top.size):
        share = (b.top[part] - b.paid[f, part]) * b.needed[part]
        if b.top[part] > b.paid[f, part] and share > most:
            best, most = part, share
    return best


@inner
def divide(b, f, part):
    """Open a branch of those points of branch f that do without a part up to `top`, and have f pay for it."""
    level, paid, free = b.top[part], b.paid[f, part], b.high[f]
    b.low[f + 1] = free
    for at in range(b.low[f], b.high[f]):
        row = b.item[at]
        extra = b.parts[row, part]
        if extra < level:
            b.item[free], b.rest[free] = row, b.rest[at]
            free += 1
        b.rest[at] -= min(level, max(paid, extra)) - paid
    b.high[f + 1] = free
    b.total[f + 1], b.excess[f + 1], b.least[f + 1] = b.total[f], b.excess[f], b.least[f]
    for other in range(b.top.size):
        b.paid[f + 1, other] = b.paid[f, other]
    b.paid[f, part] = level
    b.total[f] += level - paid
    sort_rests(b, b.low[f], b.high[f])


@kernel
def search_records(trees, points, k, order, low, high, turn, start, duals, most):
    """Lower `duals` of the points order[low:high], and of those in sets with them, until all these sets are valid.

    `start` are the duals as they were when `order` was made, and turn[p] is the place of point p in it. A point that is
    given up gets a place behind all others. A search may take SPREAD times its share of what is left of `most` looks.
    Returns the looks.
    """
    b = make_branches(points, k)
    looks, highest = 0, -np.inf
    for p in points.point:
        if turn[p] >= GIVEN_UP:
            highest = max(highest, duals[p])
    for at in range(low, high):
        p = order[at]
        looks += begin_search(trees, points, b, p, max(start[p], highest), turn)
        until = looks + max(0, SPREAD * (most - looks) // (order.size - at))
        f = 0
        while f >= 0:
            looks += b.high[f] - b.low[f]
            last = look_at(trees, b, f, p, k, duals)
            if b.excess[f] <= HAIR:
                f -= 1
                continue
            total, cost = sum_of_set(trees, b, f, p, k, last, duals)
            if total > k * cost + HAIR:
                found = list_members(trees, b, f, p, cost, duals)
                cap, _ = cap_of(b.values, b.heavy, found, k, k * cost)
                for i in range(found):
                    if b.values[i] <= cap:
                        break
                    duals[b.items[i]] = cap
                continue
            if looks > until or f + 2 == DEPTH or 2 * b.high[f] - b.low[f] > b.item.size:
                excess, least = 0.0, np.inf
                for open in range(f + 1):
                    excess = max(excess, b.excess[open])
                    least = min(least, b.least[open])
                if duals[p] - excess >= least:
                    duals[p] -= excess
                else:
                    duals[p] = min(duals[p], least)
                    turn[p] = GIVEN_UP + at
                    highest = max(highest, duals[p])
                break
            divide(b, f, choose_part(b, f))
            f += 1
    return looks
