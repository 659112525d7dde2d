"""Two-means: records go to the nearer of two centres, which then become the sides' means (HE12 Fig. 4)."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import order_of, taken, taken_columns, taken_rows
from shoal.kernels.shared.forms import RANGE, open_closure, total_cost, widen_closure
from shoal.kernels.shared.groups import cover_costs
from shoal.kernels.shared.rules import complies, is_diverse, shortfall
from shoal.kernels.splitting.top_down import (
    EPSILON,
    better_side,
    keep_whole,
    part_segment,
    take_segment,
)


@allocating
def draw_centres(rng, columns, centres):
    """Take two random records that differ as centres; return False if all records are equal."""
    r, size = columns.shape
    first = int(rng.random() * size)
    others = np.empty(size, np.int64)
    found = 0
    for i in range(size):
        for j in range(r):
            if columns[j, i] != columns[j, first]:
                others[found] = i
                found += 1
                break
    if found == 0:
        return False
    second = others[int(rng.random() * found)]
    for j in range(r):
        centres[0, j], centres[1, j] = columns[j, first], columns[j, second]
    return True


@inner
def mean_code(codes, side, g, places, null):
    """Return the code nearest to the mean place of a side's values, or null if more than half of them are null.

    places[code] is the position of a value on its scale.
    """
    total, known, nulls = 0.0, 0, 0
    for i in range(codes.size):
        if side[i] == g:
            if codes[i] == null:
                nulls += 1
            else:
                known += 1
                total += places[codes[i]]
    if nulls > known:
        return null
    mean = total / known
    above, end = 0, places.size - 1
    while above < end:  # the first place that is not below the mean, or the last one
        middle = (above + end) // 2
        if places[middle] < mean:
            above = middle + 1
        else:
            end = middle
    if above > 0 and mean - places[above - 1] <= places[above] - mean:
        return above - 1
    return above


@inner
def mode_code(codes, side, g, tally):
    """Return a side's most frequent code, the lowest one in a tie; `tally` must be zero and is left so."""
    best = -1
    for i in range(codes.size):
        if side[i] == g:
            tally[codes[i]] += 1
    for i in range(codes.size):
        code = codes[i]
        if side[i] == g and (
            best < 0 or tally[code] > tally[best] or (tally[code] == tally[best] and code < best)
        ):
            best = code
    for i in range(codes.size):
        tally[codes[i]] = 0
    return best


@inner
def weigh_centres(c, pairs, columns, classes, centres, closures, distances, scratch):
    """Fill distances[centre, record] with what the common closure of a record and a centre costs the record."""
    size = classes.size
    for g in range(2):
        open_closure(c, closures, g, centres[g])
        if c.cost.shape[0] == 1:
            cover_costs(c, pairs, columns, size, closures, g, 0, distances[g])
            continue
        for y in range(c.cost.shape[0]):
            cover_costs(c, pairs, columns, size, closures, g, y, scratch)
            for i in range(size):
                if classes[i] == y:
                    distances[g, i] = scratch[i]


@allocating
def assign_sides(distances, k, side):
    """Put every record on the side of the nearer centre, or on the smaller side if both are equally near.

    A side below k then takes the records of the other side whose distance grows least.
    """
    sizes = np.zeros(2, np.int64)
    for i in range(side.size):
        side[i] = better_side(distances[1, i] - distances[0, i], sizes)
        sizes[side[i]] += 1
    small = 0 if sizes[0] < sizes[1] else 1
    if sizes[small] >= k:
        return
    for i in order_of(extra_distances(distances, small)):
        if sizes[small] == k:
            break
        if side[i] != small:
            side[i] = small
            sizes[small] += 1


@allocating
def extra_distances(distances, g):
    """Return how much farther each record is from centre g than from the other one, in whole multiples of EPSILON."""
    extra = np.empty(distances.shape[1])
    for i in range(extra.size):
        extra[i] = np.rint((distances[g, i] - distances[1 - g, i]) / EPSILON)
    return extra


@allocating
def sides_cost(c, columns, classes, side, closures):
    """Return the total cost of both sides once each is closed; `closures` is scratch for two closures."""
    counts = np.zeros((c.cost.shape[0], 2))
    sizes = np.zeros(2, np.int64)
    for i in range(side.size):
        g = side[i]
        if sizes[g] == 0:
            open_closure(c, closures, g, columns[:, i])
        else:
            widen_closure(c, closures, g, columns[:, i])
        sizes[g] += 1
        counts[classes[i], g] += 1.0
    return total_cost(c, closures, counts, 0) + total_cost(c, closures, counts, 1)


@allocating
def even_out_sides(q, values, distances, side):
    """Let a side that misses a limit take records that bring it closer, first those whose distance grows least.

    The other side must keep all limits without them. Returns whether both sides meet the requirement.
    """
    counts = np.zeros((2, q.start[-1]), np.int64)
    sizes = np.zeros(2, np.int64)
    for i in range(side.size):
        sizes[side[i]] += 1
        for v in values[i]:
            counts[side[i], v] += 1
    for g in range(2):
        lack = shortfall(q, counts[g], sizes[g])
        if lack == 0.0:
            continue
        for i in order_of(extra_distances(distances, g)):
            if side[i] == g or sizes[1 - g] == q.k:
                continue
            move_values(values[i], counts, sizes, 1 - g, g)
            less = shortfall(q, counts[g], sizes[g])
            if less < lack and is_diverse(q, counts[1 - g], sizes[1 - g]):
                side[i] = g
                lack = less
                if lack == 0.0:
                    break
            else:
                move_values(values[i], counts, sizes, g, 1 - g)
    return complies(q, counts[0], sizes[0]) and complies(q, counts[1], sizes[1])


@inner
def move_values(values, counts, sizes, source, target):
    """Move the sensitive values of a record from the counts of one side to those of the other."""
    for v in values:
        counts[source, v] -= 1
        counts[target, v] += 1
    sizes[source] -= 1
    sizes[target] += 1


@allocating
def part_by_means(c, pairs, q, codes, classes, values, places, tally, segment, rounds, rng):
    """Return the side, 0 or 1, of every record of a segment in the cheapest round; all 0 if no round gains.

    A round counts only if both sides meet the requirement. Each round starts from the means and modes of the last
    one's sides or, if those are the same centres again, from two random records. `places` are the positions of the
    values of ranges, by entry; `tally` must be zero and is left so.
    """
    columns = taken_columns(codes, segment)
    own_classes, own_values = taken(classes, segment), taken_rows(values, segment)
    r, size = columns.shape
    best, side = np.zeros(size, np.int8), np.zeros(size, np.int8)
    centres = np.empty((2, r), np.int32)
    closures = np.empty((c.slot[-1], 2), np.int32)
    distances, scratch = np.empty((2, size)), np.empty(size)
    least = sides_cost(c, columns, own_classes, side, closures) + 2 * EPSILON  # a split wins a tie
    stay = True
    for _ in range(rounds):
        if stay and not draw_centres(rng, columns, centres):
            return best
        weigh_centres(c, pairs, columns, own_classes, centres, closures, distances, scratch)
        assign_sides(distances, q.k, side)
        fair = values.shape[1] == 0 or even_out_sides(q, own_values, distances, side)
        total = sides_cost(c, columns, own_classes, side, closures)
        if fair and total < least - EPSILON:
            least = total
            for i in range(size):
                best[i] = side[i]
        stay = True
        for g in range(2):
            for j in range(r):
                base = c.start[j]
                if c.form[j] == RANGE:
                    known = places[base : c.start[j + 1] - 1 - (c.null[j] >= 0)]
                    mean = mean_code(columns[j], side, g, known, c.null[j])
                else:
                    mean = mode_code(columns[j], side, g, tally)
                stay &= mean == centres[g, j]
                centres[g, j] = mean
    return best


@kernel
def split_by_two_means(c, pairs, q, codes, classes, values, places, segments, rounds, rng, work):
    """Part segments until none is left or `work` records were handled.

    A segment becomes a group if it has fewer than 2k records, or if it is best left whole.
    """
    tally = np.zeros(places.size, np.int64)
    while segments.depth[0] > 0 and work > 0:
        segment = take_segment(segments)
        work -= segment.size
        side = np.zeros(segment.size, np.int8)
        if segment.size >= 2 * q.k:
            side = part_by_means(
                c, pairs, q, codes, classes, values, places, tally, segment, rounds, rng
            )
        parted = False
        for g in side:
            parted |= g > 0
        if parted:
            part_segment(segments, segment, side)
        else:
            keep_whole(segments, segment)
