"""How far the distributions of a release are from those of the table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pyarrow as pa

from shoal.assess import Result
from shoal.assess.comparison import Comparison
from shoal.assess.histograms import Histogram, draw_quasi_identifier, draw_unchanged
from shoal.assess.scales import scale_of
from shoal.encoding.forms import Floats, Ints, RangeForm, Records
from shoal.encoding.models.base import is_ordered


class ComparedColumn(ABC):
    """A column of the table and of the release."""

    name: str
    codes: Ints  # of the originals
    labels: tuple[str, ...]  # of the values except null, which has the last code
    # The values if they are numbers or dates, or their positions in an order.
    ordered: pa.Array | None
    before: Floats  # original records by code
    after: Floats  # released records by code, spread over what they may be

    @abstractmethod
    def masses(self, part: Ints) -> Floats:
        """Released records by group and part, given the part of each code."""

    def cut(self, most: int) -> Ints:
        """Assign each code to one of a few parts: ranges of similar weight, or frequent values and the rest."""
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
        part = np.append(
            part, [part.max() + 1] * (counts.size - known.size)
        )  # null is a part of its own
        return np.unique(part, return_inverse=True)[1].astype(np.int32)


class _Generalized(ComparedColumn):
    """A quasi-identifier. Released values are closures, which are spread over the values they cover."""

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
    """A sensitive column. Released values are those of the records."""

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
    """All quasi-identifiers, then all sensitive columns."""
    generalized = [_Generalized(comparison, j) for j in range(len(comparison.table.columns))]
    return [*generalized, *(_Unchanged(comparison, name) for name in comparison.sensitive)]


CELLS = 24  # parts into which a column is cut to compare pairs of columns


@dataclass(frozen=True)
class ColumnDistance(Result):
    """How far a column's distribution in the release is from that in the table.

    Attributes
    ----------
    total_variation
        Half the sum of the differences between the values' shares: the share of records that would have to change.
    earth_movers
        For numbers, dates and ordered categories: how far the average record would have to move, as a share of the
        column's range, without missing values. None for other columns.
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
    """Distances of single columns and of pairs, and histograms to draw."""

    columns: tuple[ColumnDistance, ...]
    pairs: tuple[PairDistance, ...]
    histograms: tuple[Histogram, ...]

    @cached_property
    def mean_total_variation(self) -> float:
        """The mean total variation over columns."""
        return float(np.mean([column.total_variation for column in self.columns]))

    @cached_property
    def mean_pair_variation(self) -> float:
        """The mean total variation over pairs of columns, 0 if there is only one column."""
        return float(np.mean([pair.total_variation for pair in self.pairs] or [0.0]))


def compare_distributions(comparison: Comparison, pairs: bool = True) -> Distributions:
    """Compute distances for each column and, if wanted, for each pair of columns, including sensitive ones.

    Distances use all original values, so show them only to people who may see the table. Histograms may be shown to
    anyone who may see the release: their counts of originals reveal nothing about fewer than k people.
    """
    columns = compared_columns(comparison)
    return Distributions(
        columns=tuple(_distance(column) for column in columns),
        pairs=_pair_distances(comparison, columns) if pairs else (),
        histograms=(
            *(draw_quasi_identifier(comparison, j) for j in range(len(comparison.table.columns))),
            *(draw_unchanged(comparison, name) for name in comparison.sensitive),
        ),
    )


def _pair_distances(
    comparison: Comparison, columns: Sequence[ComparedColumn]
) -> tuple[PairDistance, ...]:
    parts = [column.cut(CELLS) for column in columns]
    masses = [column.masses(part) for column, part in zip(columns, parts, strict=True)]
    found = []
    for a, b in combinations(range(len(columns)), 2):
        counts = comparison.table.counts
        before = _joint(columns[a].codes, columns[b].codes, parts[a], parts[b], counts)
        after = masses[a].T @ (masses[b] / comparison.sizes[:, None])
        names = columns[a].name, columns[b].name
        found.append(PairDistance(names, total_variation(before, after)))
    return tuple(found)


def total_variation(before: Floats, after: Floats) -> float:
    """Half the sum of absolute differences between shares."""
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)


def earth_movers(positions: Floats, before: Floats, after: Floats) -> float:
    """The mean distance, as a share of the range, by which records must move from one distribution to the other."""
    if not (before.sum() and after.sum()):
        return 0.0
    # Scale by a power of two, so that the range is finite and small numbers keep their digits.
    places = np.ldexp(positions, -1 - np.frexp(np.abs(positions).max())[1])
    reach = places[-1] - places[0]
    apart = np.cumsum(before / before.sum() - after / after.sum())[:-1]
    return float(np.abs(apart) @ (np.diff(places) / reach)) if reach else 0.0


def _distance(column: ComparedColumn) -> ColumnDistance:
    moved = None
    if column.ordered is not None:
        known = len(column.labels)
        places = scale_of(column.ordered).numbers.astype(np.float64)
        moved = earth_movers(places, column.before[:known], column.after[:known])
    return ColumnDistance(column.name, total_variation(column.before, column.after), moved)


def _joint(a: Ints, b: Ints, part_a: Ints, part_b: Ints, counts: Records | None) -> Floats:
    """Records by the parts of two columns, given their codes and the part of each code."""
    shape = int(part_a.max()) + 1, int(part_b.max()) + 1
    cells = part_a[a].astype(np.int64) * shape[1] + part_b[b]
    return np.bincount(cells, counts, shape[0] * shape[1]).reshape(shape).astype(np.float64)
