"""Requirements beyond k (spec §4): what the sensitive values of every group must look like.

Each says two things, in code that shares nothing: `limits`, what the kernels hold a group to while groups
change, and `levels`, how well finished groups meet it, for feasibility and the audit. All are monotone: what
holds for two groups holds for their union.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.errors import shown
from shoal.generalization import Hierarchy
from shoal.generalization.forms import Floats, Ints, TreeForm
from shoal.generalization.models import is_ordered, label_of, labels_of
from shoal.table import Sensitive

Labels = Sequence[str | None]  # of a sensitive column's values, ascending; null is last
TOLERANCE = 1e-9
KINDS = ("frequency", "distinct", "entropy", "recursive")
GROUNDS = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True)
class Limits:
    """What kernels count of a sensitive column, and what the counts of a group must keep to."""

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


@dataclass(frozen=True)
class Requirement(ABC):
    """A promise about the sensitive values of every group.

    `columns` are the sensitive columns it is about, by default all.
    """

    columns: Sequence[str] | None = field(default=None, kw_only=True)

    name: ClassVar[str]  # in settings and on the command line
    summary: ClassVar[str]
    rising: ClassVar[bool] = True  # whether a higher level is safer
    counts_absent: ClassVar[bool] = False  # whether values that a group lacks matter to its level

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, option.name, value.item())
            elif isinstance(value, list | set | frozenset | np.ndarray):
                object.__setattr__(self, option.name, tuple(value))

    @property
    @abstractmethod
    def required(self) -> float:
        """The level that every group must reach."""

    @abstractmethod
    def limits(self, column: str, secret: Sensitive) -> Limits:
        """The same for the kernels."""

    @abstractmethod
    def levels(self, counts: Floats, labels: Labels, shares: Floats) -> Floats:
        """The level that each group reaches, from its counts of values (groups × values) and their shares of the table.

        Values that no group has may be left out, unless `counts_absent`.
        """

    @abstractmethod
    def describe(self, column: str) -> str:
        """What is required of a column, in a few words."""

    @abstractmethod
    def remedy(self, column: str, table: Floats, reached: float) -> str:
        """Why the whole table misses it, with the numbers, and the nearest setting that it meets."""

    def problems(self) -> list[str]:
        """Sentences for parameters that cannot be."""
        if isinstance(self.columns, str):
            return [
                f"'columns' of {self.name} must be a list of columns; write ['{self.columns}']."
            ]
        if self.columns is not None and not _is_list_of(str, self.columns):
            return [
                f"'columns' of {self.name} must be a list of column names; leave it out to mean all."
            ]
        return []

    def value_problems(self, column: str, values: pa.Array) -> list[str]:
        """Sentences for a sensitive column whose distinct values it cannot be asked of."""
        return []

    def is_met(self, levels: Floats) -> npt.NDArray[np.bool_]:
        """Which levels suffice."""
        if self.rising:
            return levels >= self.required - TOLERANCE
        return levels <= self.required + TOLERANCE

    def worst(self, levels: Floats) -> float:
        """The least safe of several levels."""
        return float(levels.min() if self.rising else levels.max())

    def over(self, sensitive: Sequence[str]) -> tuple[str, ...]:
        """The columns it is about, given all sensitive ones."""
        return tuple(sensitive if self.columns is None else self.columns)


@dataclass(frozen=True)
class LDiversity(Requirement):
    """Every group has well-spread sensitive values.

    Parameters
    ----------
    l
        How well: at least 1. Larger is safer and costs more.
    kind
        "frequency": no value has more than 1/l of a group's records (GT10 §7). "distinct": a group has at
        least l values. "entropy": exp of a group's entropy, in nats, is at least l. "recursive": the most
        frequent value has fewer than c times the records of the l-th most frequent and all rarer ones
        together.
    c
        The factor of the recursive kind.
    columns
        Sensitive columns, by default all.

    Examples
    --------
    >>> import shoal
    >>> shoal.LDiversity(3, kind="entropy").describe("illness")
    "entropy 3-diversity of 'illness'"
    """

    l: float
    kind: str = "frequency"
    c: float | None = None

    name = "diversity"
    summary = "sensitive values are well spread in every group: by frequency, distinct, entropy or recursive"

    @property
    def rising(self) -> bool:  # type: ignore[override]
        return self.kind != "recursive"

    @property
    def required(self) -> float:
        return float(self.l if self.c is None else self.c)

    def problems(self) -> list[str]:
        found = super().problems()
        if self.kind not in KINDS:
            found.append(
                f"'kind' of diversity must be one of {', '.join(KINDS)}. Got {shown(self.kind)} instead."
            )
        if not _is_number(self.l) or self.l < 1:
            found.append(
                f"'l' of diversity must be a number of at least 1. Got {shown(self.l)} instead."
            )
        elif self.kind in ("distinct", "recursive") and self.l != int(self.l):
            found.append(f"'l' of {self.kind} diversity must be whole. Got {self.l} instead.")
        if self.kind == "recursive" and not (_is_number(self.c) and self.c > 0):  # type: ignore[operator]
            found.append(
                f"'c' of recursive diversity must be a number above 0. Got {shown(self.c)} instead."
            )
        if self.kind != "recursive" and self.c is not None:
            found.append("'c' is for recursive diversity only; leave it out or choose that kind.")
        return found

    def is_met(self, levels: Floats) -> npt.NDArray[np.bool_]:
        if self.kind == "recursive":
            return levels < self.required - TOLERANCE
        return super().is_met(levels)

    def limits(self, column: str, secret: Sensitive) -> Limits:
        entry, size = np.arange(secret.size, dtype=np.int32), secret.size
        match self.kind:
            case "frequency":
                return Limits(entry, size, cap=np.full(size, 1 / self.l))
            case "distinct":
                return Limits(entry, size, distinct=int(self.l))
            case "entropy":
                return Limits(entry, size, entropy=math.log(self.l))
        return Limits(entry, size, depth=int(self.l), factor=float(self.c or 0.0))

    def levels(self, counts: Floats, labels: Labels, shares: Floats) -> Floats:
        match self.kind:
            case "frequency":
                return np.asarray(counts.sum(axis=1) / counts.max(axis=1))
            case "distinct":
                return np.count_nonzero(counts, axis=1).astype(np.float64)
            case "entropy":
                share = counts / counts.sum(axis=1, keepdims=True)
                logs = np.log(share, out=np.zeros_like(share), where=share > 0)
                return np.asarray(np.exp(-(share * logs).sum(axis=1)))
        falling = -np.sort(-counts, axis=1)
        tail = falling[:, int(self.l) - 1 :].sum(axis=1)
        return np.divide(falling[:, 0], tail, out=np.full(len(tail), np.inf), where=tail > 0)

    def describe(self, column: str) -> str:
        kind = f"recursive ({self.c:g}, {self.l:g})" if self.c else f"{self.kind} {self.l:g}"
        return f"{kind}-diversity of '{column}'"

    def remedy(self, column: str, table: Floats, reached: float) -> str:
        values = np.count_nonzero(table)
        match self.kind:
            case "frequency":
                return f"its most frequent value allows ℓ0 = {reached:.4f}; choose l of at most {_floor(reached)}"
            case "distinct":
                return f"it has {values} distinct values; choose l of at most {values}"
            case "entropy":
                return f"its entropy allows {reached:.4f}; choose l of at most {_floor(reached)}"
        if values < self.l:
            return f"it has {values} distinct values; choose l of at most {values}"
        return f"it allows only c above {reached:.4f}; choose c of at least {_above(reached)}"


@dataclass(frozen=True)
class PSensitive(Requirement):
    """Every group has at least p distinct values of each sensitive column (TCM07 Definition 3).

    With a hierarchy (extended p-sensitivity, Definitions 4–6), values below one strong value count as one:
    a protected label without a protected one above it. All other values count for themselves.

    Parameters
    ----------
    p
        Distinct values, at least 1. Larger is safer and costs more.
    hierarchy, protected
        The hierarchy of the one column meant, and its protected labels.
    columns
        Sensitive columns, by default all.
    """

    p: int
    hierarchy: Hierarchy | None = None
    protected: Sequence[str] = ()

    name = "sensitivity"
    summary = "every group has p distinct sensitive values, or values from p protected subtrees"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.hierarchy, Hierarchy) and _is_list_of(str, self.protected):
            names = self.hierarchy.leaves + self.hierarchy.inner
            second = {label: names[node] for label, node in self.hierarchy.aliases.items()}
            own = tuple(second.get(label, label) for label in self.protected)
            object.__setattr__(self, "protected", own)

    @property
    def required(self) -> float:
        return float(self.p)

    def problems(self) -> list[str]:
        found = super().problems()
        if not _is_number(self.p) or self.p < 1 or self.p != int(self.p):
            found.append(
                f"'p' of sensitivity must be a whole number of at least 1. Got {shown(self.p)} instead."
            )
        if (self.hierarchy is None) != (self.protected == ()):
            found.append(
                "Sensitivity needs 'hierarchy' and 'protected' together; give both or neither."
            )
        elif self.hierarchy is not None:
            found += _hierarchy_problems(self, self.hierarchy)
            if not _is_list_of(str, self.protected):
                found.append("'protected' of sensitivity must be a list of labels.")
            elif isinstance(self.hierarchy, Hierarchy):
                known = {*self.hierarchy.leaves, *self.hierarchy.inner}
                unknown = len(set(self.protected) - known)
                if unknown:
                    found.append(
                        f"{unknown} of the labels in 'protected' of sensitivity are not in its hierarchy; "
                        "name labels of it."
                    )
        return found

    def value_problems(self, column: str, values: pa.Array) -> list[str]:
        return _outside(self.hierarchy, column, values)

    def limits(self, column: str, secret: Sensitive) -> Limits:
        entry = np.arange(secret.size, dtype=np.int32)
        if self.hierarchy is not None:
            form, codes = self.hierarchy.compile(column, secret.values, secret.has_null)
            assert isinstance(form, TreeForm)
            labels = [
                *self.hierarchy.leaves,
                *([""] if secret.has_null else []),
                *self.hierarchy.inner,
            ]
            strong = np.arange(form.entries)
            for node in range(form.entries - 1, -1, -1):  # from the root down
                above = form.parent[node]
                if above != node and (strong[above] != above or labels[above] in self.protected):
                    strong[node] = strong[above]
            place = strong[np.append(codes, form.null) if secret.has_null else codes]
            entry = np.unique(place, return_inverse=True)[1].reshape(-1).astype(np.int32)
        return Limits(entry, int(entry.max()) + 1, distinct=int(self.p))

    def levels(self, counts: Floats, labels: Labels, shares: Floats) -> Floats:
        if self.hierarchy is not None:
            tree = self.hierarchy
            names = tree.leaves + tree.inner
            subtree: dict[str | None, list[int]] = {}
            for value, (label, node) in enumerate(zip(labels, _places(tree, labels), strict=True)):
                top = label
                while node >= 0:
                    top = names[node] if names[node] in self.protected else top
                    node = tree.parent[node] if tree.parent[node] != node else -1
                subtree.setdefault(top, []).append(value)
            counts = np.stack([counts[:, own].sum(axis=1) for own in subtree.values()], axis=1)
        return np.count_nonzero(counts, axis=1).astype(np.float64)

    def describe(self, column: str) -> str:
        return f"{'extended ' if self.hierarchy else ''}{self.p}-sensitivity of '{column}'"

    def remedy(self, column: str, table: Floats, reached: float) -> str:
        what = "protected subtrees" if self.hierarchy else "distinct values"
        return f"it has {reached:.0f} {what} (Condition 1); choose p of at most {reached:.0f}"


@dataclass(frozen=True)
class AlphaK(Requirement):
    """No sensitive value, or none of those named, has more than a share alpha of a group: (α,k)-anonymity.

    Parameters
    ----------
    alpha
        The largest share, above 0 and at most 1. Smaller is safer and costs more.
    values
        The values meant, by default all.
    columns
        Sensitive columns, by default all.
    """

    alpha: float
    values: Sequence[Any] | None = None

    name = "alpha"
    summary = "no sensitive value, or none of those named, has more than a share alpha of a group"
    rising = False

    @property
    def required(self) -> float:
        return float(self.alpha)

    def problems(self) -> list[str]:
        found = super().problems()
        if not (_is_number(self.alpha) and 0 < self.alpha <= 1):
            found.append(
                f"'alpha' must be a number above 0 and at most 1. Got {shown(self.alpha)} instead."
            )
        if self.values is not None and not _is_list_of(_VALUES, self.values):
            found.append(
                "'values' of alpha must be a list of sensitive values; leave it out to mean all."
            )
        return found

    def value_problems(self, column: str, values: pa.Array) -> list[str]:
        named = {label_of(value) for value in self.values or ()}
        unknown = len(named - set(labels_of(values)))
        if not unknown:
            return []
        return [
            f"{unknown} of the {len(named)} values that alpha names are not in column '{column}'; "
            "name values of that column."
        ]

    def limits(self, column: str, secret: Sensitive) -> Limits:
        named = self._named([*labels_of(secret.values), *([None] if secret.has_null else [])])
        entry = np.arange(secret.size, dtype=np.int32)
        return Limits(entry, secret.size, cap=np.where(named, self.alpha, 1.0))

    def levels(self, counts: Floats, labels: Labels, shares: Floats) -> Floats:
        share = counts / counts.sum(axis=1, keepdims=True)
        return np.asarray(share[:, self._named(labels)].max(axis=1, initial=0.0))

    def _named(self, labels: Labels) -> npt.NDArray[np.bool_]:
        """Which values are meant."""
        if self.values is None:
            return np.ones(len(labels), dtype=np.bool_)
        meant = {label_of(value) for value in self.values}
        return np.array([label in meant for label in labels], dtype=np.bool_)

    def describe(self, column: str) -> str:
        which = "any value" if self.values is None else "each named value"
        return f"a share of at most {self.alpha:g} for {which} of '{column}'"

    def remedy(self, column: str, table: Floats, reached: float) -> str:
        return f"a value has a share of {reached:.4f} of the table; choose alpha of at least {_ceil(reached)}"


@dataclass(frozen=True)
class TCloseness(Requirement):
    """In every group the sensitive values are spread almost as in the whole table.

    Parameters
    ----------
    t
        The largest earth mover's distance between a group and the table, from 0 to 1. Smaller is safer and
        costs more.
    ground
        How far apart two values are. "equal": 1. "ordered": their places in ascending order, null last,
        over the number of places less one. "hierarchical": the height of the lowest node that holds both
        over the height of the hierarchy.
    hierarchy
        For the hierarchical ground distance.
    columns
        Sensitive columns, by default all.
    """

    t: float
    ground: str = "equal"
    hierarchy: Hierarchy | None = None

    name = "closeness"
    summary = "sensitive values are spread in every group almost as in the whole table"
    rising = False

    @property
    def counts_absent(self) -> bool:  # type: ignore[override]
        return self.ground != "equal"

    @property
    def required(self) -> float:
        return float(self.t)

    def problems(self) -> list[str]:
        found = super().problems()
        if not (_is_number(self.t) and 0 <= self.t <= 1):
            found.append(
                f"'t' of closeness must be a number from 0 to 1. Got {shown(self.t)} instead."
            )
        if self.ground not in GROUNDS:
            found.append(
                f"'ground' of closeness must be one of {', '.join(GROUNDS)}. Got {shown(self.ground)} instead."
            )
        elif (self.ground == "hierarchical") != (self.hierarchy is not None):
            found.append(
                "Closeness takes 'hierarchy' with ground 'hierarchical' and only then; give both or neither."
            )
        if self.hierarchy is not None:
            found += _hierarchy_problems(self, self.hierarchy)
        return found

    def value_problems(self, column: str, values: pa.Array) -> list[str]:
        if self.ground == "ordered" and not is_ordered(values.type):
            return [
                f"Column '{column}' is no number or date, and ordered closeness needs an order; "
                "choose ground 'equal' or 'hierarchical'."
            ]
        return _outside(self.hierarchy, column, values)

    def limits(self, column: str, secret: Sensitive) -> Limits:
        entry, size = np.arange(secret.size, dtype=np.int32), secret.size
        if self.hierarchy is not None:
            form, codes = self.hierarchy.compile(column, secret.values, secret.has_null)
            assert isinstance(form, TreeForm)
            entry = (np.append(codes, form.null) if secret.has_null else codes).astype(np.int32)
            height = form.heights
            edge = (height[form.parent] - height) / (2 * max(1.0, height[-1]))
            return Limits(entry, form.size, distance=self.t, parent=form.parent, edge=edge)
        if self.ground == "ordered":
            parent = np.minimum(np.arange(1, size + 1), size - 1).astype(np.int32)
            edge = np.full(size, 1 / max(1, size - 1))
            edge[-1] = 0.0
            return Limits(entry, size, distance=self.t, parent=parent, edge=edge)
        parent = np.full(size + 1, size, np.int32)
        edge = np.append(np.full(size, 0.5), 0.0)
        return Limits(entry, size, distance=self.t, parent=parent, edge=edge)

    def levels(self, counts: Floats, labels: Labels, shares: Floats) -> Floats:
        gap = counts / counts.sum(axis=1, keepdims=True) - shares
        if self.ground == "equal":
            return np.asarray(np.maximum(gap, 0).sum(axis=1))
        if self.ground == "ordered":
            return np.asarray(np.abs(gap.cumsum(axis=1)).sum(axis=1) / max(1, gap.shape[1] - 1))
        assert self.hierarchy is not None
        return _hierarchical_distance(self.hierarchy, gap, labels)

    def describe(self, column: str) -> str:
        return f"{self.t:g}-closeness ({self.ground}) of '{column}'"

    def remedy(self, column: str, table: Floats, reached: float) -> str:
        return "choose a larger t"  # the whole table has distance 0


def _hierarchical_distance(tree: Hierarchy, gap: Floats, labels: Labels) -> Floats:
    """Li et al. 2007 §6: what can be evened out below a node, and not lower down, moves at its height."""
    nodes = len(tree.parent)
    surplus, lack = np.zeros((len(gap), nodes)), np.zeros((len(gap), nodes))
    root = nodes - 1
    for value, node in enumerate(_places(tree, labels)):
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


def _places(tree: Hierarchy, labels: Labels) -> list[int]:
    """The leaf of each label, the root for null, which no other set holds, and −1 for what the tree lacks."""
    place = {label: node for node, label in enumerate(tree.leaves)}
    root = len(tree.parent) - 1
    return [
        root if label is None else place.get(label, place.get(label.strip(), -1))
        for label in labels
    ]


def _outside(tree: Hierarchy | None, column: str, values: pa.Array) -> list[str]:
    """A sentence if a column has values that its hierarchy lacks."""
    missing = 0 if tree is None else _places(tree, labels_of(values)).count(-1)
    if not missing:
        return []
    return [
        f"{missing} of the {len(values)} distinct values of column '{column}' are not in its "
        "hierarchy; add a line for each of them."
    ]


def _hierarchy_problems(requirement: Requirement, tree: Any) -> list[str]:
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


_VALUES = (str, bool, int, float, Decimal, date)  # a datetime is a date


def _is_list_of(kind: type | tuple[type, ...], given: Any) -> bool:
    """Whether there is at least one item and all are of a kind."""
    return isinstance(given, tuple) and bool(given) and all(isinstance(g, kind) for g in given)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _floor(value: float) -> str:
    """A number with four decimals that is not larger."""
    return _short(math.floor(value * 1e4 + 1e-6))


def _ceil(value: float) -> str:
    """A number with four decimals that is not smaller."""
    return _short(math.ceil(value * 1e4 - 1e-6))


def _above(value: float) -> str:
    """A number with four decimals that is larger."""
    return _short(math.floor(value * 1e4 + 1e-6) + 1)


def _short(ten_thousandths: int) -> str:
    return f"{ten_thousandths / 1e4:.4f}".rstrip("0").rstrip(".")
