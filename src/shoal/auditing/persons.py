"""Who stands behind the records of a release, for the audit: persons counted from the column that tells them apart.

In a group, a value counts once for every person who has it there, and a group is as large as it has persons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from shoal.auditing.cells import read_cells
from shoal.auditing.examination import Persons, Places
from shoal.auditing.matching import most_pairs
from shoal.auditing.texts import same_text
from shoal.errors import InputError


@dataclass(frozen=True)
class Crowd:
    """The person behind each record, in the order of a release; equal numbers are one person."""

    column: str
    person: Places

    def taken(self, order: Places) -> Crowd:
        """The persons behind records in another order."""
        return Crowd(self.column, self.person[order])


def read_crowd(frame: nw.DataFrame[Any], column: str, missing: Sequence[str] = ()) -> Crowd:
    """Read who stands behind each record; texts that differ only in spaces, case or Unicode form are one person.

    Raises
    ------
    InputError
        Where a record has no value: it may be anybody's, and nothing could be counted.
    """
    cells = read_cells(frame, column, missing)
    known: dict[str, int] = {}
    number = np.array(
        [
            known.setdefault(key, len(known)) if (key := same_text(text or "")) else -1
            for text in cells.texts
        ]
    )
    person = number[cells.places].astype(np.int64)
    if (person < 0).any():
        raise InputError(
            f"Column '{column}' tells persons apart and is empty in some records; fill it or leave them out."
        )
    return Crowd(column, person)


@dataclass(frozen=True)
class Gathered:
    """The persons of every group."""

    crowd: Crowd
    group: Places  # of each record
    groups: int

    @cached_property
    def _pairs(self) -> tuple[Places, Places, Places]:
        """The distinct pairs of group and person, how many records each has, and the pair of each record."""
        key = self.group * (int(self.crowd.person.max()) + 1) + self.crowd.person
        pairs, place, counts = np.unique(key, return_inverse=True, return_counts=True)
        return pairs // (int(self.crowd.person.max()) + 1), counts, place.reshape(-1)

    @cached_property
    def heads(self) -> Places:
        """Persons in each group."""
        return np.bincount(self._pairs[0], minlength=self.groups)

    def found(self) -> Persons:
        """What is to be told of the persons."""
        group, counts, _ = self._pairs
        sizes = np.bincount(self.group, minlength=self.groups)
        return Persons(
            self.crowd.column,
            int(np.unique(self.crowd.person).size),
            int(self.heads.min()),
            float((counts / sizes[group]).max()),
        )

    def having(self, places: Places, values: int) -> tuple[Places, Places, Places]:
        """Who has what: the distinct triples of group, person and value, as (group, pair, value), by group."""
        group, _, pair = self._pairs
        triples = np.unique(pair * values + places)
        return group[triples // values], triples // values, triples % values

    def shares(self, places: Places, values: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The shares of values in the table, each person counted once for every value they have."""
        has = np.unique(self.crowd.person * values + places)
        return np.bincount(has % values, minlength=values) / has.size

    def different(
        self, places: Places, kinds: Sequence[int]
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """For each group, how many different persons can be found with as many different kinds of values."""
        kind = np.asarray(kinds, dtype=np.int64)
        number = int(kind.max()) + 1
        group, pair, value = self.having(kind[places], number)
        found = np.bincount(np.unique(group * number + value) // number, minlength=self.groups)
        several = np.unique(group[1:][pair[1:] == pair[:-1]])  # where a person has two kinds
        start = np.searchsorted(group, several, side="left")
        stop = np.searchsorted(group, several, side="right")
        for g, first, last in zip(several.tolist(), start.tolist(), stop.tolist(), strict=True):
            found[g] = most_pairs(value[first:last].tolist(), pair[first:last].tolist())
        return found.astype(np.float64)
