"""Methods whose groups fit together: Mondrian counts persons at every cut, others are asked again with a larger
k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.encoding.forms import Ints, Records
from shoal.encoding.rows import distinct_rows
from shoal.errors import Infeasible
from shoal.kernels.persons.splitting import split_by_persons
from shoal.progress import Progress
from shoal.risk.persons import People
from shoal.solve.methods import Method, Mondrian, Partition
from shoal.solve.problem import Problem


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


SLOWEST, FASTEST = 1.125, 2.0  # by which k is raised at once: more and more
HALVINGS = 6


@dataclass(frozen=True)
class Job:
    """What is to be grouped, and how."""

    problem: Problem
    people: People
    method: Method
    seed: int
    progress: Progress

    def complies(self, partition: Partition) -> bool:
        """Whether all groups comply as they read: groups that read the same are one."""
        return bool(self.people.comply(self.read(partition))[0].all())

    def read(self, partition: Partition) -> Ints:
        """The groups of a partition of all records, those that read the same as one."""
        return self.problem.close(partition.groups, partition.closing).groups


def asked_again(job: Job, units: Units) -> Partition:
    """Raise k until all groups comply, then look for the least k between that and the last that did not do."""
    low, high = job.problem.k, units.problem.table.records
    k, step = low, SLOWEST
    found = _asked(job, units, k)
    while not job.complies(units.spread(found)):
        if k >= high:
            raise Infeasible(
                f"Method '{job.method.name}' finds no groups that keep the requirements by persons; "
                "choose a method of local recoding, like 'cover'."
            )
        low, k = k, min(high, max(k + 1, int(k * step)))
        step = min(FASTEST, step * step)
        found = _asked(job, units, k)
    if k == job.problem.k:
        return units.spread(found)
    for _ in range(HALVINGS):
        middle = (low + k) // 2
        if middle in (low, k):
            break
        tried = _asked(job, units, middle)
        if job.complies(units.spread(tried)):
            k, found = middle, tried
        else:
            low = middle
    note = f"groups of {k:,} records, so that each has records of {job.problem.k:,} persons"
    return units.spread(replace(found, notes=(*found.notes, note)))


def _asked(job: Job, units: Units, k: int) -> Partition:
    job.progress("counting persons", 0, 1)
    return job.method.partition(units.with_k(k), job.seed, job.progress)


def cut_by_persons(job: Job, method: Mondrian) -> Partition | None:
    """Mondrian with persons counted at every cut; None where groups that come to read the same do not comply."""
    job.progress("splitting groups", 0, 1)
    problem = job.problem
    records = np.arange(problem.table.records)
    groups = split_by_persons(
        problem.arrays,
        job.people.rules,
        job.people.crowd,
        problem.codes,
        problem.classes,
        records,
        not method.strict,
    )
    found = Partition(groups)
    return found if job.complies(found) else None
