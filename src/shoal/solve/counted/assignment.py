"""Who goes where in a counted table: so many records of a row to a group."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

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

    def released(self) -> Assignment:
        """The pieces that are in a group."""
        kept = self.groups >= 0
        forms = None if self.forms is None else self.forms[kept]
        return Assignment(self.rows[kept], self.counts[kept], self.groups[kept], forms)

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


def record_rows(
    problem: Problem, rows: Records, counts: Records, chance: np.random.Generator
) -> Records:
    """The row of every record of some rows, those in random order that are equal in all that a method sees."""
    seen = np.column_stack([problem.codes[rows], problem.classes[rows], problem.values[rows]])
    place = np.repeat(distinct_rows(seen).place, counts)
    records = np.repeat(rows, counts)
    return records[np.lexsort((chance.random(records.size), place))]


def costs_of(problem: Problem, solved: Assignment) -> Floats:
    """What each group costs a record of it, on average."""
    closures, counts = pick_rows(problem, solved.rows, solved.counts).closures(solved.groups)
    return group_costs(problem.arrays, closures, counts).sum(axis=0) / counts.sum(axis=0)


def join_all_assignments(parts: list[Assignment]) -> Assignment:
    """All assignments as one, groups numbered one after the other."""
    if not parts:
        nothing = np.zeros(0, np.int64)
        return Assignment(nothing, nothing, np.zeros(0, np.int32))
    shifts = np.cumsum([0, *(int(part.groups.max(initial=-1)) + 1 for part in parts)])
    groups = [part.groups + shift for part, shift in zip(parts, shifts, strict=False)]
    return Assignment(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.unique(np.concatenate(groups), return_inverse=True)[1].astype(np.int32),
    )


def join_assignments(one: Assignment, other: Assignment) -> Assignment:
    """Both assignments together; groups of the second get numbers of their own."""
    shift = int(one.groups.max(initial=-1)) + 1
    groups = np.where(other.groups >= 0, other.groups + shift, -1).astype(np.int32)
    forms = other.forms if not one.rows.size else one.forms if not other.rows.size else None
    return Assignment(
        np.concatenate([one.rows, other.rows]),
        np.concatenate([one.counts, other.counts]),
        np.concatenate([one.groups, groups]),
        forms,
    )
