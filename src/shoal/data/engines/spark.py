"""Spark, classic or Connect: staged folders or tables of the session's schema; executors solve parts of rounds."""

from __future__ import annotations

import os
import platform
import re
import secrets
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812, as everybody calls them

from shoal import __version__
from shoal.atomic import output_exists_problem
from shoal.data.engines.base import RESERVED, Backend, Lazy, engine_errors
from shoal.data.engines.publishing import publish_written
from shoal.data.open import LargeTable
from shoal.data.staging import Staging, process_runs
from shoal.encoding.frames import Frame, open_frame
from shoal.errors import InputError

CHUNK = 4 << 20  # bytes of a part in one row: Connect sends messages of 128 MB at most
PART, NUMBER, BYTES = "part", "number", "bytes"
SCHEMA = f"{PART} bigint, {NUMBER} bigint, {BYTES} binary"


class Executors:
    """The executors of a session, as a remote solver for parts of a round."""

    def __init__(self, session: Any) -> None:
        self._session = session

    @cached_property
    def version(self) -> str:
        """The version of shoal on an executor, empty if there is none."""
        frame = self._session.range(1).mapInArrow(_asking(), "version string")
        try:
            return str(frame.toArrow()["version"][0].as_py())
        except Exception:  # no Python there, or another version than here
            return ""

    def is_ready(self) -> bool:
        return self.version == __version__

    @property
    def note(self) -> str:
        if self.is_ready():
            return "the Spark executors solved the parts of the table"
        found = f"version {self.version} of shoal" if self.version else "no shoal"
        return (
            f"the Spark driver solved the parts of the table, because the executors have {found}; to save time, "
            f"install version {__version__} there"
        )

    def solve(self, parts: Sequence[bytes]) -> list[bytes]:
        frame = self._session.createDataFrame(in_chunks(parts))
        # By range and not by hash, so that no task gets two parts while another gets none.
        spread = frame.repartitionByRange(len(parts), PART)
        solved = spread.groupBy(PART).applyInArrow(solve_chunks, SCHEMA).toArrow()
        return out_of_chunks(solved, len(parts))


def _asking() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function that travels whole, since an executor without shoal could not load it by its name."""

    def version(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        try:
            from shoal import __version__ as found
        except ImportError:
            found = ""
        for _ in batches:
            yield pyarrow.RecordBatch.from_pydict({"version": [found]})

    return version


def solve_chunks(part: pa.Table) -> pa.Table:
    """Solve a part that came in chunks; runs on an executor."""
    from shoal.solve.counted.remote import solve_packed

    number = part[PART][0].as_py()
    return in_chunks([solve_packed(_joined(part))], first=number)


def in_chunks(parts: Sequence[bytes], first: int = 0) -> pa.Table:
    """Byte strings as a table of chunks that are small enough to be sent; parts are numbered from `first`."""
    rows = [
        (first + i, place, part[place : place + CHUNK])
        for i, part in enumerate(parts)
        for place in range(0, len(part), CHUNK)
    ]
    numbers, places, chunks = zip(*rows, strict=True)
    return pa.table(
        {
            PART: pa.array(numbers, pa.int64()),
            NUMBER: pa.array(places, pa.int64()),
            BYTES: pa.array(chunks, pa.binary()),
        }
    )


def out_of_chunks(table: pa.Table, parts: int) -> list[bytes]:
    """The byte strings that were cut into chunks, whatever the order of these."""
    numbers = table[PART].to_numpy()
    return [_joined(table.filter(pa.array(numbers == part))) for part in range(parts)]


def _joined(part: pa.Table) -> bytes:
    return b"".join(part.sort_by(NUMBER)[BYTES].to_pylist())


KEY = f"{RESERVED}secret"
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")
PREFIX = "shoal_staging_"


_KEPT: set[Tables] = set()


class Tables:
    """Everything that one run stages, removed when it is closed or at the end of the process.

    If Spark runs on this computer, these are folders that only their owner can read; otherwise they are tables, and the
    catalogue decides who may read them.
    """

    def __init__(self, session: Any) -> None:
        _drop(session, _left_behind(session))
        self.prefix = f"{_of_this_machine()}{os.getpid()}_{secrets.token_hex(6)}"
        self.names: list[str] = []
        self.folder = _shared_folder(session)
        self._session = session
        self._finalizer = weakref.finalize(self, _drop, session, self.names)

    @property
    def is_private(self) -> bool:
        """Whether only the user can read what is staged."""
        return self.folder is not None

    def write(self, native: Any, what: str) -> Any:
        """Stage a frame, and return what was written."""
        if self.folder is None:
            return self.write_table(native, what)
        place = self.folder.place(what).as_uri()
        native.write.parquet(place)
        return self._session.read.schema(native.schema).parquet(place)

    def write_table(self, native: Any, what: str) -> Any:
        """Write a frame to a table of the catalogue."""
        place = self.name(what)
        native.write.format("parquet").saveAsTable(place)
        return self._session.table(place)

    def name(self, what: str) -> str:
        """A new name of a table to be dropped in the end."""
        self.names.append(f"{self.prefix}_{what}")
        return self.names[-1]

    def keep(self, *names: str) -> None:
        """Remove all but these, which then stay until they are removed or the process ends."""
        kept = [name for name in self.names if name.removeprefix(f"{self.prefix}_") in names]
        _drop(self._session, [name for name in self.names if name not in kept])
        self.names[:] = kept
        if self.folder is not None:
            self.folder.keep(*names)
        _KEPT.add(self)

    def close(self) -> None:
        """Remove everything that was staged."""
        _KEPT.discard(self)
        self._finalizer()
        if self.folder is not None:
            self.folder.close()


def _shared_folder(session: Any) -> Staging | None:
    """A folder that Spark can use and only its owner can read; None if Spark runs elsewhere or as another user."""
    try:
        is_local = str(session.conf.get("spark.master")).startswith("local")
    except Exception:  # platforms that do not report it
        is_local = False
    if not is_local:
        return None
    staging = Staging()
    token, file = secrets.token_hex(16), staging.place("token")
    try:
        file.write_text(token)
        [row] = session.read.text(file.as_uri()).collect()
        if row[0] == token:
            return staging
    except Exception:  # the server of a session may run on another machine
        pass
    except BaseException:
        staging.close()
        raise
    staging.close()
    return None


def _of_this_machine() -> str:
    """How the names of tables begin that processes of this machine stage."""
    return f"{PREFIX}{zlib.crc32(platform.node().encode()):08x}_"


def _left_behind(session: Any) -> list[str]:
    """The tables of processes of this machine that were killed."""
    begin = _of_this_machine()
    names = [row.tableName for row in session.sql(f"SHOW TABLES LIKE '{begin}*'").collect()]
    return [name for name in names if not process_runs(name.removeprefix(begin).partition("_")[0])]


def _drop(session: Any, names: list[str]) -> None:
    while names:
        with suppress(Exception):  # the session may be gone, and its tables with it
            session.sql(f"DROP TABLE IF EXISTS `{names.pop()}`")


class Spark(Backend):
    """Queries of one session, staged as tables."""

    name = "spark"

    def __init__(self, session: Any, tables: Tables) -> None:
        self.session, self.tables = session, tables

    def scan(self, paths: Sequence[Path]) -> Lazy:
        return self.inward(self.session.read.parquet(*map(str, paths)))

    def named(self, native: Any, names: Callable[[str], str]) -> Any:
        if all(names(name) == name for name in native.columns):
            return native
        return native.toDF(*map(names, native.columns))

    def table(self, data: pa.Table) -> Lazy:
        return nw.from_native(self.session.createDataFrame(data))

    def stage(self, frame: Lazy, name: str) -> Lazy:
        return nw.from_native(self.tables.write(frame.to_native(), name))

    def key(self, frame: Lazy) -> int:
        if self.tables.is_private:
            return 0
        native = frame.to_native()
        mixed = F.xxhash64(*map(F.col, map(_quoted, native.columns)))
        halves = (F.shiftright(mixed, 32), mixed.bitwiseAND(2**32 - 1))
        [sums] = native.select(*(F.sum(half) for half in halves)).collect()
        return int.from_bytes(sha256(repr(tuple(sums)).encode()).digest())

    def hashed(self, frame: Lazy, columns: Sequence[str], name: str, secret: int) -> Lazy:
        native = frame.to_native()
        # As a table, because plans, which Spark shows to anyone on its page, print literals but no tables.
        key = self.session.createDataFrame(pa.table({KEY: [f"{secret:064x}"]}))
        mixed = F.xxhash64(*map(F.col, map(_quoted, columns)))
        keyed = F.sha2(F.concat(F.col(KEY), F.hex(mixed)), 256)
        added = F.shiftrightunsigned(F.xxhash64(keyed), 2)
        joined = native.crossJoin(F.broadcast(key))
        return nw.from_native(joined.withColumn(name, added).drop(KEY))

    def collect(self, frame: Lazy) -> Frame:
        return open_frame(self.outward(frame).toArrow())

    def elsewhere(self) -> Executors:
        return Executors(self.session)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def open_spark(table: Any, memory: int) -> LargeTable:
    """Open a DataFrame in its session, or Parquet files in the session of the environment."""
    with engine_errors("spark"):
        if isinstance(table, str | Path):
            session = SparkSession.builder.getOrCreate()
            if not str(table).rstrip("/").endswith(".parquet"):
                raise InputError(
                    f"Spark only reads Parquet here. Read '{table}' into a DataFrame and give that."
                )
            native = session.read.parquet(str(table))
        else:
            native = table
        tables = Tables(native.sparkSession)
        engine = Spark(native.sparkSession, tables)
        return LargeTable(engine, engine.inward(native), memory, tables)


def publish(
    opened: LargeTable, target: str, staged: Lazy, overwrite: bool, prove: Callable[[Lazy], None]
) -> None:
    """Write a release to a table of the catalogue, or to a folder of Parquet files."""
    engine = opened.engine
    assert isinstance(engine, Spark)
    if target.endswith((".csv", ".tsv", ".gz", ".jsonl", ".ndjson", ".xlsx")):
        raise InputError(
            f"Spark cannot write '{target}'. Name a table of the catalogue, or a folder for Parquet files."
        )
    if "/" not in target:
        _publish_table(engine, target, staged, overwrite, prove)
    elif _SCHEME.match(target):
        _publish_far(engine, target, staged, overwrite, prove)
    else:
        publish_written(
            Path(target),
            overwrite,
            lambda folder: engine.outward(staged).write.parquet(folder.absolute().as_uri()),
            lambda folder: prove(engine.inward(engine.session.read.parquet(folder.as_uri()))),
        )


def _publish_table(
    engine: Spark, target: str, staged: Lazy, overwrite: bool, prove: Callable[[Lazy], None]
) -> None:
    """Write a table under another name, audit it, and rename it."""
    session = engine.session
    is_there = session.catalog.tableExists(target)
    if is_there and not overwrite:
        raise InputError(output_exists_problem(Path(target)))
    prove(engine.inward(engine.tables.write_table(engine.outward(staged), "out")))
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
    """Write to a file system that only Spark can reach: files cannot be renamed there, so none are replaced."""
    if overwrite:
        raise InputError(
            f"'{target}' cannot be replaced in one step. Choose a new folder, or a table of the catalogue."
        )
    engine.outward(staged).write.mode("errorifexists").parquet(target)
    prove(engine.inward(engine.session.read.parquet(target)))
