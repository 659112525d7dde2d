"""The values of a sensitive column in a hierarchy, for requirements that take one."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shoal.errors import shown
from shoal.generalization import Hierarchy
from shoal.generalization.models import labels_of
from shoal.privacy.requirements.base import Labels, Requirement


def places(tree: Hierarchy, labels: Labels) -> list[int]:
    """The leaf of each label, the root for null, which no other set holds, and −1 for what the tree lacks."""
    place = {label: node for node, label in enumerate(tree.leaves)}
    root = len(tree.parent) - 1
    return [
        root if label is None else place.get(label, place.get(label.strip(), -1))
        for label in labels
    ]


def outside(tree: Hierarchy | None, column: str, values: pa.Array) -> list[str]:
    """A sentence if a column has values that its hierarchy lacks."""
    missing = 0 if tree is None else places(tree, labels_of(values)).count(-1)
    if not missing:
        return []
    return [
        f"{missing} of the {len(values)} distinct values of column '{column}' are not in its "
        "hierarchy; add a line for each of them."
    ]


def hierarchy_problems(requirement: Requirement, tree: Any) -> list[str]:
    """Sentences for what is no hierarchy, or not of one column."""
    found = []
    if not isinstance(tree, Hierarchy):
        found.append(
            f"'hierarchy' of {requirement.name} must be a shoal.Hierarchy. Got {shown(tree)} instead."
        )
    if requirement.columns is None or len(requirement.columns) != 1:
        found.append(
            f"{requirement.name.capitalize()} with a hierarchy is about one column; name it in 'columns'."
        )
    return found
