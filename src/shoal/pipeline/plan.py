"""Everything that is decided and checked before the work: roles, codes, feasibility; and the groups of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from shoal.encoding.closed import Closed
from shoal.encoding.encode import Column, Table, column_problems, encode
from shoal.encoding.forms import Ints, Records
from shoal.encoding.found import in_words
from shoal.encoding.frames import Frame
from shoal.encoding.models import Interval, Order
from shoal.encoding.other_columns import (
    Roles,
    canonical_texts,
    coarse_input,
    coarsened,
    pseudonyms_of,
    range_columns,
    read_key,
    repeat_problems,
    roles_of,
)
from shoal.encoding.render import bound_names
from shoal.encoding.source import Dialect, Source
from shoal.errors import (
    LONGEST,
    InputError,
    Refusal,
    near_miss,
    raise_problems,
    raise_refusals,
    refusal_lines,
)
from shoal.progress import Progress, Watch
from shoal.risk.leaks import Leaks, leaks
from shoal.risk.limits import check_feasible
from shoal.risk.persons import People, check_feasible_for, person_numbers
from shoal.settings.problems import Others
from shoal.settings.settings import Settings
from shoal.solve.counted.parts import refine_in_memory
from shoal.solve.local_search.budget import Refine
from shoal.solve.methods import Partition
from shoal.solve.persons.grouping import group_persons
from shoal.solve.problem import Closing, Problem, relative_weights


@dataclass(frozen=True)
class Outlook:
    """What is known of a run before it: columns with roles, encoded, the requirements feasible."""

    settings: Settings
    roles: Roles
    problem: Problem

    @property
    def reading_notes(self) -> tuple[str, ...]:
        """What was found out about how the table is written, which the user must hear of."""
        return tuple(note for column in self.problem.columns if (note := _reading_note(column)))


@dataclass(frozen=True)
class Plan(Outlook):
    """A table that is ready to be anonymized."""

    source: Source  # with its unprotected columns coarsened
    given: Source  # as it came
    pseudonyms: Mapping[str, pa.Array] = field(default_factory=dict)  # of all records, by column
    people: People | None = None  # where persons are counted
    allowed: tuple[Refusal, ...] = ()  # what released columns give away because somebody allowed it

    @property
    def spelled_out(self) -> Settings:
        """The settings that make the same release again: every model, every kept column by its name."""
        return spelled_out(self.settings, self.problem.columns, self.roles)

    @property
    def told_apart(self) -> list[str]:
        """Identifiers that may tell persons apart, where nobody said which one does."""
        if self.settings.person:
            return []
        return [*self.settings.identifiers, *self.settings.pseudonyms]

    def close(self, groups: Ints, closing: Closing) -> tuple[Frame, Closed]:
        """The records to release and their closures.

        Where records are left out (−1), the others are coarsened and encoded anew, so that nothing that comes after
        knows of them: not the domain of a column, not the length of codes, nor what is measured of a release.
        """
        kept = np.flatnonzero(groups >= 0)
        if kept.size == groups.size:
            return self.source.data, self.problem.close(groups, closing)
        settings = self.settings
        source = replace(self.given, data=self.given.data[kept.tolist()])
        source = coarsened(source, settings.coarsen, settings.input)
        encoded = encode_source(source, self.spelled_out, may_be_empty=True)
        closed = problem_of(encoded, replace(settings, requirements=())).close(
            groups[kept], closing.of(kept)
        )
        return source.data, replace(closed, left_out=groups.size - kept.size)


def _reading_note(column: Column) -> str:
    """What a user must hear of how a column was read, if anything."""
    name = column.name[:LONGEST]
    if column.date_format:
        return f"Column '{name}' holds dates; they are read as {in_words(column.date_format)} ({column.date_format})."
    if column.looks_like:
        return (
            f"Column '{name}' is treated as text: most of its values look like {column.looks_like}, but some do not; "
            "if these mean that a value is missing, name them (missing, --missing)."
        )
    return ""


def spelled_out(settings: Settings, columns: Sequence[Column], roles: Roles | None) -> Settings:
    """Settings with the model of every column and, given the roles, every kept column by its name."""
    settings = replace(
        settings,
        quasi_identifiers={own.name: own.model for own in columns},
        input=replace(settings.input, query=None),  # which may hold values
    )
    if roles is None:
        return settings
    others: Others = "drop" if settings.others == "drop" else "refuse"
    return replace(settings, keep=roles.kept, others=others)


def prepare(source: Source, settings: Settings) -> Plan:
    """Check everything that can be checked before the work, and encode.

    Raises
    ------
    InputError
        With every problem of the columns: no role, mixed types, what unchanged columns betray, …
    Infeasible
        Where no release can meet the requirements.
    """
    roles, problems = check_roles(source.data.columns, settings)
    given, coarse = source, _coarsened(source, settings, problems)
    source = coarse or source
    frame = source.data
    linking: list[Refusal] = []
    pseudonyms = _pseudonyms(frame, settings, problems, linking)
    person = _persons(frame, settings, problems)
    try:
        encoded = encode_source(source, settings)
    except InputError as error:
        raise_problems([*problems, *error.problems])
    if coarse is None:  # what a column gives away that could not be coarsened does not matter
        raise_problems(problems)
    settings = with_formats(settings, encoded.columns)
    source = replace(source, dialect=formatted(source.dialect, settings))
    kept = [name for name in roles.kept if name in frame.columns]
    found = leaks(frame, encoded, kept, settings.allow, settings.identified_limit)
    allowed = refuse(problems, Leaks.of(linking, settings.allow), found)
    if person is None:
        check_feasible(encoded, settings.k, settings.requirements)
        problem = problem_of(encoded, settings)
        return Plan(settings, roles, problem, source, given, pseudonyms, None, allowed)
    # Groups of a series are balanced, and who upsets the balance is left out: then only k may be out of reach.
    required = () if settings.series else settings.requirements
    check_feasible_for(person, encoded, settings.k, required)
    problem = problem_of(encoded, settings)
    people = People.of(person, problem.rules, problem.values)
    return Plan(settings, roles, problem, source, given, pseudonyms, people, allowed)


def refuse(problems: Sequence[str], *found: Leaks) -> tuple[Refusal, ...]:
    """Raise all problems and refusals together; returns what is given away because somebody allowed it."""
    refused = [leak for leaks_ in found for leak in leaks_.refused]
    if problems:
        raise_problems([*problems, *refusal_lines(refused)])
    raise_refusals(refused)
    return tuple(leak for leaks_ in found for leak in leaks_.allowed)


def with_formats(settings: Settings, columns: Sequence[Column]) -> Settings:
    """Settings that say how dates are written where that was found out, for the audit and for the next run."""
    found = {column.name: column.date_format for column in columns if column.date_format}
    return replace(settings, input=settings.input.with_formats(found)) if found else settings


def formatted(dialect: Dialect | None, settings: Settings) -> Dialect | None:
    """The way a file is written, with the formats of dates that the settings say."""
    return None if dialect is None else replace(dialect, date_format=settings.input.date_format)


def check_roles(columns: Sequence[str], settings: Settings) -> tuple[Roles, list[str]]:
    """The role of every column, and a sentence for everything that is wrong with them.

    Raises
    ------
    InputError
        Where no column has a name that the settings know.
    """
    roles = roles_of(
        columns,
        list(settings.quasi_identifiers),
        settings.sensitive,
        settings.identifiers,
        settings.keep,
        settings.others,
        settings.pseudonyms,
        settings.person,
    )
    named = [
        *settings.quasi_identifiers,
        *settings.sensitive,
        *settings.removed,
        *settings.pseudonyms,
        *settings.keep,
    ]
    if not any(name in columns or near_miss(name, columns) for name in named):
        raise InputError(  # the first row may be a person's, so that no name is shown
            f"None of the columns named is among the {len(columns):,} of the table; check the names, and that "
            "the first row of a file holds the names of its columns."
        )
    problems = roles.problems() + column_problems(columns, _named(settings))
    return roles, problems + _render_problems(columns, settings)


def _named(settings: Settings) -> list[str]:
    """Columns that the settings name and that nothing else looks for in the table."""
    coarsened = [name for name in settings.coarsen if name not in settings.sensitive]
    named = [*settings.keep, *settings.input.named_columns, *coarsened, *settings.allow]
    return list(dict.fromkeys(named))


def _coarsened(source: Source, settings: Settings, problems: list[str]) -> Source | None:
    """The table with its unprotected columns coarsened, None where that cannot be."""
    try:
        return coarsened(source, settings.coarsen, settings.input)
    except InputError as error:
        problems += error.problems
        return None


def _persons(frame: Frame, settings: Settings, problems: list[str]) -> Records | None:
    """A number for the person of each record, None where records are counted."""
    if settings.person is None or settings.person not in frame.columns:
        return None
    try:
        missing = settings.input.missing_in(settings.person)
        person = person_numbers(frame, settings.person, missing, problems)
    except InputError as error:
        problems += error.problems
        return None
    if settings.series and np.unique(person).size < person.size:
        problems.append(
            f"A series needs exactly one record per person, and some persons in column '{settings.person[:LONGEST]}' "
            "have several; people with several records cannot be released repeatedly: aggregate the table to one "
            "record per person first."
        )
    return person


def _pseudonyms(
    frame: Frame, settings: Settings, problems: list[str], linking: list[Refusal]
) -> dict[str, pa.Array]:
    """The pseudonyms of all records, by column; adds to `problems`, and to `linking` where they link records."""
    if not settings.pseudonyms:
        return {}
    found: dict[str, pa.Array] = {}
    try:
        key = read_key(settings.key_file)
    except InputError as error:
        problems += error.problems
        return {}
    for name in settings.pseudonyms:
        if name not in frame.columns:
            continue
        try:
            texts = canonical_texts(frame, name, settings.input.missing_in(name))
        except InputError as error:
            problems += error.problems
            continue
        linking += [Refusal(name, "links", sentence) for sentence in repeat_problems(name, texts)]
        found[name] = pseudonyms_of(texts, key)
    return found


def encode_source(source: Source, settings: Settings, may_be_empty: bool = False) -> Table:
    """Encode a table, coarsened already, by its settings."""
    return encode(
        source.data,
        settings.quasi_identifiers,
        settings.sensitive,
        (*settings.removed, *settings.pseudonyms),
        coarse_input(settings.input, settings.coarsen),
        may_be_empty,
        range_columns(settings.coarsen),
    )


def problem_of(encoded: Table, settings: Settings) -> Problem:
    """All that a method sees of an encoded table."""
    return Problem.of(
        encoded,
        settings.objective,
        settings.k,
        relative_weights(settings.weights, encoded),
        settings.w,
        settings.requirements,
    )


def _render_problems(columns: Sequence[str], settings: Settings) -> list[str]:
    """Columns of the table that bounds would overwrite."""
    if settings.render != "bounds":
        return []
    intervals = [
        name
        for name, model in settings.quasi_identifiers.items()
        if model is None or isinstance(model, Interval | Order)
    ]
    wanted = {bound for name in intervals for bound in bound_names(name)}
    return [
        f"Column '{name}' is in the way of an interval's bounds; rename it."
        for name in columns
        if name in wanted
    ]


def group(plan: Plan, watch: Watch) -> Partition:
    """Group and refine, by records or by persons."""
    problem, settings = plan.problem, plan.settings
    method, seed, people = settings.method, settings.seed, plan.people
    if people is not None:
        budget = _budget(settings) if settings.refine else None
        return watch(
            "grouping",
            lambda: group_persons(problem, people, method, budget, seed, watch.progress),
        )
    partition = watch("grouping", lambda: method.partition(problem, seed, watch.progress))
    if settings.refine and method.choose(problem.table.records).may_be_refined():
        partition = watch("refining", lambda: _refine(problem, partition, settings, watch.progress))
    return partition


def _budget(settings: Settings) -> Refine:
    return settings.refine if isinstance(settings.refine, Refine) else Refine()


def _refine(
    problem: Problem, partition: Partition, settings: Settings, progress: Progress
) -> Partition:
    """Improve what a method made."""
    budget = _budget(settings)
    found = refine_in_memory(problem, partition.groups, settings.seed, progress, budget)
    notes = (*partition.notes, *found.notes)
    return replace(partition, groups=found.groups, notes=notes, duals=found.duals)
