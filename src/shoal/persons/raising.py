"""Methods whose groups fit together are asked again with a larger k, until every group has its persons."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.errors import Infeasible
from shoal.generalization.forms import Ints
from shoal.kernels.shared.groups import members
from shoal.methods import Method, Mondrian, Partition
from shoal.persons.units import Units
from shoal.privacy.persons import People
from shoal.problem import Problem
from shoal.progress import Progress

SLOWEST, FASTEST = 1.125, 2.0  # by which k is raised at once: more and more
HALVINGS = 6
LOWERED = 0.8  # by which k is lowered at once where groups are split further


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
    """Raise k until all groups comply, then look for the least k between that and the last that did not do.

    Groups of Mondrian are then split further wherever the parts comply: it is a matter of where its recursion ends.
    """
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
    if isinstance(job.method, Mondrian):
        split = replace(found, groups=_split_further(job, job.method, units, found.groups, k))
        return units.spread(split if job.complies(units.spread(split)) else found)
    note = f"groups of {k:,} records, so that each has records of {job.problem.k:,} persons"
    return units.spread(replace(found, notes=(*found.notes, note)))


def _asked(job: Job, units: Units, k: int) -> Partition:
    job.progress("counting persons", 0, 1)
    return job.method.partition(units.with_k(k), job.seed, job.progress)


def _split_further(job: Job, method: Mondrian, units: Units, groups: Ints, k: int) -> Ints:
    """Split groups of units on, with a smaller and smaller k, each where all its parts comply."""
    while k > job.problem.k:
        k = max(job.problem.k, int(k * LOWERED))
        problem = units.with_k(k)
        order, bounds = members(groups, int(groups.max()) + 1)
        parts = np.empty_like(groups)
        parent: list[int] = []
        for g in range(len(bounds) - 1):
            job.progress("counting persons", g, len(bounds) - 1)
            records = order[bounds[g] : bounds[g + 1]]
            own = method.split(problem, records)
            parts[records] = own + len(parent)
            parent += [g] * (int(own.max()) + 1)
        comply = units.people.comply(parts)[0]
        is_whole = np.zeros(len(bounds) - 1, dtype=np.bool_)
        is_whole[np.array(parent)[~comply]] = True
        kept = np.where(is_whole[groups], groups + len(parent), parts)
        groups = np.unique(kept, return_inverse=True)[1].reshape(-1).astype(np.int32)
    return groups
