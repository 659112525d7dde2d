"""One run: the steps from a table to an audited release, for tables in memory and on engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

import numpy as np
import numpy.typing as npt

from shoal.audits.verdict import Audit
from shoal.data.open import engine_for, open_large, open_table, table_in_database
from shoal.encoding.closed import Closed
from shoal.encoding.forms import Floats, Records
from shoal.encoding.frames import FrameT
from shoal.encoding.source import Dialect, Source
from shoal.errors import InputError, raise_refusals
from shoal.pipeline.carriers.base import Carrier
from shoal.pipeline.carriers.memory import Memory
from shoal.pipeline.carriers.released import ReleasedData
from shoal.pipeline.plan import Plan, compiling_for, prepare, with_date_formats
from shoal.pipeline.prove import judge_unprotected, single_person_refusals, with_verdict
from shoal.pipeline.series.history import History
from shoal.progress import Progress, Watch, silent
from shoal.risk.limits import group_notes
from shoal.settings.settings import Settings


@dataclass(frozen=True, repr=False, eq=False)
class RunResult(Generic[FrameT]):
    """The result of a run: the released table, and everything that is known about it."""

    released: ReleasedData[FrameT] = field(repr=False)
    settings: Settings  # that make the same release again
    audit: Audit
    closed: Closed = field(repr=False)
    # The next three are None for a table on an engine, whose records have no numbers.
    in_release: npt.NDArray[np.bool_] | None = field(default=None, repr=False)  # each input record
    duals: Floats | None = field(default=None, repr=False)  # for the certificate, per record
    bound: float | None = field(default=None, repr=False)  # for the certificate
    # A number for the person of each released record, in input order, if people are counted.
    persons: Records | None = field(default=None, repr=False)
    history: History | None = field(default=None, repr=False)
    removed: Sequence[str] = ()
    dialect: Dialect | None = None
    source: Source | None = field(default=None, repr=False)  # the table, if it is in memory
    notes: Sequence[str] = ()
    reading_notes: Sequence[str] = ()
    seconds: dict[str, float] = field(default_factory=dict)


def run(
    table: Any,
    settings: Settings,
    progress: Progress = silent,
    *,
    engine: str | None = None,
    memory: str | int | None = None,
    beside: Path | None = None,
    previous: Any = None,
    planned: Callable[[Plan[Any]], None] | None = None,
) -> RunResult[Any]:
    """Anonymize a frame, a file or an open source by complete settings.

    What a large table needs on disk is stored `beside` its output. `planned` gets the plan before the work begins.
    """
    watch = Watch(progress)
    carrier = open_carrier(table, settings, watch, engine, memory, beside, previous)
    with carrier.at_work():
        plan = prepare(carrier, settings, watch)  # roles, codes, leaks, feasibility
        if planned is not None:
            planned(plan)
        with compiling_for(plan.settings, plan.problem.table.records, watch.progress, watch.again):
            notes = carrier.solve(plan, watch)
            closed = watch("closing", lambda: carrier.close(plan))
            watch("rendering", lambda: carrier.render(plan, closed))
            audit = watch("auditing", lambda: prove(plan, closed))
        return RunResult(
            released=carrier.released(plan, audit, closed),
            settings=plan.resolved_settings,
            audit=audit,
            closed=closed,
            in_release=carrier.is_released,
            duals=carrier.duals,
            bound=carrier.bound,
            persons=carrier.persons,
            history=carrier.history,
            removed=plan.roles.removed,
            dialect=with_date_formats(carrier.dialect, plan.settings),
            source=getattr(carrier, "given", None),
            notes=(*notes, *_group_notes(plan)),
            reading_notes=plan.reading_notes,
            seconds=watch.seconds,
        )


def plan_run(table: Any, settings: Settings, progress: Progress = silent, **how: Any) -> Plan[Any]:
    """Check and encode a table as `run` would, without anonymizing it."""
    watch = Watch(progress)
    carrier = open_carrier(table, settings, watch, **how)
    try:
        with carrier.at_work():
            return prepare(carrier, settings, watch)
    finally:
        carrier.discard()


def open_carrier(
    table: Any,
    settings: Settings,
    watch: Watch,
    engine: str | None = None,
    memory: str | int | None = None,
    beside: Path | None = None,
    previous: Any = None,
) -> Carrier:
    """Open a table where it can be worked on: in memory, or on the engine that it needs."""
    if settings.series and previous is None:
        raise InputError(
            "These settings are for a series. Give the earlier releases with previous= (--previous), or begin "
            "with previous=[] (--save-history alone)."
        )
    table = table_in_database(table, settings.reading)
    name = engine_for(table, engine, memory)
    if name == "memory":
        source = watch("reading", lambda: open_table(table, settings.reading))
        return Memory(source, previous)
    from shoal.pipeline.carriers.on_engine import OnEngine

    opened = watch(
        "reading",
        lambda: open_large(
            table, settings.reading, name, memory=memory, beside=beside, progress=watch.progress
        ),
    )
    return OnEngine(opened)


def prove(plan: Plan[Any], closed: Closed) -> Audit:
    """Prove the requirements on the finished release, and judge it as a whole."""
    carrier, settings = plan.carrier, plan.resolved_settings
    found = carrier.examine(plan, closed)
    audit = found.prove()
    persons = carrier.count_persons(plan, closed)
    unprotected, refusals = judge_unprotected(
        carrier.released_columns, settings, plan.allowed, carrier.people(audit), carrier.identified
    )
    raise_refusals([*single_person_refusals(persons, settings), *refusals])
    return with_verdict(found, settings, unprotected, plan.allowed, persons).audit


def _group_notes(plan: Plan[Any]) -> Sequence[str]:
    """What requirements mean for the number of groups.

    The method of a series ignores other groups, and people left out must leave no trace.
    """
    problem = plan.problem
    if plan.settings.series:
        return ()
    return group_notes(problem.rules, problem.values, problem.table)
