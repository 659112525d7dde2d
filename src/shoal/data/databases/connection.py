"""What reading and writing ask of a database, whatever its kind; databases that are files."""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, Self

import pyarrow as pa

from shoal.data.databases.address import DUCKDB, POSTGRESQL, SQLITE, Database, DatabaseTable, quoted
from shoal.encoding.source import Relation
from shoal.errors import InputError, near_miss


def file_problems(database: Database, writes: bool) -> list[str]:
    """Sentences for why the file of a database cannot be opened."""
    path = database.path
    try:
        mode = path.stat().st_mode
    except OSError:
        return [f"'{path}' does not exist; check the path."]
    if not stat.S_ISREG(mode):
        return [f"'{path}' is no file of a database; check the path."]
    if not os.access(path, os.R_OK | (os.W_OK if writes else 0)):
        return [f"You may not {'write' if writes else 'read'} '{path}'; check its permissions."]
    if writes and not os.access(path.parent, os.W_OK | os.X_OK):
        return [f"The folder of '{path}' is not writable, which a database needs; check it."]
    return []


def file_identity(database: Database) -> tuple[str, str]:
    """What tells a file from all others, whatever path leads to it."""
    found = database.path.stat()
    return f"{database.kind} {found.st_dev}", str(found.st_ino)


def own_name_problems(name: str) -> list[str]:
    """A sentence for a name that SQLite keeps for itself."""
    if name.lower().startswith("sqlite_"):
        return [f"SQLite keeps names like '{name}' for itself; choose another."]
    return []


IfExists = Literal["fail", "replace"]
IF_EXISTS = ("fail", "replace")
BYTES_OF_A_CELL = 12  # about, as text
_LIBRARIES = {POSTGRESQL: "adbc_driver_postgresql", SQLITE: "adbc_driver_sqlite", DUCKDB: "duckdb"}
_HOMES = {
    POSTGRESQL: ("shoal.data.databases.postgresql", "PostgreSQL"),
    SQLITE: ("shoal.data.databases.sqlite", "SQLite"),
    DUCKDB: ("shoal.data.databases.duckdb_file", "DuckDBFile"),
}


@dataclass(frozen=True)
class StoredColumn:
    """A column as a database holds it: its name, its type there, and the SQL that reads it."""

    name: str
    type: str
    expression: str
    is_number_text: bool = False  # whether it holds exact numbers that are read as text


class Connection(ABC):
    """One transaction in a database; what it did is undone unless it is committed."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Undo what was not committed, and leave."""

    @abstractmethod
    def commit(self) -> None:
        """Let what was done be seen by others, all at once."""

    @abstractmethod
    def tables(self) -> list[str]:
        """The names of tables and views that may be read, for messages."""

    @abstractmethod
    def has(self, source: DatabaseTable) -> bool:
        """Whether a table or view exists."""

    @abstractmethod
    def columns(self, source: str) -> list[StoredColumn]:
        """The columns of what stands behind FROM."""

    @abstractmethod
    def read(self, source: str, columns: Sequence[StoredColumn]) -> pa.RecordBatchReader:
        """The records of what stands behind FROM, as a stream."""

    @abstractmethod
    def relations(self, source: str) -> frozenset[Relation]:
        """All tables that are read for what stands behind FROM, also through views."""

    @abstractmethod
    def size(self, source: str) -> int:
        """About how many bytes the records of what stands behind FROM have, 0 where nobody knows."""

    @abstractmethod
    def target_problems(
        self, target: DatabaseTable, if_exists: IfExists, read: frozenset[Relation]
    ) -> list[str]:
        """Sentences for why a table cannot be written."""

    @abstractmethod
    def stage(
        self, target: DatabaseTable, name: str, data: pa.RecordBatchReader, types: Mapping[str, str]
    ) -> str:
        """Write records to a new table beside the target; returns what stands behind FROM to read it.

        `types` are those that single columns shall have, as this database calls them.
        """

    @abstractmethod
    def rename(self, target: DatabaseTable, name: str, if_exists: IfExists) -> None:
        """Give a staged table its name, in place of one that has it if that shall be replaced."""

    def missing(self, table: DatabaseTable) -> str:
        """Say that there is no such table, and which was probably meant."""
        known = self.tables()
        close = near_miss(str(table.table), known) or f"; tables: {_some(known)}."
        return f"There is no table {table.table!r} in '{self.database}'{close}"


class AdbcConnection(Connection):
    """A transaction by a driver of ADBC."""

    _connection: Any

    def close(self) -> None:
        with suppress(Exception):  # of a connection that is lost there is nothing to undo
            self._connection.rollback()
        with suppress(Exception):
            self._connection.close()

    def commit(self) -> None:
        self._connection.commit()

    def _do(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)


def streamed(cursor: Any) -> pa.RecordBatchReader:
    """The records of a statement that was executed by ADBC, whose cursor is closed after the last of them."""
    reader = cursor.fetch_record_batch()

    def batches() -> Iterator[pa.RecordBatch]:
        with cursor, reader:
            yield from reader

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def _some(names: Sequence[str]) -> str:
    if not names:
        return "none that you may read"
    return ", ".join(names[:20]) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")


def exists_already(target: DatabaseTable, database: Database) -> str:
    """Say that a table exists."""
    return (
        f"The table {target.table!r} exists in '{database}'; choose another name or pass --if-exists replace "
        '(if_exists="replace").'
    )


def is_source(target: DatabaseTable, database: Database) -> str:
    """Say that a table is the source, which is never changed."""
    return (
        f"The table {target.table!r} in '{database}' is read to make this release and would be lost; name another "
        "table to write."
    )


def selected(columns: Sequence[StoredColumn]) -> str:
    """The columns of a SELECT."""
    return ", ".join(f"{column.expression} AS {quoted(column.name)}" for column in columns)


def library_problems(database: Database) -> list[str]:
    """A sentence if the driver of a database is not installed."""
    library = _LIBRARIES[database.kind]
    if find_spec(library) is None:
        extra = "duckdb" if database.kind == DUCKDB else "databases"
        return [
            f"'{database}' needs {library.replace('_', '-')}; run: pip install 'shoal[{extra}]'."
        ]
    return []


def connect(database: Database, writes: bool = False) -> Connection:
    """Open a transaction: one snapshot that cannot write, unless `writes`."""
    found = library_problems(database)
    if found:
        raise InputError(found)
    home, name = _HOMES[database.kind]
    kind: Any = getattr(import_module(home), name)
    return kind(database, writes)
