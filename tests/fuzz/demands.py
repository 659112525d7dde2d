"""Requirements beyond k by their plain definitions, one group at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .readings import Tree, canonical, nodes

TOLERANCE = 2e-9


@dataclass(frozen=True)
class Demand:
    """A requirement: its kind, its level and what else the kind takes."""

    kind: str  # frequency, distinct, entropy, recursive, sensitivity, alpha, equal, ordered, hierarchical
    level: float
    columns: tuple[str, ...]
    c: float | None = None
    values: tuple[Any, ...] | None = None
    tree: Tree | None = None
    protected: tuple[str, ...] = ()

    def holds(self, group: Sequence[Any], table: Sequence[Any], margin: float = 0.0) -> bool:
        """Whether a group's sensitive values keep it; `table` are those of all records."""
        slack = TOLERANCE - margin
        counts = Counter(map(canonical, group))
        size = len(group)
        most = max(counts.values())
        match self.kind:
            case "frequency":
                return size / most >= self.level - slack
            case "distinct":
                return len(counts) >= self.level
            case "entropy":
                bits = -sum(n / size * math.log(n / size) for n in counts.values())
                return math.exp(bits) >= self.level - slack
            case "recursive":
                falling = sorted(counts.values(), reverse=True)
                assert self.c is not None
                tail = sum(falling[int(self.level) - 1 :])
                return tail > 0 and falling[0] / tail < self.c - margin
            case "sensitivity":
                return len({self._strong(value) for value in counts}) >= self.level
            case "alpha":
                named = counts if self.values is None else set(map(canonical, self.values))
                return all(counts[value] / size <= self.level + slack for value in named)
        return self._distance(counts, Counter(map(canonical, table))) <= self.level + slack

    def _strong(self, value: Any) -> Any:
        """The highest protected label above a value, or the value itself."""
        if self.tree is None or value is None:
            return value
        for node in nodes(self.tree):  # from the root down
            if node[0] in self.protected and value in map(canonical, _leaves(node)):
                return node[0]
        return value

    def _distance(self, group: Counter[Any], table: Counter[Any]) -> float:
        """The earth mover's distance (Li et al. 2007)."""
        gap = {
            value: group[value] / group.total() - table[value] / table.total() for value in table
        }
        if self.kind == "equal":
            return sum(max(part, 0.0) for part in gap.values())
        if self.kind == "ordered":
            ascending = sorted(value for value in gap if value is not None)
            carried, moved = 0.0, 0.0
            for value in [*ascending, *([None] if None in gap else [])]:
                carried += gap[value]
                moved += abs(carried)
            return moved / max(1, len(gap) - 1)
        assert self.tree is not None
        of_leaf = {leaf: gap.get(canonical(leaf), 0.0) for leaf in _leaves(self.tree)}
        whole = _height(self.tree)
        total = 0.0
        for node in nodes(self.tree):
            parts = [sum(of_leaf[leaf] for leaf in _leaves(child)) for child in node[1]]
            if node is self.tree:
                parts.append(gap.get(None, 0.0))
            surplus, lack = (sum(max(sign * part, 0.0) for part in parts) for sign in (1, -1))
            total += min(surplus, lack) * _height(node) / max(1, whole)
        return total


def _leaves(tree: Tree) -> list[str]:
    return [node[0] for node in nodes(tree) if not node[1]]


def _height(tree: Tree) -> int:
    return max((1 + _height(child) for child in tree[1]), default=0)
