"""Full-domain recoding over the lattice of levels (LeFevre et al. 2005; spec §5.12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.encoding.encode import Column, distinct_rows
from shoal.encoding.forms import Form, Ints, RangeForm, TreeForm
from shoal.errors import InputError
from shoal.kernels.shared.cells import offending_cells, slots_for, take_full_cells
from shoal.kernels.shared.groups import members
from shoal.kernels.shared.rules import Rules
from shoal.progress import Progress
from shoal.solve.methods.base import TOLERANCE, Method, Partition, round_costs
from shoal.solve.methods.greedy_cover import set_costs
from shoal.solve.methods.lattice import tree_rungs
from shoal.solve.problem import HIDDEN, Points, Problem

# Nodes in the lattices of all subsets of the columns, to bound time and memory.
MOST_NODES = 20_000_000

Node = tuple[int, ...]  # a level per column
Levels = list[list[Ints]]  # per column and level, a bin per code
Bools = npt.NDArray[np.bool_]
Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Incognito(Method):
    """Recode every column on one level for all records: the cheapest choice of levels that meets the requirement.

    Subsets of the columns are tried from single ones up: a choice of levels is checked only if it meets the
    requirement for all smaller subsets, its generalizations are known to meet it without a check, and cells
    are counted from those of a finer choice. Hierarchies have their levels by height, intervals bins of
    doubling width, suppression and subsets the value and everything. Of all choices that meet the requirement
    the one whose recoding costs least under the objective is taken. Every value has one form in the whole
    release. Optimal among such recodings, which as a rule cost far more than the local ones of other
    methods. O(choices checked × distinct records) in time, O(levels × distinct records) in memory.

    Parameters
    ----------
    suppression
        The share of records that may be in cells that do not meet the requirement. They are released with all
        quasi-identifiers hidden, with those of the smallest cells where they are too few. With a share, and a
        requirement that limits how records are spread over sensitive values (all but distinct diversity and
        p-sensitivity), a few records can spoil a large cell, so every choice that k allows is checked.
    """

    suppression: float = 0.0

    name = "incognito"
    source = "LeFevre et al. 2005"
    recoding = "global"
    promise = "best full-domain recoding"
    growth = "n, exponential in quasi-identifiers"
    seconds = 0.43
    summary = "one level per column for all records; the classic method, loses most"

    def problems(self) -> list[str]:
        if 0 <= self.suppression < 1:
            return []
        return [f"The 'suppression' parameter must be in [0, 1). Got {self.suppression} instead."]

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        levels = [make_levels(column) for column in problem.columns]
        nodes = float(np.prod([len(own) + 1.0 for own in levels]))
        if nodes > MOST_NODES:
            raise InputError(
                f"The lattice of levels has {nodes:,.0f} nodes, but method 'incognito' takes {MOST_NODES:,}; "
                "leave quasi-identifiers out, give hierarchies with fewer levels, or choose 'cover'."
            )
        budget = int(self.suppression * problem.table.records + TOLERANCE)
        passed = find_passing(problem, levels, budget, seed, progress)
        groups, forms = cut_at_node(problem, levels, cheapest_node(problem, levels, passed))
        return Partition(groups, forms=forms)


def make_levels(column: Column) -> list[Ints]:
    """The levels of a column: ever coarser bins, each made of bins of the level below, from each value to all."""
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
    place = np.floor(spread / gap + TOLERANCE).astype(np.int64)
    levels = [alone]
    for halvings in range(1, int(place[-1]).bit_length() + 1):
        null = [place[-1] + 1] if form.has_null else []
        levels.append(np.append(place >> halvings, null).astype(np.int32))
    return [*levels, together]


def find_passing(
    problem: Problem, levels: Levels, budget: int, seed: int, progress: Progress
) -> Bools:
    """Find out of every node of the lattice whether at most `budget` records are in cells that do not comply."""
    rng = np.random.default_rng(seed)
    points = problem.points
    keys = []
    for own, codes in zip(levels, points.codes.T, strict=True):
        numbers = [rng.integers(0, 2**64, level.max() + 1, dtype=np.uint64) for level in own]
        keys.append(np.array([n[level][codes] for n, level in zip(numbers, own, strict=True)]))
    by_value = rng.integers(0, 2**64, problem.tallied, dtype=np.uint64)
    value_keys = np.bitwise_xor.reduce(by_value[points.values], axis=1)
    rules = inherited(problem.rules) if budget else problem.rules
    total, done = int(np.prod([len(own) + 1 for own in levels])), 0
    passed: dict[tuple[int, ...], Bools] = {(): np.array(True)}
    for size in range(1, len(levels) + 1):
        smaller, passed = passed, {}
        for columns in combinations(range(len(levels)), size):
            candidates = np.ones([len(levels[j]) for j in columns], dtype=np.bool_)
            for i in range(size):
                candidates &= np.expand_dims(smaller[columns[:i] + columns[i + 1 :]], i)
            counter = _Counter([keys[j] for j in columns], points, value_keys, rules)
            report = partial(progress, "checking levels", done, total)
            passed[columns] = _check(candidates, counter, budget, report)
            done += candidates.size
    found = passed[tuple(range(len(levels)))]
    if budget and found.any() and is_spread_limited(problem.rules):
        counter = _Counter(keys, points, value_keys, problem.rules)
        found = _check_each(found, counter, budget, partial(progress, "checking levels again"))
    progress("checking levels", total, total)
    return found


def inherited(rules: Rules) -> Rules:
    """The limits that a cell keeps if it contains one that keeps them: k and distinct values."""
    none = np.zeros(rules.start.size - 1)
    return rules._replace(
        cap=np.ones_like(rules.cap),
        capped=none > 0,
        entropy=none,
        depth=none.astype(np.int64),
        distance=none + np.inf,
    )


def is_spread_limited(rules: Rules) -> bool:
    """Whether there are limits on how records are spread over values, which larger cells do not inherit."""
    limited = rules.capped | (rules.entropy > 0) | (rules.depth > 0) | (rules.distance < np.inf)
    return bool(limited.any())


class FrequencySet(NamedTuple):
    """The contents of a node's cells: a point for each combination of cell and sensitive values, and its records."""

    point: Ints
    records: Ints


class _Counter:
    """Counts the cells at the nodes of some columns; keys[j][level] are random numbers for the points' bins."""

    def __init__(self, keys: list[Keys], points: Points, value_keys: Keys, rules: Rules) -> None:
        self.keys, self.value_keys = keys, value_keys
        self.values, self.rules = points.values, rules
        everyone = np.arange(points.weights.size, dtype=np.int32)
        self.points = FrequencySet(everyone, points.weights)

    def roll_up(self, finer: FrequencySet, node: Node) -> FrequencySet:
        """Count the contents of a node's cells from those of a finer node."""
        key = self._cell_keys(finer, node) ^ self.value_keys[finer.point]
        place = _numbered(key, finer.records)
        records = np.bincount(place, finer.records).astype(np.int32)
        point = np.empty(records.size, dtype=np.int32)
        point[place[::-1]] = finer.point[::-1]
        return FrequencySet(point, records)

    def outside(self, cells: FrequencySet, node: Node) -> int:
        """Records in cells of a node that do not meet the requirement."""
        if not self.values.shape[1]:
            return int(cells.records[cells.records < self.rules.k].sum())
        place = _numbered(self._cell_keys(cells, node), cells.records)
        order, bounds = members(place, int(place.max()) + 1)
        found = offending_cells(self.rules, self.values[cells.point], cells.records, order, bounds)
        return int(cells.records[found[place]].sum())

    def _cell_keys(self, cells: FrequencySet, node: Node) -> Keys:
        key = np.zeros(cells.point.size, dtype=np.uint64)
        for own, level in zip(self.keys, node, strict=True):
            key ^= own[level][cells.point]
        return key


def _numbered(key: Keys, records: Ints) -> Ints:
    """Number the different keys."""
    place, everyone = np.empty(key.size, dtype=np.int32), np.arange(key.size, dtype=np.int32)
    slots = slots_for(key.size)
    table = np.empty(slots, dtype=np.uint64), np.empty(slots, dtype=np.int64)
    take_full_cells(key, everyone, records, 1, *table, place, 0)
    return place


def _check(candidates: Bools, counter: _Counter, budget: int, report: Callable[[], None]) -> Bools:
    """Find the nodes that pass, all of them candidates; the generalizations of a node pass with it."""
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
            if counter.outside(cells, node) <= budget:
                passed[tuple(slice(level, None) for level in node)] = True
            else:
                here[node] = cells
        below = here
    return passed


def _check_each(
    candidates: Bools, counter: _Counter, budget: int, report: Callable[[int, int], None]
) -> Bools:
    """Find the candidates that pass, each checked by itself.

    Nodes come in lexicographic order, and each is counted from the one a level lower in the last column that
    is not at its lowest: the last node seen with all later columns at their lowest.
    """
    passed = np.zeros_like(candidates)
    lowest = np.argwhere(candidates).min(axis=0)
    seen = [counter.points] * candidates.ndim
    steps = np.ndindex(*(np.array(candidates.shape) - lowest))
    total = int(np.prod(np.array(candidates.shape) - lowest))
    for done, step in enumerate(steps):
        report(done, total)
        node = tuple((lowest + step).tolist())
        last = int(np.flatnonzero(step).max(initial=0))
        cells = counter.roll_up(seen[last], node)
        seen[last:] = [cells] * (len(seen) - last)
        passed[node] = candidates[node] and counter.outside(cells, node) <= budget
    return passed


def cheapest_node(problem: Problem, levels: Levels, passed: Bools) -> Node:
    """The passing node whose recoding costs least, the first of equals."""
    total = np.zeros(())
    for j, (own, column) in enumerate(zip(levels, problem.columns, strict=True)):
        total = total[..., None] + set_costs(problem, j, tuple(own)) @ column.counts
    best = np.argmin(np.where(passed, round_costs(total), np.inf))
    return tuple(int(level) for level in np.unravel_index(best, passed.shape))


def cut_at_node(problem: Problem, levels: Levels, node: Node) -> tuple[Ints, Ints]:
    """The cells of a node as groups, and the form of every value; records of cells that do not comply are hidden."""
    forms = np.column_stack(
        [own[level][codes] for own, level, codes in zip(levels, node, problem.codes.T, strict=True)]
    )
    place = distinct_rows(forms).place
    order, bounds = members(place, int(place.max()) + 1)
    found = offending_cells(
        problem.rules, problem.values, np.ones(place.size, np.int32), order, bounds
    )
    sizes = np.diff(bounds)
    for cell in np.argsort(sizes + np.where(found, sizes.max() + 1, 0), kind="stable"):
        if not found.any() or _complies(problem, found[place]):
            break
        found[cell] = True  # hidden with the others, so that these do not stand alone
    number = np.where(found, 0, np.cumsum(~found) - (not found.any()))
    forms[found[place]] = HIDDEN
    return number[place].astype(np.int32), forms.astype(np.int32)


def _complies(problem: Problem, chosen: Bools) -> bool:
    """Whether the chosen records are a group that meets the requirement."""
    order, bounds = members(np.where(chosen, 0, 1), 2)
    weights = np.ones(chosen.size, np.int32)
    return not offending_cells(problem.rules, problem.values, weights, order, bounds)[0]
