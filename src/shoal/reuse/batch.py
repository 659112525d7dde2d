"""A batch of new records: each takes an earlier closure, joins a new group or is held back; then all are audited."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.audits.verdict import Audit
from shoal.data.files.table_file import formula_problems, write_file
from shoal.data.open import open_table
from shoal.encoding.encode import random_order
from shoal.encoding.forms import Records
from shoal.encoding.frames import Frame, FrameT, arrow_table, open_frame
from shoal.encoding.other_columns import coarsened
from shoal.encoding.render import assemble_frame
from shoal.encoding.source import Dialect, Input, Source
from shoal.errors import Infeasible, InputError, counted, raise_problems
from shoal.pipeline.carriers.memory import Memory, group_and_refine
from shoal.pipeline.plan import Plan, prepare
from shoal.pipeline.prove import AuditEvidence, audit_evidence, audit_file, audit_release
from shoal.progress import Watch, silent
from shoal.reuse.coverage import NOBODY, Coverage, assign_closures, coverage_of
from shoal.risk.limits import compile_rules
from shoal.risk.persons import People
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from shoal.reuse.recoding import Recoding

Texts = dict[str, list[str | None]]


@dataclass(frozen=True, repr=False, eq=False)
class Batch(Generic[FrameT]):
    """New records that were released under the closures of an earlier release.

    Attributes
    ----------
    data
        The released records, a frame of the kind that was given; None if all were held back.
    held
        The records that were held back, unchanged, with identifiers: give them to the next batch.
    taken
        The number of records that took a closure of the recoding.
    regrouped
        The number of records that were grouped among themselves.
    audit
        What was proved about the batch alone; None if all were held back.
    together
        What was proved about everything released so far, as one table.
    recoding
        The recoding for the next batch, which includes this one.
    is_released
        Whether each record was released, in the order given, those of `held` first.
    """

    data: FrameT | None
    held: FrameT
    taken: int
    regrouped: int
    audit: Audit | None
    together: Audit
    recoding: Recoding = field(repr=False)
    is_released: Any = field(repr=False)
    settings: Settings = field(repr=False)
    known: AuditEvidence = field(default_factory=AuditEvidence, repr=False)
    dialect: Dialect | None = field(default=None, repr=False)

    @property
    def held_back(self) -> int:
        """How many records were held back."""
        return int(np.count_nonzero(~self.is_released))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the released records to a file, whole or not at all, after an audit of the file."""
        if self.data is None:
            raise InputError(
                "All records were held back, so there is nothing to write. Save them with save_held, and give "
                "them to the next batch."
            )
        data, dialect = arrow_table(open_frame(self.data)), self.dialect or Dialect()
        raise_problems(formula_problems(data, Path(path), self.settings.allows))
        prove = partial(audit_file, self.known, self.settings, dialect)
        write_file(data, path, overwrite, dialect, prove)

    def save_held(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the records that were held back, unchanged, to a file that only its owner may read."""
        held = arrow_table(open_frame(self.held))
        write_file(held, path, overwrite, self.dialect or Dialect(), private=True)

    def to_dict(self) -> dict[str, Any]:
        """Return what was released, held back and proved, ready for JSON; it contains no record."""
        return {
            "taken": self.taken,
            "regrouped": self.regrouped,
            "held": self.held_back,
            "audit": None if self.audit is None else self.audit.to_dict(),
            "together": self.together.to_dict(),
            "batches": self.recoding.batches,
        }

    def __repr__(self) -> str:
        return (
            f"Batch({counted(self.taken, 'record')} taken, {self.regrouped:,} newly grouped, {self.held_back:,} held "
            "back)"
        )


def make_batch(
    recoding: Recoding, settings: Settings, table: Any, batch_k: int, held: Any, regroup: bool
) -> Batch[Any]:
    """Release new records as far as possible, and prove it for the batch and for all batches together."""
    source = _joined(open_table(table, settings.reading), held, settings.reading)
    settings = replace(settings, k=batch_k)
    plan = prepare(Memory(source), replace(settings, k=1, requirements=()))
    closure = _taken(plan, settings, recoding.closures)
    texts: Texts = {
        name: np.array([*own, None], dtype=object)[closure].tolist()
        for name, own in recoding.closures.items()
    }
    is_released = closure != NOBODY
    rest = np.flatnonzero(~is_released)
    anew = _regrouped(source, settings, rest) if regroup else None
    if anew is not None:
        is_released[rest] = True
        for name, own in anew.items():
            for record, text in zip(rest.tolist(), own, strict=True):
                texts[name][record] = text
    taken = int(np.count_nonzero(closure != NOBODY))
    batch = Batch(
        data=None,
        held=source.data[np.flatnonzero(~is_released).tolist()].to_native(),
        taken=taken,
        regrouped=int(np.count_nonzero(is_released)) - taken,
        audit=None,
        together=recoding.examine().prove(),
        recoding=recoding,
        is_released=is_released,
        settings=settings,
        dialect=source.dialect,
    )
    return _released(batch, plan, texts) if is_released.any() else batch


def _released(batch: Batch[Any], plan: Plan[Memory], texts: Texts) -> Batch[Any]:
    """The batch with its records rendered and audited."""
    settings, kept = batch.settings, np.flatnonzero(batch.is_released)
    order = np.arange(kept.size) if settings.keep_order else random_order(kept.size)
    released = replace(plan.carrier.given, data=plan.carrier.given.data[kept.tolist()])
    frame = coarsened(released, settings.coarsen, settings.reading).data
    generalized = {
        name: {name: pa.array(own, pa.string()).take(pa.array(kept[order]))}
        for name, own in texts.items()
    }
    pseudonyms = {name: own.take(pa.array(kept)) for name, own in plan.carrier.pseudonyms.items()}
    rendered = assemble_frame(frame, generalized, order, plan.roles.unchanged, pseudonyms)
    known = audit_evidence(frame, settings, order)
    audit = audit_release(rendered, known, settings).prove()
    grown = batch.recoding.with_batch(rendered)
    return replace(
        batch,
        data=rendered.to_native(),
        audit=audit,
        together=grown.examine().prove(),
        recoding=grown,
        known=known,
    )


def _taken(plan: Plan[Memory], settings: Settings, closures: Texts) -> Records:
    """The closure that takes each new record, −1 for none."""
    models = {column.name: column.model for column in plan.problem.columns}
    coverage: Coverage = coverage_of(
        plan.carrier.source.data, closures, models, settings.weights, settings.reading
    )
    rules, values = compile_rules(plan.problem.table, settings.k, settings.requirements)
    people = People(np.arange(coverage.records, dtype=np.int64), rules, values)

    def complies(records: Records) -> bool:
        if records.size < settings.k or not settings.requirements:
            return bool(records.size >= settings.k)
        groups = np.full(coverage.records, -1, dtype=np.int32)
        groups[records] = 0
        return bool(people.comply(groups)[0].all())

    return assign_closures(coverage, complies)


def _regrouped(source: Source, settings: Settings, records: Records) -> Texts | None:
    """The texts of records that are grouped among themselves, by column; None if that is not possible."""
    if records.size < settings.k:
        return None
    part = replace(source, data=source.data[records.tolist()])
    try:
        plan = prepare(Memory(part), settings)
    except (Infeasible, InputError):  # the records left may be too few or too similar
        return None
    partition, _ = group_and_refine(plan, Watch(silent))
    _, closed = plan.carrier.close_groups(plan, partition.groups, partition.closing)
    found: Texts = {}
    for j, column in enumerate(closed.table.columns):
        texts = np.array(column.form.text(closed.of_column(j)), dtype=object)
        found[column.name] = texts[closed.groups].tolist()
    return found


def _joined(source: Source, held: Any, input: Input) -> Source:
    """New records after those that were held back."""
    if held is None:
        return source
    before: Frame = open_table(held, input.of_written()).data
    if not before.shape[0]:
        return source
    joined = None
    if set(before.columns) == set(source.data.columns):
        with suppress(Exception):  # each library has errors of its own, and they may show a cell
            joined = _stacked(before.select(source.data.columns), source.data)
    if joined is None:
        raise InputError(
            "The records held back have other columns or types than the new ones. Give both in the form in "
            "which they came from the source."
        )
    return replace(source, data=joined)


def _stacked(first: Frame, second: Frame) -> Frame:
    one, other = first.to_native(), second.to_native()
    if isinstance(one, pa.Table) and isinstance(other, pa.Table):
        return open_frame(pa.concat_tables([one, other], promote_options="permissive"))
    return nw.concat([first, second], how="vertical")
