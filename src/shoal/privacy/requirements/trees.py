"""The values of a sensitive column in a hierarchy, for requirements that take one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from shoal.errors import shown
from shoal.generalization import Hierarchy
from shoal.privacy.requirements.base import Labels, Requirement
from shoal.table.folding import fold


def places(tree: Hierarchy, labels: Labels) -> list[int]:
    """The leaf of each label, the root for null, which no other set holds, and −1 for what the tree lacks."""
    place = {fold(label): node for node, label in enumerate(tree.leaves)}
    root = len(tree.parent) - 1
    return [root if label is None else place.get(fold(label), -1) for label in labels]


def spelled(tree: Hierarchy, labels: Sequence[str]) -> pa.Array:
    """Labels as the hierarchy writes them."""
    leaf = {fold(label): label for label in tree.leaves}
    return pa.array([leaf[fold(label)] for label in labels], type=pa.large_string())


def outside(tree: Hierarchy | None, column: str, labels: Sequence[str]) -> list[str]:
    """Sentences if a column has values that its hierarchy lacks, or cannot tell apart."""
    if tree is None:
        return []
    found = []
    missing = places(tree, labels).count(-1)
    if missing:
        found.append(
            f"{missing} of the {len(labels)} distinct values of column '{column}' are not in its "
            "hierarchy; add a line for each of them."
        )
    alike = len(tree.leaves) - len(set(map(fold, tree.leaves)))
    if alike:
        found.append(
            f"{alike} values of the hierarchy of column '{column}' differ from others only in spaces, case or "
            "Unicode form, and count as one value; keep one line of each."
        )
    return found


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
