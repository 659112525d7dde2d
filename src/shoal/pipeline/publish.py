"""A released table on its way into a file or a database: audited there once more before it gets its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from shoal.audits.verdict import Audit
from shoal.data.databases import COUNT, DatabaseTable, IfExists, Written, write_stored
from shoal.data.files.table_file import formula_problems, read_texts, write
from shoal.data.files.types import texts_of
from shoal.encoding.encode import Column
from shoal.encoding.frames import open_frame
from shoal.encoding.render import spelled_for
from shoal.encoding.source import Dialect, Input, Stored
from shoal.errors import InputError, raise_problems
from shoal.pipeline.prove import Known, counted_columns, examine, examine_coarsened, examine_counted
from shoal.settings.settings import Settings


@dataclass(frozen=True)
class Saving:
    """What is to be written, and what its audit there must know."""

    data: pa.Table
    columns: Sequence[Column]  # the quasi-identifiers
    settings: Settings
    known: Known
    audit: Audit  # of the table before it is written

    def into_file(
        self, path: Path, overwrite: bool, own: Dialect, delimiter: str | None, encoding: str | None
    ) -> None:
        """Write a file, in the dialect of the table's own where nothing else is said."""
        tab = delimiter == "tab" or path.name.lower().endswith((".tsv", ".tsv.gz"))
        dialect = replace(
            own,
            delimiter="\t" if tab else delimiter or own.delimiter,
            encoding=encoding or own.encoding,
        )
        data = self.data
        raise_problems(formula_problems(data, path, self.settings.allows))
        if {".csv", ".tsv", ".txt"}.intersection(Path(path.name.lower()).suffixes):
            data = spelled_for(data, self.columns, dialect.encoding, self.settings.coarsen)
        write(data, path, overwrite, dialect, partial(self._prove, dialect))

    def into_database(
        self, place: DatabaseTable, if_exists: IfExists, source: Stored | None
    ) -> None:
        """Write a table of a database; `source` is where the original is, if it is in one."""
        unchanged = self.settings.unchanged
        write_stored(self.data, place, self._prove_stored, if_exists, source, unchanged)

    def _prove(self, dialect: Dialect, path: Path) -> None:
        """Audit a file that holds the release."""
        texts = open_frame(read_texts(path, Input(dialect.encoding, dialect.delimiter)))
        examine(texts, self.known, self.settings).prove()

    def _prove_stored(self, written: Written) -> None:
        """Audit a table where it was written: by counts of its combinations, or by all records where those say more."""
        if self.known.is_nothing and written.is_counted_quickly:
            columns = counted_columns(written.names, self.settings)
            counted = open_frame(written.counted(columns))
            audit = examine_counted(counted, COUNT, self.settings).prove()
            for name in (name for name in self.settings.coarsen if name in written.names):
                examine_coarsened(open_frame(written.counted([name])), self.settings)
        else:
            texts = open_frame(texts_of(written.records()))
            audit = examine(texts, self.known, self.settings).prove()
        if audit.records != self.audit.records:
            raise InputError("Records were lost while the release was written; write it again.")
