"""What every requirement beyond k provides, for the audit and for messages."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from shoal.audits.texts import same_value
from shoal.errors import counted, shown


def round_down(value: float) -> str:
    """Round down to four decimals."""
    return _short(math.floor(value * 1e4 + 1e-6))


def round_up_to_four(value: float) -> str:
    """Round up to four decimals."""
    return _short(math.ceil(value * 1e4 - 1e-6))


def next_above(value: float) -> str:
    """The next number with four decimals that is larger."""
    return _short(math.floor(value * 1e4 + 1e-6) + 1)


def _short(ten_thousandths: int) -> str:
    return f"{ten_thousandths / 1e4:.4f}".rstrip("0").rstrip(".")


@runtime_checkable
class HierarchyLike(Protocol):
    """What requirements need from a `shoal.Hierarchy`: the labels of its nodes and the parent of each."""

    @property
    def leaves(self) -> tuple[str, ...]: ...

    @property
    def inner(self) -> tuple[str, ...]: ...

    @property
    def parent(self) -> tuple[int, ...]: ...

    @property
    def aliases(self) -> Mapping[str, int]: ...


def places(tree: HierarchyLike, labels: Labels) -> list[int]:
    """The leaf of each label, the root for null, which no other set contains, and −1 for labels that are not in the
    tree.
    """
    place = {same_value(label): node for node, label in enumerate(tree.leaves)}
    root = len(tree.parent) - 1
    return [root if label is None else place.get(same_value(label), -1) for label in labels]


def values_outside(tree: HierarchyLike | None, column: str, labels: Sequence[str]) -> list[str]:
    """Return problems if a column has values that its hierarchy lacks or cannot distinguish."""
    if tree is None:
        return []
    found = []
    missing = places(tree, labels).count(-1)
    if missing:
        found.append(
            f"{missing:,} of the {counted(len(labels), 'distinct value')} of column '{column}' "
            f"{'is' if missing == 1 else 'are'} not in its hierarchy. Add a line for each."
        )
    alike = len(tree.leaves) - len(set(map(same_value, tree.leaves)))
    if alike:
        found.append(
            f"{counted(alike, 'value')} of the hierarchy of column '{column}' "
            f"{'differs' if alike == 1 else 'differ'} from others only in spaces, case or Unicode form, or "
            f"{'spells' if alike == 1 else 'spell'} the same number, so they count as one value. Keep one line "
            "of each."
        )
    return found


def must_be(what: str, expected: str, given: Any) -> str:
    """The sentence for a parameter with an invalid value."""
    return f"{what} must be {expected}. Got {shown(given)} instead."


def hierarchy_problems(requirement: Requirement, tree: Any) -> list[str]:
    """Return problems with what is given as a hierarchy, or with its columns."""
    found = []
    if not isinstance(tree, HierarchyLike):
        found.append(must_be(f"'hierarchy' of {requirement.name}", "a shoal.Hierarchy", tree))
    if requirement.columns is None or len(requirement.columns) != 1:
        found.append(
            f"{requirement.name.capitalize()} with a hierarchy is about one column. Name it in 'columns'."
        )
    return found


Floats = npt.NDArray[np.float64]
Labels = Sequence[str | None]  # of a sensitive column's values, ascending; null is last
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Requirement(ABC):
    """A requirement on the sensitive values of every group.

    `columns` are the sensitive columns it applies to, by default all.
    """

    columns: Sequence[str] | None = field(default=None, kw_only=True)

    name: ClassVar[str]  # in settings and on the command line
    summary: ClassVar[str]
    rising: ClassVar[bool] = True  # whether a higher level is safer
    counts_absent: ClassVar[bool] = False  # whether values that a group lacks matter to its level
    compares_with_table: ClassVar[bool] = False  # whether shares of the table matter to its level

    def __init_subclass__(cls) -> None:
        """Do not inherit sentences or queries: the audit of a derived class may count something else."""
        for name in ("promise", "missed_in_sql"):
            if name not in vars(cls):
                setattr(cls, name, vars(Requirement)[name])

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
    def levels(
        self, counts: Floats, labels: Labels, shares: Floats, heads: Floats | None = None
    ) -> Floats:
        """The level that each group reaches, from its counts of values (groups × values) and their shares of the table.

        Values that no group has may be left out, unless `counts_absent`. If people are counted, each may have several
        values in a group, and `heads` is the number of people in each group.
        """

    @abstractmethod
    def describe(self, column: str) -> str:
        """Say in a few words what is required of a column."""

    @abstractmethod
    def remedy(self, column: str, table: Floats, reached: float) -> str:
        """Say with numbers why the whole table misses the requirement, and the nearest setting that it meets."""

    def problems(self) -> list[str]:
        """Return a sentence for every parameter that has an impossible value."""
        if isinstance(self.columns, str):
            return [
                f"'columns' of {self.name} must be a list of columns. Write ['{self.columns}']."
            ]
        if self.columns is not None and not is_list_of(str, self.columns):
            return [
                f"'columns' of {self.name} must be a list of column names. Leave it out to mean all."
            ]
        return []

    def value_problems(self, column: str, labels: Sequence[str], ordered: bool) -> list[str]:
        """Return reasons why the requirement does not apply to a column.

        `ordered` says that its values are numbers or dates.
        """
        return []

    def reading_problems(self, column: str, labels: Sequence[str], ordered: bool) -> list[str]:
        """Return such reasons for the column of a release, which may lack values of its table."""
        return self.value_problems(column, labels, ordered)

    def remark(self, labels: Labels) -> str:
        """A remark to add to a proof, about values in a release; empty for none."""
        return ""

    def kinds(self, labels: Labels) -> list[int] | None:
        """A number for each value if the level is how many different numbers a group has; None for other levels."""
        return None

    @property
    def counts_kinds(self) -> bool:
        """Whether the level is how many different kinds of values a group has, so that shares do not matter."""
        return self.kinds(()) is not None

    @property
    def parameter(self) -> str:
        """The name of its main parameter, for messages."""
        return next(option.name for option in fields(self) if option.name != "columns")

    def limits(self, labels: Labels) -> Mapping[str, Any] | None:
        """The limits that methods apply to every group, for a requirement of your own; None if it is derived from ours.

        Any of `cap`, the largest share of a group that a value may have (a number, or one for each label), `distinct`,
        the least number of different values, and `entropy`, the least entropy in nats. The audit counts by `levels`
        whatever these are, so limits that ask for too little make a release fail, never pass.
        """
        return None

    def promise(self) -> str:
        """What it promises about a sensitive column, in a sentence for the report."""
        return f"{self.summary[0].upper()}{self.summary[1:]}."

    def missed_in_sql(self) -> str | None:
        """When a group misses it, as an SQL condition over the counts of its values; None if SQL cannot express it.

        There is a row with `shoal_count` for every value of a group.
        """
        return None

    def is_met(self, levels: Floats) -> npt.NDArray[np.bool_]:
        """Whether each of some levels suffices."""
        if self.rising:
            return levels >= self.required - TOLERANCE
        return levels <= self.required + TOLERANCE

    def worst(self, levels: Floats) -> float:
        """The least safe of several levels."""
        return float(levels.min() if self.rising else levels.max())

    def over(self, sensitive: Sequence[str]) -> tuple[str, ...]:
        """The columns that the requirement is about, given all sensitive ones."""
        return tuple(sensitive if self.columns is None else self.columns)


def is_list_of(kind: type | tuple[type, ...], given: Any) -> bool:
    """Whether there is at least one item and all are of a kind."""
    return isinstance(given, tuple) and bool(given) and all(isinstance(g, kind) for g in given)


def is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def share_above(most: float) -> str:
    """The SQL condition that is true if a value has more than a share of its group."""
    return f"MAX(shoal_count) > SUM(shoal_count) * {most!r} + 0.000000001"
