"""What every form offers, the arrays for closures, the spelling of ranges, and the form of trees."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Records = npt.NDArray[np.integer[Any]]  # numbers of records

STAR = "*"  # how the closure of all values is released


@dataclass(frozen=True, kw_only=True)
class Form(ABC):
    """One column's closures. `labels` are the values as text, without null."""

    labels: tuple[str, ...]
    has_null: bool
    fixed: frozenset[int] = frozenset()  # codes whose labels are the model's, not the table's

    @property
    def size(self) -> int:
        """Number of allowed values, null included."""
        return len(self.labels) + self.has_null

    @property
    def null(self) -> int:
        """The code of null, -1 where there is none."""
        return len(self.labels) if self.has_null else -1

    @cached_property
    def codes(self) -> dict[str | None, int]:
        """The code of each value as text; None is null."""
        known: dict[str | None, int] = {label: code for code, label in enumerate(self.labels)}
        if self.has_null:
            known[None] = self.null
        return known

    @property
    @abstractmethod
    def slots(self) -> int:
        """Integers that a closure takes."""

    @property
    @abstractmethod
    def entries(self) -> int:
        """Numbers that the kernels keep for this column."""

    @property
    @abstractmethod
    def whole(self) -> Sequence[int]:
        """The closure of all allowed values."""

    @abstractmethod
    def text(self, closures: Ints) -> list[str | None]:
        """How closures (slots × any number) are released."""

    def plainly(self, released: str | None) -> str | None:
        """A released text; the model's own characters are replaced by ones that every encoding has."""
        return released

    @abstractmethod
    def parse(self, released: str | None) -> Sequence[int] | None:
        """The closure that a released text means, None if it means none."""

    @abstractmethod
    def sums(self, closures: Ints, per_value: Floats) -> Floats:
        """For each closure, the sum over its values of `per_value` (values × anything)."""

    @property
    @abstractmethod
    def alone(self) -> Ints:
        """The closure of each single value: slots × values."""

    @abstractmethod
    def holds(self, closures: Ints) -> Floats:
        """1 if a value (row) is in a closure (column), else 0."""

    @abstractmethod
    def spread(self, closures: Ints, mass: Floats) -> Floats:
        """For each value, its part of the mass of the closures that contain it, spread evenly over their values."""

    def sizes(self, closures: Ints) -> Floats:
        """Number of allowed values in each closure."""
        return self.sums(closures, np.ones(self.size))


DASH = "–"
AT_LEAST, AT_MOST = "≥ ", "≤ "
SIGNS = f"{DASH}{AT_LEAST}{AT_MOST}"
_SPACED = f" {DASH} "
_PLAIN = {AT_LEAST: ">= ", AT_MOST: "<= "}
_NUMBER = re.compile(r"<?[0-9]+(?:[.,][0-9]+)?")


def join_range(low: str, high: str) -> str:
    """The range from one end to another.

    Examples
    --------
    >>> join_range("20", "29"), join_range("-5", "3"), join_range("0.5", "<1")
    ('20–29', '-5 – 3', '0.5–<1')
    """
    is_plain = _NUMBER.fullmatch(low) and _NUMBER.fullmatch(high)
    return f"{low}{DASH if is_plain else _SPACED}{high}"


def split_range(released: str) -> tuple[str, str] | None:
    """The two ends of a range in either spelling, None for other texts.

    Examples
    --------
    >>> split_range("20–29"), split_range("[20, 29]"), split_range("[20, 30)"), split_range("20")
    (('20', '29'), ('20', '29'), ('20', '<30'), None)
    """
    if released[:1] in ("[", "(") and released[-1:] in ("]", ")"):
        low, comma, high = released[1:-1].partition(", ")
        above, below = "" if released[0] == "[" else ">", "" if released[-1] == "]" else "<"
        return (f"{above}{low}", f"{below}{high}") if comma else None
    for dash in (_SPACED, DASH):
        parts = released.split(
            dash
        )  # a date's own format may contain dashes: the middle one counts
        half, odd = divmod(len(parts), 2)
        if not odd:
            return dash.join(parts[:half]), dash.join(parts[half:])
    return None


def open_end(released: str, sign: str) -> str | None:
    """The end of `≥ 90` or `≤ 17` in either spelling, None for other texts."""
    for written in (sign, _PLAIN[sign]):
        if released.startswith(written):
            return released[len(written) :]
    bare = _PLAIN[sign][0]  # without the end itself: `< 30`
    return f"{bare}{released[2:]}" if released.startswith(f"{bare} ") else None


def plain_spelling(released: str) -> str:
    """The plain spelling of a range, or of a text with one end.

    Examples
    --------
    >>> plain_spelling("20–29"), plain_spelling("0.5–<1"), plain_spelling("≥ 90"), plain_spelling("a")
    ('[20, 29]', '[0.5, 1)', '>= 90', 'a')
    """
    for sign, written in _PLAIN.items():
        if released.startswith(sign) and DASH not in released:
            return written + released[len(sign) :]
    ends = split_range(released) if DASH in released else None
    if ends is None:
        return released
    low, high = (plain_spelling(end) for end in ends)
    begin = f"({low[1:]}" if low[:1] == ">" and low[1:2] != "=" else f"[{low}"
    return f"{begin}, {high[1:]})" if high[:1] == "<" and high[1:2] != "=" else f"{begin}, {high}]"


@dataclass(frozen=True, kw_only=True)
class TreeForm(Form):
    """Suppression and hierarchies: a closure is a node; values come first, every parent after its children."""

    parent: Ints
    inner: tuple[str, ...]  # labels of the nodes above the values, the root last
    aliases: Mapping[str, int] = field(default_factory=dict)  # further labels, for reading releases
    own_words: bool = False  # whether all labels are made by the model, none by the user
    levels: Ints | None = None  # height of each node in the hierarchy as given, then its top

    slots = 1

    @property
    def entries(self) -> int:
        return int(self.parent.size)

    @property
    def whole(self) -> Sequence[int]:
        return (self.entries - 1,)

    @property
    def alone(self) -> Ints:
        return np.arange(self.size, dtype=np.int32)[None, :]

    @cached_property
    def _nodes(self) -> dict[str | None, int]:
        nodes: dict[str | None, int] = dict(self.codes)
        nodes.update((label, self.size + i) for i, label in enumerate(self.inner))
        nodes.setdefault(STAR, self.entries - 1)
        known = dict(self.aliases) | nodes
        return {self.plainly(label): node for label, node in known.items()} | known

    def plainly(self, released: str | None) -> str | None:
        is_own = self.own_words or (released is not None and released[:2] in (AT_LEAST, AT_MOST))
        return plain_spelling(released) if is_own and released is not None else released

    def text(self, closures: Ints) -> list[str | None]:
        null: list[str | None] = [None] if self.has_null else []
        labels = [*self.labels, *null, *self.inner]
        return [labels[node] for node in closures[0]]

    def parse(self, released: str | None) -> Sequence[int] | None:
        node = self._nodes.get(released)
        return None if node is None else (node,)

    @cached_property
    def leaf_counts(self) -> Floats:
        """Values below each node."""
        return self.sum_up(np.ones(self.size))

    def sum_up(self, per_value: Floats) -> Floats:
        """Sums over the values below each node."""
        total = np.zeros((self.entries, *per_value.shape[1:]))
        total[: self.size] = per_value
        for node in range(self.entries - 1):
            total[self.parent[node]] += total[node]
        return total

    @cached_property
    def heights(self) -> Floats:
        """Longest way down from each node to a value."""
        height = np.zeros(self.entries)
        for node in range(self.entries - 1):
            parent = self.parent[node]
            height[parent] = max(height[parent], height[node] + 1)
        return height

    @cached_property
    def relative_heights(self) -> Floats:
        """The height of each node over that of the hierarchy as given, in which levels may repeat a set."""
        if self.levels is None:
            return self.heights / self.heights[-1]
        return self.levels[:-1] / float(self.levels[-1])

    def sums(self, closures: Ints, per_value: Floats) -> Floats:
        return self.sum_up(per_value)[closures[0]]

    def holds(self, closures: Ints) -> Floats:
        below = np.zeros((self.entries, closures.shape[1]))
        below[closures[0], np.arange(closures.shape[1])] = 1.0
        for node in range(self.entries - 2, -1, -1):
            np.maximum(below[node], below[self.parent[node]], out=below[node])
        return below[: self.size]

    def spread(self, closures: Ints, mass: Floats) -> Floats:
        part = np.bincount(closures[0], weights=mass, minlength=self.entries) / self.leaf_counts
        for node in range(self.entries - 2, -1, -1):
            part[node] += part[self.parent[node]]
        return part[: self.size]
