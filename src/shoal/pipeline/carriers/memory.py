"""A table in memory: each step of a run on a frame, record by record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.assess.singling_out import count_identified
from shoal.audits.texts import visible_texts
from shoal.audits.verdict import Audit, Examination, Persons, Places
from shoal.encoding.closed import Closed, loosened
from shoal.encoding.encode import Table, encode, fixed_seed, random_order
from shoal.encoding.forms import Ints, Records
from shoal.encoding.frames import Frame
from shoal.encoding.other_columns import (
    Roles,
    canonical_texts,
    coarse_input,
    coarsened,
    pseudonyms_of,
    range_columns,
    read_key,
    repeat_problems,
)
from shoal.encoding.render import render as render_frame
from shoal.encoding.source import Dialect, Source
from shoal.errors import LONGEST, InputError, Refusal, added_to, raise_problems
from shoal.pipeline.carriers.base import Carrier
from shoal.pipeline.carriers.released import InMemory
from shoal.pipeline.plan import Plan, problem_of
from shoal.pipeline.prove import audit_evidence, audit_release, released_columns
from shoal.pipeline.series.next_release import NextRelease, make_next_release
from shoal.progress import Progress, Watch
from shoal.risk.leaks import Leaks, find_leaks
from shoal.risk.limits import check_feasible
from shoal.risk.persons import People, check_feasible_by_persons, count_persons, person_numbers
from shoal.settings.settings import Settings
from shoal.solve.counted.assignment import pick_rows
from shoal.solve.counted.parts import refine_in_parts
from shoal.solve.leaving_out import leave_out, remove_dearest
from shoal.solve.local_search.budget import Refine
from shoal.solve.local_search.schedule import MANY, RefinementResult, refine
from shoal.solve.methods import Partition
from shoal.solve.persons import group_persons, refine_by_persons
from shoal.solve.problem import ClosingRules, Problem


class Memory(Carrier):
    """A frame in memory. `previous` are the earlier releases of a series."""

    def __init__(self, given: Source, previous: Any = None) -> None:
        self.given = self.source = given  # as it came, and with its unprotected columns coarsened
        self.previous = previous
        self.pseudonyms: Mapping[str, pa.Array] = {}  # of all records, by column
        self.person: Records | None = None  # a number for the person of each record

    def at_work(self) -> AbstractContextManager[None]:
        return nullcontext()

    @property
    def columns(self) -> list[str]:
        return self.given.data.columns

    @property
    def dialect(self) -> Dialect | None:
        return self.given.dialect

    def encode(self, settings: Settings, roles: Roles, problems: list[str], watch: Watch) -> Table:
        return watch("encoding", lambda: self._encode(settings, problems))

    def _encode(self, settings: Settings, problems: list[str]) -> Table:
        coarse = None
        with added_to(problems):
            coarse = coarsened(self.given, settings.coarsen, settings.reading)
        self.source = coarse or self.given
        frame = self.source.data
        self._linking: list[Refusal] = []
        self.pseudonyms = _pseudonyms(frame, settings, problems, self._linking)
        self.person = _persons(frame, settings, problems)
        try:
            encoded = encode_source(self.source, settings)
        except InputError as error:
            raise_problems([*problems, *error.problems])
        if coarse is None:  # what a column reveals that could not be coarsened does not matter
            raise_problems(problems)
        return encoded

    def leaks(self, table: Table, roles: Roles, settings: Settings) -> Sequence[Leaks]:
        frame = self.source.data
        kept = [name for name in roles.kept if name in frame.columns]
        found = find_leaks(frame, table, kept, settings.allow, settings.identified_limit)
        return (Leaks.of(self._linking, settings.allow), found)

    def check_feasible(self, table: Table, settings: Settings) -> None:
        if self.person is None:
            check_feasible(table, settings.k, settings.requirements)
            return
        # Groups of a series are balanced, and others are left out: then only k may be out of reach.
        required = () if settings.series else settings.requirements
        check_feasible_by_persons(self.person, table, settings.k, required)

    def solve(self, plan: Plan[Memory], watch: Watch) -> Sequence[str]:
        self._series: NextRelease | None = None
        if self.previous is None:
            self._partition, people = group_and_refine(plan, watch)
            self._groups = watch(
                "leaving out",
                lambda: _leave_out(plan, self._partition, people, watch.progress),
            )
        else:
            self._series = watch(
                "grouping", lambda: make_next_release(plan, self.previous, watch.progress)
            )
            self._partition = self._series.partition
            self._groups = self._partition.groups
        self.duals, self.is_released = self._partition.duals, self._groups >= 0
        self.bound = self._partition.bound
        if self.person is not None:
            self.persons = self.person[self.is_released]
        return self._partition.notes

    def close(self, plan: Plan[Memory]) -> Closed:
        """Close the groups, loosened if the user chose so."""
        self._frame, closed = self.close_groups(plan, self._groups, self._partition.closing)
        if self._series is not None:
            self._frame = self._series.respelled(self._frame)
        share = plan.settings.loosen
        return loosened(closed, share, fixed_seed()) if share else closed

    def close_groups(
        self, plan: Plan[Memory], groups: Ints, closing: ClosingRules
    ) -> tuple[Frame, Closed]:
        """The records to release and their closures.

        If records are left out (−1), the others are coarsened and encoded again, so that nothing later depends on
        the records left out: not the domain of a column, not the length of codes, and no measure of a release.
        """
        settings, kept = plan.settings, np.flatnonzero(groups >= 0)
        if kept.size == groups.size:
            return self.source.data, plan.problem.close(groups, closing)
        source = replace(self.given, data=self.given.data[kept.tolist()])
        source = coarsened(source, settings.coarsen, settings.reading)
        encoded = encode_source(source, plan.resolved_settings, may_be_empty=True)
        problem = problem_of(encoded, replace(settings, requirements=()))
        closed = problem.close(groups[kept], closing.of(kept))
        return source.data, replace(closed, left_out=groups.size - kept.size)

    def render(self, plan: Plan[Memory], closed: Closed) -> None:
        settings, records = plan.settings, closed.table.records
        self._order: Places = np.arange(records) if settings.keep_order else random_order(records)
        mask = pa.array(self._groups >= 0)
        pseudonyms = {name: own.filter(mask) for name, own in self.pseudonyms.items()}
        unchanged, style = plan.roles.unchanged, settings.render
        self._released = render_frame(
            self._frame, closed, self._order, unchanged, style, pseudonyms
        )

    def examine(self, plan: Plan[Memory], closed: Closed) -> Examination:
        settings = plan.resolved_settings
        self._known = audit_evidence(self._frame, settings, self._order)
        if self._series is not None:
            self._known = replace(self._known, series=self._series.witness(self._order))
            texts = visible_texts(self._released, released_columns(self._released, settings))
            self.history = self._series.remembered(texts, self._order)
        found = audit_release(self._released, self._known, settings)
        # Groups that look alike count as one; if none do, people are counted by their groups.
        same = settings.method.homogeneous and found.audit.groups == np.unique(closed.groups).size
        self._by_group = closed.groups[self._order] if same else None
        self._protected = released_columns(self._released, settings) if same else []
        return found

    def count_persons(self, plan: Plan[Memory], closed: Closed) -> Sequence[Persons]:
        k, codes = plan.settings.k, closed.table.codes
        return count_persons(self._frame, closed.groups, plan.person_keys, k, codes)

    @property
    def released_columns(self) -> list[str]:
        return self._released.columns

    def people(self, audit: Audit) -> int:
        crowd = self._known.crowd
        return self._released.shape[0] if crowd is None else int(np.unique(crowd.person).size)

    def identified(self, columns: Sequence[str]) -> int:
        person = None if self._known.crowd is None else self._known.crowd.person
        names = [name for name in columns if name not in self._protected]
        return count_identified(self._released, names, person, self._by_group)

    def released(self, plan: Plan[Memory], audit: Audit, closed: Closed) -> InMemory[Any]:
        data, columns = self._released.to_native(), closed.table.columns
        settings, stored = plan.resolved_settings, self.given.stored
        return InMemory(data, columns, settings, audit, self._known, stored)


def group_and_refine(plan: Plan[Memory], watch: Watch) -> tuple[Partition, People | None]:
    """Group and refine, by records or by people, who are returned, too."""
    problem, settings, person = plan.problem, plan.settings, plan.carrier.person
    method, seed = settings.method, settings.seed
    if person is not None:
        people = People.of(person, problem.rules, problem.values)
        budget = _budget(settings) if settings.refine else None
        partition = watch(
            "grouping", lambda: group_persons(problem, people, method, budget, seed, watch.progress)
        )
        return partition, people
    partition = watch("grouping", lambda: method.partition(problem, seed, watch.progress))
    if settings.refine and method.choose(problem.table.records).may_be_refined():
        partition = watch("refining", lambda: _refine(problem, partition, settings, watch.progress))
    return partition, None


def _budget(settings: Settings) -> Refine:
    return settings.refine if isinstance(settings.refine, Refine) else Refine()


def _refine(
    problem: Problem, partition: Partition, settings: Settings, progress: Progress
) -> Partition:
    """Improve the groups of a method."""
    found = _refine_records(problem, partition.groups, settings.seed, progress, _budget(settings))
    notes = (*partition.notes, *found.notes)
    return replace(
        partition, groups=found.groups, notes=notes, duals=found.duals, bound=found.bound
    )


def _refine_records(
    problem: Problem, groups: Ints, seed: int, progress: Progress, budget: Refine
) -> RefinementResult:
    """Refine the groups of a table whose records are in memory, at once or in parts."""
    work = refine if groups.size <= MANY else refine_in_parts
    return work(problem, groups, seed, progress, budget)


def _leave_out(
    plan: Plan[Memory], partition: Partition, people: People | None, progress: Progress
) -> Ints:
    """Leave out records if the settings allow it: −1 instead of their group."""
    problem, settings, groups = plan.problem, plan.settings, partition.groups
    most = problem.most_left_out
    if not most or (groups < 0).any():  # a method that leaves records out has weighed them itself
        return groups
    chosen = settings.method.choose(problem.table.records)
    if not (settings.refine and chosen.may_be_refined()):
        return remove_dearest(problem, groups, most, people)

    def improve(rest: Records, groups: Ints) -> Ints:
        part = pick_rows(problem, rest)
        if people is not None:
            return refine_by_persons(part, people.those_of(rest), groups, progress)
        return _refine_records(part, groups, settings.seed, progress, Refine()).groups

    return leave_out(problem, groups, most, improve, progress, people)


def _persons(frame: Frame, settings: Settings, problems: list[str]) -> Records | None:
    """A number for the person of each record, None if records are counted."""
    if settings.person is None or settings.person not in frame.columns:
        return None
    with added_to(problems):
        missing = settings.reading.missing_in(settings.person)
        person = person_numbers(frame, settings.person, missing, problems)
        if settings.series and np.unique(person).size < person.size:
            problems.append(
                "A series needs exactly one record per person, but some people in column "
                f"'{settings.person[:LONGEST]}' have several. First aggregate the table to one record per person."
            )
        return person
    return None


def _pseudonyms(
    frame: Frame, settings: Settings, problems: list[str], linking: list[Refusal]
) -> dict[str, pa.Array]:
    """The pseudonyms of all records, by column; adds to `problems`, and to `linking` where they link records."""
    found: dict[str, pa.Array] = {}
    if not settings.pseudonyms:
        return found
    with added_to(problems):
        key = read_key(settings.key_file)
        for name in (name for name in settings.pseudonyms if name in frame.columns):
            with added_to(problems):
                texts = canonical_texts(frame, name, settings.reading.missing_in(name))
                linking += [Refusal(name, "links", own) for own in repeat_problems(name, texts)]
                found[name] = pseudonyms_of(texts, key)
    return found


def encode_source(source: Source, settings: Settings, may_be_empty: bool = False) -> Table:
    """Encode a table, coarsened already, by its settings."""
    return encode(
        source.data,
        settings.quasi_identifiers,
        settings.sensitive,
        (*settings.removed, *settings.pseudonyms),
        coarse_input(settings.reading, settings.coarsen),
        may_be_empty,
        range_columns(settings.coarsen),
    )
