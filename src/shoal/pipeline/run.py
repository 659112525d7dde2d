"""The way of a table: read, encode, group, leave out, close and render, audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.api.release import Release
from shoal.audits.texts import texts_of
from shoal.audits.verdict import Examination, Places
from shoal.data.engines.opening import engine_for
from shoal.data.open import open_table, stored_in
from shoal.encoding.closed import Closed, loosened
from shoal.encoding.forms import Ints
from shoal.encoding.frames import Frame
from shoal.encoding.render import render as render_frame
from shoal.encoding.rows import shuffled
from shoal.errors import InputError, raise_refusals
from shoal.pipeline.estimate import compiling_for
from shoal.pipeline.plan import Plan, group, prepare
from shoal.pipeline.prove import (
    Known,
    examine,
    judged,
    known_of,
    released_columns,
    single_person_refusals,
    unprotected_in,
)
from shoal.pipeline.series.history import History
from shoal.pipeline.series.next_release import Tonight, make_tonight
from shoal.progress import Progress, Watch, silent
from shoal.risk.limits import group_notes
from shoal.risk.persons import count_persons
from shoal.settings.settings import Settings
from shoal.solve.methods import Partition
from shoal.solve.methods.settle import suppress
from shoal.solve.persons.grouping import leave_out


def make_release(
    table: Any,
    settings: Settings,
    progress: Progress = silent,
    order_seed: int | None = None,
    engine: str | None = None,
    memory: str | int | None = None,
    beside: Path | None = None,
    previous: Any = None,
    planned: Callable[[Plan], None] | None = None,
) -> Release[Any]:
    """Anonymize a frame, a file or an open source by complete settings: the way on one screen.

    What a large table needs on disk goes `beside` its output. `planned` is told the plan of a table in memory before
    the work begins.
    """
    if settings.series and previous is None:
        raise InputError(
            "These settings are those of a series; give the earlier releases with previous= (--previous), or begin "
            "with previous=[] (--save-history alone)."
        )
    watch = Watch(progress)
    table = stored_in(table, settings.input)
    on = engine_for(table, engine, memory)
    if on != "memory":
        return make_large(table, settings, on, watch, order_seed, memory, beside)
    source = watch("reading", lambda: open_table(table, settings.input))
    plan = watch("encoding", lambda: prepare(source, settings))
    if planned is not None:
        planned(plan)
    with compiling_for(settings, plan.problem.table.records, watch.progress, watch.again):
        return _release(plan, watch, order_seed, previous)


def make_large(
    table: Any,
    settings: Settings,
    engine: str,
    watch: Watch,
    order_seed: int | None,
    memory: str | int | None,
    beside: Path | None,
) -> Release[Any]:
    """Anonymize a table that is not in memory, on an engine; see `pipeline/carriers/lazy.py`."""
    from shoal.data.engines.opening import open_large
    from shoal.pipeline.carriers.lazy import make_large_release

    opened = watch(
        "reading",
        lambda: open_large(
            table, settings.input, engine, memory=memory, beside=beside, progress=watch.progress
        ),
    )
    try:
        return make_large_release(opened, settings, watch.progress, order_seed)
    except BaseException:
        opened.close()
        raise


def _release(plan: Plan, watch: Watch, order_seed: int | None, previous: Any) -> Release[Any]:
    """Do the work on a table whose kernels are compiled."""
    problem, settings = plan.problem, plan.settings
    tonight = _tonight(plan, watch, previous, order_seed)
    partition = group(plan, watch) if tonight is None else tonight.partition
    groups = partition.groups
    if tonight is None:
        groups = watch("leaving out", lambda: _leave_out(plan, partition))
    frame, closed = watch("closing", lambda: _close(plan, groups, partition, order_seed))
    if tonight is not None:
        frame = tonight.respelled(frame)
    order = _order(closed, settings, order_seed)
    released = watch("rendering", lambda: _render(frame, closed, plan, order, groups >= 0))
    known = known_of(frame, plan.spelled_out, order)
    if tonight is not None:
        known = replace(known, series=tonight.witness(order))
    found = watch("auditing", lambda: _judged(plan, frame, closed, released, known, order))
    notes = tuple(partition.notes)
    # The method of a series knows of no other groups, and people left out must leave no trace.
    if tonight is None:
        notes = (*notes, *group_notes(problem.rules, problem.values, problem.table))
    return Release(
        data=released.to_native(),
        settings=plan.spelled_out,
        audit=found.audit,
        closed=closed,
        known=known,
        persons=None if plan.people is None else plan.people.person[groups >= 0],
        is_released=groups >= 0,
        duals=partition.duals,
        history=None if tonight is None else _remembered(tonight, released, settings, order),
        removed=plan.roles.removed,
        dialect=plan.source.dialect,
        stored=plan.source.stored,
        notes=notes,
        reading_notes=plan.reading_notes,
        seconds=watch.seconds,
    )


def _judged(
    plan: Plan, frame: Frame, closed: Closed, released: Frame, known: Known, order: Places
) -> Examination:
    """Prove the requirements on the finished release, and judge it as a whole."""
    settings = plan.spelled_out
    found = examine(released, known, settings)
    found.prove()
    persons = count_persons(frame, closed.groups, plan.told_apart, settings.k, closed.table.codes)
    people = None if known.crowd is None else known.crowd.person
    same = settings.method.homogeneous and found.audit.groups == np.unique(closed.groups).size
    groups = closed.groups[order] if same else None
    unprotected, refusals = unprotected_in(released, settings, plan.allowed, people, groups)
    raise_refusals([*single_person_refusals(persons, settings), *refusals])
    return judged(found, settings, unprotected, plan.allowed, persons)


def _tonight(plan: Plan, watch: Watch, previous: Any, order_seed: int | None) -> Tonight | None:
    """The groups of a release of a series, None for any other."""
    if previous is None:
        return None
    return watch("grouping", lambda: make_tonight(plan, previous, watch.progress, order_seed))


def _remembered(tonight: Tonight, released: Frame, settings: Settings, order: Places) -> History:
    """The history of a series with this release."""
    texts = texts_of(released, released_columns(released, settings))
    return tonight.remembered(texts, order)


def _leave_out(plan: Plan, partition: Partition) -> Ints:
    """Leave out records where the settings allow it: −1 in place of their group."""
    limit = plan.settings.suppression_limit
    if plan.people is not None:
        return leave_out(plan.problem, plan.people, partition.groups, limit)
    return suppress(plan.problem, partition.groups, limit)


def _close(
    plan: Plan, groups: Ints, partition: Partition, order_seed: int | None
) -> tuple[Frame, Closed]:
    """The records to release and their closures, loosened where the user chose so."""
    frame, closed = plan.close(groups, partition.closing)
    share = plan.settings.loosen
    return frame, loosened(closed, share, order_seed) if share else closed


def _order(closed: Closed, settings: Settings, order_seed: int | None) -> Places:
    """The order of released records: that of the input where the user chose so, otherwise shuffled."""
    records = closed.table.records
    return np.arange(records) if settings.keep_order else shuffled(records, order_seed)


def _render(
    frame: Frame, closed: Closed, plan: Plan, order: Places, is_released: npt.NDArray[np.bool_]
) -> Frame:
    """Render the released records in their order."""
    pseudonyms = {
        name: all_.filter(pa.array(is_released)) for name, all_ in plan.pseudonyms.items()
    }
    unchanged, style = plan.roles.unchanged, plan.settings.render
    return render_frame(frame, closed, order, unchanged, style, pseudonyms)
