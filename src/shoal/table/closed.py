"""A partition with its closures: what a release says of every record, still in integers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shoal.generalization.forms import Floats, Ints
from shoal.generalization.loosening import loosen
from shoal.table.encode import Table

_OWN_DRAWS = 1  # beside a seed, so that they have nothing to do with the order drawn from the same


@dataclass(frozen=True)
class Closed:
    """Groups of equal released records and the closure of each: ours, or read from a given release.

    Only released records are in the table; of those left out nothing is known here but their number.
    """

    table: Table
    groups: Ints  # a number per row of the table, 0 … groups − 1
    closures: Ints  # slots × groups
    left_out: int = 0  # records that are not released

    @property
    def records(self) -> int:
        """Records of the original table, released or not."""
        return self.table.records + self.left_out

    @cached_property
    def sizes(self) -> Floats:
        """Records in each group."""
        return self.table.count(self.groups, self.closures.shape[1]).astype(np.float64)

    def of_column(self, j: int) -> Ints:
        """The closures of quasi-identifier j."""
        return self.closures[self.table.slots[j]]

    @cached_property
    def widths(self) -> Floats:
        """Number of allowed values in each closure: quasi-identifiers × groups."""
        columns = enumerate(self.table.columns)
        return np.stack([column.form.sizes(self.of_column(j)) for j, column in columns])


def merge_equal(table: Table, groups: Ints, closures: Ints) -> Closed:
    """Number groups by their closures, so that groups that read the same are one; every record has a group."""
    assert groups.min(initial=0) >= 0
    distinct, place = np.unique(closures, axis=1, return_inverse=True)
    distinct = np.ascontiguousarray(
        distinct
    )  # in the order of all closures, which kernels are compiled for
    return Closed(table, place.reshape(-1)[groups].astype(np.int32), distinct)


def loosened(closed: Closed, share: float, seed: int | None = None) -> Closed:
    """Draw closures at random above those of the groups; groups that then read the same become one.

    The draws are fresh chance: whoever could repeat them would know which closures are tight. A seed makes them
    repeatable, which only tests may want.
    """
    rng = np.random.default_rng(None if seed is None else [seed, _OWN_DRAWS])
    closures = closed.closures.copy()
    for j, column in enumerate(closed.table.columns):
        slots = closed.table.slots[j]
        closures[slots] = loosen(column.form, closures[slots], share, rng)
    merged = merge_equal(closed.table, closed.groups, closures)
    return replace(merged, left_out=closed.left_out)
