"""Ladders: for every quasi-identifier, ever coarser ways to sort its values into bins, from each alone to all.

Points of the lattice of ladders are the cells that `cover` draws groups from; closures are computed tight
afterwards, so a ladder need only propose, never be exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.generalization.forms import Floats, Form, Ints, RangeForm, Records, TreeForm
from shoal.kernels.shared.forms import LINEAR, RANGE
from shoal.kernels.shared.groups import close_groups, group_costs, members
from shoal.methods.rounding import TOLERANCE
from shoal.problem import Problem
from shoal.table import Column

# Widths of bins, in mean distances of neighbouring values, and ten, a hundred, … times as much. Neighbouring widths
# differ by a factor of about 1.5: closer ones would make a larger lattice, wider ones dearer cells.
GROWTH = (2, 3, 5, 8, 12)


@dataclass(frozen=True)
class Ladder:
    """The ladder of one column: rungs, of which each sorts the codes into coarser bins, by ascending cost.

    A rung is a bin number per code; `costs` says what closing its bins costs a record on average.
    """

    rungs: tuple[Ints, ...]
    costs: Floats


def make_ladders(problem: Problem) -> list[Ladder]:
    """Make a ladder for every column, its rungs ordered by what they cost under the objective."""
    return [_ladder(j, column, problem) for j, column in enumerate(problem.columns)]


def _ladder(j: int, column: Column, problem: Problem) -> Ladder:
    rungs = _rungs(column.form, column.counts, _positions(j, problem))
    seen = _seen(j, problem)
    costs = np.array([_mean_cost(rung, j, problem, *seen) for rung in rungs])
    order = np.argsort(costs, kind="stable")
    return Ladder(tuple(rungs[i] for i in order), costs[order])


def _seen(j: int, problem: Problem) -> tuple[Ints, Records, Records]:
    """The distinct pairs of code and class in column j, each with its first record and number of records."""
    joint = problem.codes[:, j].astype(np.int64) * problem.class_count + problem.classes
    counts = np.bincount(joint)
    first = np.empty(len(counts), np.int64)
    first[joint[::-1]] = np.arange(len(joint) - 1, -1, -1)  # the last written stays
    seen = np.flatnonzero(counts)
    pairs = np.column_stack(np.divmod(seen, problem.class_count)).astype(np.int32)
    return pairs, first[seen], counts[seen]


def _mean_cost(
    rung: Ints, j: int, problem: Problem, pairs: Ints, first: Records, weights: Records
) -> float:
    """What closing every bin of a rung costs a record in column j on average, given what `_seen` found there."""
    _, bins = np.unique(rung[pairs[:, 0]], return_inverse=True)
    order, bounds = members(bins.astype(np.int32), int(bins.max()) + 1)
    closures = close_groups(problem.arrays, problem.codes, first[order], bounds)
    counts = np.zeros((problem.class_count, len(bounds) - 1))
    np.add.at(counts, (pairs[:, 1], bins), weights)
    costs = group_costs(problem.arrays, closures, counts)
    return float(costs[j].sum() / problem.table.records)


def _positions(j: int, problem: Problem) -> Floats:
    """Place the values of a column on a line: as far apart as the objective says, or evenly."""
    c, values = problem.arrays, len(problem.columns[j].form.labels)
    costs = c.cost[0, c.start[j] : c.start[j] + values]
    is_spread = c.form[j] == RANGE and c.kind[j] == LINEAR and costs[-1] > costs[0]
    return costs if is_spread else np.arange(values, dtype=np.float64)


def _rungs(form: Form, counts: Floats, positions: Floats) -> list[Ints]:
    if isinstance(form, TreeForm):
        return tree_rungs(form)
    if isinstance(form, RangeForm):
        return _binned_rungs(positions, form)
    # values of like frequency share a bin: frequent ones can then stay apart from the rare
    rank = np.empty(form.size)
    rank[np.argsort(-counts, kind="stable")] = np.arange(form.size)
    return _binned_rungs(rank[: len(form.labels)], form)


def tree_rungs(form: TreeForm) -> list[Ints]:
    """The rungs of a tree: rung h puts a value into the bin of its highest ancestor of height at most h."""
    rungs = []
    for h in range(int(form.heights[-1]) + 1):
        node = np.arange(form.entries, dtype=np.int32)
        for inner in range(form.entries - 1, -1, -1):
            parent = form.parent[inner]
            if form.heights[parent] <= h:
                node[inner] = node[parent]
        rungs.append(node[: form.size].copy())
    return rungs


def _binned_rungs(positions: Floats, form: Form) -> list[Ints]:
    """The rungs of values on a line: each value alone, bins of growing width, all but null together, all together.

    Bins of each width begin at the lowest value and again half a width lower, so that values on either side of
    a border meet in bins of no more than twice the width they need.
    """
    m = len(form.labels)
    rungs = [np.arange(form.size, dtype=np.int32)]
    spread = positions - positions.min()
    gap = float(spread.max()) / max(1, m - 1)
    for width in widths(m):
        for shift in (0.0, 0.5):
            bins = np.floor(spread / (gap * width) + shift + TOLERANCE).astype(np.int32)
            rungs.append(_with_null(bins, form))
    if form.has_null:
        rungs.append(_with_null(np.zeros(m, dtype=np.int32), form))
    if form.size > 1:
        rungs.append(np.zeros(form.size, dtype=np.int32))
    return rungs


def _with_null(bins: Ints, form: Form) -> Ints:
    return np.append(bins, bins.max() + 1).astype(np.int32) if form.has_null else bins


def widths(values: int) -> list[int]:
    """The widths of bins: 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, … below the number of values."""
    found: list[int] = []
    scale = 1
    while not found or found[-1] < values:
        found.extend(step * scale for step in GROWTH)
        scale *= 10
    return [w for w in dict.fromkeys(found) if w < values]


def rung_costs(problem: Problem, j: int, rung: Ints) -> Floats:
    """What closing every bin of a rung costs a record of each class, by code: float64[classes, codes]."""
    seen, first = np.unique(problem.codes[:, j], return_index=True)
    _, bins = np.unique(rung[seen], return_inverse=True)
    order, bounds = members(bins.astype(np.int32), int(bins.max()) + 1)
    closures = close_groups(problem.arrays, problem.codes, first[order], bounds)
    costs = np.zeros((problem.class_count, len(rung)))
    for y in range(problem.class_count):
        counts = np.zeros((problem.class_count, len(bounds) - 1))
        counts[y] = 1.0
        costs[y, seen] = group_costs(problem.arrays, closures, counts)[j, bins]
    return costs
