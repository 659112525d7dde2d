"""The trees of a problem as the walk over closed cells reads them, and bounds for each record alone (spec §6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.encoding.encode import DistinctRows, distinct_rows
from shoal.encoding.forms import Floats, Ints, RangeForm, TreeForm
from shoal.kernels.bounding.cell_columns import Trees, flat_costs, nearest_costs
from shoal.kernels.bounding.cell_walk import make_walk
from shoal.kernels.bounding.closed_cells import cheapest_cells
from shoal.solve.problem import Problem


@dataclass(frozen=True)
class PointTrees:
    """A problem as bounds see it: its distinct records as points, and the trees above their values.

    Requirements beyond k play no part, unless points are told apart `by_value`, the sensitive values that they ask for.

    A column of subsets becomes a tree of two levels, any closure of several values costing what the cheapest pair
    does: where costs never fall as closures grow, no release costs less for it.
    """

    problem: Problem
    by_value: bool = False

    @cached_property
    def points(self) -> DistinctRows:
        """The points, sorted by columns in the order of the walk, so that those of a cell lie close together."""
        problem = self.problem
        told = [problem.values] if self.by_value else []
        found = distinct_rows(
            np.column_stack([problem.codes[:, self._order], problem.classes, *told])
        )
        return found._replace(counts=problem.table.count(found.place).astype(np.int64))

    @property
    def exact(self) -> bool:
        """Whether the trees have every closure at its own cost, which those of subsets have not."""
        return all(isinstance(column.form, TreeForm | RangeForm) for column in self.problem.columns)

    def _is_ranged(self, j: int) -> bool:
        return isinstance(self.problem.columns[j].form, RangeForm)

    def least_of_points(self, per_record: Floats) -> Floats:
        """For each point the least number that one of its records has."""
        _, place, counts = self.points
        least = np.full(len(counts), np.inf)
        np.minimum.at(least, place, per_record)
        return least

    def least_cost(self, y: int = 0) -> float:
        """The least that any closure costs a record of class y."""
        arrays = self.problem.arrays
        return float(
            sum(
                arrays.cost[y, arrays.start[j] : arrays.start[j + 1]].min()
                if isinstance(column.form, TreeForm)
                else flat_costs(arrays, j).min()
                for j, column in enumerate(self.problem.columns)
            )
        )

    def trees(self, y: int = 0) -> Trees:
        """The trees with what nodes cost a record of class y, in the order that makes the walk short."""
        first, _, counts = self.points
        made = [self._tree(j, y) for j in self._order]
        steps = [tree.ways.shape[1] for tree in made]
        nodes = [tree.cost.size for tree in made]
        codes = self.problem.codes[first]
        paths = [tree.ways[codes[:, j]] for j, tree in zip(self._order, made, strict=True)]
        return Trees(
            paths=np.ascontiguousarray(np.concatenate(paths, axis=1)),
            slot=np.concatenate([[0], np.cumsum(steps)]).astype(np.int64),
            node=np.concatenate([[0], np.cumsum(nodes)]).astype(np.int64),
            root=np.array(nodes, dtype=np.int64) - 1,
            leaves=np.array([len(tree.ways) for tree in made], dtype=np.int64),
            cost=np.concatenate([tree.cost for tree in made]),
            floor=np.concatenate([tree.floor for tree in made]),
            weights=counts.astype(np.int64),
            ranged=np.array([j if self._is_ranged(j) else -1 for j in self._order], dtype=np.int64),
            compiled=self.problem.arrays,
        )

    @cached_property
    def _order(self) -> list[int]:
        """The order of columns in the walk: low trees first, and among those the ones that tell records apart best.

        Their cells are empty soonest. Ranges come last, that of most values at the very end: by then cells are small
        or dear enough for most of them to be left out.
        """

        def rank(j: int) -> tuple[bool, float, float]:
            column = self.problem.columns[j]
            height = column.form.heights[-1] if isinstance(column.form, TreeForm) else 1.0
            share = column.counts[column.counts > 0] / column.counts.sum()
            if self._is_ranged(j):
                return True, 0.0, float(share.size)
            return False, height, float((share * np.log2(share)).sum())

        return sorted(range(len(self.problem.columns)), key=rank)

    def _tree(self, j: int, y: int) -> _Tree:
        arrays, form = self.problem.arrays, self.problem.columns[j].form
        if isinstance(form, TreeForm):
            return _Tree(form.parent, form.size, arrays.cost[y, arrays.start[j] :])
        return _Tree(np.full(form.size + 1, form.size, np.int32), form.size, flat_costs(arrays, j))


class _Tree:
    """The tree of one column: the cost of nodes, the least cost at or below each, and the way down to each value.

    A release may generalize further than a group needs, and where a larger closure costs less it then loses
    less (GiT09 §6.1): a node costs the least of itself and all nodes above it.
    """

    def __init__(self, parent: Ints, values: int, costs: Floats) -> None:
        self.cost = costs[: parent.size].copy()
        for node in range(parent.size - 2, -1, -1):
            self.cost[node] = min(self.cost[node], self.cost[parent[node]])
        self.floor = self.cost.copy()
        for node in range(parent.size - 1):
            self.floor[parent[node]] = min(self.floor[parent[node]], self.floor[node])
        depth = np.zeros(parent.size, dtype=np.int32)
        for node in range(parent.size - 2, -1, -1):
            depth[node] = depth[parent[node]] + 1
        steps = max(1, int(depth.max()))
        self.ways = np.repeat(np.arange(values, dtype=np.int32)[:, None], steps, axis=1)
        for value in range(values):
            node = value
            while depth[node] > 0:
                self.ways[value, depth[node] - 1] = node
                node = int(parent[node])


MOST_LOOKS = 200_000_000  # points looked at in a walk over closed cells: some 2 seconds
MOST_WALKS = 5  # walks of MOST_LOOKS that are paid for, where there are more classes
TREES_LOOKS = 5  # looks that making the trees counts for, for each point and slot
MOST_PAIRS = 500_000_000  # pairs of points that are compared, times numbers in a closure for each column: 2 seconds


def cell_bound(cells: PointTrees) -> Floats:
    """A bound for each point: what the cheapest closed cell of k records that holds it costs.

    Each class takes a walk, the largest class first. Where there is no time left for a class, its points get the
    least that any closure costs.
    """
    problem = cells.problem
    first, _, counts = cells.points
    classes = problem.classes[first]
    least = np.empty(len(counts))
    looks = MOST_LOOKS * min(problem.class_count, MOST_WALKS)
    for y in np.argsort(-np.bincount(classes, counts, problem.class_count), kind="stable"):
        own = classes == y
        least[own] = cells.least_cost(y)
        if looks > 0 and own.any():
            trees = cells.trees(y)
            found = np.where(own, np.inf, -np.inf)  # the others are out of reach of any cell
            done, spent = cheapest_cells(trees, make_walk(trees, 1), problem.k, looks, found)
            looks -= spent + TREES_LOOKS * trees.paths.size
            if done:
                least[own] = found[own]
    return least


def nearest_bound(cells: PointTrees) -> Floats | None:
    """A bound for each point: its cost together with its (k − 1)-th nearest record; None if pairs are too many."""
    problem = cells.problem
    first, _, counts = cells.points
    if len(counts) ** 2 * problem.whole.shape[0] / len(problem.columns) > MOST_PAIRS:
        return None
    points = problem.codes[first]
    columns = np.ascontiguousarray(points.T)
    least = np.empty(len(counts))
    weights = counts.astype(np.int64)
    nearest_costs(problem.arrays, problem.pairs, points, columns, weights, problem.k, least)
    return least
