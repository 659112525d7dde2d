"""Grow groups one after the other (Byun et al. 2007), and the cheapest partition of a few records by bit masks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.arrays import copy_column, equal_columns, largest_at, least_at
from shoal.kernels.shared.forms import open_closure, total_cost, widen_closure
from shoal.kernels.shared.groups import totals_with_each
from shoal.kernels.shared.rules import complies, is_diverse, shortfall


@bundle
class Remaining(NamedTuple):
    """Distinct points whose records are not all in groups yet; `grow_groups` drops the others from time to time."""

    columns: np.ndarray  # int32[r, points], the codes
    classes: np.ndarray  # int32[points]
    kinds: np.ndarray  # int64[points], the row of `kind_values` that the point's records have
    kind_values: np.ndarray  # int32[kinds, tallies], the sensitive values of each kind
    left: np.ndarray  # int64[points], records that are in no group
    places: np.ndarray  # int64[points], the point's own number


@inner
def widens(c, closure, spare, record):
    """Widen the closure so that it covers a record; return whether that changed it. `spare` is scratch."""
    copy_column(closure, 0, spare, 0)
    widen_closure(c, closure, 0, record)
    return not equal_columns(closure, 0, spare, 0)


@inner
def compact(columns, classes, kinds, left, places):
    """Drop the points without records left from all five arrays, in place and in order; return how many remain."""
    size = 0
    for i in range(left.size):
        if left[i] > 0:
            copy_column(columns, i, columns, size)
            classes[size], kinds[size] = classes[i], kinds[i]
            left[size], places[size] = left[i], places[i]
            size += 1
    return size


@inner
def cheapest_help(q, out, kinds, kind_values, own, members, judged):
    """Return the point of least cost in `out` whose record brings the group closer to the limits, -1 for none.

    `own` are the group's counts of sensitive values, `members` is its size. A point's kind, kinds[i], says which
    sensitive values it has: kind_values[kind]. `judged`, int8[kinds], is scratch.
    """
    lack = shortfall(q, own, members)
    judged[:] = 0
    best, least = -1, np.inf
    for i in range(out.size):
        kind = kinds[i]
        if out[i] >= least:
            continue
        if judged[kind] == 0:
            for v in kind_values[kind]:
                own[v] += 1
            judged[kind] = 1 if shortfall(q, own, members + 1) < lack else -1
            for v in kind_values[kind]:
                own[v] -= 1
        if judged[kind] > 0:
            best, least = i, out[i]
    return best


@kernel
def grow_groups(c, pairs, q, points, size, seed, most, taken, sizes):
    """Grow up to `most` groups from the first `size` of the points: (groups grown, points left, last seed).

    A group gets k records; if those miss another limit, it gets as many more as bring it closer to the limits, up
    to the width of `taken`. taken[g] receives the points whose records group g takes, sizes[g] their number.
    `seed` holds the codes of the last seed.
    """
    columns, classes, kinds, left = points.columns, points.classes, points.kinds, points.left
    kind_values, places = points.kind_values, points.places
    out, scratch = np.empty(size), np.empty(size)
    closure, spare = np.empty((c.slot[-1], 1), np.int32), np.empty((c.slot[-1], 1), np.int32)
    counts = np.zeros((c.cost.shape[0], 1))
    own, judged = np.zeros(q.start[-1], np.int64), np.zeros(kind_values.shape[0], np.int8)
    is_limited = own.size > 0
    records = 0
    for i in range(size):
        records += left[i]
    grown, spent = 0, 0
    while grown < most and records >= q.k:
        if 8 * spent > size:
            size = compact(columns, classes[:size], kinds[:size], left[:size], places[:size])
            spent = 0
        open_closure(c, closure, 0, seed)
        counts[:, 0] = 0.0
        counts[0, 0] = 1.0
        totals_with_each(c, pairs, columns, classes, size, closure, counts, 0, out, scratch)
        for i in range(size):
            if left[i] == 0:
                out[i] = -np.inf
        best = largest_at(out, 0, size)
        seed = columns[:, best].copy()
        open_closure(c, closure, 0, seed)
        counts[:, 0] = 0.0
        own[:] = 0
        weigh = True
        members = 0
        while members < q.k or (is_limited and members < taken.shape[1] and records > 0):
            if members >= q.k and is_diverse(q, own, members):
                break
            if members > 0 and (weigh or counts.shape[0] > 1):
                totals_with_each(c, pairs, columns, classes, size, closure, counts, 0, out, scratch)
                for i in range(size):
                    if left[i] == 0:
                        out[i] = np.inf
            if members > 0:
                if members < q.k:
                    best = least_at(out, 0, size)
                else:
                    best = cheapest_help(q, out[:size], kinds, kind_values, own, members, judged)
                    if best < 0:
                        break
                weigh = widens(c, closure, spare, columns[:, best])
            taken[grown, members] = places[best]
            members += 1
            records -= 1
            counts[classes[best], 0] += 1.0
            for v in kind_values[kinds[best]]:
                own[v] += 1
            left[best] -= 1
            if left[best] == 0:
                out[best] = np.inf
                spent += 1
        sizes[grown] = members
        grown += 1
    return grown, size, seed


@inner
def subset_complies(q, values, subset, tally):
    """Return whether the records of a bit mask meet the requirement as one group; `tally` is scratch."""
    tally[:] = 0
    size = 0
    for i in range(values.shape[0]):
        if subset >> i & 1:
            size += 1
            for t in range(values.shape[1]):
                tally[values[i, t]] += 1
    return complies(q, tally, size)


@kernel
def subset_costs(c, q, codes, classes, values):
    """Return what every subset of the records costs as one group, infinite if it may not be one: float64[2ⁿ]."""
    subsets = 1 << classes.size
    closures = np.zeros((c.slot[-1], subsets), np.int32)
    counts = np.zeros((c.cost.shape[0], subsets))
    tally = np.zeros(q.start[-1], np.int32)
    costs = np.full(subsets, np.inf)
    for i in range(classes.size):
        alone = 1 << i
        for others in range(alone):
            g = alone | others
            if others == 0:
                open_closure(c, closures, g, codes[i])
            else:
                copy_column(closures, others, closures, g)
                widen_closure(c, closures, g, codes[i])
            copy_column(counts, others, counts, g)
            counts[classes[i], g] += 1.0
            if subset_complies(q, values, g, tally):
                costs[g] = total_cost(c, closures, counts, g)
    return costs


@kernel
def cut_subsets(costs, least, choice, start, stop):
    """Find the least cost of cutting each of the subsets start..stop into groups; all smaller ones must be done.

    least[subset] stays infinite if the subset cannot be cut; choice[subset] is the group that holds its first
    record.
    """
    for whole in range(start, stop):
        first = whole & -whole
        rest = whole ^ first
        others = rest
        while True:
            total = costs[first | others] + least[rest ^ others]
            if total < least[whole]:
                least[whole] = total
                choice[whole] = first | others
            if others == 0:
                break
            others = (others - 1) & rest
