"""A partition with its closures: what a release says of every record, still in integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.generalization.forms import Floats, Ints
from shoal.table.encode import Table


@dataclass(frozen=True)
class Closed:
    """Groups of equal released records and the closure of each: ours, or read from a given release."""

    table: Table
    groups: Ints  # a number per record, 0 … groups − 1
    closures: Ints  # slots × groups
    left_out: int = (
        0  # records that are not released; they are the last group, which covers everything
    )

    @cached_property
    def sizes(self) -> Floats:
        """Records in each group."""
        return np.bincount(self.groups, minlength=self.closures.shape[1]).astype(np.float64)

    @property
    def is_released(self) -> npt.NDArray[np.bool_]:
        """Which records are released."""
        if not self.left_out:
            return np.ones(self.table.records, dtype=np.bool_)
        return np.asarray(self.groups < self.closures.shape[1] - 1)

    def of_column(self, j: int) -> Ints:
        """The closures of quasi-identifier j."""
        return self.closures[self.table.slots[j]]

    @cached_property
    def widths(self) -> Floats:
        """Number of allowed values in each closure: quasi-identifiers × groups."""
        columns = enumerate(self.table.columns)
        return np.stack([column.form.sizes(self.of_column(j)) for j, column in columns])


def merge_equal(table: Table, groups: Ints, closures: Ints, whole: Ints | None = None) -> Closed:
    """Number groups by their closures, so that groups that read the same are one.

    Records without a group (−1) are left out of the release; `whole` is the closure of everything.
    """
    distinct, place = np.unique(closures, axis=1, return_inverse=True)
    left_out = int(np.count_nonzero(groups < 0))
    if left_out:
        assert whole is not None
        distinct = np.concatenate([distinct, whole], axis=1)
    number = np.append(place.reshape(-1), distinct.shape[1] - 1)  # place -1 is none
    return Closed(table, number[groups].astype(np.int32), distinct, left_out)
