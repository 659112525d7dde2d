"""Requirements as limits that kernels hold a group to while groups change.

The audit counts the same requirements by `Requirement.levels`, in code that shares nothing with this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from shoal.auditing.requirements import AlphaK, LDiversity, PSensitive, Requirement, TCloseness
from shoal.generalization import Hierarchy
from shoal.generalization.forms import Floats, Ints, TreeForm
from shoal.generalization.models import label_of
from shoal.table import Sensitive
from shoal.table.folding import value_key


@dataclass(frozen=True)
class Limits:
    """The limits of one sensitive column: what kernels count in a group, and what the counts must keep."""

    entry: Ints  # what each code of the column is counted as
    size: int
    cap: Floats | None = None
    distinct: int = 1
    entropy: float = 0.0
    depth: int = 0
    factor: float = 0.0
    distance: float = math.inf
    parent: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    edge: Floats = field(default_factory=lambda: np.zeros(0))


def limits_of(requirement: Requirement, column: str, secret: Sensitive) -> Limits:
    """Compile a requirement on a sensitive column to the limits that kernels enforce."""
    match requirement:
        case LDiversity():
            return _diversity(requirement, secret)
        case PSensitive():
            return _sensitivity(requirement, column, secret)
        case AlphaK():
            return _alpha(requirement, secret)
        case TCloseness():
            return _closeness(requirement, column, secret)
    raise TypeError(f"No limits are known for requirement '{requirement.name}'.")


def _all_values(secret: Sensitive) -> Ints:
    """Let every value count for itself."""
    return np.arange(secret.size, dtype=np.int32)


def _diversity(asked: LDiversity, secret: Sensitive) -> Limits:
    entry, size = _all_values(secret), secret.size
    match asked.kind:
        case "frequency":
            return Limits(entry, size, cap=np.full(size, 1 / asked.l))
        case "distinct":
            return Limits(entry, size, distinct=int(asked.l))
        case "entropy":
            return Limits(entry, size, entropy=math.log(asked.l))
    return Limits(entry, size, depth=int(asked.l), factor=float(asked.c or 0.0))


def _alpha(asked: AlphaK, secret: Sensitive) -> Limits:
    cap = np.full(secret.size, asked.alpha)
    if asked.values is not None:
        named = {value_key(label_of(value)) for value in asked.values}
        for code, label in enumerate(secret.all_labels):
            if label is None or value_key(label) not in named:
                cap[code] = 1.0
    return Limits(_all_values(secret), secret.size, cap=cap)


def _sensitivity(asked: PSensitive, column: str, secret: Sensitive) -> Limits:
    entry = _all_values(secret)
    if asked.hierarchy is not None:
        form, codes = _compiled(asked.hierarchy, column, secret)
        null = [""] if secret.has_null else []
        labels = [*asked.hierarchy.leaves, *null, *asked.hierarchy.inner]
        strong = np.arange(form.entries)
        for node in range(form.entries - 1, -1, -1):  # from the root down
            above = form.parent[node]
            if above != node and (strong[above] != above or labels[above] in asked.protected):
                strong[node] = strong[above]
        entry = np.unique(strong[codes], return_inverse=True)[1].reshape(-1).astype(np.int32)
    return Limits(entry, int(entry.max()) + 1, distinct=int(asked.p))


def _closeness(asked: TCloseness, column: str, secret: Sensitive) -> Limits:
    entry, size = _all_values(secret), secret.size
    if asked.hierarchy is not None:
        form, entry = _compiled(asked.hierarchy, column, secret)
        height = form.heights
        edge = (height[form.parent] - height) / (2 * max(1.0, height[-1]))
        return Limits(entry, form.size, distance=asked.t, parent=form.parent, edge=edge)
    if asked.ground == "ordered":
        parent = np.minimum(np.arange(1, size + 1), size - 1).astype(np.int32)
        edge = np.full(size, 1 / max(1, size - 1))
        edge[-1] = 0.0
        return Limits(entry, size, distance=asked.t, parent=parent, edge=edge)
    parent = np.full(size + 1, size, np.int32)
    edge = np.append(np.full(size, 0.5), 0.0)
    return Limits(entry, size, distance=asked.t, parent=parent, edge=edge)


def _compiled(tree: object, column: str, secret: Sensitive) -> tuple[TreeForm, Ints]:
    """The form of a hierarchy and the leaf of each code of a sensitive column, null included."""
    assert isinstance(tree, Hierarchy)
    form, codes = tree.compile(column, _spelled(tree, secret.labels), secret.has_null)
    assert isinstance(form, TreeForm)
    return form, (np.append(codes, form.null) if secret.has_null else codes).astype(np.int32)


def _spelled(tree: Hierarchy, labels: Sequence[str]) -> pa.Array:
    """Spell labels as the hierarchy does."""
    leaf = {value_key(label): label for label in tree.leaves}
    return pa.array([leaf[value_key(label)] for label in labels], type=pa.large_string())
