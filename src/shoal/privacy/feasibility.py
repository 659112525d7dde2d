"""Whether a table can meet a requirement at all, and how many groups it allows (spec §4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.auditing.requirements import Requirement
from shoal.errors import Infeasible
from shoal.generalization.forms import Floats, Ints
from shoal.kernels.shared.rules import Rules
from shoal.table import Table


def check_feasible(table: Table, k: int, requirements: Sequence[Requirement] = ()) -> None:
    """Refuse, with the numbers and the nearest feasible setting, what no release of the table can meet.

    Requirements are monotone: if the whole table as one group does not meet them, no release does.
    """
    problems: list[str] = []
    if k > table.records:
        problems.append(
            f"k = {k} needs at least {k} records and the table has {table.records}; "
            f"choose k of at most {table.records}."
        )
    for requirement in requirements:
        for column in requirement.over(list(table.sensitive)):
            secret = table.sensitive[column]
            counts = table.count(secret.codes, secret.size).astype(np.float64)
            level = requirement.levels(counts[None, :], secret.all_labels, counts / counts.sum())
            if not requirement.is_met(level).all():
                remedy = requirement.remedy(column, counts, float(level[0]))
                problems.append(f"No release can keep {requirement.describe(column)}: {remedy}.")
    if problems:
        raise Infeasible("\n".join(problems))


def group_notes(rules: Rules, values: Ints, table: Table) -> tuple[str, ...]:
    """Say where distinct sensitive values, not k, limit the number of groups (TCM07 Condition 2)."""
    notes = []
    for p in sorted({int(least) for least in rules.distinct if least > 1}):
        tallies = np.flatnonzero(rules.distinct == p)
        counts = [table.count(values[:, t] - rules.start[t]).astype(np.float64) for t in tallies]
        most, _ = most_groups(counts, p)
        if most < table.records // rules.k:
            notes.append(f"at most {most:,} groups can have {p} sensitive values (Condition 2)")
    return tuple(notes)


def most_groups(counts: Sequence[Floats], p: int) -> tuple[int, int]:
    """How many p-sensitive groups there can be at most (TCM07 Condition 2), and the least i that says so.

    `counts` are the records by value, one array for each sensitive column.
    """
    n = int(counts[0].sum())
    falling = [np.sort(own)[::-1] for own in counts]
    largest = [max(int(own[:i].sum()) for own in falling) for i in range(p)]
    bounds = [(n - largest[p - i]) // i for i in range(1, p + 1)]
    return min(bounds), 1 + bounds.index(min(bounds))
