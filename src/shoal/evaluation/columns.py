"""Single columns of a table and its release: counts of originals, and of released records spread over values.

A released closure is spread evenly over the values it covers: a tree's node over the values below it, an
interval over the values of the domain in its range, a set over its members.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import pyarrow as pa

from shoal.evaluation.comparison import Comparison
from shoal.generalization.forms import Floats, Ints, RangeForm
from shoal.generalization.models import is_ordered


class ComparedColumn(ABC):
    """One column of table and release."""

    name: str
    codes: Ints  # of the originals
    labels: tuple[str, ...]  # of the values, without null, whose code is the last
    # The values where they are numbers or dates, or their places in an order.
    ordered: pa.Array | None
    before: Floats  # original records by code
    after: Floats  # released records by code, spread

    @abstractmethod
    def masses(self, part: Ints) -> Floats:
        """Released records by group and part, given the part of each code."""

    def cut(self, most: int) -> Ints:
        """Put each code into one of a few parts: ranges of about equal weight, or the most frequent and the rest."""
        counts = self.before
        if self.ordered is None:
            rank = np.empty(counts.size, dtype=np.int32)
            rank[np.argsort(-counts, kind="stable")] = np.arange(counts.size)
            return np.minimum(rank, most - 1)
        known = counts[: len(self.labels)]
        if not known.sum():
            return np.zeros(counts.size, dtype=np.int32)
        below = np.cumsum(known) - known / 2
        part = np.floor(below / known.sum() * (most - 1)).astype(np.int32)
        part = np.append(part, [part.max() + 1] * (counts.size - known.size))  # null has its own
        return np.unique(part, return_inverse=True)[1].astype(np.int32)


class _Generalized(ComparedColumn):
    """A quasi-identifier: released values are closures, spread over the values they cover."""

    def __init__(self, comparison: Comparison, j: int) -> None:
        column = comparison.table.columns[j]
        self.name, self.form, self.labels = column.name, column.form, column.form.labels
        self.codes, self.before = comparison.table.codes[:, j], column.counts
        self.ordered = column.form.values if isinstance(column.form, RangeForm) else None
        if isinstance(column.form, RangeForm) and not column.form.has_scale:
            self.ordered = pa.array(range(len(self.labels)))
        self.closures, self.sizes = comparison.of_column(j), comparison.sizes
        self.after = self.form.spread(self.closures, self.sizes)

    def masses(self, part: Ints) -> Floats:
        belongs = np.eye(int(part.max()) + 1)[part]
        covered = self.form.sums(self.closures, belongs)
        return covered * (self.sizes / covered.sum(axis=1))[:, None]


class _Unchanged(ComparedColumn):
    """A sensitive column: released values are those of the records."""

    def __init__(self, comparison: Comparison, name: str) -> None:
        column = comparison.table.sensitive[name]
        self.name, self.labels = name, column.labels
        self.ordered = column.values if is_ordered(column.values.type) else None
        self.codes, self.released = column.codes, comparison.released[name]
        self.groups, self.number = comparison.groups, comparison.sizes.size
        self.counts = comparison.counts
        self.before = comparison.table.count(self.codes, column.size).astype(np.float64)
        self.after = comparison.count(self.released, column.size).astype(np.float64)

    def masses(self, part: Ints) -> Floats:
        parts = int(part.max()) + 1
        cells = self.groups.astype(np.int64) * parts + part[self.released]
        counts = np.bincount(cells, self.counts, self.number * parts)
        return counts.reshape(-1, parts).astype(np.float64)


def compared_columns(comparison: Comparison) -> list[ComparedColumn]:
    """All quasi-identifiers and then all sensitive columns."""
    generalized = [_Generalized(comparison, j) for j in range(len(comparison.table.columns))]
    return [*generalized, *(_Unchanged(comparison, name) for name in comparison.sensitive)]
