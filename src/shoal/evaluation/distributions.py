"""Is it still useful? How far the distributions that a release tells are from the table's.

A released closure is spread evenly over the values it covers: a tree's node over the values below it, an
interval over the values of the domain in its range, a set over its members. Values of several columns of a
record are taken as independent inside its closures. The order of records does not matter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pyarrow as pa

from shoal.evaluation.comparison import Comparison
from shoal.evaluation.histograms import Histogram, draw_histogram, positions
from shoal.evaluation.result import Result
from shoal.generalization.forms import Floats, Ints, RangeForm
from shoal.generalization.models import is_ordered, labels_of

CELLS = 24  # parts into which a column is cut before it is paired with others


@dataclass(frozen=True)
class ColumnDistance(Result):
    """How far a column's distribution in the release is from that in the table.

    Attributes
    ----------
    total_variation
        Half the sum of differences of the values' shares: the share of records that would have to change.
    earth_movers
        For ordered numbers and dates: how far the mean record would have to be moved, as a share of the
        column's range (missing values aside); None for the others.
    """

    column: str
    total_variation: float
    earth_movers: float | None


@dataclass(frozen=True)
class PairDistance(Result):
    """Total variation between the joint distributions of two columns, each cut into at most 24 parts."""

    columns: tuple[str, str]
    total_variation: float


@dataclass(frozen=True)
class Distributions(Result):
    """Distances of single columns and pairs, and histograms to draw."""

    columns: tuple[ColumnDistance, ...]
    pairs: tuple[PairDistance, ...]
    histograms: tuple[Histogram, ...]

    @cached_property
    def mean_total_variation(self) -> float:
        """Mean over columns."""
        return float(np.mean([column.total_variation for column in self.columns]))

    @cached_property
    def mean_pair_variation(self) -> float:
        """Mean over pairs, 0 where there is one column only."""
        return float(np.mean([pair.total_variation for pair in self.pairs] or [0.0]))


def compare_distributions(comparison: Comparison) -> Distributions:
    """Compute distances per quasi-identifier and per pair of columns, sensitive ones included.

    Histograms name no value that fewer than k records of the table have: those are counted together, and
    bins of numbers are joined until each has k records.
    """
    generalized = [_Generalized(comparison, j) for j in range(len(comparison.table.columns))]
    unchanged = [_Unchanged(comparison, name) for name in comparison.sensitive]
    columns: list[_Column] = [*generalized, *unchanged]
    parts = [_cut(column) for column in columns]
    masses = [column.masses(part) for column, part in zip(columns, parts, strict=True)]
    pairs = []
    for a, b in combinations(range(len(columns)), 2):
        before = _joint(columns[a].codes, columns[b].codes, parts[a], parts[b])
        after = masses[a].T @ (masses[b] / comparison.sizes[:, None])
        names = columns[a].name, columns[b].name
        pairs.append(PairDistance(names, total_variation(before, after)))
    return Distributions(
        columns=tuple(_distance(column) for column in columns),
        pairs=tuple(pairs),
        histograms=tuple(
            draw_histogram(c.name, c.labels, c.ordered, c.before, c.after, comparison.k)
            for c in columns
        ),
    )


class _Column(ABC):
    """One column of table and release."""

    name: str
    codes: Ints  # of the originals
    labels: tuple[str, ...]  # of the values, without null, whose code is the last
    ordered: pa.Array | None  # the values where they are numbers or dates
    before: Floats  # original records by code
    after: Floats  # released records by code, spread

    @abstractmethod
    def masses(self, part: Ints) -> Floats:
        """Released records by group and part, given the part of each code."""


class _Generalized(_Column):
    """A quasi-identifier."""

    def __init__(self, comparison: Comparison, j: int) -> None:
        column = comparison.table.columns[j]
        self.name, self.form, self.labels = column.name, column.form, column.form.labels
        self.codes, self.before = comparison.table.codes[:, j], column.counts
        self.ordered = column.form.values if isinstance(column.form, RangeForm) else None
        self.closures, self.sizes = comparison.of_column(j), comparison.sizes
        self.after = self.form.spread(self.closures, self.sizes)

    def masses(self, part: Ints) -> Floats:
        belongs = np.eye(int(part.max()) + 1)[part]
        covered = self.form.sums(self.closures, belongs)
        return covered * (self.sizes / covered.sum(axis=1))[:, None]


class _Unchanged(_Column):
    """A sensitive column."""

    def __init__(self, comparison: Comparison, name: str) -> None:
        column = comparison.table.sensitive[name]
        self.name, self.labels = name, labels_of(column.values)
        self.ordered = column.values if is_ordered(column.values.type) else None
        self.codes, self.released = column.codes, comparison.released[name]
        self.groups, self.number = comparison.groups, comparison.sizes.size
        self.before = np.bincount(self.codes, minlength=column.size).astype(np.float64)
        self.after = np.bincount(self.released, minlength=column.size).astype(np.float64)

    def masses(self, part: Ints) -> Floats:
        parts = int(part.max()) + 1
        cells = self.groups.astype(np.int64) * parts + part[self.released]
        counts = np.bincount(cells, minlength=self.number * parts)
        return counts.reshape(-1, parts).astype(np.float64)


def total_variation(before: Floats, after: Floats) -> float:
    """Half the sum of absolute differences of shares."""
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)


def earth_movers(positions: Floats, before: Floats, after: Floats) -> float:
    """The mean way, as a share of the range, on which records of one distribution are moved to the other."""
    reach = positions[-1] - positions[0]
    if not (reach and before.sum() and after.sum()):
        return 0.0
    apart = np.cumsum(before / before.sum() - after / after.sum())[:-1]
    return float(np.abs(apart) @ np.diff(positions) / reach)


def _distance(column: _Column) -> ColumnDistance:
    moved = None
    if column.ordered is not None:
        known = len(column.labels)
        places = positions(column.ordered)
        moved = earth_movers(places, column.before[:known], column.after[:known])
    return ColumnDistance(column.name, total_variation(column.before, column.after), moved)


def _cut(column: _Column) -> Ints:
    """Put each code into one of a few parts: neighbours of about equal weight, or the most frequent and the rest."""
    counts = column.before
    if column.ordered is None:
        rank = np.empty(counts.size, dtype=np.int32)
        rank[np.argsort(-counts, kind="stable")] = np.arange(counts.size)
        return np.minimum(rank, CELLS - 1)
    known = len(column.labels)
    below = np.cumsum(counts[:known]) - counts[:known] / 2
    part = np.floor(below / counts[:known].sum() * (CELLS - 1)).astype(np.int32)
    part = np.append(part, [part.max() + 1] * (counts.size - known))  # null has its own
    return np.unique(part, return_inverse=True)[1].astype(np.int32)


def _joint(a: Ints, b: Ints, part_a: Ints, part_b: Ints) -> Floats:
    """Records by part of one and of another column, given their codes and the part of each code."""
    shape = int(part_a.max()) + 1, int(part_b.max()) + 1
    cells = part_a[a].astype(np.int64) * shape[1] + part_b[b]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
