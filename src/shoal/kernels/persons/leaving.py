"""Leave out records that cost their group more than they would cost fully suppressed, while its persons comply."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.persons.counting import keeps
from shoal.kernels.shared.arrays import order_of
from shoal.kernels.shared.state import cost_without, remove

GAIN = 1e-9  # the least decrease of cost that counts as an improvement


@inner
def gain_without(x, w, i, whole, closure, counts):
    """Return what leaving out record i gains, −inf if nothing or if its group would not comply without it."""
    g = x.s.group[i]
    left = cost_without(x.c, x.s, x.codes, x.classes, i, closure, counts)
    gain = x.s.cost[g] - left - whole[x.classes[i]]
    return gain if gain > GAIN and keeps(x.q, w, x.s, g, -1, i, -1) else -np.inf


@kernel
def leave_persons_out(x, w, whole, most):
    """Leave out up to `most` records, in each round those that gain most first; return how many.

    whole[y] is what a fully suppressed record of class y costs. Records left out have no group.
    """
    closure = np.empty((x.s.closures.shape[0], 1), np.int32)
    counts = np.empty((x.s.counts.shape[0], 1))
    gains, less = np.empty(x.s.group.size), np.empty(x.s.group.size)
    done, before = 0, -1
    while before < done < most:
        before = done
        for i in range(gains.size):
            gains[i] = -np.inf
            if x.s.group[i] >= 0:
                gains[i] = gain_without(x, w, i, whole, closure, counts)
            less[i] = -np.rint(gains[i] * 1e9)  # equal where they differ by rounding only
        for i in order_of(less):
            if done == most or gains[i] <= GAIN:
                break
            if gain_without(x, w, i, whole, closure, counts) > GAIN:
                remove(x.c, x.s, x.codes, x.classes, i)
                done += 1
    return done
