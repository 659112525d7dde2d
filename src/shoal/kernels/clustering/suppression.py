"""Leave out records that cost their group more than they would cost fully suppressed."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.shared.arrays import order_of
from shoal.kernels.shared.state import cost_without, remove, stays_diverse_without

GAIN = 1e-9  # the least decrease of cost that counts as an improvement


@inner
def gain_of(c, q, s, codes, classes, i, whole, closure, counts):
    """Return what leaving out record i gains, −inf if its group would then miss the requirement."""
    if s.size[s.group[i]] <= q.k or not stays_diverse_without(q, s, i):
        return -np.inf
    left = cost_without(c, s, codes, classes, i, closure, counts)
    return s.cost[s.group[i]] - left - whole[classes[i]]


@kernel
def suppress_records(c, q, s, codes, classes, whole, most):
    """Leave out up to `most` records, in each round those that gain most first; return how many.

    whole[y] is what a fully suppressed record of class y costs. Records left out have no group.
    """
    closure = np.empty((s.closures.shape[0], 1), np.int32)
    counts = np.empty((s.counts.shape[0], 1))
    gains, less = np.empty(s.group.size), np.empty(s.group.size)
    done, before = 0, -1
    while before < done < most:
        before = done
        for i in range(gains.size):
            gains[i] = -np.inf
            if s.group[i] >= 0:
                gains[i] = gain_of(c, q, s, codes, classes, i, whole, closure, counts)
            less[i] = -gains[i]
        for i in order_of(less):
            if done == most or gains[i] <= GAIN:
                break
            if gain_of(c, q, s, codes, classes, i, whole, closure, counts) > GAIN:
                remove(c, s, codes, classes, i)
                done += 1
    return done
