"""t-closeness: the distribution of sensitive values in every group is close to the table's (Li et al. 2007)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.audits.requirements.base import (
    Floats,
    HierarchyLike,
    Labels,
    Requirement,
    hierarchy_problems,
    is_finite,
    must_be,
    places,
    values_outside,
)

GROUNDS = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True)
class TCloseness(Requirement):
    """In every group, sensitive values are distributed almost as in the whole table.

    Parameters
    ----------
    t
        The largest earth mover's distance between a group and the table, from 0 to 1. Smaller is safer but
        loses more detail.
    ground
        How far apart two values are. "equal": 1. "ordered": the difference of their places in ascending order, null
        last, over the number of places less one. "hierarchical": the height of the lowest node that contains both
        over the height of the hierarchy.
    hierarchy
        A `shoal.Hierarchy`, for the hierarchical ground distance.
    columns
        Sensitive columns, by default all.
    """

    t: float
    ground: str = "equal"
    hierarchy: HierarchyLike | None = None

    name = "closeness"
    summary = "sensitive values are distributed in every group almost as in the whole table"
    rising = False
    compares_with_table = True

    @property
    def counts_absent(self) -> bool:  # type: ignore[override]
        return self.ground != "equal"

    @property
    def required(self) -> float:
        return float(self.t)

    def problems(self) -> list[str]:
        found = super().problems()
        if not (is_finite(self.t) and 0 <= self.t <= 1):
            found.append(must_be("'t' of closeness", "a number from 0 to 1", self.t))
        if self.ground not in GROUNDS:
            grounds = f"one of {', '.join(GROUNDS)}"
            found.append(must_be("'ground' of closeness", grounds, self.ground))
        elif (self.ground == "hierarchical") != (self.hierarchy is not None):
            found.append(
                "Closeness needs 'hierarchy' if and only if ground is 'hierarchical'. Give both or neither."
            )
        if self.hierarchy is not None:
            found += hierarchy_problems(self, self.hierarchy)
        return found

    def value_problems(self, column: str, labels: Sequence[str], ordered: bool) -> list[str]:
        if self.ground == "ordered" and not ordered:
            return [
                f"Column '{column}' has no numbers or dates, but ordered closeness needs an order. Choose ground "
                "'equal' or 'hierarchical'."
            ]
        return values_outside(self.hierarchy, column, labels)

    def levels(
        self, counts: Floats, labels: Labels, shares: Floats, heads: Floats | None = None
    ) -> Floats:
        gap = counts / counts.sum(axis=1, keepdims=True) - shares
        if self.ground == "equal":
            return np.asarray(np.maximum(gap, 0).sum(axis=1))
        if self.ground == "ordered":
            return np.asarray(np.abs(gap.cumsum(axis=1)).sum(axis=1) / max(1, gap.shape[1] - 1))
        assert self.hierarchy is not None
        return _hierarchical_distance(self.hierarchy, gap, labels)

    def promise(self) -> str:
        spread = "In every group, values are distributed almost as in the whole table"
        return f"{spread}, at a distance of at most {self.t:g}."

    def describe(self, column: str) -> str:
        return f"{self.t:g}-closeness ({self.ground}) of '{column}'"

    def remedy(self, column: str, table: Floats, reached: float) -> str:
        return "choose a larger t"  # the whole table has distance 0


def _hierarchical_distance(tree: HierarchyLike, gap: Floats, labels: Labels) -> Floats:
    """Li et al. 2007 §6: what can be evened out below a node, and not lower down, moves at its height."""
    nodes = len(tree.parent)
    surplus, lack = np.zeros((len(gap), nodes)), np.zeros((len(gap), nodes))
    root = nodes - 1
    for value, node in enumerate(places(tree, labels)):
        surplus[:, node] += np.maximum(gap[:, value], 0)
        lack[:, node] += np.maximum(-gap[:, value], 0)
    height = np.zeros(nodes)
    for node in range(root):
        height[tree.parent[node]] = max(height[tree.parent[node]], height[node] + 1)
    total = np.zeros(len(gap))
    for node in range(nodes):
        moved = np.minimum(surplus[:, node], lack[:, node])
        total += moved * height[node] / max(1.0, height[root])
        if node != root:
            surplus[:, tree.parent[node]] += surplus[:, node] - moved
            lack[:, tree.parent[node]] += lack[:, node] - moved
    return total
