"""The trees of a problem and its distinct records, as the walk over closed cells reads them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.generalization.forms import Floats, Ints, Records, TreeForm
from shoal.kernels.closed_cells import Trees
from shoal.problem import Problem


@dataclass(frozen=True)
class Cells:
    """Distinct records of a problem as points, and the trees above them; requirements beyond k play no part."""

    problem: Problem

    @cached_property
    def points(self) -> tuple[Records, Records, Records]:
        """First record and number of records of each point, and the point of each record."""
        known = np.column_stack([self.problem.codes, self.problem.classes])
        _, first, place, counts = np.unique(
            known, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        return first, counts, place.reshape(-1)

    @property
    def exact(self) -> bool:
        """Whether all columns are trees; otherwise the walk takes the others to cost nothing."""
        return len(self.tree_columns) == len(self.problem.columns)

    @cached_property
    def tree_columns(self) -> list[tuple[int, TreeForm]]:
        columns = enumerate(self.problem.columns)
        return [(j, column.form) for j, column in columns if isinstance(column.form, TreeForm)]

    def least_of_points(self, per_record: Floats) -> Floats:
        """The least number among the records of each point."""
        _, counts, place = self.points
        least = np.full(len(counts), np.inf)
        np.minimum.at(least, place, per_record)
        return least

    def trees(self, y: int = 0) -> Trees:
        """The trees with what nodes cost a record of class y."""
        arrays, (first, counts, _) = self.problem.arrays, self.points
        columns = self.tree_columns
        steps = [int(_depths(form).max(initial=1)) for _, form in columns]
        slot = np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)
        node = np.concatenate([[0], np.cumsum([f.entries for _, f in columns])]).astype(np.int64)
        paths = np.zeros((len(first), slot[-1]), dtype=np.int32)
        cost, floor = np.zeros(node[-1]), np.zeros(node[-1])
        for number, (j, form) in enumerate(columns):
            at = slice(node[number], node[number + 1])
            cost[at] = arrays.cost[y, arrays.start[j] : arrays.start[j + 1]]
            floor[at] = _least_below(form, cost[at])
            ways = _ways_down(form, steps[number])
            paths[:, slot[number] : slot[number + 1]] = ways[self.problem.codes[first, j]]
        return Trees(
            paths,
            slot,
            node,
            np.array([form.entries - 1 for _, form in columns], dtype=np.int64),
            np.array([form.size for _, form in columns], dtype=np.int64),
            cost,
            floor,
            counts.astype(np.int64),
        )


def _depths(form: TreeForm) -> Ints:
    """Steps from the root to each value."""
    depth = np.zeros(form.entries, dtype=np.int32)
    for inner in range(form.entries - 2, -1, -1):
        depth[inner] = depth[form.parent[inner]] + 1
    return depth[: form.size]


def _ways_down(form: TreeForm, steps: int) -> Ints:
    """The nodes on the way from the root (left out) to each value; the value again where the way is short."""
    ways = np.repeat(np.arange(form.size, dtype=np.int32)[:, None], steps, axis=1)
    depths = _depths(form)
    for value in range(form.size):
        inner = value
        for depth in range(int(depths[value]) - 1, -1, -1):
            ways[value, depth] = inner
            inner = form.parent[inner]
    return ways


def _least_below(form: TreeForm, cost: Floats) -> Floats:
    """The least cost of each node and all below it."""
    least = cost.copy()
    for inner in range(form.entries - 1):
        parent = form.parent[inner]
        least[parent] = min(least[parent], least[inner])
    return least
