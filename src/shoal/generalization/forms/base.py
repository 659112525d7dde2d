"""What every form offers, and the kinds of arrays that closures and numbers stand in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
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
        """A released text in signs that every encoding of a file holds, as far as they are the model's own."""
        return released

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
