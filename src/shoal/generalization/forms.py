"""The three forms a model compiles to for one column: which closures there are and how they read.

Codes number the allowed values, null last. A closure is a short row of integers, one per slot, laid
out as the kernels expect it (see `kernels/shared/forms.py`).
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Records = npt.NDArray[np.integer[Any]]  # numbers of records

STAR = "*"
_BITS = 31
_BLOCK = 4096  # closures unpacked at a time, to bound memory


@dataclass(frozen=True, kw_only=True)
class Form(ABC):
    """One column's closures. `labels` are the values as text, without null."""

    labels: tuple[str, ...]
    has_null: bool

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

    @abstractmethod
    def parse(self, released: str | None) -> Sequence[int] | None:
        """The closure that a released text stands for, None when it stands for none."""

    @abstractmethod
    def sums(self, closures: Ints, per_value: Floats) -> Floats:
        """For each closure, the sum over its values of `per_value` (values × anything)."""

    @property
    @abstractmethod
    def alone(self) -> Ints:
        """The closure of each single value: slots × values."""

    @abstractmethod
    def holds(self, closures: Ints) -> Floats:
        """1 where a value (row) is in a closure (column), else 0."""

    @abstractmethod
    def spread(self, closures: Ints, mass: Floats) -> Floats:
        """For each value, its part of the mass of the closures that hold it, spread evenly over their values."""

    def sizes(self, closures: Ints) -> Floats:
        """Number of allowed values in each closure."""
        return self.sums(closures, np.ones(self.size))


@dataclass(frozen=True, kw_only=True)
class TreeForm(Form):
    """Suppression and hierarchies: a closure is a node; values come first, every parent after its children."""

    parent: Ints
    inner: tuple[str, ...]  # labels of the nodes above the values, the root last
    aliases: Mapping[str, int] = field(default_factory=dict)  # further labels, for reading releases

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
        return dict(self.aliases) | nodes

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


@dataclass(frozen=True, kw_only=True)
class RangeForm(Form):
    """Intervals: a closure is the lowest and the highest code; null mixed with a value is the whole domain."""

    positions: Floats  # of the values, ascending
    values: Any = field(repr=False)  # the same as an Arrow array

    slots = 2

    @property
    def entries(self) -> int:
        return self.size + 1

    def _is_star(self, low: int, high: int) -> bool:
        return high == self.null and low < high

    @property
    def whole(self) -> Sequence[int]:
        return 0, self.size - 1

    @property
    def alone(self) -> Ints:
        return np.tile(np.arange(self.size, dtype=np.int32), (2, 1))

    def text(self, closures: Ints) -> list[str | None]:
        out: list[str | None] = []
        for low, high in closures.T:
            if low == self.null:
                out.append(None)
            elif self._is_star(low, high):
                out.append(STAR)
            elif low == high:
                out.append(self.labels[low])
            else:
                out.append(self.joined(self.labels[low], self.labels[high]))
        return out

    def joined(self, low: str, high: str) -> str:
        """How the closure from one value to another reads."""
        return f"[{low}, {high}]"

    def ends(self, released: str) -> tuple[str, str] | None:
        """The two texts that `joined` joined, None where it did not."""
        if released[:1] == "[" and released[-1:] == "]":
            low, _, high = released[1:-1].partition(", ")
            return low, high
        return None

    def parse(self, released: str | None) -> Sequence[int] | None:
        if released == STAR:
            return (0, self.size - 1)
        if released in self.codes:
            return (self.codes[released], self.codes[released])
        if released and (ends := self.ends(released)):
            return self.between(*ends)
        if released and self._value(released) in self._known:  # the same number, written otherwise
            return self.between(released, released)
        return None

    def between(self, low: str, high: str) -> Sequence[int] | None:
        """The closure from one value to another, both as text, values of the domain or not."""
        if low in self.codes and high in self.codes:
            ends = self.codes[low], self.codes[high]
        else:
            start, stop = self._value(low), self._value(high)
            if start is None or stop is None:
                return None
            ends = bisect_left(self._known, start), bisect_right(self._known, stop) - 1
        return ends if ends[0] <= ends[1] else None

    @cached_property
    def _known(self) -> list[Any]:
        return list(self.values.to_pylist())

    def _value(self, text: str) -> Any:
        """A text as a number or date like the column's, None where it is none."""
        import pyarrow as pa

        if text in self.codes:
            return self._known[self.codes[text]]
        kind = self.values.type
        for wanted in (kind,) if pa.types.is_temporal(kind) else (kind, pa.float64()):
            try:
                return pa.array([text]).cast(wanted)[0].as_py()
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
        return None

    def sums(self, closures: Ints, per_value: Floats) -> Floats:
        prefix = np.zeros((self.entries, *per_value.shape[1:]))
        np.cumsum(per_value, axis=0, out=prefix[1:])
        return prefix[closures[1] + 1] - prefix[closures[0]]

    def holds(self, closures: Ints) -> Floats:
        codes = np.arange(self.size)[:, None]
        return ((codes >= closures[0]) & (codes <= closures[1])).astype(np.float64)

    def spread(self, closures: Ints, mass: Floats) -> Floats:
        part = mass / self.sizes(closures)
        begin = np.bincount(closures[0], weights=part, minlength=self.size)
        end = np.bincount(closures[1] + 1, weights=part, minlength=self.entries)
        return np.maximum(np.cumsum(begin - end[: self.size]), 0.0)  # rounding may leave −1e-17


_PLAIN = re.compile(r'[^\s,{}"\\](?:[^,{}"\\]*[^\s,{}"\\])?')
_MEMBER = re.compile(rf'"(?:[^"\\]|\\.)*"|{_PLAIN.pattern}')
_MEMBERS = re.compile(rf"\s*(?:{_MEMBER.pattern})(?:\s*,\s*(?:{_MEMBER.pattern}))*\s*")


@dataclass(frozen=True, kw_only=True)
class SetForm(Form):
    """Subsets: a closure has a bit for each code, 31 to a slot; null mixed with a value is the whole domain."""

    @property
    def slots(self) -> int:
        return max(1, -(-self.size // _BITS))

    @property
    def entries(self) -> int:
        return self.size

    @property
    def whole(self) -> Sequence[int]:
        return self.pack(range(self.size))

    @property
    def alone(self) -> Ints:
        return np.array([self.pack([code]) for code in range(self.size)], dtype=np.int32).T

    def pack(self, codes: Iterable[int]) -> Sequence[int]:
        """The closure that holds just these codes."""
        words = [0] * self.slots
        for code in codes:
            words[code // _BITS] |= 1 << (code % _BITS)
        return words

    def unpack(self, words: Ints) -> list[int]:
        """The codes in a closure, ascending."""
        return [
            w * _BITS + bit
            for w, word in enumerate(words)
            for bit in range(_BITS)
            if word >> bit & 1
        ]

    def text(self, closures: Ints) -> list[str | None]:
        out: list[str | None] = []
        for words in closures.T:
            codes = self.unpack(words)
            if len(codes) == 1:
                out.append(None if codes[0] == self.null else self.labels[codes[0]])
            elif codes[-1] == self.null:
                out.append(STAR)
            else:
                out.append("{" + ", ".join(_quoted(self.labels[code]) for code in codes) + "}")
        return out

    def parse(self, released: str | None) -> Sequence[int] | None:
        if released in self.codes:
            return self.pack([self.codes[released]])
        if released == STAR:
            return self.pack(range(self.size))
        if released and released[0] == "{" and released[-1] == "}":
            inside = released[1:-1]
            members = _MEMBER.findall(inside) if _MEMBERS.fullmatch(inside) else []
            labels = [json.loads(m) if m[0] == '"' else m for m in members]
            if labels and all(label in self.codes for label in labels):
                return self.pack(self.codes[label] for label in labels)
        return None

    def sums(self, closures: Ints, per_value: Floats) -> Floats:
        parts = [
            self.holds(closures[:, at : at + _BLOCK]).T @ per_value for at in _blocks(closures)
        ]
        return np.concatenate(parts)

    def spread(self, closures: Ints, mass: Floats) -> Floats:
        part = mass / self.sizes(closures)
        total = np.zeros(self.size)
        for at in _blocks(closures):
            total += self.holds(closures[:, at : at + _BLOCK]) @ part[at : at + _BLOCK]
        return total

    def holds(self, closures: Ints) -> Floats:
        codes = np.arange(self.size)
        return (closures[codes // _BITS] >> (codes % _BITS)[:, None] & 1).astype(np.float64)


def _blocks(closures: Ints) -> range:
    return range(0, max(1, closures.shape[1]), _BLOCK)


def _quoted(label: str) -> str:
    """A value as it stands inside braces: plain where that cannot be misread."""
    return label if _PLAIN.fullmatch(label) else json.dumps(label, ensure_ascii=False)
