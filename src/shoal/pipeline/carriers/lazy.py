"""A table on an engine: scan, encode, reduce, solve, join back, render, stage, audit what was staged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from shoal.audits.verdict import Audit, Examination
from shoal.data.engines.base import RESERVED, Lazy, outer, speaking_of
from shoal.data.engines.memory import most_at_once, most_rows
from shoal.data.engines.opening import RELEASE, Opened
from shoal.encoding.closed import Closed, loosened
from shoal.encoding.encode import Table, column_problems
from shoal.encoding.forms import Records
from shoal.encoding.other_columns import Roles
from shoal.errors import InputError, Refusal, raise_problems, raise_refusals
from shoal.pipeline.carriers.coarsening import Coarsened, coarsen, spelled_anew
from shoal.pipeline.carriers.columns import COUNT, HASH, Codes, read_columns
from shoal.pipeline.carriers.counts import (
    alone_in,
    columns_of,
    count_persons,
    examine_staged,
    leaks_in,
    with_persons,
)
from shoal.pipeline.carriers.joining import Pieces, join_back, render_frame, secret_of, shuffled
from shoal.pipeline.carriers.lazy_release import LargeRelease
from shoal.pipeline.estimate import compiling_for
from shoal.pipeline.plan import (
    Outlook,
    check_roles,
    formatted,
    problem_of,
    spelled_out,
    with_formats,
)
from shoal.pipeline.plan import refuse as refuse_leaks
from shoal.pipeline.prove import judge_unprotected, judged, single_person_refusals
from shoal.progress import Progress, Watch, silent
from shoal.risk.limits import check_feasible, group_notes
from shoal.settings.settings import Settings
from shoal.solve.counted.assignment import Assignment
from shoal.solve.counted.solve import Solved, solve
from shoal.solve.local_search.budget import Refine
from shoal.solve.problem import Problem


def make_large_release(
    opened: Opened,
    settings: Settings,
    progress: Progress = silent,
    order_seed: int | None = None,
) -> LargeRelease[Any]:
    """Anonymize a frame of an engine by complete settings: the way on one screen."""
    engine, watch = opened.engine, Watch(progress)
    with speaking_of(engine.name):
        counted = _count(opened, settings, watch)
        roles, codes, frame = counted.roles, counted.codes, counted.frame
        problem, settings = counted.problem, counted.settings
        table = problem.table
        secret = secret_of(engine, frame, settings.seed)
        with compiling_for(settings, table.records, watch.progress, watch.again):
            solved = watch(
                "solving", lambda: _solve(problem, settings, opened, secret, watch.progress)
            )
        assignment, closed = watch(
            "closing",
            lambda: _close(solved.assignment, problem, settings, opened, codes, order_seed),
        )
        progress("rendering", table.records, 0)
        pieces = Pieces.of(assignment, table.rows)
        grouped = join_back(engine, frame, codes, counted.keys, pieces, secret)
        if closed.left_out:
            grouped, closed = spelled_anew(engine, grouped, closed, counted.coarse, settings)
        released = render_frame(engine, grouped, closed, opened.names, settings.render)
        staged = watch(
            "rendering", lambda: engine.stage(shuffled(engine, released, order_seed), "release")
        )
        examination = watch("auditing", lambda: examine_staged(engine, staged, settings))
        own = spelled_out(settings, problem.columns, roles)
        audit = _judged(examination, opened, grouped, staged, counted, own)
        if audit.records + closed.left_out != table.records:
            raise InputError("The table changed while it was read; give one that stays the same.")
        opened.staging.keep(RELEASE, "release")
        notes = (*solved.notes, *group_notes(problem.rules, problem.values, table))
        return LargeRelease(
            data=engine.outward(staged),
            settings=own,
            audit=audit,
            closed=closed,
            removed=roles.removed,
            dialect=formatted(opened.dialect, settings),
            stored=opened.stored,
            notes=notes,
            reading_notes=Outlook(settings, roles, problem).reading_notes,
            seconds=watch.seconds,
            opened=opened,
        )


def _judged(
    found: Examination,
    opened: Opened,
    grouped: Lazy,
    staged: Lazy,
    counted: _Counted,
    settings: Settings,
) -> Audit:
    """The audit of a staged release, with the verdict on all its columns."""
    engine, audit = opened.engine, found.prove()
    frame, codes = counted.frame, counted.codes
    persons = count_persons(engine, frame, grouped, counted.told_apart, settings.k, codes)
    unprotected, refusals = judge_unprotected(
        [outer(name) for name in staged.collect_schema().names()],
        settings,
        counted.allowed,
        audit.records,
        lambda names: alone_in(engine, staged, names),
    )
    raise_refusals([*single_person_refusals(persons, settings), *refusals])
    return judged(found, settings, unprotected, counted.allowed, persons).audit


def look_ahead_large(opened: Opened, settings: Settings, progress: Progress = silent) -> Outlook:
    """Check and count a frame of an engine, without anonymizing it."""
    with speaking_of(opened.engine.name):
        counted = _count(opened, settings, Watch(progress))
    return Outlook(counted.settings, counted.roles, counted.problem)


@dataclass(frozen=True)
class _Counted:
    """A large table as counts, checked and ready to be solved."""

    settings: Settings  # with what was found out about the table
    roles: Roles
    codes: Codes
    frame: Lazy  # staged
    keys: list[Records]  # the packed codes of each row of the counted table
    problem: Problem
    told_apart: list[str]  # identifiers that may tell persons apart
    allowed: tuple[Refusal, ...]  # what released columns give away because somebody allowed it
    coarse: Coarsened


def _count(opened: Opened, settings: Settings, watch: Watch) -> _Counted:
    """Encode and count a large table, and judge whether it can be released as the settings say."""
    engine = opened.engine
    roles = _checked(opened.names, settings)
    coarse = watch("encoding", lambda: coarsen(engine, opened.frame, settings))
    opened = replace(opened, frame=coarse.frame)
    codes = watch("encoding", lambda: read_columns(engine, opened.frame, settings))
    refuse_slow(settings, codes.records)
    told_apart = list(settings.identifiers)
    frame = watch("encoding", lambda: _encode(opened, codes, roles, told_apart, coarse))
    keys, table = watch("reducing", lambda: _reduce(opened, frame, codes))
    watch.progress("reducing", table.records, 0)
    allowed = refuse_leaks((), leaks_in(engine, frame, codes, table, roles, settings))
    check_feasible(table, settings.k, settings.requirements)
    settings = with_formats(settings, table.columns)
    problem = problem_of(table, settings)
    return _Counted(settings, roles, codes, frame, keys, problem, told_apart, allowed, coarse)


def _checked(names: list[str], settings: Settings) -> Roles:
    """The role of every column, or all reasons why nothing can be released."""
    roles, problems = check_roles(names, settings)
    named = [*settings.quasi_identifiers, *settings.sensitive, *settings.identifiers]
    raise_problems([*refuse(settings, names), *problems, *column_problems(names, named)])
    return roles


def _encode(
    opened: Opened,
    codes: Codes,
    roles: Roles,
    told_apart: Sequence[str],
    coarse: Coarsened,
) -> Lazy:
    """Stage what is needed of every record: unchanged columns, packed codes, and hashes of record and person."""
    engine, frame = opened.engine, opened.frame
    # The engine numbered the origins in any order, on which the hash of a record must not depend.
    names = [name for name in frame.collect_schema().names() if name not in coarse.origins]
    unchanged = [name for name in names if outer(name) in roles.unchanged]
    hashed = engine.hashed(codes.packed(engine, frame), names, HASH, engine.key(frame))
    hashed = with_persons(engine, hashed, told_apart)
    kept = [*unchanged, *codes.keys, HASH, *columns_of(told_apart), *coarse.origins]
    staged = engine.stage(hashed.select(kept), "encoded")
    nulls = engine.arrow(
        staged.select(
            *(
                nw.col(name).is_null().cast(nw.Int64).sum()
                for name in (*codes.keys, *coarse.records)
            )
        )
    )
    missing = {name: codes.records - records for name, records in coarse.records.items()}
    if any(nulls[name][0].as_py() != missing.get(name, 0) for name in nulls.column_names):
        raise InputError(
            "The table changed while it was read, or holds a type that the engine cannot compare; give a table "
            "that stays the same, with numbers, dates and text."
        )
    return staged


def _reduce(opened: Opened, frame: Lazy, codes: Codes) -> tuple[list[Records], Table]:
    """Count the records of every combination; returns the packed codes and the counted table, in one order."""
    engine = opened.engine
    counted = engine.stage(
        frame.group_by(*codes.keys).agg(nw.len().cast(nw.Int64).alias(COUNT)), "counts"
    )
    rows = int(engine.arrow(counted.select(nw.len().alias(COUNT)))[COUNT][0].as_py())
    most = most_rows(opened.memory, len(codes.columns))
    if rows > most:
        raise InputError(
            f"The table has {rows:,} different combinations of quasi-identifiers and sensitive values, and memory "
            f"suffices for about {most:,}; give more memory (--memory), or keep sensitive columns that no "
            "requirement is about instead (-x, keep=)."
        )
    found = engine.numbers(counted)
    order = np.lexsort([found[key] for key in reversed(codes.keys)])
    keys = [found[key][order] for key in codes.keys]
    return keys, codes.table(codes.unpacked(keys), found[COUNT][order])


def _solve(
    problem: Problem, settings: Settings, opened: Opened, secret: int, progress: Progress
) -> Solved:
    budget = settings.refine if isinstance(settings.refine, Refine) else Refine()
    return solve(
        problem,
        settings.method,
        budget if settings.refine else None,
        seed=settings.seed,
        progress=progress,
        most=opened.most or most_at_once(opened.memory),
        suppression_limit=settings.suppression_limit,
        secret=secret,
        elsewhere=opened.engine.elsewhere(),
    )


def _close(
    assignment: Assignment,
    problem: Problem,
    settings: Settings,
    opened: Opened,
    codes: Codes,
    order_seed: int | None,
) -> tuple[Assignment, Closed]:
    """Close all groups, without any trace of records that are left out; the assignment then says who is where."""
    kept = assignment.released()
    merged, closed = kept.close(problem)
    if assignment.left_out:
        left = problem.table.pick(kept.rows, kept.counts)
        fresh = codes.without(left, spelled_out(settings, problem.columns, None))
        plain = replace(settings, requirements=())
        own = Assignment(np.arange(kept.rows.size), kept.counts, kept.groups, kept.forms)
        again, closed = own.close(problem_of(fresh, plain))
        merged = Assignment(kept.rows[again.rows], again.counts, again.groups)
        closed = replace(closed, left_out=assignment.left_out)
    if settings.loosen:
        closed = loosened(closed, settings.loosen, order_seed)
        merged = Assignment(merged.rows, merged.counts, closed.groups)
    gone = assignment.groups < 0
    return (
        Assignment(
            np.concatenate([merged.rows, assignment.rows[gone]]),
            np.concatenate([merged.counts, assignment.counts[gone]]),
            np.concatenate([merged.groups, assignment.groups[gone]]),
        ),
        closed,
    )


MOST_QUADRATIC = 10_000_000  # records of a table that a method may take whose time grows like n²


def refuse(settings: Settings, names: Sequence[str]) -> list[str]:
    """Sentences for settings and columns that a large table cannot have."""
    found = []
    if settings.keep_order:
        found.append(
            "A table that is not in memory has no order to keep; leave out keep_order, or read it into memory "
            "(--engine memory)."
        )
    if not settings.method.homogeneous:
        found.append(
            f"Method '{settings.method.name}' links single records, which needs all of them in memory; choose "
            "another method, or read the table into memory (--engine memory)."
        )
    if settings.render == "mean":
        found.append(
            "The mean of a group needs all records in memory; set render to 'midpoint', 'text' or 'bounds', or read "
            "the table into memory (--engine memory)."
        )
    if settings.series:
        found.append(
            "Releases over time are made in memory only; read the table into memory (--engine memory)."
        )
    if settings.person or settings.pseudonyms:
        asked = "Persons are counted" if settings.person else "Pseudonyms are made"
        found.append(f"{asked} in memory only; read the table into memory (--engine memory).")
    if any(name.startswith(RESERVED) for name in names):
        found.append(
            f"Columns must not be named {RESERVED}…, which shoal uses itself; rename them."
        )
    lower = [name.lower() for name in names]
    twice = sorted({name for name in lower if lower.count(name) > 1})
    if twice:
        found.append(
            f"Columns named '{twice[0]}' differ in upper and lower case only, which engines do not tell apart; "
            "rename one."
        )
    return found


def refuse_slow(settings: Settings, records: int) -> None:
    """Refuse a method that would take days for so many records."""
    method = settings.method.choose(records)
    if records > MOST_QUADRATIC and method.growth.startswith("n²"):
        raise InputError(
            f"The time of method '{method.name}' grows like the square of the number of records, and there are "
            f"{records:,}; choose the method 'auto'."
        )
