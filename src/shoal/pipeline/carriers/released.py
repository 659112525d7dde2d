"""A released table, in memory or staged by an engine: shown, counted, and saved after another audit."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic

import narwhals as nw

from shoal.assess.singling_out import KeptColumns, singled_out
from shoal.audits.verdict import Audit
from shoal.data.databases.address import DatabaseTable
from shoal.data.databases.connection import IfExists
from shoal.data.databases.writing import COUNT, StagedTable, write_stored
from shoal.data.engines.base import HASHES, RESERVED, Lazy, engine_errors
from shoal.data.engines.publishing import publish_file, publish_folder, publish_stored
from shoal.data.files.column_types import columns_as_text
from shoal.data.files.streams import formulas_in
from shoal.data.files.table_file import (
    formula_problems,
    formula_sentences,
    runs_formulas,
    write_file,
)
from shoal.data.open import RELEASE, LargeTable
from shoal.encoding.encode import Column
from shoal.encoding.frames import Frame, FrameT, arrow_table, open_frame
from shoal.encoding.render import spelled_for
from shoal.encoding.source import Dialect, Origin
from shoal.errors import InputError, NotAvailable, raise_problems
from shoal.pipeline.carriers.joining import alone_in, audit_staged
from shoal.pipeline.prove import (
    AuditEvidence,
    audit_coarsened,
    audit_counted,
    audit_file,
    audit_release,
    counted_columns,
)
from shoal.settings.settings import Settings

SHOWN = 1_000  # records from which the report of a large release takes some
LOST = "Records were lost while the release was written. Write it again."
# What a release of a large table does not support, and why.
LACKING = {
    "groups": "A release of a large table does not know the group of each input record, or which records it contains. "
    "Read the table into memory (engine='memory') to know.",
    "pickle": "A release of a large table cannot be pickled. Save it to a file.",
}


@dataclass(frozen=True, repr=False, eq=False)
class ReleasedData(ABC, Generic[FrameT]):
    """A released table, its quasi-identifiers, and what an audit of written copies must know."""

    data: FrameT  # of the user's kind
    columns: Sequence[Column]  # the quasi-identifiers
    settings: Settings
    audit: Audit

    def lacks(self, what: str) -> None:
        """Raise `NotAvailable` if the release does not support something; in memory, everything is supported."""

    @property
    @abstractmethod
    def shown(self) -> Frame:
        """The released records of which a report shows some."""

    @abstractmethod
    def alone_in(self, columns: Sequence[str]) -> list[KeptColumns]:
        """How many released records are the only ones with their value in each of some columns, and in all together."""

    @abstractmethod
    def into_file(
        self, path: str | os.PathLike[str], overwrite: bool, dialect: Dialect | None
    ) -> None:
        """Write a file, which is audited before it gets its name."""

    @abstractmethod
    def into_database(self, place: DatabaseTable, if_exists: IfExists) -> None:
        """Write a table of a database, which is audited there before it gets its name."""

    def close(self) -> None:
        """Remove what was staged; `data` can no longer be read then."""


@dataclass(frozen=True, repr=False, eq=False)
class InMemory(ReleasedData[FrameT]):
    """A released frame."""

    known: AuditEvidence
    stored: Origin | None  # where the original is, if it is in a database

    @property
    def shown(self) -> Frame:
        return open_frame(self.data)

    def alone_in(self, columns: Sequence[str]) -> list[KeptColumns]:
        return singled_out(self.shown, columns)

    def into_file(
        self, path: str | os.PathLike[str], overwrite: bool, dialect: Dialect | None
    ) -> None:
        path, dialect, data = Path(path), dialect or Dialect(), arrow_table(self.shown)
        raise_problems(formula_problems(data, path, self.settings.allows))
        if {".csv", ".tsv", ".txt"}.intersection(Path(path.name.lower()).suffixes):
            data = spelled_for(data, self.columns, dialect.encoding, self.settings.coarsen)
        prove = partial(audit_file, self.known, self.settings, dialect)
        write_file(data, path, overwrite, dialect, prove)

    def into_database(self, place: DatabaseTable, if_exists: IfExists) -> None:
        data, unchanged = arrow_table(self.shown), self.settings.unchanged
        write_stored(data, place, self._prove_stored, if_exists, self.stored, unchanged)

    def _prove_stored(self, written: StagedTable) -> None:
        """Audit a table where it was written: by counts of its combinations, or by all records if those show more."""
        if self.known.is_nothing and written.is_counted_quickly:
            columns = counted_columns(written.names, self.settings)
            counted = open_frame(written.counted(columns))
            audit = audit_counted(counted, COUNT, self.settings).prove()
            for name in (name for name in self.settings.coarsen if name in written.names):
                audit_coarsened(open_frame(written.counted([name])), self.settings)
        else:
            texts = open_frame(columns_as_text(written.records()))
            audit = audit_release(texts, self.known, self.settings).prove()
        if audit.records != self.audit.records:
            raise InputError(LOST)


@dataclass(frozen=True, repr=False, eq=False)
class Staged(ReleasedData[FrameT]):
    """A release that its engine has staged; it exists until `close` or the end of the process."""

    opened: LargeTable

    def lacks(self, what: str) -> None:
        raise NotAvailable(LACKING[what])

    @property
    def _staged(self) -> Lazy:
        return self.opened.engine.inward(self.data)

    @property
    def shown(self) -> Frame:
        engine, staged = self.opened.engine, self._staged
        mark = f"{RESERVED}shown"
        share = min(1.0, SHOWN / self.audit.records)
        with engine_errors(engine.name):
            names = staged.collect_schema().names()
            some = engine.hashed(staged, names, mark, 0)
            return engine.collect(some.filter(nw.col(mark) < int(share * HASHES)).drop(mark))

    def alone_in(self, columns: Sequence[str]) -> list[KeptColumns]:
        several = [tuple(columns)] if len(columns) > 1 else []
        engine, staged = self.opened.engine, self._staged
        with engine_errors(engine.name):
            return [
                KeptColumns(own, alone_in(engine, staged, own))
                for own in (*((name,) for name in columns), *several)
            ]

    def into_file(
        self, path: str | os.PathLike[str], overwrite: bool, dialect: Dialect | None
    ) -> None:
        opened, unchanged = self.opened, self.settings.unchanged
        dialect = dialect or Dialect()
        with engine_errors(opened.engine.name):
            if opened.engine.name == "spark":
                from shoal.data.engines.spark import publish

                publish(opened, str(path), self._staged, overwrite, self._prove)
            elif is_folder(path):
                publish_folder(opened, Path(path), overwrite, self._prove, unchanged)
            else:
                path, coarsen = Path(path), self.settings.coarsen
                self._check_formulas(path)
                spelled = partial(
                    spelled_for, columns=self.columns, encoding=dialect.encoding, coarsen=coarsen
                )
                publish_file(opened, path, overwrite, dialect, self._prove, unchanged, spelled)

    def into_database(self, place: DatabaseTable, if_exists: IfExists) -> None:
        with engine_errors(self.opened.engine.name):
            publish_stored(self.opened, place, if_exists, self._prove, self.settings.unchanged)

    def _check_formulas(self, path: Path) -> None:
        """Refuse texts that a spreadsheet would run as formulas."""
        if runs_formulas(path):
            found = formulas_in(self.opened.staged(RELEASE))
            raise_problems(formula_sentences(found, path, self.settings.allows, ".parquet"))

    def _prove(self, written: Lazy) -> None:
        """Audit what was written."""
        audit = audit_staged(self.opened.engine, written, self.settings).prove()
        if audit.records != self.audit.records:
            raise InputError(LOST)

    def close(self) -> None:
        self.opened.close()

    def __reduce__(self) -> Any:
        self.lacks("pickle")


def dialect_for(
    own: Dialect | None, path: str | os.PathLike[str], delimiter: str | None, encoding: str | None
) -> Dialect:
    """How a file is to be written: like the table's own file, unless something else is given."""
    own = own or Dialect()
    is_tab = delimiter == "tab" or Path(path).name.lower().endswith((".tsv", ".tsv.gz"))
    return replace(
        own,
        delimiter="\t" if is_tab else delimiter or own.delimiter,
        encoding=encoding or own.encoding,
    )


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a path means a folder of parts."""
    return str(path).endswith(("/", os.sep)) or not Path(path).suffix
