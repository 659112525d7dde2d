"""Move single records to groups where they cost less, and dissolve groups whose records all fit better elsewhere."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import allocating, kernel
from shoal.kernels.search import (
    GAIN,
    can_spare,
    cheapest_of,
    cheapest_other,
    cost_everywhere,
    finish,
    keep_if_better,
    reprice_all,
    transfer,
    undo,
)
from shoal.kernels.state import cost_without, members_of


@kernel
def move_records(x, records):
    """Move each of `records` that gains by it to the group where it adds least; returns the number of moves.

    Its own group must meet the requirement without it, the other one with it. `x.joins` then says what each
    would add elsewhere.
    """
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((x.s.closures.shape[0], 1), np.int32)
    counts = np.empty((x.s.counts.shape[0], 1))
    moves, known = 0, -1  # the record that `added` is about
    for i in records:
        if known < 0 or x.classes[i] != x.classes[known] or (x.codes[i] != x.codes[known]).any():
            cost_everywhere(x, i, added, scratch)
            known = i
        best, x.joins[i] = cheapest_of(x, i, -1, added)
        own = x.s.group[i]
        if best < 0 or not can_spare(x, i):
            continue
        saved = x.s.cost[own] - cost_without(x.c, x.s, x.codes, x.classes, i, closure, counts)
        if x.joins[i] < saved - GAIN:
            x.joins[i] = saved
            transfer(x, i, best)
            moves += keep_if_better(x) > 0.0
            known = -1
    reprice_all(x)
    return moves


@allocating
def dissolve(x, g, added, scratch):
    """Send the records of group g one by one to where they add least, as a change under way; whether all can go.

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
    """Dissolve each of `groups` that gains by it; returns how many did.

    By what records would have added elsewhere when last looked, it must at least come close.
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
