"""Dual variables of the covering problem: one per record, such that every cell can pay for its k largest.

Let a number y be given to every record. The numbers are *valid* (dual feasible) if in every cell the k largest of
them are on average at most what the cell costs a record; their sum is then a lower bound of the cost of any
partition. `repair` makes any numbers valid in one walk over all closed cells and lists the cells for which it had
to lower some; `project_cells` makes numbers nearly valid for the listed cells only, round after round.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.bounding.closed_cells import cell_cost, next_cell
from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.arrays import sort_stably

LISTED = 1e-9  # a cell is listed if the mean of its k largest duals exceeds its cost by this


@inner
def sort_down(values, items, weights, size, less, order, spare):
    """Sort the first `size` values in descending order, and `items` and `weights` along with them.

    `less`, float64, and `order` and `spare`, int64, are scratch of at least this size.
    """
    for at in range(size):
        less[at] = -values[at]
    sort_stably(less[:size], order[:size], spare[:size])
    for at in range(size):
        values[at] = -less[order[at]]
        spare[at] = items[order[at]]
    for at in range(size):
        items[at] = spare[at]
    for at in range(size):
        spare[at] = weights[order[at]]
    for at in range(size):
        weights[at] = spare[at]


@inner
def sum_of_largest(values, weights, size, k):
    """Return the sum of the k largest of `size` descending values, each of which counts weights[i] times."""
    total, held = 0.0, 0
    for i in range(size):
        weight = min(weights[i], k - held)
        total += weight * values[i]
        held += weight
        if held == k:
            break
    return total


@inner
def cap_of(values, weights, size, k, limit):
    """Return the cap under which the k largest of descending values sum up to `limit`, and their mean without a cap.

    Each value counts weights[i] times.
    """
    total = sum_of_largest(values, weights, size, k)
    above, above_sum = 0, 0.0
    for i in range(size):
        weight = min(weights[i], k - above)
        above += weight
        above_sum += weight * values[i]
        cap = (limit - (total - above_sum)) / above
        if above == k or cap >= values[i + 1]:
            break
    return cap, total / k


@kernel
def repair(trees, walk, k, duals, slack, keep, until, cells, bounds, limits, members):
    """Lower `duals` until they are valid, and list the cells for which they are lowered.

    In a cell whose k largest duals are on average above its cost, the largest are capped until they are not.
    Lowering numbers never makes another cell invalid, so one walk over all cells suffices. If the mean is at most
    `slack` above the least cost of any cell at or below this one, the duals are capped to that least cost instead
    and the walk need not go further down: the bound gets looser, the walk shorter.

    A listed cell is limits[cell] (its cost) and members[bounds[cell]:bounds[cell + 1]], its points with the largest
    duals that hold `keep` records; `cells` is the number of cells listed so far. The walk pauses once it
    has looked at `until` points (walk.top[1]). Returns whether it is at its end, and the number of listed cells.
    """
    n = duals.size
    values, items, heavy = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    less, order, spare = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    while walk.top[1] < until:
        if not next_cell(trees, walk, k, k, duals):
            return True, cells
        f = walk.top[0]
        cost = limit = cell_cost(walk)
        if walk.reach[f] <= walk.floor[f] + slack:
            limit = min(cost, walk.floor[f])
        if walk.reach[f] <= limit:
            continue
        size = walk.high[f] - walk.low[f]
        walk.top[1] += size
        for at in range(size):
            i = walk.order[walk.low[f] + at]
            items[at] = i
            values[at] = duals[i]
            heavy[at] = trees.weights[i]
        sort_down(values, items, heavy, size, less, order, spare)
        cap, mean = cap_of(values, heavy, size, k, k * limit)
        walk.reach[f] = min(mean, limit)
        if mean <= limit:
            continue
        end = bounds[cells]
        room = cells < limits.size and end + size <= members.size
        if room and mean > cost + LISTED:
            held = 0
            for at in range(size):
                members[end] = items[at]
                end += 1
                held += heavy[at]
                if held >= keep:
                    break
            limits[cells] = cost
            cells += 1
            bounds[cells] = end
        for at in range(size):
            if values[at] <= cap:
                break
            duals[items[at]] = cap
    return False, cells


@inner
def project(duals, weights, size, k, limit, out):
    """Fill `out` with the vector nearest to the descending `duals` whose k largest entries sum up to `limit`.

    This is the Euclidean projection, where entry i counts weights[i] times.
    """
    top, held, last = 0.0, 0, 0
    while held < k:
        top += weights[last] * duals[last]
        held += weights[last]
        last += 1
    for at in range(size):
        out[at] = duals[at]
    if held == k:
        shift = (top - limit) / k
        if last == size or duals[last - 1] - shift >= duals[last]:
            for at in range(last):
                out[at] = duals[at] - shift
            return
    first = last - 1  # the entries first:last become equal
    heavier, upper = held - weights[first], top - weights[first] * duals[first]
    middle, sum_middle = weights[first], weights[first] * duals[first]
    while True:
        rest = k - heavier
        level = (limit - upper + heavier * sum_middle / rest) / (rest + heavier * middle / rest)
        shift = (sum_middle - middle * level) / rest
        if last < size and duals[last] > level:
            middle += weights[last]
            sum_middle += weights[last] * duals[last]
            last += 1
        elif first > 0 and duals[first - 1] - shift < level:
            first -= 1
            heavier -= weights[first]
            upper -= weights[first] * duals[first]
            middle += weights[first]
            sum_middle += weights[first] * duals[first]
        else:
            break
    for at in range(first):
        out[at] = duals[at] - shift
    for at in range(first, last):
        out[at] = level


@kernel
def project_cells(duals, weights, k, bounds, limits, members, taken, order):
    """Do one round of Dykstra's projections of `duals` onto the constraints of the listed cells.

    `taken` is what each cell subtracted from its members at its last visit (Dykstra's corrections). Members are left
    in descending order, which saves most of the time to sort them at the next visit. Returns the largest change of any
    dual.
    """
    largest = 0
    for cell in range(limits.size):
        largest = max(largest, bounds[cell + 1] - bounds[cell])
    values, items = np.empty(largest), np.empty(largest, np.int64)
    heavy, out = np.empty(largest, np.int64), np.empty(largest)
    less, places, spare = (
        np.empty(largest),
        np.empty(largest, np.int64),
        np.empty(largest, np.int64),
    )
    change = 0.0
    for cell in order:
        low, size = bounds[cell], bounds[cell + 1] - bounds[cell]
        highest, any_taken = -np.inf, False
        for at in range(size):
            value = duals[members[low + at]] + taken[low + at]
            values[at] = value
            items[at] = at
            heavy[at] = weights[members[low + at]]
            highest = max(highest, value)
            any_taken |= taken[low + at] != 0.0
        if highest <= limits[cell]:
            if any_taken:
                for at in range(size):
                    duals[members[low + at]] = values[at]
                    taken[low + at] = 0.0
            continue
        sort_down(values, items, heavy, size, less, places, spare)
        if sum_of_largest(values, heavy, size, k) <= k * limits[cell]:
            for at in range(size):
                out[at] = values[at]
        else:
            project(values, heavy, size, k, k * limits[cell], out)
        for at in range(size):
            spare[at] = members[low + items[at]]
        for at in range(size):
            i = spare[at]
            change = max(change, abs(duals[i] - out[at]))
            members[low + at], duals[i] = i, out[at]
            taken[low + at] = values[at] - out[at]
    return change
