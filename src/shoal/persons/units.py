"""What a method sees where persons are counted: equal records of a person once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.generalization.forms import Ints, Records
from shoal.methods import Partition
from shoal.privacy.persons import People
from shoal.problem import Problem
from shoal.table.rows import distinct_rows


@dataclass(frozen=True)
class Units:
    """The distinct combinations of a person and all that methods see of a record."""

    problem: Problem  # a record for each unit
    of_record: Ints  # the unit of each record

    @classmethod
    def of(cls, problem: Problem, people: People) -> Units:
        """Gather equal records of a person; k of these units are a first step to k persons."""
        person = people.person.astype(np.int32)
        rows = np.column_stack([person, problem.codes, problem.classes, problem.values])
        first, place, _ = distinct_rows(rows)
        return cls(_with_feasible_rules(_restricted(problem, first)), place)

    def with_k(self, k: int) -> Problem:
        """The problem of the units with another k."""
        return replace(self.problem, rules=self.problem.rules._replace(k=k))

    def spread(self, partition: Partition) -> Partition:
        """A partition of the units as one of all records."""
        forms = None if partition.forms is None else partition.forms[self.of_record]
        return replace(partition, groups=partition.groups[self.of_record], forms=forms)


def _restricted(problem: Problem, records: Records) -> Problem:
    """The problem of some records: what closures cost stays as it is in the whole table."""
    sensitive = {
        name: replace(column, codes=column.codes[records])
        for name, column in problem.table.sensitive.items()
    }
    values = np.ascontiguousarray(problem.values[records])
    share = np.bincount(values.reshape(-1), minlength=problem.tallied) / max(1, len(records))
    return replace(
        problem,
        table=replace(problem.table, codes=problem.codes[records], sensitive=sensitive),
        classes=problem.classes[records],
        rules=problem.rules._replace(share=share),
        values=values,
    )


def _with_feasible_rules(problem: Problem) -> Problem:
    """Drop limits on the units that not even all of them keep: persons may keep them all the same."""
    units = problem.table.records
    alone = People(np.arange(units, dtype=np.int64), problem.rules, problem.values)
    if alone.comply(np.zeros(units, dtype=np.int32))[0].all():
        return problem
    rules = problem.rules
    return replace(
        problem,
        rules=rules._replace(
            cap=np.ones_like(rules.cap),
            capped=np.zeros_like(rules.capped),
            entropy=np.zeros_like(rules.entropy),
            depth=np.zeros_like(rules.depth),
            distance=np.full_like(rules.distance, np.inf),
        ),
    )
