"""Dual variables of the covering problem under requirements beyond k; see `ascent` and `diverse_groups`."""

from __future__ import annotations

import numpy as np

from shoal.kernels.bounding.closed_cells import cell_cost, next_cell
from shoal.kernels.bounding.diverse_groups import (
    best_lift,
    cap_excess,
    excess,
    least_excess,
    picked_slope,
    sort_cell,
)
from shoal.kernels.compilation import allocating, inner, kernel

LISTED = 1e-9  # a cell is listed if the duals of a group in it exceed its cost by this
SORT_LOOKS = 4  # work of sorting a member, in points looked at


@kernel
def repair_diverse(
    trees, walk, q, need, values, cell, duals, slack, until, cells, bounds, limits, members, shares
):
    """Lower `duals` until in no group that keeps the requirements they exceed its cost, and list groups where they did.

    One walk over all cells suffices, as in `repair`, and `slack` means the same. need[t] is the least number of
    distinct values in tally t. A cell that has fewer is left alone, and so are all below it.

    A listed group is members[bounds[c]:bounds[c + 1]], points of which it takes `shares` records each, and
    limits[c], what their duals may sum up to; `cells` is the number of groups listed so far.
    """
    k = q.k
    while walk.top[1] < until:
        if not next_cell(trees, walk, k, k, duals):
            return True, cells
        f = walk.top[0]
        cost = limit = cell_cost(walk)
        if walk.reach[f] <= walk.floor[f] + slack:
            limit = min(cost, walk.floor[f])
        if walk.reach[f] <= limit:
            continue
        inside = walk.order[walk.low[f] : walk.high[f]]
        walk.top[1] += SORT_LOOKS * inside.size
        best, least, holds, kinds = -1, np.inf, False, 0
        for t in range(need.size):
            kinds = sort_cell(cell, inside, values, t, duals, trees.weights, limit)
            if kinds < need[t]:
                walk.reach[f] = -np.inf
                holds = True
                break
            _, _, over, _, _ = least_excess(q, t, cell, kinds, need[t])
            if over <= 0.0:
                holds = True
                break
            if over < least:
                best, least = t, over
        if holds:
            if limit < cost:
                walk.reach[f] = min(walk.reach[f], limit)
            continue
        if best != need.size - 1:
            kinds = sort_cell(cell, inside, values, best, duals, trees.weights, limit)
        pull, lift, over, low, high = least_excess(q, best, cell, kinds, need[best])
        if over > LISTED and limit == cost and cells < limits.size:
            if bounds[cells] + inside.size <= members.size:
                ends = low, best_lift(cell, kinds, need[best], k, low)
                records, end = list_group(
                    cell, kinds, need[best], k, ends, high, bounds[cells], members, shares
                )
                limits[cells] = records * cost
                cells += 1
                bounds[cells] = end
        cap = cap_excess(cell, kinds, need[best], k, pull, lift)
        lower(cell, kinds, pull, lift, limit, cap, duals)
        if limit < cost:
            walk.reach[f] = limit
    return False, cells


@allocating
def list_group(cell, kinds, need, k, low, high, end, members, shares):
    """List a group of parts of records, between those summed up at two pulls, so that their slopes sum up to 0.

    The group is written from place `end` on; returns its number of records and its end.
    """
    far = high, best_lift(cell, kinds, need, k, high)
    excess(cell, kinds, need, k, low[0], low[1], np.inf)
    slope = picked_slope(cell, kinds)
    before = np.empty(kinds)
    for m in range(kinds):
        before[m] = cell.picked[m]
    excess(cell, kinds, need, k, far[0], far[1], np.inf)
    other = picked_slope(cell, kinds)
    part = other / (other - slope) if slope < 0.0 < other else (1.0 if slope >= 0.0 else 0.0)
    records = 0.0
    for m in range(kinds):
        low_place, low_end = cell.begin[m], cell.begin[m + 1]
        left, right = before[m], 1.0 * cell.picked[m]
        for at in range(low_place, low_end):
            weight = cell.held[at + 1] - cell.held[at]
            a, b = min(left, weight), min(right, weight)
            if a <= 0.0 and b <= 0.0:
                break
            left -= a
            right -= b
            members[end] = cell.item[at]
            shares[end] = part * a + (1.0 - part) * b
            if shares[end] > 0.0:
                records += shares[end]
                end += 1
    return records, end


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
