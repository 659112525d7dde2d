"""Propose points of a lattice that is too large to walk: those where some records have a cheap cell of at least k.

Some records are chosen as *seeds*. Each starts at the top of the lattice, where all records share one cell, and
goes down one rung at a time as long as its cell keeps k records. It takes the step with the highest ratio of cost
saved to the logarithm of the factor by which the cell shrinks. Seeds that take the same steps share the work, so
their ways form a tree of cells, which is walked depth first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import order_of, taken


@bundle
class Rungs(NamedTuple):
    """The ladders of all columns: rungs first[j]:first[j + 1] are those of column j, the cheapest first."""

    first: np.ndarray  # int64[r + 1], the first rung of each column
    start: np.ndarray  # int64[rungs], where each rung's codes begin in `bins`
    # int32[all rungs × codes of their columns], the bin of each code, numbered per column
    bins: np.ndarray
    cost: np.ndarray  # float64[rungs], what the rung costs a record on average
    base: np.ndarray  # int64[r + 1], where each column's bins begin in a row of counts


@bundle
class Descent(NamedTuple):
    """The stack of cells on the way down: cell f is the first high[f] records of `order`, one step below cell f − 1."""

    order: np.ndarray  # int32[n], the records
    high: np.ndarray  # int64[depth], the size of each cell
    level: np.ndarray  # int64[depth, r], the rung of each column, counted from the cheapest
    seeds: np.ndarray  # int32[seeds], the seeds, so ordered that those of a cell stand together
    wish: np.ndarray  # int64[seeds], the step each seed takes next (see `best_step`), −1 for none
    next_seed: np.ndarray  # int64[depth], the first seed of the cell that has not gone on
    last_seed: np.ndarray  # int64[depth], the end of the cell's seeds
    # int32[some cells, bins], records by bin one rung down, for large cells near the top
    counts: np.ndarray
    scratch: np.ndarray  # int32[bins], counts of the other cells; zero between uses


@allocating
def count_below(rungs, codes, level, records, counts, by):
    """Count records by their bins one rung down in every column: `by` is 1, or -1 to take them off again."""
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
    """Count the records of cell f by bin: anew, or from the counts of the cell above if that is less work."""
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
    """Return the best step of a seed, as the place of its bin in the counts; −1 if all leave fewer than k records."""
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
    """Find the step that each seed of cell f takes next and sort the seeds by it; those that end here come first."""
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
    """Make the next cell below f, and hand on to it all seeds that step into it."""
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
    """Make a descent that stands at the top of the lattice.

    `records` are the records that count. `most_counts` limits the memory for kept counts, in numbers.
    """
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
    """Return the lattice points where seeds end, int32[points, r], and how many seeds end in each.

    `records` are the records that count, the seeds among them. A lattice point may occur several times, once for
    each cell. `most_counts` limits the memory for kept counts, in numbers.
    """
    return descend_all(rungs, codes, make_descent(rungs, records, seeds, most_counts), k)


@kernel
def descend_all(rungs, codes, descent, k):
    """Let all seeds of a descent go down; returns what `propose_points` does."""
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
