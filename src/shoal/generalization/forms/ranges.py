"""The form of intervals and orders, whose closures are ranges of codes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from shoal.generalization.forms.base import STAR, Floats, Form, Ints


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
