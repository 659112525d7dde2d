"""The people behind the records of a release, counted, and columns that pseudonyms replaced."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from shoal.audits.texts import ColumnTexts, column_texts, same_text
from shoal.audits.verdict import Persons, Places
from shoal.errors import AuditFailed, InputError


def maximum_matching(values: Sequence[int], persons: Sequence[int]) -> int:
    """Return the largest number of pairs of a value and a person who has it, with each value and person in one pair.

    `values` and `persons` say who has what. Every value looks for a person who is free, or who can be made free by
    giving their value's partner another person (Kuhn 1955).

    Examples
    --------
    >>> maximum_matching([1, 2, 3, 1], [7, 7, 7, 8])  # one person has three values, another has one of them
    2
    """
    owners: dict[int, list[int]] = {}
    for value, person in zip(values, persons, strict=True):
        owners.setdefault(value, []).append(person)
    taken: dict[int, int] = {}  # the value that each person is paired with
    chosen: dict[int, int] = {}  # the person paired with each value
    return sum(_place(value, owners, taken, chosen) for value in owners)


def _place(
    value: int, owners: dict[int, list[int]], taken: dict[int, int], chosen: dict[int, int]
) -> bool:
    """Find a person for a value, moving others; return whether there is one."""
    asked_by: dict[int, int] = {}
    waiting = deque([value])
    while waiting:
        asking = waiting.popleft()
        for person in owners[asking]:
            if person in asked_by:
                continue
            asked_by[person] = asking
            if person in taken:
                waiting.append(taken[person])
                continue
            while asking != value:  # go back, giving each value on the way its new person
                before = chosen[asking]
                taken[person], chosen[asking] = asking, person
                person, asking = before, asked_by[before]
            taken[person], chosen[asking] = asking, person
            return True
    return False


@dataclass(frozen=True)
class PersonIds:
    """The person behind each record, in the order of a release; equal numbers are one person."""

    column: str
    person: Places

    def taken(self, order: Places) -> PersonIds:
        """The people behind records in another order."""
        return PersonIds(self.column, self.person[order])


def read_person_ids(
    frame: nw.DataFrame[Any], column: str, missing: Sequence[str] = ()
) -> PersonIds:
    """Read the person of each record; texts that differ only in spaces, case or Unicode form are one person.

    Raises `InputError` if a record has no value: it could belong to anyone, so people could not be counted.
    """
    cells = column_texts(frame, column, missing)
    known: dict[str, int] = {}
    keys = [same_text(text or "") for text in cells.texts]
    number = np.array([known.setdefault(key, len(known)) if key else -1 for key in keys])
    person = number[cells.places].astype(np.int64)
    if (person < 0).any():
        raise InputError(
            f"Column '{column}' identifies people but is empty in some records. Fill it in, or leave these "
            "records out."
        )
    return PersonIds(column, person)


@dataclass(frozen=True)
class PersonsByGroup:
    """The people of every group."""

    crowd: PersonIds
    group: Places  # of each record
    groups: int

    @cached_property
    def _pairs(self) -> tuple[Places, Places, Places]:
        """The distinct pairs of group and person, the records of each pair, and the pair of each record."""
        width = int(self.crowd.person.max()) + 1
        key = self.group * width + self.crowd.person
        pairs, place, counts = np.unique(key, return_inverse=True, return_counts=True)
        return pairs // width, counts, place.reshape(-1)

    @cached_property
    def heads(self) -> Places:
        """The number of people in each group."""
        return np.bincount(self._pairs[0], minlength=self.groups)

    def found(self) -> Persons:
        """What to report about people."""
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
        """For each group, the largest number of different people who can be matched with different kinds of values."""
        kind = np.asarray(kinds, dtype=np.int64)
        number = int(kind.max()) + 1
        group, pair, value = self.having(kind[places], number)
        found = np.bincount(np.unique(group * number + value) // number, minlength=self.groups)
        several = np.unique(group[1:][pair[1:] == pair[:-1]])  # some person has two kinds
        start = np.searchsorted(group, several, side="left")
        stop = np.searchsorted(group, several, side="right")
        for g, first, last in zip(several.tolist(), start.tolist(), stop.tolist(), strict=True):
            found[g] = maximum_matching(value[first:last].tolist(), pair[first:last].tolist())
        return found.astype(np.float64)


_PSEUDONYM = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class ReplacedColumns:
    """What the audit must know about columns that pseudonyms replace: which may link records, and their values."""

    columns: tuple[str, ...]
    may_repeat: tuple[str, ...] = ()
    # None if the original table is not known.
    originals: Mapping[str, frozenset[str]] | None = None


def read_replaced(
    table: nw.DataFrame[Any], columns: Sequence[str], may_repeat: Sequence[str]
) -> ReplacedColumns:
    """Read the original values of the columns that pseudonyms replace in a release of this table."""
    originals = {
        name: frozenset(same_text(text) for text in column_texts(table, name).texts if text)
        for name in columns
    }
    return ReplacedColumns(tuple(columns), tuple(may_repeat), originals)


def prove_replaced(frame: nw.DataFrame[Any], replaced: ReplacedColumns) -> None:
    """Fail unless each column contains only pseudonyms, no original value, and none twice unless that is allowed.

    Raises `AuditFailed` with a sentence for every column that does not.
    """
    found = [
        sentence
        for name in replaced.columns
        if name in frame.columns
        for sentence in _failures(name, column_texts(frame, name), replaced)
    ]
    if found:
        raise AuditFailed("\n".join(found))


def _failures(name: str, cells: ColumnTexts, replaced: ReplacedColumns) -> list[str]:
    texts = [text for text in cells.texts if text is not None]
    found = []
    if not all(_PSEUDONYM.fullmatch(text) for text in texts):
        found.append(
            f"Column '{name}' contains values that are not pseudonyms. Do not release this table."
        )
    original = (replaced.originals or {}).get(name, frozenset())
    if any(same_text(text) in original for text in texts):
        found.append(f"Column '{name}' contains original identifiers. Do not release this table.")
    counts = np.bincount(cells.places, minlength=len(cells.texts))
    counts[cells.texts.index(None)] = 0  # missing values link nothing
    if counts.max() > 1 and name not in replaced.may_repeat:
        found.append(
            f"A pseudonym of column '{name}' occurs in several records and links them, which is not allowed. Do "
            "not release this table."
        )
    return found
