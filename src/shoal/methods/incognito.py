"""Full-domain recoding over the lattice of levels (LeFevre et al. 2005; spec §5.12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.errors import InputError
from shoal.generalization.forms import Form, Ints, RangeForm, TreeForm
from shoal.kernels.cells import table_size, take_full_cells
from shoal.methods.base import Method, Partition, join_rest
from shoal.methods.greedy_cover import set_costs
from shoal.methods.ladders import tree_rungs
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.table import Column

MOST_NODES = 20_000_000  # in the lattices of all subsets of the columns

Node = tuple[int, ...]  # a level per column
Levels = list[list[Ints]]  # per column and level, a bin per code
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Incognito(Method):
    """Recode every column on one level for all records: the cheapest choice of levels that gives k.

    Subsets of the columns are tried from single ones up: a choice of levels is checked only if it holds k
    for all smaller subsets, its generalizations are known to hold k without a check, and cells are counted
    from those of a finer choice. Hierarchies have their levels by height, intervals bins of doubling
    width, suppression and subsets the value and everything. Of all choices that hold k the one whose
    recoding costs least under the objective is taken; its groups are then closed as tightly as they allow.
    Optimal among such recodings, which as a rule cost far more than the local ones of other methods.
    O(choices checked × distinct records) in time, O(levels × distinct records) in memory.

    Parameters
    ----------
    suppression
        The share of records that may be in cells below k. They are released all the same: each joins the
        group where it costs least.
    """

    suppression: float = 0.0

    name = "incognito"
    source = "LeFevre et al. 2005"
    recoding = "global"
    promise = "best full-domain recoding"
    growth = "n, exponential in quasi-identifiers"
    summary = "one level per column for all records; the classical baseline, loses most"

    def problems(self) -> list[str]:
        if 0 <= self.suppression < 1:
            return []
        return [f"The 'suppression' parameter must be in [0, 1). Got {self.suppression} instead."]

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        levels = [make_levels(column) for column in problem.columns]
        nodes = float(np.prod([len(own) + 1.0 for own in levels]))
        if nodes > MOST_NODES:
            raise InputError(
                f"The lattice of levels has {nodes:,.0f} nodes and method 'incognito' takes {MOST_NODES:,}; "
                "leave quasi-identifiers out, give hierarchies with fewer levels, or choose 'cover'."
            )
        budget = int(self.suppression * problem.table.records + 1e-9)
        passed = find_passing(problem, levels, budget, seed, progress)
        return Partition(cut(problem, levels, cheapest(problem, levels, passed)))


def make_levels(column: Column) -> list[Ints]:
    """Ever coarser bins, each level made of bins of the one below, from each value that occurs to all."""
    levels, fewest = [], column.form.size + 1
    for level in _nested_bins(column.form):
        bins = np.unique(level[column.counts > 0]).size
        if bins < fewest:
            levels.append(level)
            fewest = bins
    return levels


def _nested_bins(form: Form) -> list[Ints]:
    if isinstance(form, TreeForm):
        return tree_rungs(form)
    alone, together = np.arange(form.size, dtype=np.int32), np.zeros(form.size, dtype=np.int32)
    if not isinstance(form, RangeForm):
        return [alone, together]
    spread = form.positions - form.positions[0]
    gap = (spread[-1] or 1.0) / max(1, spread.size - 1)
    place = np.floor(spread / gap + 1e-9).astype(np.int64)
    levels = [alone]
    for halvings in range(1, int(place[-1]).bit_length() + 1):
        null = [place[-1] + 1] if form.has_null else []
        levels.append(np.append(place >> halvings, null).astype(np.int32))
    return [*levels, together]


def find_passing(
    problem: Problem, levels: Levels, budget: int, seed: int, progress: Progress
) -> Bools:
    """For every node of the lattice, whether at most `budget` records are in cells below k."""
    rng = np.random.default_rng(seed)
    keys = []
    for own, codes in zip(levels, problem.points.codes.T, strict=True):
        numbers = [rng.integers(0, 2**64, level.max() + 1, dtype=np.uint64) for level in own]
        keys.append(np.array([n[level][codes] for n, level in zip(numbers, own, strict=True)]))
    total, done = int(np.prod([len(own) + 1 for own in levels])), 0
    passed: dict[tuple[int, ...], Bools] = {(): np.array(True)}
    for size in range(1, len(levels) + 1):
        smaller, passed = passed, {}
        for columns in combinations(range(len(levels)), size):
            candidates = np.ones([len(levels[j]) for j in columns], dtype=np.bool_)
            for i in range(size):
                candidates &= np.expand_dims(smaller[columns[:i] + columns[i + 1 :]], i)
            counter = _Counter([keys[j] for j in columns], problem.points.weights)
            report = partial(progress, "checking levels", done, total)
            passed[columns] = _check(candidates, counter, problem.k, budget, report)
            done += candidates.size
    progress("checking levels", total, total)
    return passed[tuple(range(len(levels)))]


class FrequencySet(NamedTuple):
    """The cells of a node: one point of each, and their records."""

    point: Ints
    records: Ints


class _Counter:
    """Counts cells at the nodes of some columns; keys[j][level] are random numbers for the points' bins."""

    def __init__(self, keys: list[npt.NDArray[np.uint64]], weights: Ints) -> None:
        self.keys = keys
        self.points = FrequencySet(np.arange(weights.size, dtype=np.int32), weights)

    def roll_up(self, finer: FrequencySet, node: Node) -> FrequencySet:
        """The cells of a node from those of a finer one."""
        size = finer.point.size
        key = np.zeros(size, dtype=np.uint64)
        for own, level in zip(self.keys, node, strict=True):
            key ^= own[level][finer.point]
        place, everyone = np.empty(size, dtype=np.int32), np.arange(size, dtype=np.int32)
        slots = table_size(size)
        table = np.empty(slots, dtype=np.uint64), np.empty(slots, dtype=np.int64)
        take_full_cells(key, everyone, finer.records, 1, *table, place, 0)
        records = np.bincount(place, finer.records).astype(np.int32)
        point = np.empty(records.size, dtype=np.int32)
        point[place[::-1]] = finer.point[::-1]
        return FrequencySet(point, records)


def _check(
    candidates: Bools, counter: _Counter, k: int, budget: int, report: Callable[[], None]
) -> Bools:
    """Which nodes pass; only candidates can. A node's generalizations pass with it."""
    passed = np.zeros_like(candidates)
    if not candidates.any():
        return passed
    height = np.indices(candidates.shape).sum(axis=0)
    lowest = np.argwhere(candidates).min(axis=0)
    bottom = counter.roll_up(counter.points, tuple(lowest.tolist()))
    below: dict[Node, FrequencySet] = {}  # those one level lower that do not pass
    for h in range(int(height.max()) + 1):
        report()
        here: dict[Node, FrequencySet] = {}
        for row in np.argwhere(candidates & ~passed & (height == h)).tolist():
            node = tuple(row)
            finer = [
                below.get((*node[:j], level - 1, *node[j + 1 :])) for j, level in enumerate(node)
            ]
            known = [cells for cells in finer if cells is not None]
            cells = counter.roll_up(min(known, key=lambda c: c.point.size, default=bottom), node)
            if cells.records[cells.records < k].sum() <= budget:
                passed[tuple(slice(level, None) for level in node)] = True
            else:
                here[node] = cells
        below = here
    return passed


def cheapest(problem: Problem, levels: Levels, passed: Bools) -> Node:
    """The passing node whose recoding costs least, the first of equals."""
    total = np.zeros(())
    for j, (own, column) in enumerate(zip(levels, problem.columns, strict=True)):
        total = total[..., None] + set_costs(problem, j, tuple(own)) @ column.counts
    best = np.argmin(np.where(passed, np.round(total, 9), np.inf))
    return tuple(int(level) for level in np.unravel_index(best, passed.shape))


def cut(problem: Problem, levels: Levels, node: Node) -> Ints:
    """The cells of a node as groups; records in cells below k join where they cost least."""
    place = np.zeros(problem.table.records, dtype=np.int64)
    for own, level, codes in zip(levels, node, problem.codes.T, strict=True):
        bins = own[level][codes]
        place = np.unique(place * (int(bins.max()) + 1) + bins, return_inverse=True)[1]
    sizes = np.bincount(place)
    number = np.where(sizes >= problem.k, np.cumsum(sizes >= problem.k) - 1, -1)
    groups = number[place].astype(np.int32)
    if (groups < 0).any():
        join_rest(problem, groups)
    return groups
