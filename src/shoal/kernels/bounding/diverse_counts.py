"""How much the duals of a group can exceed what it costs where entropy is limited, by whole numbers of records.

A group of N records that has n of them with each sensitive value keeps entropy h if the sum of n·log n is at most
N·log N − N·h. With a multiplier for that, the best group of each N takes one record after the other, always the one
that adds most: what a value adds falls with every record, so this is exact (Fox 1966). Any multiplier gives a valid
bound for every N, so each N keeps the lowest of those that were tried. Slopes, see `diverse_groups`, do not know that
numbers of records are whole, and so ask too little of small cells.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import inner

FEW = 400  # records: cells of more are left to slopes. With 64, Adult with entropy 5 has 1.56 in place of 1.38 proved.
# Multipliers that are tried for all N: how many beside 0, the first as a share of the spread of z, and how they grow.
MULTIPLIERS, FIRST, GROWTH = 7, 0.125, 2.0
# For so many N, those of the highest bounds, better multipliers are searched for in so many steps more.
TURNS, CUTS = 3, 4
SUMS_BY_LOOK = 4  # values that are compared in the time of a look
HALVINGS = 10  # steps of the search for a cap


@inner
def is_countable(q, t, cell, kinds):
    """Return whether a sorted cell is small enough, and entropy is limited."""
    return q.entropy[t] > 0.0 and q.k <= cell.held[cell.begin[kinds]] < cell.level.size


@inner
def counted_excess(cell, kinds, k, entropy):
    """Return a bound on what the duals of any group that keeps an entropy exceed its costs by.

    `picked` holds the best group found for the number of records that has the highest bound.
    """
    records = cell.held[cell.begin[kinds]]
    lowest, highest = np.inf, -np.inf
    for m in range(kinds):
        highest = max(highest, cell.z[cell.begin[m]])
        lowest = min(lowest, cell.z[cell.begin[m + 1] - 1])
    for number in range(records + 1):
        cell.level[number] = np.inf
    spread = max(highest - lowest, 1e-9)
    multiplier = 0.0
    for turn in range(MULTIPLIERS + 1):
        take_all(cell, kinds, k, entropy, multiplier, records)
        multiplier = spread * FIRST if turn == 0 else multiplier * GROWTH
    worst, near = highest_level(cell, k, records), 0.0
    for _ in range(TURNS):
        if cell.level[worst] <= 0.0:
            break
        low, high = 0.0, multiplier
        for _ in range(CUTS + MULTIPLIERS):
            near = (low + high) / 2 if high < 4 * low else (high / 4 if low == 0.0 else 2 * low)
            if take_all(cell, kinds, k, entropy, near, worst) < 0.0:
                low = near
            else:
                high = near
        now = highest_level(cell, k, records)
        if now == worst:
            break
        worst = now
    if cell.level[worst] > 0.0:
        take_all(cell, kinds, k, entropy, near, worst)
    return cell.level[worst]


@inner
def highest_level(cell, k, records):
    """Return the number of records that has the highest bound."""
    worst = k
    for number in range(k, records + 1):
        worst = number if cell.level[number] > cell.level[worst] else worst
    return worst


@inner
def take_all(cell, kinds, k, entropy, multiplier, stop):
    """Take records one by one, and lower the bound of each number of them; return by how much the last keeps entropy.

    Taking ends at `stop` records, of which `picked` holds how many have each value.
    """
    total, used = 0.0, 0.0
    cell.work[0] += stop * (kinds + SUMS_BY_LOOK) // SUMS_BY_LOOK
    for m in range(kinds):
        cell.picked[m] = 0.0
        cell.place[m] = cell.begin[m]
        cell.best[m] = cell.z[cell.begin[m]]
    for number in range(1, stop + 1):
        best = 0
        for m in range(1, kinds):
            best = m if cell.best[m] > cell.best[best] else best
        total += cell.best[best]
        taken = int(cell.picked[best]) + 1
        used += cell.times_log[taken] - cell.times_log[taken - 1]
        cell.picked[best] = taken
        at = cell.place[best]
        if cell.held[at + 1] - cell.held[cell.begin[best]] == taken:
            at += 1
            cell.place[best] = at
        cell.best[best] = -np.inf
        if at < cell.begin[best + 1]:
            cell.best[best] = cell.z[at] - multiplier * (
                cell.times_log[taken + 1] - cell.times_log[taken]
            )
        if number >= k:
            left = cell.times_log[number] - number * entropy
            cell.level[number] = min(cell.level[number], total + multiplier * left)
    return cell.times_log[stop] - stop * entropy - used


@inner
def raise_cap(cell, kinds, k, entropy, pull, lift, low):
    """Return a cap of at least `low`, which is known to be valid, under which the bound is not above 0 either.

    No record counts for more than the cap, where it counts for z plus `lift` and `pull` times the slope of its value.
    """
    end = cell.begin[kinds]
    high = low
    for m in range(kinds):
        high = max(high, cell.z[cell.begin[m]] + pull * cell.slope[m] + lift)
    for at in range(end):
        cell.spare[at] = cell.z[at]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        cap_z(cell, kinds, pull, lift, middle)
        if counted_excess(cell, kinds, k, entropy) > 0.0:
            high = middle
        else:
            low = middle
    for at in range(end):
        cell.z[at] = cell.spare[at]
    return low


@inner
def cap_z(cell, kinds, pull, lift, cap):
    """Set z to what is left of it under a cap."""
    for m in range(kinds):
        most = cap - pull * cell.slope[m] - lift
        for at in range(cell.begin[m], cell.begin[m + 1]):
            cell.z[at] = min(cell.spare[at], most)
