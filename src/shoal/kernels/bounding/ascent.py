"""Numbers y for records such that in every cell the k largest are on average at most what the cell costs.

`repair` makes any numbers so, in one walk over all closed cells, and lists the cells that it had to change
them for; `project_cells` brings numbers close to that for listed cells only, again and again.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.bounding.closed_cells import cell_cost, next_cell
from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.shared.arrays import order_of, taken

LISTED = 1e-9  # how much too large numbers must be on average for a cell to be listed


@allocating
def sort_down(values, items, weights, size):
    """Sort the first few values, with what belongs to them, in descending order."""
    less = np.empty(size)
    for at in range(size):
        less[at] = -values[at]
    order = order_of(less)
    sorted_items, sorted_weights = taken(items, order), taken(weights, order)
    for at in range(size):
        values[at] = -less[order[at]]
        items[at], weights[at] = sorted_items[at], sorted_weights[at]


@inner
def cap_of(values, weights, size, k, limit):
    """The cap under which the k largest of descending values sum up to `limit`, and their mean without it."""
    total, held = 0.0, 0
    for i in range(size):
        w = min(weights[i], k - held)
        total += w * values[i]
        held += w
        if held == k:
            break
    above, above_sum = 0, 0.0
    for i in range(size):
        w = min(weights[i], k - above)
        above += w
        above_sum += w * values[i]
        cap = (limit - (total - above_sum)) / above
        if above == k or cap >= values[i + 1]:
            break
    return cap, total / k


@kernel
def repair(t, w, k, y, slack, keep, until, cells, bounds, limits, members):
    """Lower `y` until it is valid, listing the cells it is lowered for, or until so many points were looked at.

    In a cell whose k largest numbers are too large on average they are capped until they are not; lowering
    numbers never makes another cell worse, so one walk over all cells suffices. Where they are by at most `slack`
    above the least that cells below cost, they are capped to that instead, and the walk need not go there. Of each
    listed cell the largest numbers are kept, `keep` records. Returns whether the walk is at its end, and the number
    of cells listed.
    """
    n = y.size
    values, items, heavy = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    while w.top[1] < until:
        if not next_cell(t, w, k, k, y):
            return True, cells
        f = w.top[0]
        cost = limit = cell_cost(w)
        if w.reach[f] <= w.floor[f] + slack:
            limit = min(cost, w.floor[f])
        if w.reach[f] <= limit:
            continue
        size = w.high[f] - w.low[f]
        w.top[1] += size
        for q in range(size):
            i = w.order[w.low[f] + q]
            items[q] = i
            values[q] = y[i]
            heavy[q] = t.weights[i]
        sort_down(values, items, heavy, size)
        cap, mean = cap_of(values, heavy, size, k, k * limit)
        w.reach[f] = min(mean, limit)
        if mean <= limit:
            continue
        end = bounds[cells]
        room = cells < limits.size and end + size <= members.size
        if room and mean > cost + LISTED:
            held = 0
            for q in range(size):
                members[end] = items[q]
                end += 1
                held += heavy[q]
                if held >= keep:
                    break
            limits[cells] = cost
            cells += 1
            bounds[cells] = end
        for q in range(size):
            if values[q] <= cap:
                break
            y[items[q]] = cap
    return False, cells


@inner
def project(z, weights, size, k, limit, out):
    """Nearest numbers to descending `z` whose k largest sum up to `limit`, into `out`."""
    top, held, last = 0.0, 0, 0
    while held < k:
        top += weights[last] * z[last]
        held += weights[last]
        last += 1
    for q in range(size):
        out[q] = z[q]
    if held == k:
        shift = (top - limit) / k
        if last == size or z[last - 1] - shift >= z[last]:
            for q in range(last):
                out[q] = z[q] - shift
            return
    first = last - 1  # from first to last: those that become equal
    heavier, upper = held - weights[first], top - weights[first] * z[first]
    middle, sum_middle = weights[first], weights[first] * z[first]
    while True:
        rest = k - heavier
        level = (limit - upper + heavier * sum_middle / rest) / (rest + heavier * middle / rest)
        shift = (sum_middle - middle * level) / rest
        if last < size and z[last] > level:
            middle += weights[last]
            sum_middle += weights[last] * z[last]
            last += 1
        elif first > 0 and z[first - 1] - shift < level:
            first -= 1
            heavier -= weights[first]
            upper -= weights[first] * z[first]
            middle += weights[first]
            sum_middle += weights[first] * z[first]
        else:
            break
    for q in range(first):
        out[q] = z[q] - shift
    for q in range(first, last):
        out[q] = level


@kernel
def project_cells(y, weights, k, bounds, limits, members, taken, order):
    """One round of Dykstra's projections of `y` onto what listed cells allow; returns the largest change.

    `taken` is what each cell took from its members when it was last visited.
    """
    largest = 0
    for c in range(limits.size):
        largest = max(largest, bounds[c + 1] - bounds[c])
    values, items = np.empty(largest), np.empty(largest, np.int64)
    heavy, out = np.empty(largest, np.int64), np.empty(largest)
    change = 0.0
    for c in order:
        low, size = bounds[c], bounds[c + 1] - bounds[c]
        highest, any_taken = -np.inf, False
        for q in range(size):
            v = y[members[low + q]] + taken[low + q]
            values[q] = v
            items[q] = q
            heavy[q] = weights[members[low + q]]
            highest = max(highest, v)
            any_taken |= taken[low + q] != 0.0
        if highest <= limits[c]:
            if any_taken:
                for q in range(size):
                    y[members[low + q]] = values[q]
                    taken[low + q] = 0.0
            continue
        sort_down(values, items, heavy, size)
        total, held = 0.0, 0
        for q in range(size):
            w = min(heavy[q], k - held)
            total += w * values[q]
            held += w
            if held == k:
                break
        if total <= k * limits[c]:
            for q in range(size):
                y[members[low + items[q]]] = values[q]
                taken[low + items[q]] = 0.0
            continue
        project(values, heavy, size, k, k * limits[c], out)
        for q in range(size):
            i = low + items[q]
            change = max(change, abs(y[members[i]] - out[q]))
            y[members[i]] = out[q]
            taken[i] = values[q] - out[q]
    return change
