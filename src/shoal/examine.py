"""Open what the user gave, and audit it by what it reads: a finished frame or file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.auditing.coarsened import prove_coarsened
from shoal.auditing.compatibility import Originals, examine_compatibility, read_originals
from shoal.auditing.groups import examine_frame, examine_texts
from shoal.auditing.persons import Crowd, read_crowd
from shoal.auditing.pseudonyms import Replaced, prove_replaced, read_replaced
from shoal.auditing.series import Witness, examine_series
from shoal.auditing.texts import Reader, texts_of
from shoal.auditing.verdict import Places, Verdict, refuse_identifiers
from shoal.databases import DatabaseTable, is_address, open_stored, read_stored_texts
from shoal.io import check_header, open_file, read_texts
from shoal.settings import Settings
from shoal.table import open_frame
from shoal.table.frames import AnyFrame, Frame
from shoal.table.render import bound_names
from shoal.table.source import Input, Source

AnyTable = AnyFrame | DatabaseTable | str | os.PathLike[str]


def open_table(table: Any, input: Input | None = None) -> Source:
    """Whatever the user gave, a frame, a path or a table of a database, as a frame with what is known of it."""
    if isinstance(table, Source):
        return table
    table = stored_in(table, input)
    if isinstance(table, DatabaseTable):
        source = open_stored(table)
    else:
        is_path = isinstance(table, str | os.PathLike)
        source = open_file(table, input or Input()) if is_path else Source(table)
    return replace(source, data=open_frame(source.data))


def stored_in(table: Any, input: Input | None) -> Any:
    """The table of a database where its address is given; which table that is says `input`."""
    if not is_address(table):
        return table
    how = input or Input()
    return DatabaseTable(table, how.table, how.query)


def texts_in(table: Any, input: Input) -> pa.Table | None:
    """All values of a file or of a table of a database as texts, None for a frame."""
    table = stored_in(table, input)
    if isinstance(table, DatabaseTable):
        return read_stored_texts(table)
    if isinstance(table, str | os.PathLike):
        return read_texts(table, input)
    return None


def of_release(input: Input) -> Input:
    """How to read a release by the settings it was made with: their sheet, table and query are the original's."""
    return replace(input, sheet=None, table=None, query=None)


def originals_of(table: Frame, settings: Settings) -> Originals | None:
    """What the audit must know of the table that is released, None where the release says all."""
    if settings.method.homogeneous:
        return None
    return read_originals(table, settings.quasi_identifiers, _reader(settings))


@dataclass(frozen=True)
class Known:
    """What the audit must know of the original table beside the release."""

    originals: Originals | None = None  # where records do not read the same in groups
    replaced: Replaced | None = None  # where pseudonyms replace identifiers
    # Where persons are counted: those of the released records, in their order.
    crowd: Crowd | None = None
    series: Witness | None = None  # where the release is one of a series

    @property
    def is_nothing(self) -> bool:
        """Whether the release alone tells all that is to be proved."""
        return all(value is None for value in vars(self).values())


def known_of(table: Frame, settings: Settings, order: Places) -> Known:
    """What the audit must know of a table whose records are released in this order."""
    replaced = crowd = None
    if settings.pseudonyms:
        replaced = read_replaced(table, settings.pseudonyms, settings.allow)
    if settings.person:
        crowd = read_crowd(table, settings.person, settings.input.missing).taken(order)
    return Known(originals_of(table, settings), replaced, crowd)


def examine(released: Frame, known: Known, settings: Settings) -> Verdict:
    """Audit a finished release, as a frame of the user's or of texts, by what its method promises."""
    if known.replaced is not None:
        prove_replaced(released, known.replaced)
    prove_coarsened(released, settings.coarsen, _reader(settings))
    if known.originals is not None:
        return examine_compatibility(known.originals, released, settings.k, settings.removed)
    verdict = examine_frame(released, **promises(settings), crowd=known.crowd)
    if known.series is None:
        return verdict
    return _with_series(verdict, released, known.series, settings)


def counted_columns(names: Sequence[str], settings: Settings) -> list[str]:
    """The columns of a release whose combinations the audit counts: quasi-identifiers and what requirements ask."""
    refuse_identifiers(names, settings.removed)
    asked = [name for item in settings.requirements for name in item.over(settings.sensitive)]
    bounds = [own for name in settings.quasi_identifiers for own in (name, *bound_names(name))]
    return list(dict.fromkeys(name for name in (*bounds, *asked) if name in names))


def examine_coarsened(column: Frame, settings: Settings) -> None:
    """Audit the distinct values of a column of a release that was to be coarsened."""
    prove_coarsened(column, settings.coarsen, _reader(settings))


def examine_counted(counted: Frame, count: str, settings: Settings) -> Verdict:
    """Audit a release by its combinations, each with its number of records in the column `count`."""
    counts = counted.get_column(count).to_numpy().astype(np.int64)
    return examine_frame(counted.drop(count), **promises(settings), counts=counts)


def _with_series(
    verdict: Verdict, released: Frame, witness: Witness, settings: Settings
) -> Verdict:
    """The verdict with what is proved beside the earlier releases."""
    columns = released_columns(released, settings)
    texts = texts_of(released, [*columns, witness.sensitive])
    proof, miss = examine_series(texts, columns, witness, settings.input.missing)
    audit = replace(verdict.audit, proofs=(*verdict.audit.proofs, proof))
    return replace(verdict, audit=audit, misses=(*verdict.misses, miss))


def released_columns(released: Frame, settings: Settings) -> list[str]:
    """The columns in which quasi-identifiers are released: themselves, or their bounds."""
    named = [bound for name in settings.quasi_identifiers for bound in (name, *bound_names(name))]
    return [name for name in named if name in released.columns]


def examine_unordered(released: Frame, table: Frame, settings: Settings) -> Verdict:
    """Audit a release whose records may be in any order beside its table: whose record is whose is not known."""
    known = Known(originals_of(table, settings), crowd=_own_crowd(released, settings))
    if settings.pseudonyms:
        known = replace(known, replaced=read_replaced(table, settings.pseudonyms, settings.allow))
    verdict = examine(released, known, settings)
    return replace(verdict, audit=replace(verdict.audit, person=settings.person or ""))


def examine_table(table: Any, settings: Settings, keeps_sheet: bool = True) -> Verdict:
    """Audit any table, a frame or a file, by what its columns read.

    Unless `keeps_sheet`, the settings' sheet or table is that of the original, and not meant.
    """
    texts = texts_in(table, settings.input if keeps_sheet else of_release(settings.input))
    if texts is not None:
        if isinstance(table, str | os.PathLike) and not is_address(table):
            check_header(Path(table), texts.column_names, texts.columns)
        frame = open_frame(texts)
        verdict = examine_texts(texts, **promises(settings), crowd=_own_crowd(frame, settings))
    else:
        frame = open_frame(table)
        verdict = examine_frame(frame, **promises(settings), crowd=_own_crowd(frame, settings))
    columns = frame.columns
    prove_replaced(frame, Replaced(settings.pseudonyms, settings.allow))
    prove_coarsened(frame, settings.coarsen, _reader(settings))
    named = {
        *settings.quasi_identifiers,
        *settings.sensitive,
        *settings.keep,
        *settings.pseudonyms,
    }
    bounds = {bound for name in settings.quasi_identifiers for bound in bound_names(name)}
    unnamed = tuple(name for name in columns if name not in named | bounds)
    audit = replace(verdict.audit, unnamed=unnamed, person=settings.person or "")
    return replace(verdict, audit=audit)


def _own_crowd(frame: Frame, settings: Settings) -> Crowd | None:
    """The persons of a finished table, where pseudonyms tell them apart; None where nothing does."""
    if not settings.person or settings.person not in settings.pseudonyms:
        return None
    if settings.person not in frame.columns:
        return None
    return read_crowd(frame, settings.person)


def promises(settings: Settings) -> dict[str, Any]:
    """What the audit proves, and how it reads values."""
    return {
        "quasi_identifiers": list(settings.quasi_identifiers),
        "k": settings.k,
        "identifiers": settings.removed,
        "requirements": settings.requirements,
        "sensitive": settings.sensitive,
        "reader": _reader(settings),
    }


def _reader(settings: Settings) -> Reader:
    how = settings.input
    texts = tuple(name for name in how.types if how.is_text(name))
    return Reader(how.missing, how.decimal, how.date_format, texts)
