"""A table on an engine: each step of a run on counted combinations, and back to records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from shoal.audits.verdict import Audit, Examination, Persons
from shoal.data.engines.base import (
    RESERVED,
    Lazy,
    engine_errors,
    most_rows,
    outer_name,
    records_at_once,
)
from shoal.data.open import RELEASE, LargeTable
from shoal.encoding.closed import Closed, loosened
from shoal.encoding.encode import Table, column_problems, fixed_seed
from shoal.encoding.other_columns import Roles
from shoal.encoding.source import Dialect
from shoal.errors import InputError, NotAvailable, counted, raise_problems
from shoal.pipeline.carriers.base import Carrier
from shoal.pipeline.carriers.columns import (
    COUNT,
    HASH,
    coarsen_frame,
    read_columns,
    respelled_frame,
)
from shoal.pipeline.carriers.joining import (
    RowPieces,
    alone_in,
    audit_staged,
    count_staged_persons,
    join_back,
    person_hash_columns,
    render_frame,
    secret_of,
    shuffled_frame,
    staged_leaks,
    with_persons,
)
from shoal.pipeline.carriers.released import Staged
from shoal.pipeline.plan import Plan, problem_of, resolved_settings
from shoal.progress import Watch
from shoal.risk.leaks import Leaks
from shoal.risk.limits import check_feasible
from shoal.settings.settings import Settings
from shoal.solve.counted.assignment import Assignment
from shoal.solve.counted.solve import solve
from shoal.solve.local_search.budget import Refine

CHANGED = "The table changed while it was read. Use a table that does not change during the run, such as a copy."


class OnEngine(Carrier):
    """A frame of an engine: values of columns and counts of combinations come into memory, records never do."""

    def __init__(self, opened: LargeTable) -> None:
        self.opened, self.engine = opened, opened.engine

    @contextmanager
    def at_work(self) -> Iterator[None]:
        try:
            with engine_errors(self.engine.name):
                yield
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        self.opened.close()

    @property
    def columns(self) -> list[str]:
        return self.opened.names

    @property
    def dialect(self) -> Dialect | None:
        return self.opened.dialect

    def encode(self, settings: Settings, roles: Roles, problems: list[str], watch: Watch) -> Table:
        named = [*settings.quasi_identifiers, *settings.sensitive, *settings.identifiers]
        problems = [*problems, *column_problems(self.columns, named)]
        if lacks := large_table_problems(settings, self.columns):
            raise NotAvailable([*lacks, *problems])
        raise_problems(problems)
        engine, frame = self.engine, self.opened.frame
        self._coarse = watch("encoding", lambda: coarsen_frame(engine, frame, settings))
        frame = self._coarse.frame
        self._codes = watch("encoding", lambda: read_columns(engine, frame, settings))
        refuse_slow_method(settings, self._codes.records)
        identifiers = settings.identifiers
        self._encoded = watch("encoding", lambda: self._stage_encoded(frame, roles, identifiers))
        table = watch("reducing", self._reduce)
        watch.progress("reducing", table.records, 0)
        return table

    def _stage_encoded(self, frame: Lazy, roles: Roles, identifiers: Sequence[str]) -> Lazy:
        """Stage what is needed of every record: unchanged columns, packed codes, and hashes of record and person."""
        engine, codes, coarse = self.engine, self._codes, self._coarse
        # The engine numbered the origins in any order, on which the hash of a record must not depend.
        names = [name for name in frame.collect_schema().names() if name not in coarse.origins]
        unchanged = [name for name in names if outer_name(name) in roles.unchanged]
        hashed = engine.hashed(codes.packed(engine, frame), names, HASH, engine.key(frame))
        hashed = with_persons(engine, hashed, identifiers)
        kept = [*unchanged, *codes.keys, HASH, *person_hash_columns(identifiers), *coarse.origins]
        staged = engine.stage(hashed.select(kept), "encoded")
        asked = [*codes.keys, *coarse.records]
        sums = [nw.col(name).is_null().cast(nw.Int64).sum() for name in asked]
        nulls = engine.arrow(staged.select(*sums))
        missing = {name: codes.records - records for name, records in coarse.records.items()}
        if any(nulls[name][0].as_py() != missing.get(name, 0) for name in nulls.column_names):
            raise InputError(
                "The table changed while it was read, or has a type that the engine cannot compare. Use a table "
                "that does not change during the run, with numbers, dates and text."
            )
        return staged

    def _reduce(self) -> Table:
        """Count the records of every combination, in the order of their packed codes."""
        engine, codes = self.engine, self._codes
        counts = nw.len().cast(nw.Int64).alias(COUNT)
        counted = engine.stage(self._encoded.group_by(*codes.keys).agg(counts), "counts")
        rows = int(engine.arrow(counted.select(nw.len().alias(COUNT)))[COUNT][0].as_py())
        most = most_rows(self.opened.memory, len(codes.columns))
        if rows > most:
            raise InputError(
                f"The table has {rows:,} different combinations of quasi-identifiers and sensitive values, but "
                f"memory suffices for about {most:,}. Give more memory (--memory), or keep sensitive columns "
                "that no requirement is about instead (-x, keep=)."
            )
        found = engine.numbers(counted)
        order = np.lexsort([found[key] for key in reversed(codes.keys)])
        self._keys = [found[key][order] for key in codes.keys]
        return codes.table(codes.unpacked(self._keys), found[COUNT][order])

    def leaks(self, table: Table, roles: Roles, settings: Settings) -> Sequence[Leaks]:
        return (staged_leaks(self.engine, self._encoded, self._codes, table, roles, settings),)

    def check_feasible(self, table: Table, settings: Settings) -> None:
        check_feasible(table, settings.k, settings.requirements)

    def solve(self, plan: Plan[OnEngine], watch: Watch) -> Sequence[str]:
        settings = plan.settings
        self._secret = secret_of(self.engine, self._encoded, settings.seed)
        budget = settings.refine if isinstance(settings.refine, Refine) else Refine()
        solved = watch(
            "solving",
            lambda: solve(
                plan.problem,
                settings.method,
                budget if settings.refine else None,
                seed=settings.seed,
                progress=watch.progress,
                most=records_at_once(self.opened.memory),
                secret=self._secret,
                elsewhere=self.engine.elsewhere(),
            ),
        )
        self._assignment = solved.assignment
        return solved.notes

    def close(self, plan: Plan[OnEngine]) -> Closed:
        problem, settings, assignment = plan.problem, plan.settings, self._assignment
        kept = assignment.released()
        merged, closed = kept.close(problem)
        if assignment.left_out:
            left = problem.table.pick(kept.rows, kept.counts)
            fresh = self._codes.without(left, resolved_settings(settings, problem.columns, None))
            plain = replace(settings, requirements=())
            own = Assignment(np.arange(kept.rows.size), kept.counts, kept.groups, kept.forms)
            again, closed = own.close(problem_of(fresh, plain))
            merged = Assignment(kept.rows[again.rows], again.counts, again.groups)
            closed = replace(closed, left_out=assignment.left_out)
        if settings.loosen:
            closed = loosened(closed, settings.loosen, fixed_seed())
            merged = Assignment(merged.rows, merged.counts, closed.groups)
        gone = assignment.groups < 0
        self._assignment = Assignment(
            np.concatenate([merged.rows, assignment.rows[gone]]),
            np.concatenate([merged.counts, assignment.counts[gone]]),
            np.concatenate([merged.groups, assignment.groups[gone]]),
        )
        return self._spelled(plan, closed)

    def _spelled(self, plan: Plan[OnEngine], closed: Closed) -> Closed:
        """Give every record its group; coarsened texts show no trace of records that are left out."""
        engine, table = self.engine, plan.problem.table
        pieces = RowPieces.of(self._assignment, table.rows)
        codes, keys, secret = self._codes, self._keys, self._secret
        self._grouped = join_back(engine, self._encoded, codes, keys, pieces, secret)
        if closed.left_out:
            self._grouped, closed = respelled_frame(
                engine, self._grouped, closed, self._coarse, plan.settings
            )
        return closed

    def render(self, plan: Plan[OnEngine], closed: Closed) -> None:
        engine = self.engine
        rendered = render_frame(engine, self._grouped, closed, self.columns, plan.settings.render)
        self._staged = engine.stage(shuffled_frame(engine, rendered), "release")

    def examine(self, plan: Plan[OnEngine], closed: Closed) -> Examination:
        found = audit_staged(self.engine, self._staged, plan.settings)
        if found.audit.records + closed.left_out != plan.problem.table.records:
            raise InputError(CHANGED)
        return found

    def count_persons(self, plan: Plan[OnEngine], closed: Closed) -> Sequence[Persons]:
        keys, k = plan.person_keys, plan.settings.k
        return count_staged_persons(self.engine, self._encoded, self._grouped, keys, k, self._codes)

    @property
    def released_columns(self) -> list[str]:
        return [outer_name(name) for name in self._staged.collect_schema().names()]

    def people(self, audit: Audit) -> int:
        return audit.records

    def identified(self, columns: Sequence[str]) -> int:
        return alone_in(self.engine, self._staged, columns)

    def released(self, plan: Plan[OnEngine], audit: Audit, closed: Closed) -> Staged[Any]:
        self.opened.staging.keep(RELEASE, "release")
        data, columns = self.engine.outward(self._staged), closed.table.columns
        return Staged(data, columns, plan.resolved_settings, audit, self.opened)


MOST_QUADRATIC = 10_000_000  # records of a table for a method whose time grows like n²


def large_table_problems(settings: Settings, names: Sequence[str]) -> list[str]:
    """Return settings and columns that a large table does not support."""
    single = "Counting people works" if settings.person else "Pseudonyms work"
    is_taken = any(name.startswith(RESERVED) for name in names)
    lower = Counter(name.lower() for name in names)
    twice = min((name for name, count in lower.items() if count > 1), default=None)
    obstacles = {
        "A table that is not in memory has no order to keep. Leave out keep_order, or read the table into "
        "memory (--engine memory).": settings.keep_order,
        f"Method '{settings.method.name}' needs all records in memory. Choose another method, or read the table "
        "into memory (--engine memory).": not settings.method.homogeneous,
        "render = 'mean' needs all records in memory. Set render to 'midpoint', 'text' or 'bounds', or read the "
        "table into memory (--engine memory).": settings.render == "mean",
        "Series of releases only work in memory. Read the table into memory (--engine memory).": settings.series,
        f"{single} only in memory. Read the table into memory (--engine memory).": (
            settings.person or settings.pseudonyms
        ),
        f"Names of columns must not begin with {RESERVED}, which shoal uses itself. Rename them.": is_taken,
        f"Columns named '{twice}' differ only in upper and lower case, which engines do not distinguish. Rename "
        "one.": twice is not None,
    }
    return [sentence for sentence, applies in obstacles.items() if applies]


def refuse_slow_method(settings: Settings, records: int) -> None:
    """Refuse a method that would take days for so many records."""
    method = settings.method.choose(records)
    if records > MOST_QUADRATIC and method.growth.startswith("n²"):
        raise InputError(
            f"Method '{method.name}' would take too long for {counted(records, 'record')}, because its time "
            "grows with the square of their number. Choose the method 'auto'."
        )
