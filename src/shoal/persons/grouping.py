"""From a method that counts records to groups that count persons."""

from __future__ import annotations

from dataclasses import replace

from shoal.generalization.forms import Ints
from shoal.kernels.persons.leaving import leave_persons_out
from shoal.methods import Exact, Method, Mondrian, Partition
from shoal.methods.suppress import suppressed_costs
from shoal.persons.exactly import exact_partition
from shoal.persons.raising import Job, asked_again, split_persons
from shoal.persons.search import improve, mend, search_of
from shoal.persons.units import Units
from shoal.privacy.persons import People
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine import Refine, refine


def group_persons(
    problem: Problem,
    people: People,
    method: Method,
    budget: Refine | None,
    seed: int,
    progress: Progress,
) -> Partition:
    """Group records so that every group keeps k and all requirements by its persons.

    The method groups the distinct records of persons, as if each was somebody else's. Where that leaves too few
    persons in a group, groups of local recoding are mended and improved with persons counted exactly; in Mondrian
    every cut counts persons, and other methods, whose groups fit together, are asked again with a larger k. A table
    small enough for `exact` gets its optimum.
    """
    job = Job(problem, people, method, seed, progress)
    chosen = method.choose(problem.table.records)
    if isinstance(chosen, Exact):
        return _settled(job, exact_partition(problem, people, method, progress))
    if isinstance(chosen, Mondrian) and (split := split_persons(job, chosen)):
        return split
    units = Units.of(problem, people)
    if chosen.recoding != "local":
        return asked_again(job, units)
    partition = method.partition(units.problem, seed, progress)
    if budget is not None and chosen.may_be_refined():
        progress("refining", 0, 1)
        groups, notes, _ = refine(units.problem, partition.groups, seed, progress, budget)
        partition = replace(partition, groups=groups, notes=(*partition.notes, *notes))
    partition = units.spread(partition)
    progress("counting persons", 0, 1)
    search = search_of(problem, people, partition.groups)
    mend(search, progress)
    if budget is not None and chosen.may_be_refined():
        improve(search, budget, progress)
    return _settled(job, replace(partition, groups=search.groups))


def _settled(job: Job, partition: Partition) -> Partition:
    """Unite groups that read the same, and mend what does not comply then, until nothing changes.

    Two groups of complying persons may make one that does not: a person may have another value in each.
    """
    while not job.complies(partition):
        search = search_of(job.problem, job.people, job.read(partition))
        mend(search, job.progress)
        partition = replace(partition, groups=search.groups, closures=None)
    return partition


def leave_out(problem: Problem, people: People, groups: Ints, limit: float) -> Ints:
    """Leave out (−1) at most a share `limit` of the records where that lowers the objective and groups still comply."""
    most = int(limit * problem.table.records)
    if not most:
        return groups
    found = search_of(problem, people, groups)
    leave_persons_out(found.search, found.crowd, suppressed_costs(problem), most)
    return found.search.s.group
