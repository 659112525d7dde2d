"""The cheapest cell of each point: the least that a closure of the point and enough other records can cost.

Seen from one point, every other one has an *extra* in each column: what the column costs more once a closure covers
both. A cell costs at least the largest extra in each column, summed up; for trees, and for ranges whose costs add up,
which have a part for either end, it costs just that. So the cheapest cell is a set of enough points with the least sum
of largest extras.

It is found by branch and bound, the most promising branch first. In a branch some parts are paid up to a level, and
points whose extra in a part is too large are excluded. Those that are left have a *rest*, the sum of their extras
beyond what is paid, and no cell of the branch costs less than what is paid plus the least rest within which there are
enough points. Of the points within it the costliest part divides the branch: pay for it, or exclude who needs it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.forms import (
    LINEAR,
    RANGE,
    TREE,
    Compiled,
    meet,
    range_cost,
    spread_cost,
    value_cost,
)

ENDS = 3  # parts of a range whose costs add up: several values at all, the lower end, the upper end
HAIR = 1e-12  # share of a cost by which another one must be lower to be worth a look


@bundle
class Neighbours(NamedTuple):
    """The points of a table, sorted by columns, and what a cell must hold."""

    codes: np.ndarray  # int32[points, r]
    differs: (
        np.ndarray
    )  # int64[points], the first column in which a point differs from the one before
    ends: np.ndarray  # int32[points, r], where the points end that agree with one up to a column
    weights: np.ndarray  # int64[points], records of each
    values: np.ndarray  # int32[points, tallies], sensitive values
    need: np.ndarray  # int64[tallies], the least number of distinct values in a cell
    outside: np.ndarray  # int64[all values], the least number of records with another one
    k: int
    column: np.ndarray  # int64[r], the number of each column in `compiled`
    size: np.ndarray  # int64[r], values of each column
    compiled: Compiled


@bundle
class Branches(NamedTuple):
    """What is known of the neighbourhood of one point, and the branches of the search."""

    extra: np.ndarray  # float64[values of all columns], of each value in its column
    first: np.ndarray  # int64[r + 1], where each column begins in `extra`
    part: np.ndarray  # int64[r + 1], the first part of each column
    prefix: np.ndarray  # float64[r + 1], sums of extras up to a column
    near: np.ndarray  # int32[points], the points within reach
    parts: np.ndarray  # float64[parts, points], their extras
    item: np.ndarray  # int32[room], of the branches: places in `near`
    rest: np.ndarray  # float64[room], their rests
    low: np.ndarray  # int64[branches], where a branch begins in `item`
    high: np.ndarray  # int64[branches], where it ends
    bound: np.ndarray  # float64[branches]
    paid: np.ndarray  # float64[branches, parts]
    top: np.ndarray  # float64[branches, parts], the largest extras of the points within its bound
    heap: np.ndarray  # int64[branches], open branches, the one of the least bound first
    found: np.ndarray  # float64[k + 1], scratch: the least rests
    held: np.ndarray  # int64[k + 1], the records of these
    who: np.ndarray  # int32[k + 1], and the points
    least: (
        np.ndarray
    )  # float64[all values], scratch: the least rest of each value, infinite between uses
    owner: np.ndarray  # int32[all values], the point that has it
    seen: np.ndarray  # int64[all values], the values that occur


def make_branches(near, rules_values, room, branches):
    """Make scratch for the search; `room` is how many points all branches of one search may hold together."""
    c, n = near.compiled, len(near.weights)
    ranged = (c.form[near.column] == RANGE) & (c.kind[near.column] == LINEAR)
    part = np.concatenate([[0], np.cumsum(np.where(ranged, ENDS, 1))])
    k = max(near.k, int(near.need.max(initial=1)), int(near.outside.max(initial=1)))
    return Branches(
        extra=np.zeros(int(near.size.sum())),
        first=np.concatenate([[0], np.cumsum(near.size)]),
        part=part,
        prefix=np.zeros(len(near.size) + 1),
        near=np.zeros(n, np.int32),
        parts=np.zeros((int(part[-1]), n)),
        item=np.zeros(room + 2 * n, np.int32),
        rest=np.zeros(room + 2 * n),
        low=np.zeros(branches, np.int64),
        high=np.zeros(branches, np.int64),
        bound=np.zeros(branches),
        paid=np.zeros((branches, int(part[-1]))),
        top=np.zeros((branches, int(part[-1]))),
        heap=np.zeros(branches, np.int64),
        found=np.zeros(k + 1),
        held=np.zeros(k + 1, np.int64),
        who=np.zeros(k + 1, np.int32),
        least=np.full(rules_values, np.inf),
        owner=np.zeros(rules_values, np.int32),
        seen=np.zeros(rules_values, np.int64),
    )


@inner
def pair_cost(c, y, j, a, b):
    """Return what the closure of two codes of column j costs a record of class y."""
    if a == b:
        return value_cost(c, y, j, a)
    base = c.start[j]
    if c.form[j] == TREE:
        return c.cost[y, base + meet(c.parent, base, a, b)]
    if c.form[j] == RANGE:
        return range_cost(c, y, j, min(a, b), max(a, b))
    linear, records, second = 0.0, 0.0, 0.0
    is_whole = a == c.null[j] or b == c.null[j]
    for e in range(base, c.start[j + 1]):
        if is_whole or e == base + a or e == base + b:
            linear += c.cost[y, e]
            records += c.records[e]
            second += c.second[y, e]
    return spread_cost(c, j, True, linear, records, second)


@inner
def set_extras(near, b, y, i):
    """Fill `extra` for point i; return what a closure of the point alone costs."""
    c, alone = near.compiled, 0.0
    for j in range(near.size.size):
        own, column = near.codes[i, j], near.column[j]
        base = value_cost(c, y, column, own)
        alone += base
        for code in range(near.size[j]):
            b.extra[b.first[j] + code] = max(0.0, pair_cost(c, y, column, own, code) - base)
    return alone


@inner
def find_near(near, b, i, limit):
    """List the other points whose extras sum up to less than a limit; return how many, and how many sums were made."""
    codes, differs, ends, extra, first = near.codes, near.differs, near.ends, b.extra, b.first
    prefix, found, rest, item = b.prefix, b.near, b.rest, b.item
    n, r = codes.shape
    size, looks, at = 0, 0, 0
    while at < n:
        j = differs[at]
        total = prefix[j]
        while j < r:
            total += extra[first[j] + codes[at, j]]
            looks += 1
            if total >= limit:
                break
            j += 1
            prefix[j] = total
        if j < r:
            at = ends[at, j]
            continue
        if at != i:
            found[size] = at
            rest[size] = total
            item[size] = size
            size += 1
        at += 1
    return size, looks


@inner
def set_parts(near, b, i, size):
    """Fill `parts` for the points that are near."""
    c, codes, extras, parts, found = near.compiled, near.codes, b.extra, b.parts, b.near
    for j in range(near.size.size):
        own, first, part = near.codes[i, j], b.first[j], b.part[j]
        is_ranged = b.part[j + 1] > part + 1
        null, jump = c.null[near.column[j]], c.jump[near.column[j]]
        for at in range(size):
            code = codes[found[at], j]
            extra = extras[first + code]
            parts[part, at] = extra
            if is_ranged:
                several = low = high = 0.0
                if own == null:
                    several = extra
                elif code != own:
                    several = min(extra, jump)
                    if code == null:
                        low = max(0.0, extras[first] - several) if own > 0 else 0.0
                        high = extra - several - low
                    elif code < own:
                        low = extra - several
                    else:
                        high = extra - several
                parts[part, at], parts[part + 1, at], parts[part + 2, at] = several, low, high


@inner
def keep_least(b, size, total, most, value, weight, item):
    """Insert a point into the ascending list of least rests, which keeps as few as hold `most` records."""
    at = size
    while at > 0 and b.found[at - 1] > value:
        b.found[at], b.held[at], b.who[at] = b.found[at - 1], b.held[at - 1], b.who[at - 1]
        at -= 1
    b.found[at], b.held[at], b.who[at] = value, weight, item
    size += 1
    total += weight
    while total - b.held[size - 1] >= most:
        size -= 1
        total -= b.held[size]
    return size, total


@inner
def raise_tops(b, f, size):
    """Raise the largest extras of branch f to those of the points in the list of least rests."""
    for p in range(b.parts.shape[0]):
        for at in range(size):
            b.top[f, p] = max(b.top[f, p], b.parts[p, b.who[at]])


@inner
def radius(near, b, f, i):
    """Return the least rest within which branch f has enough points with point i; note their largest extras."""
    low, high = b.low[f], b.high[f]
    items, rests, weights, points, found = b.item, b.rest, near.weights, b.near, b.found
    for p in range(b.parts.shape[0]):
        b.top[f, p] = b.paid[f, p]
    most, least = near.k - weights[i], 0.0
    if most > 0:
        size, total = 0, 0
        for at in range(low, high):
            if total < most or rests[at] < found[size - 1]:
                point = items[at]
                size, total = keep_least(
                    b, size, total, most, rests[at], weights[points[point]], point
                )
        if total < most:
            return np.inf
        least = b.found[size - 1]
        raise_tops(b, f, size)
    for t in range(near.need.size):
        own = near.values[i, t]
        most = near.outside[own]
        if most > 0:
            size, total = 0, 0
            for at in range(low, high):
                point = b.item[at]
                is_other = near.values[b.near[point], t] != own
                if is_other and (total < most or b.rest[at] < b.found[size - 1]):
                    size, total = keep_least(
                        b, size, total, most, b.rest[at], near.weights[b.near[point]], point
                    )
            if total < most:
                return np.inf
            least = max(least, b.found[size - 1])
            raise_tops(b, f, size)
        most = near.need[t] - 1
        if most > 0:
            kinds = 0
            for at in range(low, high):
                value = near.values[b.near[b.item[at]], t]
                if value != own and b.rest[at] < b.least[value]:
                    if b.least[value] == np.inf:
                        b.seen[kinds] = value
                        kinds += 1
                    b.least[value], b.owner[value] = b.rest[at], b.item[at]
            size, total = 0, 0
            for kind in range(kinds):
                value = b.seen[kind]
                if total < most or b.least[value] < b.found[size - 1]:
                    size, total = keep_least(
                        b, size, total, most, b.least[value], 1, b.owner[value]
                    )
                b.least[value] = np.inf
            if total < most:
                return np.inf
            least = max(least, b.found[size - 1])
            raise_tops(b, f, size)
    return least


@inner
def sum_of_row(rows, f):
    """Return the sum of a row."""
    total = 0.0
    for p in range(rows.shape[1]):
        total += rows[f, p]
    return total


@inner
def open_branch(b, size, f):
    """Put branch f on the heap of so many open ones."""
    at = size
    while at > 0 and b.bound[b.heap[(at - 1) // 2]] > b.bound[f]:
        b.heap[at] = b.heap[(at - 1) // 2]
        at = (at - 1) // 2
    b.heap[at] = f


@inner
def close_best(b, size):
    """Take the branch of the least bound from the heap of so many open ones."""
    best, f, at = b.heap[0], b.heap[size - 1], 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and b.bound[b.heap[child + 1]] < b.bound[b.heap[child]]:
            child += 1
        if b.bound[b.heap[child]] >= b.bound[f]:
            break
        b.heap[at] = b.heap[child]
        at = child
    b.heap[at] = f
    return best


@inner
def divide(b, f, g, part, is_paid, limit, free):
    """Make branch g of those points of branch f that a part is paid for, or that do not need it.

    Points are left out that cannot be in a cell that costs less than `limit`. Returns the end of `item` in use.
    """
    for p in range(b.parts.shape[0]):
        b.paid[g, p] = b.paid[f, p]
    paid, level = b.paid[f, part], b.top[f, part]
    items, rests, parts = b.item, b.rest, b.parts
    if is_paid:
        b.paid[g, part] = level
    most = limit - sum_of_row(b.paid, g)
    b.low[g] = free
    for at in range(b.low[f], b.high[f]):
        point, rest = items[at], rests[at]
        extra = parts[part, point]
        if is_paid:
            rest -= min(level, max(paid, extra)) - paid
        elif extra >= level:
            continue
        if rest < most:
            items[free], rests[free] = point, rest
            free += 1
    b.high[g] = free
    return free


@inner
def cheapest_cell(near, b, i, size, limit, room):
    """Search for the cheapest cell of point i among the points near it.

    Returns a bound of what the cell costs beyond the point alone, at most `limit`, and what the cheapest one found
    costs, the largest extras of which are those of the returned branch, −1 if none costs less than `limit`; and how
    many points were looked at.
    """
    b.low[0], b.high[0], free = 0, size, size
    for p in range(b.parts.shape[0]):
        b.paid[0, p] = 0.0
    b.bound[0] = radius(near, b, 0, i)
    best, branches, opened = -1, 1, 0
    if b.bound[0] < limit:
        open_branch(b, 0, 0)
        opened = 1
    while opened > 0:
        f = close_best(b, opened)
        opened -= 1
        if b.bound[f] >= limit * (1 - HAIR):
            break
        cost = sum_of_row(b.top, f)
        if cost < limit:
            best, limit = f, cost
            if b.bound[f] >= limit * (1 - HAIR):
                break
        if branches + 2 > b.low.size or free + 2 * (b.high[f] - b.low[f]) > room:
            return min(limit, b.bound[f]), limit, best, free
        part, most = 0, 0.0
        for p in range(b.parts.shape[0]):
            if b.top[f, p] - b.paid[f, p] > most:
                part, most = p, b.top[f, p] - b.paid[f, p]
        for is_paid in (True, False):
            g = branches
            free = divide(b, f, g, part, is_paid, limit, free)
            b.bound[g] = max(b.bound[f], sum_of_row(b.paid, g) + radius(near, b, g, i))
            if b.bound[g] < limit:
                open_branch(b, opened, g)
                opened += 1
                branches += 1
    return limit, limit, best, free


@inner
def lower_others(b, best, i, size, own, cost, least):
    """Lower what is known of later points that are in the cell of a branch."""
    for at in range(size):
        q = b.near[at]
        if q > i and own[q] and least[q] > cost:
            is_inside = True
            for p in range(b.parts.shape[0]):
                is_inside &= b.parts[p, at] <= b.top[best, p]
            if is_inside:
                least[q] = cost


@kernel
def cheapest_cells(near, b, y, own, low, high, room, least):
    """Fill least[i] for points low:high of class y with a bound of what the cheapest cell costs that holds point i.

    least[i] must start at the cost of some such cell, or at infinity. `own` says which points are of class y. After
    `room` points have been looked at, a search ends with the bound that it has reached. Returns how many were looked
    at.
    """
    looks = 0
    for i in range(low, high):
        if not own[i]:
            continue
        alone = set_extras(near, b, y, i)
        limit = least[i] - alone
        size, seen = find_near(near, b, i, limit)
        set_parts(near, b, i, size)
        bound, cost, best, used = cheapest_cell(near, b, i, size, limit, room)
        looks += b.extra.size + seen + used
        if bound < limit:
            least[i] = alone + bound
        if best >= 0:
            lower_others(b, best, i, size, own, alone + cost, least)
    return looks
