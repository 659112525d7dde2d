"""The form of suppression and hierarchies, whose closures are the nodes of a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shoal.encoding.forms.base import AT_LEAST, AT_MOST, STAR, Floats, Form, Ints, plain_spelling


@dataclass(frozen=True, kw_only=True)
class TreeForm(Form):
    """Suppression and hierarchies: a closure is a node; values come first, every parent after its children."""

    parent: Ints
    inner: tuple[str, ...]  # labels of the nodes above the values, the root last
    aliases: Mapping[str, int] = field(default_factory=dict)  # further labels, for reading releases
    own_words: bool = False  # whether all labels are made by the model, none by the user
    levels: Ints | None = (
        None  # the height of each node in the hierarchy as given, and at the end of its top
    )

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
