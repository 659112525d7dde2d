"""The cheapest partition of a few records, by dynamic programming over their subsets as bit masks."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.arrays import copy_column
from shoal.kernels.shared.forms import open_closure, total_cost, widen_closure
from shoal.kernels.shared.rules import complies


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
