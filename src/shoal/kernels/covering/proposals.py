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
def count_below(x, codes, level, records, counts, by):
    """Count records by their bins one rung down in every column."""
    columns, at, some = np.empty(level.size, np.int64), np.empty(level.size, np.int64), 0
    for j in range(level.size):
        if level[j] > 0:
            columns[some], at[some] = j, x.start[x.first[j] + level[j] - 1]
            some += 1
    for i in records:
        for c in range(some):
            j = columns[c]
            counts[x.base[j] + x.bins[at[c] + codes[i, j]]] += by


@inner
def recount(x, codes, d, f):
    """Count the records of cell f anew, or from the cell above where that is less work."""
    counts, cell = d.counts[f], d.order[: d.high[f]]
    if f == 0 or 2 * d.high[f] < d.high[f - 1]:
        counts[:] = 0
        count_below(x, codes, d.level[f], cell, counts, 1)
        return
    for place in range(counts.size):
        counts[place] = d.counts[f - 1, place]
    count_below(x, codes, d.level[f - 1], d.order[d.high[f] : d.high[f - 1]], counts, -1)
    j = 0
    while d.level[f, j] == d.level[f - 1, j]:
        j += 1
    counts[x.base[j] : x.base[j + 1]] = 0
    if d.level[f, j] > 0:
        at = x.start[x.first[j] + d.level[f, j] - 1]
        for i in cell:
            counts[x.base[j] + x.bins[at + codes[i, j]]] += 1


@inner
def best_step(x, codes, level, seed, size, counts, k):
    """The step a seed takes, as the place of its bin in the counts, −1 where all would leave less than k records."""
    best, step = -1.0, -1
    for j in range(level.size):
        if level[j] == 0:
            continue
        rung = x.first[j] + level[j] - 1
        place = x.base[j] + x.bins[x.start[rung] + codes[seed, j]]
        kept = counts[place]
        if kept >= k:
            saved = x.cost[rung + 1] - x.cost[rung]
            gain = np.inf if kept == size else saved / np.log(size / kept)
            if gain > best:
                best, step = gain, place
    return step


@allocating
def choose_steps(x, codes, d, f, k):
    """Sort the seeds of cell f by the step each wants to take, those that end here first."""
    size, level = d.high[f], d.level[f]
    is_large = f < d.counts.shape[0] and size * level.size >= d.scratch.size
    counts = d.counts[f] if is_large else d.scratch
    if is_large:
        recount(x, codes, d, f)
    else:
        count_below(x, codes, level, d.order[:size], counts, 1)
    seeds = d.seeds[d.next_seed[f] : d.last_seed[f]]
    wish = d.wish[d.next_seed[f] : d.last_seed[f]]
    for s in range(seeds.size):
        wish[s] = best_step(x, codes, level, seeds[s], size, counts, k)
    if not is_large:
        count_below(x, codes, level, d.order[:size], counts, -1)
    order = order_of(wish)
    sorted_seeds, sorted_wish = taken(seeds, order), taken(wish, order)
    for s in range(seeds.size):
        seeds[s], wish[s] = sorted_seeds[s], sorted_wish[s]


@inner
def descend(x, codes, d, f):
    """Make the next cell below f, with all seeds that step into it."""
    step, first = d.wish[d.next_seed[f]], d.next_seed[f]
    while d.next_seed[f] < d.last_seed[f] and d.wish[d.next_seed[f]] == step:
        d.next_seed[f] += 1
    d.next_seed[f + 1], d.last_seed[f + 1] = first, d.next_seed[f]
    j = 0
    while x.base[j + 1] <= step:
        j += 1
    for i in range(d.level.shape[1]):
        d.level[f + 1, i] = d.level[f, i]
    d.level[f + 1, j] -= 1
    at, taken, kept = x.start[x.first[j] + d.level[f + 1, j]], step - x.base[j], 0
    for p in range(d.high[f]):
        i = d.order[p]
        if x.bins[at + codes[i, j]] == taken:
            d.order[p], d.order[kept] = d.order[kept], i
            kept += 1
    d.high[f + 1] = kept


def make_descent(x, records, seeds, most_counts):
    """A descent at the top of the lattice."""
    r = x.first.size - 1
    depth = x.cost.size - r + 1
    rows = max(1, min(depth, most_counts // x.base[-1]))
    level = np.zeros((depth, r), np.int64)
    high, last_seed = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    for j in range(r):
        level[0, j] = x.first[j + 1] - x.first[j] - 1
    high[0], last_seed[0] = records.size, seeds.size
    return Descent(
        records.copy(),
        high,
        level,
        seeds.copy(),
        np.zeros(seeds.size, np.int64),
        np.zeros(depth, np.int64),
        last_seed,
        np.empty((rows, x.base[-1]), np.int32),
        np.zeros(x.base[-1], np.int32),
    )


def propose_points(x, codes, records, seeds, k, most_counts):
    """The lattice points where seeds end, int32[points, r], one per cell, and how many seeds end in each.

    `records` are those that count, the seeds among them. `most_counts` limits memory: counts kept on the way.
    """
    return descend_all(x, codes, make_descent(x, records, seeds, most_counts), k)


@kernel
def descend_all(x, codes, d, k):
    """Let all seeds of a descent go down."""
    seeds, r = d.seeds.size, codes.shape[1]
    ends, number = np.empty((seeds, r), np.int32), np.zeros(seeds, np.int64)
    points, f, is_new = 0, 0, True
    while f >= 0:
        if is_new:
            choose_steps(x, codes, d, f, k)
            if d.wish[d.next_seed[f]] < 0:
                for j in range(r):
                    ends[points, j] = d.level[f, j]
                points += 1
            while d.next_seed[f] < d.last_seed[f] and d.wish[d.next_seed[f]] < 0:
                d.next_seed[f] += 1
                number[points - 1] += 1
        is_new = d.next_seed[f] < d.last_seed[f]
        if is_new:
            descend(x, codes, d, f)
            f += 1
        else:
            f -= 1
    return ends[:points], number[:points]
