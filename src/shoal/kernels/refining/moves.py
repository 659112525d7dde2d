"""Move single records to groups where they cost less."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.refining.search import (
    GAIN,
    can_spare,
    cheapest_of,
    cost_everywhere,
    keep_if_better,
    reprice_groups,
    transfer,
)
from shoal.kernels.shared.state import cost_without


@inner
def are_unlike(codes, i, other):
    """Return whether two records differ in any column."""
    for j in range(codes.shape[1]):
        if codes[i, j] != codes[other, j]:
            return True
    return False


@kernel
def move_records(x, records):
    """Move each of `records` to the group where it adds least cost, if that gains; return the number of moves.

    The group it leaves must meet the requirement without it, the other one with it. Afterwards `x.joins` says what
    each of `records` would add elsewhere.
    """
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((x.s.closures.shape[0], 1), np.int32)
    counts = np.empty((x.s.counts.shape[0], 1))
    moves, known = 0, -1  # `known` is the record for which `added` was computed
    for i in records:
        if known < 0 or x.classes[i] != x.classes[known] or are_unlike(x.codes, i, known):
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
    reprice_groups(x)
    return moves
