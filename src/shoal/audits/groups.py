"""The audit of groups: a plain group-by on the released texts proves k and the requirements.

It shares no code with encoding, methods or kernels. Null is a value of its own, never a wildcard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.audits.persons import PersonIds, PersonsByGroup
from shoal.audits.requirements import Labels, Requirement
from shoal.audits.texts import (
    ColumnReader,
    Reader,
    ascending_order,
    column_texts,
    combined,
    numbered,
    value_set,
    visible_texts,
)
from shoal.audits.verdict import Audit, Examination, Places, Proof, refuse_identifiers
from shoal.errors import AuditFailed, counted, near_miss, raise_problems

CELLS, GROUPS = 1 << 16, 1 << 13  # most counts and groups examined together


@dataclass(frozen=True)
class _Groups:
    """The records of a table, group by group."""

    group: Places  # of each row
    sizes: Places  # in records
    counts: Places | None  # the records of each row; None if each row is a record

    @cached_property
    def rows(self) -> Places:
        return np.argsort(self.group, kind="stable")

    @cached_property
    def bounds(self) -> Places:
        """Group g has rows[bounds[g]:bounds[g + 1]]."""
        return np.append(0, np.cumsum(np.bincount(self.group, minlength=self.sizes.size)))

    def blocks(self, values: int) -> Iterator[tuple[int, int]]:
        """Cut the groups into runs small enough to count each one's values in every group."""
        start, last = 0, len(self.bounds) - 1
        while start < last:
            ends = self.bounds[start + 1 : start + 1 + GROUPS]
            width = np.minimum(values, ends - self.bounds[start])
            fitting = np.count_nonzero(width * np.arange(1, len(ends) + 1) <= CELLS)
            stop = start + max(1, int(fitting))
            yield start, stop
            start = stop


@dataclass(frozen=True)
class _Secret:
    """A sensitive column: each record's place among its values, in ascending order if they have one, null last."""

    places: Places
    labels: Labels
    is_ordered: bool


def audit_frame(
    frame: nw.DataFrame[Any],
    quasi_identifiers: Sequence[str],
    k: int,
    identifiers: Sequence[str] = (),
    requirements: Sequence[Requirement] = (),
    sensitive: Sequence[str] = (),
    reader: Reader | None = None,
    counts: Places | None = None,
    crowd: PersonIds | None = None,
) -> Examination:
    """Audit a frame by what its columns read; see `audit_texts`."""
    refuse_identifiers(frame.columns, identifiers)
    named = [bound for name in quasi_identifiers for bound in (name, *_bounds(name))]
    wanted = [name for name in named if name in frame.columns]
    texts = visible_texts(frame, dict.fromkeys(wanted or frame.columns[:1]))
    for name in dict.fromkeys(name for name in sensitive if name in frame.columns):
        if name not in texts.column_names:
            texts = texts.append_column(name, column_texts(frame, name).as_texts())
    return audit_texts(
        texts,
        quasi_identifiers,
        k,
        identifiers,
        requirements,
        sensitive,
        reader,
        crowd,
        frame.columns,
        counts,
    )


def audit_texts(
    table: pa.Table,
    quasi_identifiers: Sequence[str],
    k: int,
    identifiers: Sequence[str] = (),
    requirements: Sequence[Requirement] = (),
    sensitive: Sequence[str] = (),
    reader: Reader | None = None,
    crowd: PersonIds | None = None,
    names: Sequence[str] = (),
    counts: Places | None = None,
) -> Examination:
    """Count whether every combination of released quasi-identifiers occurs at least k times and is diverse enough.

    All columns are texts, and records are in one group if their texts are equal, byte for byte. Sensitive values that
    differ only in spaces, case or Unicode form, or in how they spell a number, are one value; see `same_value`. A
    quasi-identifier may be released under its own name or as `NAME_min` and `NAME_max`. `names` are all columns, if
    the table has only some of them. With a `crowd`, people are counted instead of records. `counts` are the records of
    each row, if equal records were counted before.

    Raises `AuditFailed` if an identifier is still in the table; the examination lists everything else that is missed.
    """
    names = names or table.column_names
    problems: list[str] = []
    columns = _released_columns(table, quasi_identifiers, names, problems)
    if not table.num_rows:
        problems.append(
            "The table has no records, so there is nothing to prove. Give a table with records."
        )
    secrets = _secrets(table, requirements, sensitive, reader or Reader(), names, problems)
    raise_problems(problems)
    refuse_identifiers(table.column_names, identifiers)
    groups = _groups_of(table.select(columns), counts)
    count, smallest = groups.sizes.size, int(groups.sizes.min())
    misses, proofs = [""], []
    gathered = None if crowd is None else _gathered(crowd, groups)
    hidden = groups.sizes if gathered is None else gathered.heads
    if hidden.min() < k:
        what = "records" if gathered is None else "people"
        small = int(np.count_nonzero(hidden < k))
        misses = [
            f"{small:,} of {counted(count, 'group')} {'has' if small == 1 else 'have'} fewer than k = {k:,} {what} "
            f"(the smallest has {hidden.min():,})"
        ]
    for requirement in requirements:
        for name in requirement.over(sensitive):
            proof, missed = _prove(requirement, name, groups, secrets[name], gathered)
            proofs.append(proof)
            worst = f"{proof.requirement} (the worst reaches {proof.reached:.4g})"
            some = f"{missed:,} of {counted(count, 'group')} {'misses' if missed == 1 else 'miss'}"
            misses.append(f"{some} {worst}" if missed else "")
    audit = Audit(int(groups.sizes.sum()), count, smallest, tuple(proofs))
    if gathered is not None:
        audit = replace(audit, person=gathered.crowd.column, by_person=gathered.found())
    return Examination(audit, tuple(misses), groups.sizes)


def _released_columns(
    table: pa.Table, quasi_identifiers: Sequence[str], names: Sequence[str], problems: list[str]
) -> list[str]:
    """Return the columns that contain the quasi-identifiers; missing ones are added to `problems`."""
    columns: list[str] = []
    for name in quasi_identifiers:
        released = [name] if name in table.column_names else list(_bounds(name))
        if set(released) <= set(table.column_names):
            columns.extend(released)
        else:
            remedy = near_miss(name, names) or ". Give a table that has it."
            problems.append(f"Quasi-identifier '{name}' is not in the table{remedy}")
    return columns


def _gathered(crowd: PersonIds, groups: _Groups) -> PersonsByGroup:
    if crowd.person.size != groups.group.size:
        raise AuditFailed(
            f"The release has {counted(groups.group.size, 'record')}, but people are known for "
            f"{counted(crowd.person.size, 'record')}. Do not release this table."
        )
    return PersonsByGroup(crowd, groups.group, groups.sizes.size)


def _bounds(name: str) -> tuple[str, str]:
    """The two columns in which a quasi-identifier may be released."""
    return f"{name}_min", f"{name}_max"


def _secrets(
    table: pa.Table,
    requirements: Sequence[Requirement],
    sensitive: Sequence[str],
    reader: Reader,
    names: Sequence[str],
    problems: list[str],
) -> dict[str, _Secret]:
    """Return the sensitive columns that requirements are about; problems are added to `problems`."""
    found: dict[str, _Secret] = {}
    for name in dict.fromkeys(name for item in requirements for name in item.over(sensitive)):
        if name not in table.column_names:
            remedy = near_miss(name, names) or ". Give a table that has it."
            problems.append(f"Sensitive column '{name}' is not in the table{remedy}")
            continue
        found[name] = _secret(table[name], reader.of_column(name))
        known = [label for label in found[name].labels if label is not None]
        for item in requirements:
            if name in item.over(sensitive):
                problems.extend(item.reading_problems(name, known, found[name].is_ordered))
    return found


def _secret(array: pa.ChunkedArray, reader: ColumnReader) -> _Secret:
    numbers, texts = value_set(array, reader.missing)
    order = None if reader.is_text else ascending_order(texts, reader.decimal, reader.date_format)
    ranked = sorted(range(len(texts)), key=texts.__getitem__) if order is None else order
    rank = np.empty(len(texts) + 1, dtype=np.int64)
    rank[ranked] = np.arange(len(texts))
    rank[-1] = len(texts)  # of null
    labels = [*(texts[i] for i in ranked), *([None] if numbers.null_count else [])]
    places = rank[np.asarray(pc.fill_null(numbers, -1))]
    return _Secret(places, labels, order is not None)


def _groups_of(columns: pa.Table, counts: Places | None) -> _Groups:
    """Group records by their texts."""
    with ThreadPoolExecutor() as threads:  # one column per thread: Arrow releases Python's lock
        found = list(threads.map(numbered, columns.columns))
    group, count = combined(found, columns.num_rows)
    return _Groups(group, np.bincount(group, counts, count).astype(np.int64), counts)


def _prove(
    requirement: Requirement,
    column: str,
    groups: _Groups,
    secret: _Secret,
    gathered: PersonsByGroup | None = None,
) -> tuple[Proof, int]:
    """The level that all groups reach, and the number of groups that miss the requirement."""
    levels = _levels(requirement, groups, secret, gathered)
    described = requirement.describe(column) + requirement.remark(secret.labels)
    missed = int(np.count_nonzero(~requirement.is_met(levels)))
    if gathered is not None:
        described += ", with people counted"
    return Proof(described, requirement.required, requirement.worst(levels)), missed


def _levels(
    requirement: Requirement, groups: _Groups, secret: _Secret, gathered: PersonsByGroup | None
) -> npt.NDArray[np.float64]:
    """The level of every group, by its records or by its people."""
    values = len(secret.labels)
    if gathered is None:
        shares = np.bincount(secret.places, groups.counts, values) / groups.sizes.sum()
        return _counted(requirement, groups, secret.places, secret.labels, shares, None)
    kinds = requirement.kinds(secret.labels)
    if kinds is not None:
        return gathered.different(secret.places, kinds)
    group, _, places = gathered.having(secret.places, values)
    having = _Groups(group, np.bincount(group, minlength=gathered.groups), None)
    shares = gathered.shares(secret.places, values)
    return _counted(requirement, having, places, secret.labels, shares, gathered.heads)


def _counted(
    requirement: Requirement,
    groups: _Groups,
    of_record: Places,
    labels: Labels,
    shares: npt.NDArray[np.float64],
    heads: Places | None,
) -> npt.NDArray[np.float64]:
    """The level of every group by the counts of its values, some groups at a time."""
    values = len(labels)
    found = []
    for start, stop in groups.blocks(values):
        bounds = groups.bounds[start : stop + 1]
        rows = groups.rows[bounds[0] : bounds[-1]]
        places = of_record[rows]
        present = np.arange(values)
        if not requirement.counts_absent:
            present, places = np.unique(places, return_inverse=True)
        group = np.repeat(np.arange(stop - start), np.diff(bounds))
        weights = None if groups.counts is None else groups.counts[rows]
        counts = np.bincount(
            group * present.size + places.reshape(-1), weights, (stop - start) * present.size
        )
        levels = requirement.levels(
            counts.reshape(-1, present.size).astype(np.float64),
            [labels[value] for value in present.tolist()],
            shares[present],
            None if heads is None else heads[start:stop].astype(np.float64),
        )
        found.append(levels)
    return np.concatenate(found)
