"""The release of a large table: staged by its engine, audited there, saved from there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.api.release import Release
from shoal.assess.singled import Kept
from shoal.data.databases import IfExists, stored_place
from shoal.data.engines.base import HASHES, RESERVED, Lazy, speaking_of
from shoal.data.engines.opening import RELEASE, Opened
from shoal.data.engines.publishing import publish_file, publish_folder, publish_stored
from shoal.data.files.streams import formulas_in
from shoal.data.files.table_file import problems_of, runs_formulas
from shoal.encoding.forms import Ints
from shoal.encoding.frames import Frame, FrameT
from shoal.encoding.render import spelled_for
from shoal.encoding.source import Dialect
from shoal.errors import InputError, raise_problems
from shoal.pipeline.carriers.counts import alone_in, examine_staged

UNKNOWN = (
    "A release of a large table does not know the group of each input record, nor which of them it holds; read the "
    "table into memory (engine='memory') to know it."
)
SHOWN = 1_000  # records from which a report takes some


@dataclass(frozen=True, repr=False, eq=False)
class LargeRelease(Release[FrameT]):
    """A released table that has passed its audit where it was staged.

    `data` is a frame of the engine that reads what was staged, which is there until `close` or the end of the
    process. The group of single records is not known: records of large tables have no numbers.
    """

    is_released: npt.NDArray[np.bool_] = field(init=False, repr=False)  # which nobody sets
    opened: Opened = field(kw_only=True)

    @property
    def groups(self) -> Ints:
        raise InputError(UNKNOWN)

    def __getattr__(self, name: str) -> Any:
        if name == "is_released":
            raise InputError(UNKNOWN)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def _staged(self) -> Lazy:
        return self.opened.engine.inward(self.data)

    @property
    def shown(self) -> Frame:
        engine, staged = self.opened.engine, self._staged
        mark = f"{RESERVED}shown"
        share = min(1.0, SHOWN / self.audit.records)
        with speaking_of(engine.name):
            names = staged.collect_schema().names()
            some = engine.hashed(staged, names, mark, 0)
            return engine.collect(some.filter(nw.col(mark) < int(share * HASHES)).drop(mark))

    def alone_in(self, columns: Sequence[str]) -> list[Kept]:
        if not columns:
            return []
        several = [tuple(columns)] if len(columns) > 1 else []
        return [Kept(own, self._alone(own)) for own in (*((name,) for name in columns), *several)]

    def _alone(self, columns: Sequence[str]) -> int:
        with speaking_of(self.opened.engine.name):
            return alone_in(self.opened.engine, self._staged, columns)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        delimiter: str | None = None,
        encoding: str | None = None,
        table: str | None = None,
        if_exists: IfExists = "fail",
    ) -> None:
        """Write the released table to one CSV, Parquet or JSON-lines file, or to a folder of Parquet files.

        A path that ends in a slash, or without a suffix, is a folder. On Spark it is a table of the catalogue, like
        "health.released", or the folder that a path names. What was written is audited once more before it gets its
        name. The address of a database takes the name of a `table`, as in `Release.save`.
        """
        place = stored_place(path, table, if_exists)
        unchanged = self.settings.unchanged
        if place is not None:
            with speaking_of(self.opened.engine.name):
                publish_stored(
                    self.opened,
                    place,
                    if_exists,
                    self._prove_written,
                    unchanged,
                )
            return
        own = self.dialect or Dialect()
        tab = delimiter == "tab" or Path(path).name.lower().endswith((".tsv", ".tsv.gz"))
        dialect = replace(
            own,
            delimiter="\t" if tab else delimiter or own.delimiter,
            encoding=encoding or own.encoding,
        )
        engine = self.opened.engine
        with speaking_of(engine.name):
            if engine.name == "spark":
                from shoal.data.engines.spark import publish

                publish(self.opened, str(path), self._staged, overwrite, self._prove_written)
            elif is_folder(path):
                publish_folder(self.opened, Path(path), overwrite, self._prove_written, unchanged)
            else:
                self._check_formulas(Path(path))
                columns, encoding = self.closed.table.columns, dialect.encoding
                coarsen = self.settings.coarsen
                publish_file(
                    self.opened,
                    Path(path),
                    overwrite,
                    dialect,
                    self._prove_written,
                    unchanged,
                    lambda table: spelled_for(table, columns, encoding, coarsen),
                )

    def _check_formulas(self, path: Path) -> None:
        """Refuse texts that a spreadsheet would run as formulas."""
        if runs_formulas(path):
            found = formulas_in([self.opened.staged(RELEASE)])
            raise_problems(problems_of(found, path, self.settings.allows, ".parquet"))

    def _prove_written(self, written: Lazy) -> None:
        """Audit what was written."""
        audit = examine_staged(self.opened.engine, written, self.settings).prove()
        if audit.records != self.audit.records:
            raise InputError("Records were lost while the release was written; write it again.")

    def close(self) -> None:
        """Remove what was staged; `data` can no longer be read then."""
        self.opened.close()

    def __reduce__(self) -> Any:
        raise InputError("A release of a large table cannot be pickled; save it to a file.")


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a path means a folder of parts."""
    return str(path).endswith(("/", os.sep)) or not Path(path).suffix
