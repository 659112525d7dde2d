"""Propose points of a lattice too large to walk: those where records have a cheap cell of at least k.

From the top of the lattice, where all records share one cell, each of some records called seeds goes down one rung
at a time, as long as its cell keeps k records. It takes the step that saves most for what it costs in (the
logarithm of) records. Seeds that take the same steps share the work: their ways are a tree of cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.shared.arrays import order_of, taken


@bundle
class Rungs(NamedTuple):
    """The ladders of all columns; rungs of column j are those from first[j] to first[j + 1], cheapest first."""

    first: np.ndarray  # int64[r + 1]
    start: np.ndarray  # int64[rungs], where a rung's bins begin
    bins: np.ndarray  # int32[…], by code, numbered within the column
    cost: np.ndarray  # float64[rungs], of a record on average
    base: np.ndarray  # int64[r + 1], where a column's counts begin


@bundle
class Descent(NamedTuple):
    """The way down to a cell: cell f is the first high[f] records of `order`, one step below cell f − 1."""

    order: np.ndarray  # int32[n]
    high: np.ndarray  # int64[depth]
    level: np.ndarray  # int64[depth, r], rungs
    seeds: np.ndarray  # int32[seeds], those of a cell are a stretch
    wish: np.ndarray  # int64[seeds], the step each wants to take next, −1 for none
    next_seed: np.ndarray  # int64[depth], whose step is taken next
    last_seed: np.ndarray  # int64[depth]
    counts: np.ndarray  # int32[cells, counts], for large cells near the top
    scratch: np.ndarray  # int32[counts], zero between uses


@allocating
def count_below(rungs, codes, level, records, counts, by):
    """Count records by their bins one rung down in every column."""
    columns, at, some = np.empty(level.size, np.int64), np.empty(level.size, np.int64), 0
    for j in range(level.size):
        if level[j] > 0:
            columns[some], at[some] = j, rungs.start[rungs.first[j] + level[j] - 1]
            some += 1
    for i in records:
        for part in range(some):
            j = columns[part]
            counts[rungs.base[j] + rungs.bins[at[part] + codes[i, j]]] += by


@inner
def recount(rungs, codes, descent, f):
    """Count the records of cell f anew, or from the cell above where that is less work."""
    counts, cell = descent.counts[f], descent.order[: descent.high[f]]
    if f == 0 or 2 * descent.high[f] < descent.high[f - 1]:
        counts[:] = 0
        count_below(rungs, codes, descent.level[f], cell, counts, 1)
        return
    for place in range(counts.size):
        counts[place] = descent.counts[f - 1, place]
    count_below(
        rungs,
        codes,
        descent.level[f - 1],
        descent.order[descent.high[f] : descent.high[f - 1]],
        counts,
        -1,
    )
    j = 0
    while descent.level[f, j] == descent.level[f - 1, j]:
        j += 1
    counts[rungs.base[j] : rungs.base[j + 1]] = 0
    if descent.level[f, j] > 0:
        at = rungs.start[rungs.first[j] + descent.level[f, j] - 1]
        for i in cell:
            counts[rungs.base[j] + rungs.bins[at + codes[i, j]]] += 1


@inner
def best_step(rungs, codes, level, seed, size, counts, k):
    """The step a seed takes, as the place of its bin in the counts, −1 where all would leave less than k records."""
    best, step = -1.0, -1
    for j in range(level.size):
        if level[j] == 0:
            continue
        rung = rungs.first[j] + level[j] - 1
        place = rungs.base[j] + rungs.bins[rungs.start[rung] + codes[seed, j]]
        kept = counts[place]
        if kept >= k:
            saved = rungs.cost[rung + 1] - rungs.cost[rung]
            gain = np.inf if kept == size else saved / np.log(size / kept)
            if gain > best:
                best, step = gain, place
    return step


@allocating
def choose_steps(rungs, codes, descent, f, k):
    """Sort the seeds of cell f by the step each wants to take, those that end here first."""
    size, level = descent.high[f], descent.level[f]
    is_large = f < descent.counts.shape[0] and size * level.size >= descent.scratch.size
    counts = descent.counts[f] if is_large else descent.scratch
    if is_large:
        recount(rungs, codes, descent, f)
    else:
        count_below(rungs, codes, level, descent.order[:size], counts, 1)
    seeds = descent.seeds[descent.next_seed[f] : descent.last_seed[f]]
    wish = descent.wish[descent.next_seed[f] : descent.last_seed[f]]
    for at in range(seeds.size):
        wish[at] = best_step(rungs, codes, level, seeds[at], size, counts, k)
    if not is_large:
        count_below(rungs, codes, level, descent.order[:size], counts, -1)
    order = order_of(wish)
    sorted_seeds, sorted_wish = taken(seeds, order), taken(wish, order)
    for at in range(seeds.size):
        seeds[at], wish[at] = sorted_seeds[at], sorted_wish[at]


@inner
def descend(rungs, codes, descent, f):
    """Make the next cell below f, with all seeds that step into it."""
    step, first = descent.wish[descent.next_seed[f]], descent.next_seed[f]
    while (
        descent.next_seed[f] < descent.last_seed[f] and descent.wish[descent.next_seed[f]] == step
    ):
        descent.next_seed[f] += 1
    descent.next_seed[f + 1], descent.last_seed[f + 1] = first, descent.next_seed[f]
    j = 0
    while rungs.base[j + 1] <= step:
        j += 1
    for i in range(descent.level.shape[1]):
        descent.level[f + 1, i] = descent.level[f, i]
    descent.level[f + 1, j] -= 1
    at, taken, kept = rungs.start[rungs.first[j] + descent.level[f + 1, j]], step - rungs.base[j], 0
    for place in range(descent.high[f]):
        i = descent.order[place]
        if rungs.bins[at + codes[i, j]] == taken:
            descent.order[place], descent.order[kept] = descent.order[kept], i
            kept += 1
    descent.high[f + 1] = kept


def make_descent(rungs, records, seeds, most_counts):
    """A descent at the top of the lattice."""
    r = rungs.first.size - 1
    depth = rungs.cost.size - r + 1
    rows = max(1, min(depth, most_counts // rungs.base[-1]))
    level = np.zeros((depth, r), np.int64)
    high, last_seed = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    for j in range(r):
        level[0, j] = rungs.first[j + 1] - rungs.first[j] - 1
    high[0], last_seed[0] = records.size, seeds.size
    return Descent(
        order=records.copy(),
        high=high,
        level=level,
        seeds=seeds.copy(),
        wish=np.zeros(seeds.size, np.int64),
        next_seed=np.zeros(depth, np.int64),
        last_seed=last_seed,
        counts=np.empty((rows, rungs.base[-1]), np.int32),
        scratch=np.zeros(rungs.base[-1], np.int32),
    )


def propose_points(rungs, codes, records, seeds, k, most_counts):
    """The lattice points where seeds end, int32[points, r], one per cell, and how many seeds end in each.

    `records` are those that count, the seeds among them. `most_counts` limits memory: counts kept on the way.
    """
    return descend_all(rungs, codes, make_descent(rungs, records, seeds, most_counts), k)


@kernel
def descend_all(rungs, codes, descent, k):
    """Let all seeds of a descent go down."""
    seeds, r = descent.seeds.size, codes.shape[1]
    ends, number = np.empty((seeds, r), np.int32), np.zeros(seeds, np.int64)
    points, f, is_new = 0, 0, True
    while f >= 0:
        if is_new:
            choose_steps(rungs, codes, descent, f, k)
            if descent.wish[descent.next_seed[f]] < 0:
                for j in range(r):
                    ends[points, j] = descent.level[f, j]
                points += 1
            while (
                descent.next_seed[f] < descent.last_seed[f]
                and descent.wish[descent.next_seed[f]] < 0
            ):
                descent.next_seed[f] += 1
                number[points - 1] += 1
        is_new = descent.next_seed[f] < descent.last_seed[f]
        if is_new:
            descend(rungs, codes, descent, f)
            f += 1
        else:
            f -= 1
    return ends[:points], number[:points]
