"""How much the duals of a group can exceed what it costs, over all groups in a cell that keep the requirements.

Let z be a record's dual less what the cell costs a record. A group that keeps the requirements may not have a sum of z
above 0. The largest such sum is hard to find, but multipliers bound it from above (Lagrangian relaxation): a record
counts as z plus `lift`, which stands for k, plus `pull` times the slope of its sensitive value, and all records that
count for more than 0 are summed up; then `lift` times k is taken off. Slopes are those of a linear inequality that
every group keeps: the sum of its records' slopes is at least 0. What is asked of the number of distinct values is kept
exactly: the best record of as many values as needed counts even if it counts for less than 0. So do the best records
outside the value that counts most often, as many as a group of k records needs, which is a whole number where slopes
know shares only. Any `lift` and `pull` of at least 0 give a valid bound, so they are searched for only roughly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bounding.diverse_counts import FEW
from shoal.kernels.bounding.diverse_slopes import mend, place_of, set_slopes, surprise_slopes
from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner
from shoal.kernels.shared.arrays import order_of, taken

MOST_STEPS = 30  # of the search for a cap; some five are usual
ROUNDS = 2  # inequalities that are tried
GROWTHS, CUTS = 6, 6  # steps of the search for a pull: doublings, then halvings


@bundle
class Sorted(NamedTuple):
    """The members of a cell by sensitive value, those of a value by falling dual; and what was last summed up."""

    kind: np.ndarray  # int64[values], the values that occur
    begin: np.ndarray  # int64[values + 1], where the members of each of them begin
    slope: np.ndarray  # float64[values], of each of them
    kept: np.ndarray  # float64[values], the slopes of the best bound so far
    picked: np.ndarray  # float64[values], records that were summed up, of each of them
    best: np.ndarray  # float64[values], their sum
    first: np.ndarray  # int64[all values], scratch, zero between uses
    outside: (
        np.ndarray
    )  # int64[all values], the least number of records of a group that have another value
    item: np.ndarray  # int64[points], the members
    z: np.ndarray  # float64[points], their duals less the cost
    held: np.ndarray  # int64[points + 1], records of the members before each
    sum: np.ndarray  # float64[points + 1], the sum of z over these
    node: np.ndarray  # float64[nodes], scratch for trees of values
    place: np.ndarray  # int64[values], scratch, and what follows, see `diverse_counts`
    spare: np.ndarray  # float64[few]
    level: np.ndarray  # float64[few + 1]
    times_log: np.ndarray  # float64[few + 2], n·log n of each number n
    work: np.ndarray  # int64[1], of counting records, in points looked at


def make_sorted(points, q, outside, few=FEW):
    """Make scratch for cells of so many points at most; `outside` as in `Sorted`.

    Records are counted in cells of up to `few` of them, see `diverse_counts`.
    """
    values = int(q.start[-1])
    return Sorted(
        kind=np.zeros(values, np.int64),
        begin=np.zeros(values + 1, np.int64),
        slope=np.zeros(values),
        kept=np.zeros(values),
        picked=np.zeros(values),
        best=np.zeros(values),
        first=np.zeros(values, np.int64),
        outside=outside,
        item=np.zeros(points, np.int64),
        z=np.zeros(points),
        held=np.zeros(points + 1, np.int64),
        sum=np.zeros(points + 1),
        node=np.zeros(2 * int(np.diff(q.node).max(initial=1))),
        place=np.zeros(values, np.int64),
        spare=np.zeros(few),
        level=np.zeros(few + 1),
        times_log=np.array([0.0, *(n * np.log(n) for n in range(1, few + 2))]),
        work=np.zeros(1, np.int64),
    )


@allocating
def sort_cell(cell, members, values, t, duals, weights, cost):
    """Sort the members of a cell by their values in tally t and by falling dual; return how many values occur."""
    kinds = 0
    for i in members:
        v = values[i, t]
        if cell.first[v] == 0:
            cell.kind[kinds] = v
            kinds += 1
        cell.first[v] += 1
    cell.begin[0] = 0
    for m in range(kinds):
        cell.begin[m + 1] = cell.begin[m] + cell.first[cell.kind[m]]
        cell.first[cell.kind[m]] = cell.begin[m]
    for i in members:
        v = values[i, t]
        cell.item[cell.first[v]] = i
        cell.first[v] += 1
    for m in range(kinds):
        cell.first[cell.kind[m]] = 0
        low, high = cell.begin[m], cell.begin[m + 1]
        less = np.empty(high - low)
        for at in range(low, high):
            less[at - low] = -duals[cell.item[at]]
        items = taken(cell.item[low:high], order_of(less))
        for at in range(low, high):
            i = items[at - low]
            cell.item[at] = i
            cell.z[at] = duals[i] - cost
            cell.held[at + 1] = cell.held[at] + weights[i]
            cell.sum[at + 1] = cell.sum[at] + weights[i] * cell.z[at]
    return kinds


@inner
def raise_cost(cell, kinds, by):
    """Let a sorted cell cost so much more."""
    for at in range(cell.begin[kinds]):
        cell.z[at] -= by
        cell.sum[at + 1] -= by * cell.held[at + 1]


@inner
def end_above(z, low, high, limit):
    """Return the end of those of the falling numbers z[low:high] that are above a limit."""
    while low < high:
        middle = (low + high) // 2
        if z[middle] > limit:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def excess(cell, kinds, need, k, pull, lift, cap):
    """Return the bound for these multipliers, and note in `picked` the records of each value that it sums up.

    No record counts for more than `cap`. At least `need` values must occur.
    """
    total, chosen = -lift * k, 0
    for m in range(kinds):
        shift = pull * cell.slope[m] + lift
        low, high = cell.begin[m], cell.begin[m + 1]
        last = end_above(cell.z, low, high, -shift)
        cell.picked[m] = cell.held[last] - cell.held[low]
        if last > low:
            over = end_above(cell.z, low, last, cap - shift)
            total += cell.sum[last] - cell.sum[over]
            total += shift * (cell.held[last] - cell.held[over])
            if over > low:
                total += cap * (cell.held[over] - cell.held[low])
            chosen += 1
        else:
            cell.best[m] = cell.z[low] + shift
    while chosen < need:
        most = -1
        for m in range(kinds):
            if cell.picked[m] == 0 and (most < 0 or cell.best[m] > cell.best[most]):
                most = m
        total += cell.best[most]
        cell.picked[most] = 1
        chosen += 1
    return total + pick_outside(cell, kinds, pull, lift)


@inner
def pick_outside(cell, kinds, pull, lift):
    """Pick as many records outside the value that is picked most often as a group needs; return what they count for.

    Minus infinity if there are too few. It is exact beside the values that had to be picked: the best records of these
    are in a best choice, and the best of all others fill it up.
    """
    top, total, missing = 0, 0.0, 0.0
    for m in range(kinds):
        missing -= cell.picked[m]
        top = m if cell.picked[m] > cell.picked[top] else top
    if missing == 0:
        return 0.0
    missing += cell.picked[top] + cell.outside[cell.kind[top]]
    while missing > 0:
        most, best = -1, -np.inf
        for m in range(kinds):
            at = place_of(cell, m, cell.picked[m])
            if m != top and at < cell.begin[m + 1]:
                counts = cell.z[at] + pull * cell.slope[m] + lift
                if counts > best:
                    most, best = m, counts
        if most < 0:
            return -np.inf
        total += best
        cell.picked[most] += 1
        missing -= 1
    return total


@inner
def picked_records(cell, kinds):
    """Return how many records were summed up."""
    records = 0.0
    for m in range(kinds):
        records += cell.picked[m]
    return records


@inner
def picked_slope(cell, kinds):
    """Return the sum of the slopes of the records that were summed up: how the bound grows with the pull."""
    total = 0.0
    for m in range(kinds):
        total += cell.picked[m] * cell.slope[m]
    return total


@inner
def best_lift(cell, kinds, need, k, pull):
    """Return the least lift, up to rounding, with which at least k records are summed up.

    Records are taken one after the other, those that count most first, until these and the records that have to be
    picked beside them are k.
    """
    excess(cell, kinds, need, k, pull, 0.0, np.inf)
    if picked_records(cell, kinds) >= k:
        return 0.0
    for m in range(kinds):
        cell.place[m] = cell.begin[m]
    values, top, largest, records, counts = 0, 0, 0, 0, 0.0
    while True:
        most, best = -1, -np.inf
        for m in range(kinds):
            at = cell.place[m]
            if at < cell.begin[m + 1] and cell.z[at] + pull * cell.slope[m] > best:
                most, best = m, cell.z[at] + pull * cell.slope[m]
        if most < 0:
            break
        counts = best
        at = cell.place[most]
        values += at == cell.begin[most]
        records += cell.held[at + 1] - cell.held[at]
        cell.place[most] = at + 1
        own = cell.held[at + 1] - cell.held[cell.begin[most]]
        if own > largest:
            top, largest = most, own
        beside = max(0, need - values)
        beside = max(beside, cell.outside[cell.kind[top]] - (records - largest))
        if records + beside >= k:
            break
    return max(0.0, -counts) * (1 + 1e-9) + 1e-12


@inner
def keep_slopes(slopes, kept, kinds):
    """Copy the slopes of so many values."""
    for m in range(kinds):
        kept[m] = slopes[m]


@inner
def least_excess(q, t, cell, kinds, need, rounds=ROUNDS):
    """Search for multipliers that make the bound low: (pull, lift, bound, two pulls around the best one).

    So many inequalities are tried, one after the other. `slope` holds the slopes that go with them. Ends as soon as the
    bound is not above 0.
    """
    below, above = 0.0, 0.0
    for m in range(kinds):
        cell.slope[m] = 0.0
        cell.kept[m] = 0.0
    pull, lift = 0.0, best_lift(cell, kinds, need, q.k, 0.0)
    least = excess(cell, kinds, need, q.k, 0.0, lift, np.inf)
    for number in range(rounds):
        if least <= 0.0:
            break
        is_new = number > 0 and q.entropy[t] > 0.0 and mend(q, t, cell, kinds)
        if is_new:
            surprise_slopes(q, t, cell, kinds)
        elif not set_slopes(q, t, cell, kinds):
            keep_slopes(cell.kept, cell.slope, kinds)
            break
        if is_new:
            excess(cell, kinds, need, q.k, 0.0, best_lift(cell, kinds, need, q.k, 0.0), np.inf)
        low, high = 0.0, least / max(1e-12, -picked_slope(cell, kinds))
        grows, before = True, least
        for step in range(GROWTHS + CUTS):
            tried = high if grows else (low + high) / 2
            lifted = best_lift(cell, kinds, need, q.k, tried)
            now = excess(cell, kinds, need, q.k, tried, lifted, np.inf)
            if now < least:
                pull, lift, least = tried, lifted, now
                keep_slopes(cell.slope, cell.kept, kinds)
            if now <= 0.0:
                break
            if picked_slope(cell, kinds) < 0.0:
                low = tried
                high = 2 * high if grows else high
            else:
                high, grows = tried, False
            if grows and step >= GROWTHS:
                break
        keep_slopes(cell.kept, cell.slope, kinds)
        excess(cell, kinds, need, q.k, pull, lift, np.inf)
        if least >= before:
            break
        below, above = low, high
    return pull, lift, least, below, above


@inner
def cap_excess(cell, kinds, need, k, pull, lift):
    """Return the highest cap, up to rounding, under which the bound is not above 0.

    The bound grows with the cap by the number of records above it, which falls (Newton's method from below: no step
    goes too far).
    """
    cap, low = 0.0, 0.0
    for _ in range(MOST_STEPS):
        total = excess(cell, kinds, need, k, pull, lift, cap)
        if total > 0.0:
            break
        low, above = cap, 0.0
        for m in range(kinds):
            begin, limit = cell.begin[m], cap - pull * cell.slope[m] - lift
            above += cell.held[end_above(cell.z, begin, cell.begin[m + 1], limit)]
            above -= cell.held[begin]
        if above == 0.0 or -total <= 1e-12 * above:
            break
        cap -= total / above * (1 - 1e-9)
    return low
