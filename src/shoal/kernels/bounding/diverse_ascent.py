"""Dual variables of the covering problem under requirements beyond k; see `ascent` and `diverse_groups`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bounding.closed_cells import cell_cost, next_cell
from shoal.kernels.bounding.diverse_counts import counted_excess, is_countable, raise_cap
from shoal.kernels.bounding.diverse_groups import (
    best_lift,
    cap_excess,
    excess,
    least_excess,
    picked_slope,
    raise_cost,
    sort_cell,
)
from shoal.kernels.bounding.diverse_slopes import limits_shares, mend
from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel

LISTED = 1e-9  # a cell is listed if the duals of a group in it exceed its cost by this
SORT_LOOKS = 4  # work of sorting a member, in points looked at
ROUNDING = 1e-6  # by which entropy may miss what is asked for
KEPT = 4  # times k: records of each sensitive value that a listed cell keeps at most
NO_GROUP, HOLDS = -2, -1  # see `price_cell`


@bundle
class Listing(NamedTuple):
    """Groups whose duals exceed their costs, and the cells that they lie in.

    Group g is members[bounds[g]:bounds[g + 1]], points of which it takes `shares` records each, and limits[g], what
    their duals may sum up to. Of a cell, the points of the largest duals are kept, for each sensitive value.
    """

    listed: np.ndarray  # int64[2], groups and cells so far
    bounds: np.ndarray  # int64[groups + 1]
    limits: np.ndarray  # float64[groups]
    members: np.ndarray  # int32[members of groups]
    shares: np.ndarray  # float64[members of groups]
    cell_bounds: np.ndarray  # int64[cells + 1]
    costs: np.ndarray  # float64[cells], of a record in each
    keys: np.ndarray  # uint64[cells], the same for the same points
    points: np.ndarray  # int32[points of cells]


def make_listing(groups, members, cells, points):
    """Make room for so many groups with so many members in all, and for so many cells and their points."""
    return Listing(
        listed=np.zeros(2, np.int64),
        bounds=np.zeros(groups + 1, np.int64),
        limits=np.empty(groups),
        members=np.empty(members, np.int32),
        shares=np.empty(members),
        cell_bounds=np.zeros(cells + 1, np.int64),
        costs=np.empty(cells),
        keys=np.empty(cells, np.uint64),
        points=np.empty(points, np.int32),
    )


@kernel
def repair_diverse(trees, walk, q, need, values, cell, duals, slack, until, listing):
    """Lower `duals` until in no group that keeps the requirements they exceed its cost, and list groups where they did.

    One walk over all cells suffices, as in `repair`, and `slack` means the same. need[t] is the least number of
    distinct values in tally t. A cell that has fewer is left alone, and so are all below it.
    """
    k = q.k
    while walk.top[1] < until:
        walk.top[1] += cell.work[0]
        cell.work[0] = 0
        if not next_cell(trees, walk, k, k, duals):
            return True
        f = walk.top[0]
        cost = limit = cell_cost(walk)
        if walk.reach[f] <= walk.floor[f] + slack:
            limit = min(cost, walk.floor[f])
        if walk.reach[f] <= limit:
            continue
        inside = walk.order[walk.low[f] : walk.high[f]]
        walk.top[1] += SORT_LOOKS * inside.size
        best, kinds, found = price_cell(
            q, need, values, cell, duals, trees.weights, inside, min(walk.floor[f], limit), limit
        )
        if best < 0:
            if best == NO_GROUP:
                walk.reach[f] = -np.inf
            elif limit < cost:
                walk.reach[f] = min(walk.reach[f], limit)
            continue
        pull, lift, over, low, high = found
        cap = cap_excess(cell, kinds, need[best], k, pull, lift)
        if is_countable(q, best, cell, kinds):
            cap = raise_cap(cell, kinds, k, q.entropy[best] - ROUNDING, pull, lift, cap)
        lower(cell, kinds, pull, lift, limit, cap, duals)
        if over > LISTED and limit == cost:
            list_group(q, best, cell, kinds, need[best], low, high, cost, listing)
            list_cell(cell, kinds, KEPT * k, cost, inside, listing)
        if limit < cost:
            walk.reach[f] = limit
    return False


@kernel
def price_cells(q, need, values, cell, duals, weights, bounds, costs, points, listing):
    """List groups of the given cells whose duals exceed their costs, one for each cell at most; return the looks."""
    cell.work[0] = 0
    for c in range(costs.size):
        inside = points[bounds[c] : bounds[c + 1]]
        best, kinds, found = price_cell(
            q, need, values, cell, duals, weights, inside, costs[c], costs[c]
        )
        if best >= 0:
            _, _, over, low, high = found
            if over > LISTED:
                list_group(q, best, cell, kinds, need[best], low, high, costs[c], listing)
    return SORT_LOOKS * bounds[costs.size] + cell.work[0]


@inner
def price_cell(q, need, values, cell, duals, weights, inside, floor, cost):
    """Sort a cell by the tally whose bound on what duals can exceed their costs by is lowest.

    Returns that tally, how many of its values occur, and what `least_excess` says of it. In place of the tally,
    NO_GROUP if no group of the cell keeps the requirements, or none would exceed what it costs even at the least cost
    of any cell below, `floor`; HOLDS if none exceeds its costs.
    """
    best, least, kinds = HOLDS, np.inf, 0
    found = (0.0, 0.0, 0.0, 0.0, 0.0)
    for t in range(need.size):
        from_floor = floor < cost and limits_shares(q, t)
        kinds = sort_cell(cell, inside, values, t, duals, weights, floor if from_floor else cost)
        if kinds < need[t]:
            return NO_GROUP, kinds, found
        if from_floor:
            if least_excess(q, t, cell, kinds, need[t], 1)[2] <= 0.0:
                return NO_GROUP, kinds, found
            raise_cost(cell, kinds, cost - floor)
        found = least_excess(q, t, cell, kinds, need[t])
        if found[2] > 0.0 and is_countable(q, t, cell, kinds):
            pull, lift, over, low, high = found
            counted = counted_excess(cell, kinds, q.k, q.entropy[t] - ROUNDING)
            found = pull, lift, min(over, counted), low, high
        if found[2] <= 0.0:
            return HOLDS, kinds, found
        if found[2] < least:
            best, least = t, found[2]
    if best != need.size - 1:
        kinds = sort_cell(cell, inside, values, best, duals, weights, cost)
        found = least_excess(q, best, cell, kinds, need[best])
    return best, kinds, found


@inner
def list_cell(cell, kinds, most, cost, inside, listing):
    """List a sorted cell with the points of its largest duals, so many records for each sensitive value at most."""
    number = listing.listed[1]
    end = listing.cell_bounds[number]
    if number == listing.costs.size or end + inside.size > listing.points.size:
        return
    key = np.uint64(0)
    for i in inside:
        key += mixed(np.uint64(i))
    for m in range(kinds):
        first = cell.held[cell.begin[m]]
        for at in range(cell.begin[m], cell.begin[m + 1]):
            if cell.held[at] - first >= most:
                break
            listing.points[end] = cell.item[at]
            end += 1
    listing.costs[number] = cost
    listing.keys[number] = key
    listing.cell_bounds[number + 1] = end
    listing.listed[1] = number + 1


@inner
def mixed(number):
    """Return a number that looks random, always the same for the same one (SplitMix64)."""
    number += np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@inner
def list_group(q, t, cell, kinds, need, low, high, cost, listing):
    """List the group that `balance` finds, if any: of each sensitive value the records with the largest duals.

    Where only distinct values are required it may be larger than it need be, by records that many have the same duals
    as, and then its own duals need not exceed its costs.
    """
    number = listing.listed[0]
    end = listing.bounds[number]
    if number == listing.limits.size or end + cell.begin[kinds] > listing.members.size:
        return
    if not balance(q, t, cell, kinds, need, low, high):
        return
    records, over = 0.0, 0.0
    for m in range(kinds):
        left = cell.picked[m]
        at = cell.begin[m]
        while left > 0.0 and at < cell.begin[m + 1]:
            share = min(left, 1.0 * (cell.held[at + 1] - cell.held[at]))
            listing.members[end] = cell.item[at]
            listing.shares[end] = share
            records += share
            over += share * cell.z[at]
            left -= share
            at += 1
            end += 1
    if over > LISTED or not limits_shares(q, t):
        listing.limits[number] = records * cost
        listing.bounds[number + 1] = end
        listing.listed[0] = number + 1


@allocating
def balance(q, t, cell, kinds, need, low, high):
    """Pick numbers of records, not always whole ones, that keep the requirements; return whether there are such.

    Those picked at two pulls, at which slopes sum up to less and to more than 0, are mixed so that they sum up to 0;
    and then mended.
    """
    if is_countable(q, t, cell, kinds):
        counted_excess(cell, kinds, q.k, q.entropy[t] - ROUNDING)
        return mend(q, t, cell, kinds)
    near = np.empty(kinds)
    slope = pick(cell, kinds, need, q.k, low)
    if slope < 0.0:
        for m in range(kinds):
            near[m] = cell.picked[m]
        other = pick(cell, kinds, need, q.k, high)
        if other >= 0.0:
            part = other / (other - slope)
            for m in range(kinds):
                cell.picked[m] = part * near[m] + (1.0 - part) * cell.picked[m]
    return mend(q, t, cell, kinds)


@inner
def pick(cell, kinds, need, k, pull):
    """Pick at least k records that count most with a pull; return the sum of their slopes."""
    lift = best_lift(cell, kinds, need, k, pull)
    excess(cell, kinds, need, k, pull, lift, np.inf)
    return picked_slope(cell, kinds)


@inner
def lower(cell, kinds, pull, lift, cost, cap, duals):
    """Lower the duals of all records that count for more than a cap."""
    for m in range(kinds):
        shift = pull * cell.slope[m] + lift
        for at in range(cell.begin[m], cell.begin[m + 1]):
            if cell.z[at] + shift <= cap:
                break
            duals[cell.item[at]] = cost + cap - shift


@kernel
def project_groups(duals, weights, bounds, limits, members, shares, taken, order):
    """Do one round of projections of `duals` onto what the listed groups allow (Hildreth 1957).

    `taken` is how much of each group was taken off at its last visit.
    """
    for c in order:
        total, norm = 0.0, 0.0
        for at in range(bounds[c], bounds[c + 1]):
            total += shares[at] * duals[members[at]]
            norm += shares[at] * shares[at] / weights[members[at]]
        now = max(0.0, taken[c] + (total - limits[c]) / norm)
        change = taken[c] - now
        if change != 0.0:
            for at in range(bounds[c], bounds[c + 1]):
                duals[members[at]] += change * shares[at] / weights[members[at]]
            taken[c] = now
