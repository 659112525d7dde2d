"""p-sensitivity: every group has p distinct sensitive values, or some of p protected subtrees (TCM07)."""

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
    is_list_of,
    must_be,
    places,
    values_outside,
)
from shoal.errors import counted


@dataclass(frozen=True)
class PSensitive(Requirement):
    """Every group has at least p distinct values of each sensitive column (TCM07 Definition 3).

    With a hierarchy (extended p-sensitivity, Definitions 4–6), values below one strong value count as one:
    a protected label without a protected one above it. All other values count for themselves.

    Parameters
    ----------
    p
        Distinct values, at least 1. Larger is safer but loses more detail.
    hierarchy, protected
        The `shoal.Hierarchy` of the one column in question, and its protected labels.
    columns
        Sensitive columns, by default all.
    """

    p: int
    hierarchy: HierarchyLike | None = None
    protected: Sequence[str] = ()

    name = "sensitivity"
    summary = "every group has p distinct sensitive values, or values from p protected subtrees"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.hierarchy, HierarchyLike) and is_list_of(str, self.protected):
            names = self.hierarchy.leaves + self.hierarchy.inner
            second = {label: names[node] for label, node in self.hierarchy.aliases.items()}
            own = tuple(second.get(label, label) for label in self.protected)
            object.__setattr__(self, "protected", own)

    @property
    def required(self) -> float:
        return float(self.p)

    def problems(self) -> list[str]:
        found = super().problems()
        if not is_finite(self.p) or self.p < 1 or self.p != int(self.p):
            found.append(must_be("'p' of sensitivity", "a whole number of at least 1", self.p))
        if (self.hierarchy is None) != (self.protected == ()):
            found.append(
                "Sensitivity needs 'hierarchy' and 'protected' together. Give both or neither."
            )
        elif self.hierarchy is not None:
            found += hierarchy_problems(self, self.hierarchy)
            if not is_list_of(str, self.protected):
                found.append("'protected' of sensitivity must be a list of labels.")
            elif isinstance(self.hierarchy, HierarchyLike):
                known = {*self.hierarchy.leaves, *self.hierarchy.inner}
                unknown = len(set(self.protected) - known)
                if unknown:
                    found.append(
                        f"{counted(unknown, 'label')} in 'protected' of sensitivity "
                        f"{'is' if unknown == 1 else 'are'} not in its hierarchy. Use labels of the hierarchy."
                    )
        return found

    def value_problems(self, column: str, labels: Sequence[str], ordered: bool) -> list[str]:
        return values_outside(self.hierarchy, column, labels)

    def kinds(self, labels: Labels) -> list[int]:
        """A number for each value: its own, or that of the protected subtree it is in."""
        if self.hierarchy is None:
            return list(range(len(labels)))
        tree = self.hierarchy
        names = tree.leaves + tree.inner
        number: dict[str | None, int] = {}
        found = []
        for label, node in zip(labels, places(tree, labels), strict=True):
            top = label
            while node >= 0:
                top = names[node] if names[node] in self.protected else top
                node = tree.parent[node] if tree.parent[node] != node else -1
            found.append(number.setdefault(top, len(number)))
        return found

    def levels(
        self, counts: Floats, labels: Labels, shares: Floats, heads: Floats | None = None
    ) -> Floats:
        kinds = np.array(self.kinds(labels))
        together = [counts[:, kinds == own].sum(axis=1) for own in range(kinds.max() + 1)]
        return np.count_nonzero(np.stack(together, axis=1), axis=1).astype(np.float64)

    def promise(self) -> str:
        if self.hierarchy is None:
            return f"Every group has at least {self.p:,} different values."
        return (
            f"Every group has values from at least {self.p:,} protected branches of the hierarchy."
        )

    def missed_in_sql(self) -> str | None:
        return f"COUNT(*) < {int(self.p)}" if self.hierarchy is None else None

    def describe(self, column: str) -> str:
        return f"{'extended ' if self.hierarchy else ''}{self.p}-sensitivity of '{column}'"

    def remedy(self, column: str, table: Floats, reached: float) -> str:
        what = "protected subtree" if self.hierarchy else "distinct value"
        return f"it has {counted(round(reached), what)}; choose p of at most {reached:.0f}"
