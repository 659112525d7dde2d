"""How much an attacker can infer from knowing that closures are tight: downcoding (Cohen 2022).

An attacker who assumes that every closure is the smallest that covers its group can state more than the release shows:

- for a range: some record of the group has the lowest value, and some record has the highest;
- for a node: some record is below each of its two most frequent children, according to the column's distribution,
  which is assumed to be public; if only two children occur at all, this is certain;
- for a set: some record has each of its values;
- for a range or set that covers everything, including missing values: some record has a missing value.

Every statement makes one cell of some record of the group more precise. Nothing is stated about closures of single
values, which are exact already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.assess import Result
from shoal.audits.persons import maximum_matching
from shoal.encoding.closed import Closed
from shoal.encoding.forms import Floats, Form, Ints, RangeForm, TreeForm


@dataclass(frozen=True)
class Downcoding(Result):
    """How often an attacker is right who assumes that every closure is tight.

    Attributes
    ----------
    statements
        The number of statements. Each makes a cell of some record more precise than it is released.
    right
        The share of statements that are true.
    chance
        The share that would be true on average if the records of a group were drawn from its closures by the
        distribution of each column: how often a statement is right without knowing that closures are tight.
    cells
        Statements as a share of all generalized cells.
    groups
        Among groups with statements, the share in which all statements are true at once, each of a different
        record, so that the more precise table as a whole is right: Cohen's measure. At most as many statements are
        combined as the group has records.
    """

    statements: int
    right: float
    chance: float
    cells: float
    groups: float


@dataclass(frozen=True)
class Statements:
    """Statements about a column: some record of a group is in a certain part of its closure."""

    group: Ints
    part: Ints  # a code, or a node of a tree
    chance: Floats
    of_record: Ints  # the part of its closure that each record is in, numbered like `part`


def measure_downcoding(closed: Closed) -> Downcoding:
    """Count how often an attacker is right about a release whose records look the same within groups."""
    columns = [_stated(closed, j) for j in range(len(closed.table.columns))]
    true = [_is_true(closed, stated) for stated in columns]
    statements = sum(stated.group.size for stated in columns)
    general = float((closed.sizes * (closed.widths > 1)).sum())
    return Downcoding(
        statements,
        sum(int(found.sum()) for found in true) / max(1, statements),
        float(sum(stated.chance.sum() for stated in columns)) / max(1, statements),
        statements / max(1.0, general),
        _true_at_once(closed, columns),
    )


def _stated(closed: Closed, j: int) -> Statements:
    column, codes = closed.table.columns[j], closed.table.codes[:, j]
    form, closures = column.form, closed.of_column(j)
    if isinstance(form, TreeForm):
        group, part = _of_nodes(form, closures, column.counts)
        of_record = _child_below(form, codes, closures[0][closed.groups])
        mass = form.sum_up(column.counts)
    else:
        group, part = (
            _of_ranges(form, closures) if isinstance(form, RangeForm) else _of_sets(form, closures)
        )
        of_record, mass = codes, column.counts
    share = mass[part] / form.sums(closures, column.counts)[group]
    return Statements(group, part, 1.0 - (1.0 - share) ** closed.sizes[group], of_record)


def _of_nodes(form: TreeForm, closures: Ints, counts: Floats) -> tuple[Ints, Ints]:
    """The two most frequent children of every inner node."""
    mass = form.sum_up(counts)
    first = np.full(form.entries, -1, dtype=np.int32)
    second = first.copy()
    for node in np.argsort(-mass[:-1], kind="stable"):
        parent = form.parent[node]
        if first[parent] < 0:
            first[parent] = node
        elif second[parent] < 0 and mass[node] > 0:
            second[parent] = node
    groups = np.flatnonzero(second[closures[0]] >= 0).astype(np.int32)
    nodes = closures[0][groups]
    return np.tile(groups, 2), np.concatenate([first[nodes], second[nodes]])


def _child_below(form: TreeForm, codes: Ints, nodes: Ints) -> Ints:
    """The child of each node that contains the code; the code itself if the node is that value."""
    found = codes.copy()
    while True:
        above = form.parent[found]
        climbs = (found != nodes) & (above != nodes)
        if not climbs.any():
            return found
        found = np.where(climbs, above, found)


def _of_ranges(form: RangeForm, closures: Ints) -> tuple[Ints, Ints]:
    """The ends of every range, or null for those that contain null besides a value."""
    low, high = closures
    ranges = np.flatnonzero((low < high) & (high != form.null)).astype(np.int32)
    mixed = np.flatnonzero((low < high) & (high == form.null)).astype(np.int32)
    group = np.concatenate([ranges, ranges, mixed])
    return group, np.concatenate([low[ranges], high[ranges], high[mixed]])


def _of_sets(form: Form, closures: Ints) -> tuple[Ints, Ints]:
    """The values of every set with several, or only null for those that contain null besides a value."""
    holds = form.holds(closures) > 0
    holds[:, holds.sum(axis=0) < 2] = False
    if form.has_null:
        mixed = holds[form.null].copy()
        holds[:, mixed] = False
        holds[form.null] = mixed
    part, group = np.nonzero(holds)
    return group.astype(np.int32), part.astype(np.int32)


def _is_true(closed: Closed, stated: Statements) -> np.ndarray:
    """Whether each statement is true of some record."""
    room = int(max(stated.part.max(initial=0), stated.of_record.max(initial=0))) + 1
    facts = np.unique(closed.groups.astype(np.int64) * room + stated.of_record)
    return np.isin(stated.group.astype(np.int64) * room + stated.part, facts)


def _true_at_once(closed: Closed, columns: Sequence[Statements]) -> float:
    """The share of groups whose statements are true of different records at once."""
    order = np.argsort(closed.groups, kind="stable")
    rows = np.bincount(closed.groups, minlength=closed.sizes.size)
    members = np.split(order, np.cumsum(rows)[:-1])
    counts = closed.table.counts
    stated: dict[int, list[tuple[int, int]]] = {}
    for j, column in enumerate(columns):
        for group, part in zip(column.group.tolist(), column.part.tolist(), strict=True):
            stated.setdefault(group, []).append((j, part))
    right = 0
    for group, statements in stated.items():
        records = members[group]
        if counts is not None:  # more records per row than statements make no difference
            records = np.repeat(records, np.minimum(counts[records], len(statements)))
        together = statements[: records.size]
        fitting = [
            np.flatnonzero(columns[j].of_record[records] == part)[: len(together)].tolist()
            for j, part in together
        ]
        right += can_differ(fitting)
    return right / max(1, len(stated))


def can_differ(fitting: Sequence[Sequence[int]]) -> bool:
    """Whether each statement can be assigned a different record that fits it (bipartite matching).

    Examples
    --------
    >>> can_differ([[0, 1], [0]]), can_differ([[0], [0]])
    (True, False)
    """
    pairs = [(number, record) for number, records in enumerate(fitting) for record in records]
    statements, records = [number for number, _ in pairs], [record for _, record in pairs]
    return maximum_matching(statements, records) == len(fitting)
