"""From a method that counts records to groups that count persons: cut, raised, mended, searched, exact for tiny
tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.encoding.encode import distinct_rows
from shoal.encoding.forms import Ints
from shoal.errors import Infeasible
from shoal.kernels.clustering.k_member import subset_costs
from shoal.kernels.persons.counting import Crowd, missing_groups, subsets_comply
from shoal.kernels.persons.improving import (
    mend_persons,
    move_among_persons,
    split_persons,
    swap_among_persons,
)
from shoal.kernels.refining.search import reprice_all
from shoal.kernels.splitting.mondrian import split_by_persons
from shoal.progress import Progress
from shoal.risk.persons import People
from shoal.solve.counted.assignment import pick_rows
from shoal.solve.local_search.budget import Meter, Refine
from shoal.solve.local_search.schedule import refine
from shoal.solve.local_search.state import SearchState
from shoal.solve.methods import Exact, Method, Mondrian, Partition
from shoal.solve.methods.exact import MOST_RECORDS, best_partition, refuse
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
        units = pick_rows(problem, first)
        share = np.bincount(units.values.reshape(-1), minlength=problem.tallied) / first.size
        rules = problem.rules._replace(share=share)
        return cls(_with_feasible_rules(replace(units, rules=rules, most_left_out=0)), place)

    def with_k(self, k: int) -> Problem:
        """The problem of the units with another k."""
        return replace(self.problem, rules=self.problem.rules._replace(k=k))

    def spread(self, partition: Partition) -> Partition:
        """A partition of the units as one of all records."""
        forms = None if partition.forms is None else partition.forms[self.of_record]
        return replace(partition, groups=partition.groups[self.of_record], forms=forms)


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
class PersonTask:
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


def raise_k(job: PersonTask, units: Units) -> Partition:
    """Raise k until all groups comply, then look for the least k between that and the last that did not do."""
    low, high = job.problem.k, units.problem.table.records
    k, step = low, SLOWEST
    found = _asked(job, units, k)
    while not job.complies(units.spread(found)):
        if k >= high:
            raise Infeasible(
                f"Method '{job.method.name}' finds no groups that meet the requirements with people "
                "counted. Choose a method of local recoding, such as 'cover'."
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
    note = f"groups of {k:,} records, so that each has records of {job.problem.k:,} people"
    return units.spread(replace(found, notes=(*found.notes, note)))


def _asked(job: PersonTask, units: Units, k: int) -> Partition:
    job.progress("counting people", 0, 1)
    return job.method.partition(units.with_k(k), job.seed, job.progress)


def cut_by_persons(job: PersonTask, method: Mondrian) -> Partition | None:
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


def exact_partition(
    problem: Problem, people: People, method: Method, progress: Progress
) -> Partition:
    """Find a partition of least cost whose groups comply by their persons."""
    records = problem.table.records
    if records > MOST_RECORDS:
        refuse(records, "if people are counted")
    progress("weighing groups", 0, 1)
    rules = problem.rules._replace(k=1, start=problem.rules.start[:1])
    none = np.zeros((records, 0), dtype=np.int32)
    costs = subset_costs(problem.arrays, rules, problem.codes, problem.classes, none)
    costs[~subsets_comply(people.rules, people.crowd, records)] = np.inf
    notes = () if method.name == "exact" else ("chose exact",)
    return replace(best_partition(replace(problem, most_left_out=0), costs, progress), notes=notes)


# Records times groups times columns: what one pass of moves or swaps looks at, what handing out groups may take, and
# what is done between two reports of progress.
MOST_MOVES, MOST_SWAPS, MOST_HANDED, CHUNK = 2_500_000_000, 500_000_000, 2_500_000_000, 100_000_000
TRIAL = 25  # the work of trying one swap, in the same unit
NEAR = 2  # nearest groups whose members a record tries to swap with
SLOPE = 1e-4  # share of the cost; a pass that gains less is the last


@dataclass(frozen=True)
class PersonSearch(SearchState):
    """A partition that changes while its persons are counted."""

    crowd: Crowd

    @property
    def work(self) -> int:
        """The work of looking for one record's best group: groups times columns."""
        return len(self.search.s.size) * len(self.problem.columns)

    @property
    def own_work(self) -> int:
        """The work of counting and closing a record's own group, on average: twice its records, times columns."""
        sizes = self.search.s.size.astype(float)
        return int(2 * (sizes**2).sum() / sizes.sum() * len(self.problem.columns))


def search_of(problem: Problem, people: People, groups: Ints) -> PersonSearch:
    """Start from a partition; sensitive values are counted by persons only."""
    none = np.zeros((problem.table.records, 0), dtype=np.int32)
    rules = people.rules._replace(start=people.rules.start[:1])
    untold = SearchState.of(replace(problem, values=none, rules=rules), groups)
    return PersonSearch(problem, untold.search._replace(q=people.rules), people.crowd)


def repair_by_persons(found: PersonSearch, progress: Progress) -> None:
    """Unite or hand out groups that do not comply, the smallest first, until all do."""
    search = found.search
    sizes = search.s.size
    while (missing := np.flatnonzero(missing_groups(search.q, found.crowd, search.s))).size:
        if np.count_nonzero(sizes) == 1:  # what cannot be is refused before
            raise AssertionError("All records as one group do not comply.")
        missing = missing[np.argsort(sizes[missing], kind="stable")]
        work = np.cumsum(sizes[missing]) * found.work
        may_hand_out = bool(work[-1] <= MOST_HANDED)
        parts = np.split(missing, np.flatnonzero(np.diff(work // CHUNK)) + 1)
        for done, part in enumerate(parts):
            progress("counting people", done, len(parts))
            mend_persons(search, found.crowd, part, may_hand_out)
    reprice_all(search)


def improve_by_persons(found: PersonSearch, budget: Refine, progress: Progress) -> None:
    """Move, split and swap in turn while that gains and the budget lasts."""
    cells = found.problem.table.records * len(found.problem.columns)
    meter, before = Meter(budget, cells, progress), np.inf
    least = 0.0 if meter.is_patient else SLOPE
    while found.cost < (1 - least) * before and meter.goes_on("counting people"):
        before = found.cost
        meter.add(_one_pass(found, progress))


def _one_pass(found: PersonSearch, progress: Progress) -> float:
    """Try every neighbourhood once; returns the work that was done."""
    search, crowd = found.search, found.crowd
    work = found.work + found.own_work
    records = found.dearest()[: max(1, MOST_MOVES // work)]
    chunk = max(1, CHUNK // work)
    for start in range(0, len(records), chunk):
        progress("refining: moves", start, len(records))
        move_among_persons(search, crowd, records[start : start + chunk])
    groups = np.arange(len(search.s.size))
    while groups.size:
        groups = split_persons(search, crowd, groups)
    progress("refining: swaps", 0, 1)
    sizes = search.s.size[search.s.size > 0].astype(float)
    most = max(1, int(MOST_SWAPS // (work + TRIAL * NEAR * (sizes**2).mean())))
    swap_among_persons(search, crowd, found.dearest()[:most], NEAR)
    return float(work * len(records) + MOST_SWAPS * min(1.0, most / len(search.codes)))


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
    job = PersonTask(problem, people, method, seed, progress)
    chosen = method.choose(problem.table.records)
    if isinstance(chosen, Exact):
        return _settled(job, exact_partition(problem, people, method, progress))
    if isinstance(chosen, Mondrian) and (split := cut_by_persons(job, chosen)):
        return split
    units = Units.of(problem, people)
    if chosen.recoding != "local":
        return raise_k(job, units)
    partition = method.partition(units.problem, seed, progress)
    if budget is not None and chosen.may_be_refined():
        progress("refining", 0, 1)
        found = refine(units.problem, partition.groups, seed, progress, budget)
        partition = replace(partition, groups=found.groups, notes=(*partition.notes, *found.notes))
    partition = units.spread(partition)
    progress("counting people", 0, 1)
    search = search_of(problem, people, partition.groups)
    repair_by_persons(search, progress)
    if budget is not None and chosen.may_be_refined():
        improve_by_persons(search, budget, progress)
    return _settled(job, replace(partition, groups=search.groups))


def _settled(job: PersonTask, partition: Partition) -> Partition:
    """Unite groups that read the same, and mend what does not comply then, until nothing changes.

    Two groups of complying persons may make one that does not: a person may have another value in each.
    """
    while not job.complies(partition):
        search = search_of(job.problem, job.people, job.read(partition))
        repair_by_persons(search, job.progress)
        partition = replace(partition, groups=search.groups, closures=None)
    return partition


def refine_by_persons(problem: Problem, people: People, groups: Ints, progress: Progress) -> Ints:
    """Improve groups that comply by their persons, in a few passes."""
    found = search_of(problem, people, groups)
    improve_by_persons(found, Refine(), progress)
    return found.groups
