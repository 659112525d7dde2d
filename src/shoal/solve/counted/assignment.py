"""Who goes where in a counted table: so many records of a row to a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from shoal.encoding.closed import Closed
from shoal.encoding.encode import Table, distinct_rows
from shoal.encoding.forms import Floats, Ints, Records
from shoal.kernels.shared.groups import group_costs
from shoal.solve.problem import ClosingRules, Problem


def merge_equal_rows(table: Table) -> Table:
    """The same table with every combination of codes in one row, in an order that follows from the codes alone."""
    secrets = [secret.codes for secret in table.sensitive.values()]
    found = distinct_rows(np.column_stack([table.codes, *secrets]))
    return table.pick(found.first, table.count(found.place).astype(np.int64))


@dataclass(frozen=True)
class Assignment:
    """Pieces of rows: `counts[i]` records of row `rows[i]` are in group `groups[i]`, −1 if they are left out."""

    rows: Records
    counts: Records
    groups: Ints
    forms: Ints | None = None  # pieces × quasi-identifiers, for methods that recode globally

    @classmethod
    def of(
        cls, rows: Records, counts: Records, groups: Ints, forms: Ints | None = None
    ) -> Assignment:
        """Join pieces of one row in one group; pieces are then in the order of rows, and of groups in each."""
        order = np.lexsort((groups, rows))
        rows, counts, groups = rows[order], counts[order], groups[order]
        new = np.ones(rows.size, dtype=bool)
        new[1:] = (np.diff(rows) != 0) | (np.diff(groups) != 0)
        first = np.flatnonzero(new)
        total = np.add.reduceat(counts, first) if first.size else counts
        kept = None if forms is None else forms[order][first]
        return cls(rows[first], total, groups[first], kept)

    @property
    def left_out(self) -> int:
        """Records that are in no group."""
        return int(self.counts[self.groups < 0].sum())

    @property
    def sizes(self) -> Records:
        """The records of each group."""
        return np.bincount(self.groups, self.counts).astype(np.int64)

    def pick(self, pieces: Records | npt.NDArray[np.bool_]) -> Assignment:
        """Some of the pieces."""
        forms = None if self.forms is None else self.forms[pieces]
        return Assignment(self.rows[pieces], self.counts[pieces], self.groups[pieces], forms)

    def released(self) -> Assignment:
        """The pieces that are in a group."""
        return self.pick(self.groups >= 0)

    def of_rows(self, rows: int) -> Records:
        """How many records of each row there are."""
        return np.bincount(self.rows, self.counts, rows).astype(np.int64)

    def close(self, problem: Problem) -> tuple[Assignment, Closed]:
        """Close all groups of a counted problem, of which those that read the same become one.

        Every record must have a group. Row i of what is closed is piece i of the assignment that is returned.
        """
        closed = pick_rows(problem, self.rows, self.counts).close(
            self.groups, ClosingRules(forms=self.forms)
        )
        merged = Assignment.of(self.rows, self.counts, closed.groups)
        table = problem.table.pick(merged.rows, merged.counts)
        return merged, replace(closed, table=table, groups=merged.groups)


def pick_rows(problem: Problem, rows: Records, counts: Records | None = None) -> Problem:
    """The same problem for some rows, each as often as it is named; costs and limits stay those of the whole."""
    return replace(
        problem,
        table=problem.table.pick(rows, counts),
        classes=problem.classes[rows],
        values=problem.values[rows],
    )


def shuffled_records(
    problem: Problem, rows: Records, counts: Records, chance: np.random.Generator
) -> Records:
    """The place in `rows` of each of so many records, in random order where a method sees no difference."""
    seen = np.column_stack([problem.codes[rows], problem.classes[rows], problem.values[rows]])
    place = np.repeat(distinct_rows(seen).place, counts)
    order = np.lexsort((chance.random(place.size), place))
    return np.repeat(np.arange(rows.size), counts)[order]


def costs_of(problem: Problem, solved: Assignment) -> Floats:
    """What each group costs a record of it, on average."""
    closures, counts = pick_rows(problem, solved.rows, solved.counts).closures(solved.groups)
    return group_costs(problem.arrays, closures, counts).sum(axis=0) / counts.sum(axis=0)


def join_assignments(parts: Sequence[Assignment]) -> Assignment:
    """All assignments as one, the groups of each numbered without gaps, one after the other."""
    rows: list[Records] = [np.zeros(0, np.int64)]
    counts, groups, known = rows.copy(), rows.copy(), 0
    for part in parts:
        numbers, place = np.unique(part.groups, return_inverse=True)
        own = place.reshape(-1) - np.count_nonzero(numbers < 0)
        rows.append(part.rows)
        counts.append(part.counts)
        groups.append(np.where(own >= 0, own + known, -1))
        known += int(np.count_nonzero(numbers >= 0))
    numbered = np.concatenate(groups).astype(np.int32)
    return Assignment(np.concatenate(rows), np.concatenate(counts), numbered)
