"""Methods whose groups fit together: Mondrian counts persons at every cut, others are asked again with a larger k."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.errors import Infeasible
from shoal.generalization.forms import Ints
from shoal.kernels.persons.splitting import split_by_persons
from shoal.methods import Method, Mondrian, Partition
from shoal.persons.units import Units
from shoal.privacy.persons import People
from shoal.problem import Problem
from shoal.progress import Progress

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


def split_persons(job: Job, method: Mondrian) -> Partition | None:
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
