"""Everything that is decided and checked before the work: roles, codes, leaks, feasibility, seconds, kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from shoal.encoding.encode import Column, Table, column_problems
from shoal.encoding.models import Interval, Order
from shoal.encoding.other_columns import Roles, assign_roles
from shoal.encoding.render import bound_names
from shoal.encoding.source import Dialect
from shoal.encoding.type_inference import GROUPED, date_format_in_words
from shoal.errors import (
    LONGEST,
    InputError,
    Refusal,
    counted,
    near_miss,
    raise_problems,
    raise_refusals,
    refusal_lines,
)
from shoal.kernels.compile import ahead
from shoal.kernels.compile.cache import on_compile
from shoal.progress import COMPILING, Progress, Watch, silent
from shoal.risk.leaks import Leaks
from shoal.settings.settings import Others, Settings
from shoal.solve.counted.exact_groups import solved_at_once
from shoal.solve.measures.additive import ADDITIVE
from shoal.solve.methods.base import MEASURED
from shoal.solve.methods.lattice import lattice_size, make_ladders
from shoal.solve.problem import Problem, relative_weights

if TYPE_CHECKING:
    from shoal.pipeline.carriers.base import Carrier


CarrierT = TypeVar("CarrierT", bound="Carrier")


@dataclass(frozen=True)
class Plan(Generic[CarrierT]):
    """A table that is ready to be anonymized: columns with roles, encoded, the requirements feasible."""

    settings: Settings  # including what was detected about the table
    roles: Roles
    problem: Problem
    carrier: CarrierT
    allowed: tuple[Refusal, ...] = ()  # what released columns reveal that was allowed

    @property
    def reading_notes(self) -> tuple[str, ...]:
        """What was detected about the table's format that the user should know."""
        return tuple(note for column in self.problem.columns if (note := _reading_note(column)))

    @property
    def resolved_settings(self) -> Settings:
        """The settings that make the same release again: every model, every kept column by its name."""
        return resolved_settings(self.settings, self.problem.columns, self.roles)

    @property
    def person_keys(self) -> list[str]:
        """Columns that may identify people, if no person column was named."""
        if self.settings.person:
            return []
        return [*self.settings.identifiers, *self.settings.pseudonyms]


def prepare(carrier: CarrierT, settings: Settings, watch: Watch | None = None) -> Plan[CarrierT]:
    """Check everything that can be checked before the work, and encode.

    Raises
    ------
    InputError
        With every problem of the columns: no role, mixed types, what unchanged columns reveal, …
    Infeasible
        If no release can meet the requirements.
    """
    roles, problems = check_roles(carrier.columns, settings)
    table = carrier.encode(settings, roles, problems, watch or Watch(silent))
    settings = with_formats(settings, table.columns)
    allowed = raise_all_problems(problems, *carrier.leaks(table, roles, settings))
    carrier.check_feasible(table, settings)
    return Plan(settings, roles, problem_of(table, settings), carrier, allowed)


def _reading_note(column: Column) -> str:
    """What a user should know about how a column was read; empty for nothing."""
    name = column.name[:LONGEST]
    if column.date_format:
        words = date_format_in_words(column.date_format)
        return f"Column '{name}' contains dates, read as {words} ({column.date_format})."
    if column.looks_like == GROUPED:
        return (
            f"Column '{name}' is treated as text: its values look like {GROUPED}. To use them as numbers, say which "
            f"separator they have, for example --thousands {quote(f'{name}:,')} (thousands)."
        )
    if column.looks_like:
        return (
            f"Column '{name}' is treated as text: most of its values look like {column.looks_like}, but some do "
            "not. If these mean that a value is missing, list them (missing, --missing)."
        )
    return ""


def resolved_settings(
    settings: Settings, columns: Sequence[Column], roles: Roles | None
) -> Settings:
    """Settings with the model of every column and, given the roles, every kept column by its name."""
    settings = replace(
        settings,
        quasi_identifiers={own.name: own.model for own in columns},
        reading=replace(settings.reading, query=None),  # which may hold values
    )
    if roles is None:
        return settings
    others: Others = "drop" if settings.others == "drop" else "refuse"
    return replace(settings, keep=roles.kept, others=others)


def raise_all_problems(problems: Sequence[str], *found: Leaks) -> tuple[Refusal, ...]:
    """Raise all problems and refusals together; return what is revealed because it was allowed."""
    refused = [leak for leaks_ in found for leak in leaks_.refused]
    if problems:
        raise_problems([*problems, *refusal_lines(refused)])
    raise_refusals(refused)
    return tuple(leak for leaks_ in found for leak in leaks_.allowed)


def with_formats(settings: Settings, columns: Sequence[Column]) -> Settings:
    """Settings with the formats of dates that were detected, for the audit and for the next run."""
    found = {column.name: column.date_format for column in columns if column.date_format}
    return replace(settings, reading=settings.reading.with_formats(found)) if found else settings


def with_date_formats(dialect: Dialect | None, settings: Settings) -> Dialect | None:
    """The way a file is written, with the formats of dates that the settings say."""
    return None if dialect is None else replace(dialect, date_format=settings.reading.date_format)


def check_roles(columns: Sequence[str], settings: Settings) -> tuple[Roles, list[str]]:
    """The role of every column, and a sentence for every problem with them.

    Raises
    ------
    InputError
        If no column has a name from the settings.
    """
    roles = assign_roles(
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
        raise InputError(  # the first row may belong to a person, so no name is shown
            f"None of the named columns is among the {counted(len(columns), 'column')} of the table. Check the "
            "names, and that the first row of the file contains column names."
        )
    problems = roles.problems() + column_problems(columns, _named(settings))
    return roles, problems + _render_problems(columns, settings)


def _named(settings: Settings) -> list[str]:
    """Columns that the settings name and that nothing else looks for in the table."""
    coarsened = [name for name in settings.coarsen if name not in settings.sensitive]
    named = [*settings.keep, *settings.reading.named_columns, *coarsened, *settings.allow]
    return list(dict.fromkeys(named))


def problem_of(encoded: Table, settings: Settings) -> Problem:
    """Everything that a method sees of an encoded table."""
    problem = Problem.of(
        encoded,
        settings.objective,
        settings.k,
        relative_weights(settings.weights, encoded),
        settings.w,
        settings.requirements,
    )
    return replace(problem, most_left_out=int(settings.suppression_limit * encoded.records))


def _render_problems(columns: Sequence[str], settings: Settings) -> list[str]:
    """Columns of the table that bounds would overwrite."""
    if settings.render != "bounds":
        return []
    wanted = {
        bound
        for name, model in settings.quasi_identifiers.items()
        if model is None or isinstance(model, Interval | Order)
        for bound in bound_names(name)
    }
    return [
        f"Column '{name}' has the name of an interval's bounds. Rename it."
        for name in columns
        if name in wanted
    ]


REFINING = 3.0  # seconds of quick refinement for so many records, about what `lowest_loss` takes beyond `cover`
LIMITED = 3.0  # times longer where sensitive values are counted
# Seconds in which an engine encodes, counts, joins, writes and audits a million records; `python -m benchmarks scale`.
SCANNED, MILLION = 5.0, 1_000_000
PROCESSES = 2  # that compile at once, at least on most machines
SPREAD = 2.5  # factor by which a guess may be wrong, either way


@dataclass(frozen=True)
class Estimate:
    """An estimate of the work before a run."""

    combinations: float  # of generalization levels
    least: float  # seconds
    most: float
    compiles: bool  # whether kernels are compiled first, which is in the seconds


def estimate_run(plan: Plan[Any]) -> Estimate:
    """Estimate how long a run takes, from measurements of other tables."""
    settings, records = plan.settings, plan.problem.table.records
    scanned = 0.0
    if plan.problem.table.counts is not None:
        scanned, records = SCANNED * records / MILLION, solved_at_once(plan.problem)
    share = records / MEASURED
    seconds = settings.method.seconds_for(records)
    if settings.refine and settings.method.choose(records).may_be_refined():
        limit = getattr(settings.refine, "seconds", None)
        seconds += limit or REFINING * share
    seconds *= LIMITED if settings.requirements else 1.0
    first = ahead.SECONDS * len(kernels_ahead(settings, records)) / PROCESSES
    return Estimate(
        combinations=lattice_size(make_ladders(plan.problem)),
        least=0.3 + (scanned + seconds + first) / SPREAD,
        most=1.0 + (scanned + seconds + first) * SPREAD,
        compiles=first > 0,
    )


def kernels_ahead(settings: Settings, records: int) -> list[ahead.Signature]:
    """Return the kernels that a job will call and that are not compiled yet, for the default method alone.

    A job with another method compiles each kernel when it first calls it.
    """
    if settings.series or not settings.refine or settings.method.choose(records).name != "cover":
        return []
    measure = ADDITIVE.get(settings.objective)
    chooses = measure is not None and measure.monotone
    lists = [ahead.DEFAULT, ahead.LARGER] if chooses else [ahead.DEFAULT]
    lists += [ahead.REQUIREMENTS] if settings.requirements else []
    # If shares are limited, cells are chosen and carved in turn, even for few records.
    lists += [ahead.SOMETIMES] if any(not own.counts_kinds for own in settings.requirements) else []
    lists += [ahead.PERSON] if settings.person else []
    return ahead.uncompiled(lists)


@contextmanager
def compiling_for(
    settings: Settings, records: int, progress: Progress, back: Callable[[], None]
) -> Iterator[None]:
    """Compile what a job needs in other processes while it runs, and report when the job waits.

    A job waits for the kernel that it calls next, and `back` is called after that. A kernel that no process has begun
    to compile is compiled by the job itself.
    """
    wanted = kernels_ahead(settings, records)

    def tell(done: int, total: int) -> None:
        progress(COMPILING, done, total)

    def wait(kernel: str, types: tuple[Any, ...]) -> None:
        tell(work.done, max(1, len(wanted)))
        if work.wait_for(ahead.Signature(kernel, types)):
            back()

    with ahead.Ahead(wanted, tell, ahead.worker_count(wanted)) as work, on_compile(wait):
        yield
