"""The values of a sensitive column in a hierarchy, for requirements that take one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from shoal.auditing.requirements.base import Labels, Requirement
from shoal.auditing.texts import same_value
from shoal.errors import shown


@runtime_checkable
class Tree(Protocol):
    """What requirements know of a `shoal.Hierarchy`: the labels of its nodes and the parent of each."""

    @property
    def leaves(self) -> tuple[str, ...]: ...

    @property
    def inner(self) -> tuple[str, ...]: ...

    @property
    def parent(self) -> tuple[int, ...]: ...

    @property
    def aliases(self) -> Mapping[str, int]: ...


def places(tree: Tree, labels: Labels) -> list[int]:
    """The leaf of each label, the root for null, which no other set holds, and −1 for what the tree lacks."""
    place = {same_value(label): node for node, label in enumerate(tree.leaves)}
    root = len(tree.parent) - 1
    return [root if label is None else place.get(same_value(label), -1) for label in labels]


def outside(tree: Tree | None, column: str, labels: Sequence[str]) -> list[str]:
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
    alike = len(tree.leaves) - len(set(map(same_value, tree.leaves)))
    if alike:
        found.append(
            f"{alike} values of the hierarchy of column '{column}' differ from others only in spaces, case or "
            "Unicode form, or spell the same number, and count as one value; keep one line of each."
        )
    return found


def hierarchy_problems(requirement: Requirement, tree: Any) -> list[str]:
    """Sentences for what is no hierarchy, or not of one column."""
    found = []
    if not isinstance(tree, Tree):
        found.append(
            f"'hierarchy' of {requirement.name} must be a shoal.Hierarchy. Got {shown(tree)} instead."
        )
    if requirement.columns is None or len(requirement.columns) != 1:
        found.append(
            f"{requirement.name.capitalize()} with a hierarchy is about one column; name it in 'columns'."
        )
    return found
