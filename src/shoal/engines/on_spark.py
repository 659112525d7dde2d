"""Spark, classic or Connect: what is staged are tables of the session's current schema."""

from __future__ import annotations

import os
import platform
import re
import secrets
import weakref
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812, as everybody calls them

from shoal.engines.base import Engine, Lazy, speaking_of
from shoal.engines.executors import Executors
from shoal.engines.opening import Opened
from shoal.engines.publishing import publish_written
from shoal.errors import InputError
from shoal.staging import runs
from shoal.table.frames import Frame, open_frame
from shoal.whole import exists_already

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")
PREFIX = "shoal_staging_"


_KEPT: set[Tables] = set()


class Tables:
    """The staged tables of one run, dropped when it is closed or at the end of the process."""

    def __init__(self, session: Any) -> None:
        _drop(session, _left_behind(session))
        self.prefix = f"{_of_this_machine()}{os.getpid()}_{secrets.token_hex(6)}"
        self.names: list[str] = []
        self._session = session
        self._finalizer = weakref.finalize(self, _drop, session, self.names)

    def name(self, what: str) -> str:
        """A new name of a table to be dropped in the end."""
        self.names.append(f"{self.prefix}_{what}")
        return self.names[-1]

    def keep(self, *names: str) -> None:
        """Drop all but these tables, which then stay until they are dropped or the process ends."""
        kept = [name for name in self.names if name.removeprefix(f"{self.prefix}_") in names]
        _drop(self._session, [name for name in self.names if name not in kept])
        self.names[:] = kept
        _KEPT.add(self)

    def close(self) -> None:
        """Drop all tables."""
        _KEPT.discard(self)
        self._finalizer()


def _of_this_machine() -> str:
    """How the names of tables begin that processes of this machine stage."""
    return f"{PREFIX}{zlib.crc32(platform.node().encode()):08x}_"


def _left_behind(session: Any) -> list[str]:
    """The tables of processes of this machine that were killed."""
    begin = _of_this_machine()
    names = [row.tableName for row in session.sql(f"SHOW TABLES LIKE '{begin}*'").collect()]
    return [name for name in names if not runs(name.removeprefix(begin).partition("_")[0])]


def _drop(session: Any, names: list[str]) -> None:
    while names:
        with suppress(Exception):  # the session may be gone, and its tables with it
            session.sql(f"DROP TABLE IF EXISTS `{names.pop()}`")


class Spark(Engine):
    """Queries of one session, staged as tables."""

    name = "spark"

    def __init__(self, session: Any, tables: Tables) -> None:
        self.session, self.tables = session, tables

    def scan(self, paths: Sequence[Path]) -> Lazy:
        return nw.from_native(self.session.read.parquet(*map(str, paths)))

    def table(self, data: pa.Table) -> Lazy:
        return nw.from_native(self.session.createDataFrame(data))

    def stage(self, frame: Lazy, name: str) -> Lazy:
        place = self.tables.name(name)
        frame.to_native().write.format("parquet").saveAsTable(place)
        return nw.from_native(self.session.table(place))

    def hashed(self, frame: Lazy, columns: Sequence[str], name: str, secret: int) -> Lazy:
        native = frame.to_native()
        listed = [F.col(f"`{column.replace('`', '``')}`") for column in columns]
        mixed = F.shiftrightunsigned(F.xxhash64(F.lit(secret), *listed), 2)
        return nw.from_native(native.withColumn(name, mixed))

    def collect(self, frame: Lazy) -> Frame:
        return open_frame(frame.to_native().toArrow())

    def elsewhere(self) -> Executors:
        return Executors(self.session)


def open_spark(table: Any, memory: int, most: int | None) -> Opened:
    """Open a DataFrame in its session, or Parquet files in the session of the environment."""
    with speaking_of("spark"):
        if isinstance(table, str | Path):
            session = SparkSession.builder.getOrCreate()
            if not str(table).rstrip("/").endswith(".parquet"):
                raise InputError(
                    f"Spark reads Parquet by itself only; read '{table}' into a DataFrame and give that."
                )
            native = session.read.parquet(str(table))
        else:
            native = table
        tables = Tables(native.sparkSession)
        engine = Spark(native.sparkSession, tables)
        return Opened(engine, nw.from_native(native), memory, tables, most=most)


def publish(
    opened: Opened, target: str, staged: Lazy, overwrite: bool, prove: Callable[[Lazy], None]
) -> None:
    """Write a release to a table of the catalogue, or to a folder of Parquet files."""
    engine = opened.engine
    assert isinstance(engine, Spark)
    if target.endswith((".csv", ".tsv", ".gz", ".jsonl", ".ndjson", ".xlsx")):
        raise InputError(
            f"Spark does not write '{target}'; name a table of the catalogue or a folder, for Parquet files."
        )
    if "/" not in target:
        _publish_table(engine, target, staged, overwrite, prove)
    elif _SCHEME.match(target):
        _publish_far(engine, target, staged, overwrite, prove)
    else:
        publish_written(
            Path(target),
            overwrite,
            lambda folder: staged.to_native().write.parquet(folder.absolute().as_uri()),
            lambda folder: prove(nw.from_native(engine.session.read.parquet(folder.as_uri()))),
        )


def _publish_table(
    engine: Spark, target: str, staged: Lazy, overwrite: bool, prove: Callable[[Lazy], None]
) -> None:
    """Write a table under another name, audit it, and rename it."""
    session = engine.session
    is_there = session.catalog.tableExists(target)
    if is_there and not overwrite:
        raise InputError(exists_already(Path(target)))
    prove(engine.stage(staged, "out"))
    fresh = engine.tables.names[-1]
    schema, _, name = target.rpartition(".")
    before = f"{schema}." if schema else ""
    old = f"{before}{engine.tables.prefix}_old"
    if is_there:
        session.sql(f"ALTER TABLE {target} RENAME TO {old}")
    try:
        session.sql(f"ALTER TABLE `{fresh}` RENAME TO {before}{name}")
    except BaseException:
        if is_there:
            session.sql(f"ALTER TABLE {old} RENAME TO {target}")
        raise
    engine.tables.names.remove(fresh)
    if is_there:
        session.sql(f"DROP TABLE {old}")


def _publish_far(
    engine: Spark, target: str, staged: Lazy, overwrite: bool, prove: Callable[[Lazy], None]
) -> None:
    """Write to a file system that only Spark reaches: nothing can be renamed there, so nothing is replaced."""
    if overwrite:
        raise InputError(
            f"'{target}' cannot be replaced in one step; choose a new folder, or a table of the catalogue."
        )
    staged.to_native().write.mode("errorifexists").parquet(target)
    prove(nw.from_native(engine.session.read.parquet(target)))
