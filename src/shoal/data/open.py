"""Opens every table: which engine works on it, and the table as a frame in memory or on that engine."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

import narwhals as nw
import pyarrow as pa

from shoal.data.databases.address import DatabaseTable, is_address
from shoal.data.databases.reading import (
    open_stored,
    read_stored_texts,
    stored_bytes,
    stored_to_parquet,
)
from shoal.data.engines.base import (
    Backend,
    Lazy,
    engine_errors,
    free_memory,
    inner_name,
    memory_for_engine,
    outer_name,
    read_memory,
)
from shoal.data.files.cleaning import (
    clean_frame,
    joined_on_engine,
    not_in_memory,
    renamed_and_clean,
)
from shoal.data.files.formats import input_problems, suffix_of
from shoal.data.files.header import check_names
from shoal.data.files.large_text import ReadTexts, texts_to_parquet
from shoal.data.files.streams import schema_of
from shoal.data.files.table_file import open_file, read_file_texts
from shoal.data.staging import Staging
from shoal.encoding.frames import AnyFrame, lazy_kind, open_frame, plain_type
from shoal.encoding.source import Dialect, Input, Origin, Source
from shoal.errors import InputError, near_miss, raise_problems, shown
from shoal.progress import Progress, silent

EngineName = Literal["memory", "duckdb", "polars", "spark"]
ENGINES = get_args(EngineName)
MEMORY = "memory"
RELEASE = "release.parquet"
NEEDED = {  # libraries and their least versions
    "duckdb": {"duckdb": (2, 0), "narwhals": (2, 28)},
    "polars": {"polars": (2, 0), "narwhals": (2, 28)},
    "spark": {"pyspark": (4, 0), "narwhals": (2, 28)},
}
# Bytes of memory that work in memory takes for each byte of a file; about what `benchmarks large` showed.
BYTES_IN_MEMORY = {".parquet": 60, ".gz": 60}
BYTES_OF_TEXT = 10
_SHORT = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}


@dataclass(frozen=True)
class Engine:
    """Where to work on a table, and how much memory to use.

    Parameters
    ----------
    name
        "memory", "duckdb", "polars" or "spark"; by default in memory, or on DuckDB if the table does not fit into
        memory.
    memory
        How much memory may be used, like "8GB"; by default most of what is free.

    Examples
    --------
    >>> import shoal
    >>> shoal.Engine("duckdb", memory="8GB")
    Engine(name='duckdb', memory='8GB')
    """

    name: EngineName | None = None
    memory: str | int | None = None


@dataclass(frozen=True)
class LargeTable:
    """A large table: its engine, its frame, what is known about its file, and how much memory may be used."""

    engine: Backend
    frame: Lazy
    memory: int
    staging: Any  # is closed in the end
    texts: ReadTexts | None = None  # what is known about text files
    stored: Origin | None = None  # of a table of a database

    @property
    def dialect(self) -> Dialect | None:
        """How CSV files are written that the table comes from."""
        return self.texts.dialect if self.texts else None

    @property
    def names(self) -> list[str]:
        """The names of the table's columns."""
        return [outer_name(name) for name in self.frame.collect_schema().names()]

    def kinds(self, unchanged: Sequence[str]) -> dict[str, pa.DataType]:
        """The types that unchanged columns have in the table, if those of the staged release differ."""
        found = {field.name: plain_type(field.type) for field in schema_of(self.staged(RELEASE))}
        return {
            name: kind
            for name, kind in self.engine.kinds.items()
            if name in unchanged and name in found and _is_regained(kind, found[name])
        }

    def staged(self, name: str) -> Path:
        """A path in the folder where the work is done."""
        assert isinstance(self.staging, Staging)
        return self.staging.place(name)

    def close(self) -> None:
        """Remove everything that was staged."""
        self.staging.close()


def engine_for(table: Any, engine: str | None, memory: str | int | None = None) -> str:
    """The name of the engine for a table, "memory" for work in memory.

    Raises
    ------
    InputError
        If there is no such engine, or it cannot be used for the table.
    """
    if engine is not None and engine not in ENGINES:
        close = near_miss(str(engine), ENGINES) or "."
        raise InputError(
            f"There is no engine {shown(engine)}{close} Engines: {', '.join(ENGINES)}."
        )
    own = lazy_kind(table)
    if own is not None:
        if engine not in (None, own):
            raise InputError(
                f"This frame belongs to {own}. Leave out engine='{engine}', or collect the frame first."
            )
        return own
    if isinstance(table, DatabaseTable):
        return _for_stored(table, engine, memory)
    if not isinstance(table, str | os.PathLike):
        if engine not in (None, MEMORY):
            raise InputError(
                f"A frame of type {type(table).__name__} is already in memory. Leave out engine='{engine}'."
            )
        return MEMORY
    if engine is not None:
        return engine
    return "duckdb" if _outgrows(table, memory) else MEMORY


def _for_stored(table: DatabaseTable, engine: str | None, memory: str | int | None) -> str:
    """The engine for a table of a database: it is read into memory, or copied to a file for DuckDB or Polars."""
    if engine == "spark":
        raise InputError(
            "Spark must read databases itself. Give a Spark DataFrame, or leave out the engine."
        )
    if engine is not None:
        return engine
    return "duckdb" if _is_too_large(BYTES_OF_TEXT * stored_bytes(table), memory) else MEMORY


def _is_too_large(needed: int, memory: str | int | None) -> bool:
    """Whether a table needs more memory than is free."""
    if memory is None and needed < 200_000_000:  # too little to ask how much is free
        return False
    return needed > (free_memory() if memory is None else read_memory(memory))


def _outgrows(path: str | os.PathLike[str], memory: str | int | None) -> bool:
    """Whether one or several files would need more memory than is free."""
    if _is_several(path):
        return True
    try:
        size = Path(path).stat().st_size
    except (OSError, ValueError):
        return False
    suffix = suffix_of(Path(path))
    if suffix == ".xlsx":
        return False
    factor = BYTES_IN_MEMORY.get(suffix, BYTES_IN_MEMORY.get(Path(path).suffix, BYTES_OF_TEXT))
    return _is_too_large(factor * size, memory)


def _is_several(path: str | os.PathLike[str]) -> bool:
    return Path(path).is_dir() or (glob.has_magic(str(path)) and not Path(path).exists())


def open_large(
    table: Any,
    input: Input,
    engine: str,
    *,
    memory: str | int | None = None,
    beside: Path | None = None,
    progress: Progress = silent,
) -> LargeTable:
    """Open a table on an engine; staged data goes next to an output, or to the folder for temporary files.

    Raises
    ------
    InputError
        If files cannot be read, or the library of the engine is missing.
    """
    opened = _open_large(table, input, engine, memory, beside, progress)
    if not input.points or opened.texts is not None:  # texts are joined as they are read
        return opened
    try:
        return replace(opened, frame=joined_on_engine(opened.frame, input, inner_name))
    except BaseException:
        opened.close()
        raise


def _open_large(
    table: Any,
    input: Input,
    engine: str,
    memory: str | int | None,
    beside: Path | None,
    progress: Progress,
) -> LargeTable:
    raise_problems([*library_problem(engine), *_uncleanable(table, input, engine)])
    room = read_memory(memory)
    if engine == "spark":
        from shoal.data.engines.spark import open_spark

        return open_spark(table, room)
    staging = Staging(beside)
    try:
        with engine_errors(engine):
            frame = nw.to_native(table, pass_through=True) if lazy_kind(table) else None
            on = _on(engine, staging, frame, room)
            if frame is None:
                return _opened(table, input, on, room, progress)
            if engine == "duckdb":
                on.kinds = _kinds(frame.limit(0).to_arrow_table().schema)
            return LargeTable(on, on.inward(frame), room, staging)
    except BaseException:
        staging.close()
        raise


def _uncleanable(table: Any, input: Input, engine: str) -> list[str]:
    """Return cleaning that only text files get on an engine."""
    is_path = isinstance(table, str | os.PathLike) and engine != "spark"
    if not input.cleaning or (is_path and suffix_of(matching_files(table)[0]) != ".parquet"):
        return []
    return not_in_memory(input, f"this one stays on {engine}")


def _opened(table: Any, input: Input, on: Any, room: int, progress: Progress) -> LargeTable:
    """Parquet files in place, or a copy of text files or of a database table, made batch by batch."""
    read = on.staging.place("read.parquet")

    def tell(records: int) -> None:
        progress("reading", records, 0)

    if isinstance(table, DatabaseTable):
        stored = stored_to_parquet(table, read, tell)
        on.kinds = _kinds(schema_of(read))
        return LargeTable(on, on.scan([read]), room, on.staging, stored=stored)
    paths = matching_files(table)
    if suffix_of(paths[0]) != ".parquet":
        texts = texts_to_parquet(paths, input, read, tell)
        return LargeTable(on, on.scan([read]), room, on.staging, texts)
    _check_parquet(paths)
    on.kinds = _kinds(schema_of(paths[0]))
    if on.name == "polars":
        raise_problems(_zone_problems(on.kinds))
    return LargeTable(on, on.scan(paths), room, on.staging)


def _kinds(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {field.name: plain_type(field.type) for field in schema}


def _zone_problems(kinds: Mapping[str, pa.DataType]) -> list[str]:
    """Return columns with time zones that make Polars panic, which no caller can catch as an error."""
    return [
        f"Column '{name}' has a time zone that is an offset, which Polars does not support. Use DuckDB (--engine "
        "duckdb), or convert the column."
        for name, kind in kinds.items()
        if pa.types.is_timestamp(kind) and kind.tz and kind.tz[0] in "+-"
    ]


def _is_regained(kind: pa.DataType, other: pa.DataType) -> bool:
    """Whether values get a type back by a cast; texts and bytes of another length need none."""
    if _SHORT.get(kind, kind) == _SHORT.get(other, other):
        return False
    try:
        pa.array([], other).cast(kind)
    except pa.ArrowException:
        return False
    return True


def matching_files(table: str | os.PathLike[str]) -> list[Path]:
    """The files of a path, a folder or a pattern, all of one format."""
    path = Path(table)
    found = [path]
    if path.is_dir():
        found = sorted(own for own in path.iterdir() if own.is_file() and own.name[0] not in "._")
    elif _is_several(table):
        start = Path(path.anchor or ".")
        found = sorted(
            own for own in start.glob(str(path.relative_to(path.anchor))) if own.is_file()
        )
    if not found:
        raise InputError(
            f"'{table}' matches no files. Name a file, a folder or a pattern like 'in/*.csv'."
        )
    raise_problems(problem for own in found for problem in input_problems(own))
    suffixes = sorted({suffix_of(own) for own in found})
    if len({suffix.removesuffix(".gz") for suffix in suffixes}) > 1:
        raise InputError(
            f"'{table}' matches files of several formats ({', '.join(suffixes)}). Choose one format."
        )
    if suffixes[0] == ".xlsx":
        raise InputError(
            "Excel files are read in memory only. Leave out the engine, or save them as CSV."
        )
    return found


def _check_parquet(paths: Sequence[Path]) -> None:
    from pyarrow.parquet import read_schema

    for path in paths:
        try:
            names = read_schema(path).names
        except (OSError, ValueError):  # Arrow's errors are among these
            names = None
        if names is None:
            raise InputError(
                f"'{path}' is not a complete Parquet file. It may be incomplete or damaged: copy it again."
            )
        check_names(path, names)


def _on(engine: str, staging: Staging, native: Any, room: int) -> Any:
    if engine == "polars":
        from shoal.data.engines.polars import Polars

        return Polars(staging)
    from shoal.data.engines.duckdb import DuckDB

    return (
        DuckDB.own(staging, memory_for_engine(room)) if native is None else DuckDB(native, staging)
    )


def library_problem(engine: str) -> list[str]:
    """Return a sentence if a library that an engine needs is missing or too old."""
    for library, (major, minor) in NEEDED[engine].items():
        if find_spec(library) is None:
            return [
                f"The engine {engine} is not installed. Install it with: pip install 'shoal[{engine}]'."
            ]
        found = [int(part) for part in re.findall(r"[0-9]+", version(library))[:2]]
        if found < [major, minor]:
            return [
                f"The engine {engine} needs {library} {major}.{minor} or newer. Run: pip install --upgrade "
                f"{library}."
            ]
    return []


AnyTable = AnyFrame | DatabaseTable | str | os.PathLike[str]


def open_table(table: Any, input: Input | None = None) -> Source:
    """Open anything that the user gave, a frame, a path or a database table, as a frame with what is known about it."""
    if isinstance(table, Source):
        return table
    table = table_in_database(table, input)
    how = input or Input()
    if isinstance(table, str | os.PathLike):
        source = open_file(table, how)
        return replace(source, data=open_frame(source.data))
    source = open_stored(table) if isinstance(table, DatabaseTable) else Source(table)
    frame = open_frame(source.data)
    return replace(source, data=clean_frame(frame, how) if how.cleaning else frame)


def table_in_database(table: Any, input: Input | None) -> Any:
    """The database table for an address; `input` says which table."""
    if not is_address(table):
        return table
    how = input or Input()
    return DatabaseTable(table, how.table, how.query)


def texts_in(table: Any, input: Input) -> pa.Table | None:
    """All values of a file or of a database table as texts, None for a frame."""
    table = table_in_database(table, input)
    if isinstance(table, DatabaseTable):
        return renamed_and_clean(read_stored_texts(table), input)
    if isinstance(table, str | os.PathLike):
        return read_file_texts(table, input)
    return None


def input_of_release(input: Input) -> Input:
    """How to read a release by the settings it was made with: their sheet, table and query are the original's."""
    return replace(input.of_written(), table=None, query=None)
