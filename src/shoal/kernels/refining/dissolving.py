"""Dissolve groups all of whose records fit better elsewhere."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import allocating, kernel
from shoal.kernels.refining.search import (
    GAIN,
    cheapest_other,
    finish,
    keep_if_better,
    transfer,
    undo,
)
from shoal.kernels.shared.state import members_of


@allocating
def dissolve(x, g, added, scratch):
    """Send the records of group g one by one to where they add least, as part of the change; return whether all can go.

    `x.joins` is brought up to date, so that a group that does not gain is not tried again and again.
    """
    for i in members_of(x.s, g):
        best, x.joins[i] = cheapest_other(x, i, g, added, scratch)
        if best < 0:
            return False
        transfer(x, i, best)
    return True


@kernel
def dissolve_groups(x, groups):
    """Dissolve each of `groups` if that gains; return how many were dissolved.

    A group is tried only if, by what its records would have added elsewhere when last tried (`x.rest`), it may
    gain.
    """
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    dissolved = 0
    for g in groups:
        if x.s.size[g] == 0 or x.rest[g] <= GAIN:
            continue
        if dissolve(x, g, added, scratch):
            dissolved += keep_if_better(x) > 0.0
        else:
            finish(x)
            undo(x)
    return dissolved
