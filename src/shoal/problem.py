"""All that a method sees: codes, what closures cost, and the requirement; as records or as distinct points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.generalization.forms import Floats, Ints
from shoal.kernels import groups as kernels
from shoal.kernels.forms import Compiled
from shoal.measures.additive import CompiledMeasure, compile_measure
from shoal.table import Column, Table
from shoal.table.closed import Closed, merge_equal


@dataclass(frozen=True)
class Points:
    """The distinct quasi-identifier combinations of a table, with their number of records."""

    codes: Ints
    weights: Ints
    of_record: Ints  # the point of each record


@dataclass(frozen=True)
class Problem:
    """A table to be cut into groups of at least k records at least cost."""

    table: Table
    objective: CompiledMeasure
    k: int

    @classmethod
    def of(
        cls, table: Table, objective: str, k: int, weights: Mapping[str, float] | None = None
    ) -> Problem:
        """Compile the objective for a table."""
        return cls(table, compile_measure(objective, table.columns, weights), k)

    @property
    def codes(self) -> Ints:
        return self.table.codes

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.table.columns

    @property
    def arrays(self) -> Compiled:
        """The compiled columns, as kernels read them."""
        return self.objective.arrays

    @cached_property
    def points(self) -> Points:
        """Equal records as one weighted point."""
        codes, place, counts = np.unique(
            self.codes, axis=0, return_inverse=True, return_counts=True
        )
        return Points(codes, counts.astype(np.int32), place.reshape(-1).astype(np.int32))

    def close(self, groups: Ints) -> Closed:
        """Close every group as tightly as its members allow; groups that read the same become one."""
        order, bounds = kernels.members(groups, int(groups.max()) + 1)
        closures = kernels.close_groups(self.arrays, self.codes, order, bounds)
        return merge_equal(self.table, groups, closures)

    def cost(self, closed: Closed) -> float:
        """The objective, summed over all records."""
        costs: Floats = kernels.group_costs(self.arrays, closed.closures) @ closed.sizes
        return float((costs + self.objective.offset).sum())
