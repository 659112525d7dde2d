"""What reading and writing ask of a database, whatever its kind; databases that are files."""

from __future__ import annotations

import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import pyarrow as pa

from shoal.data.databases.error_messages import HOLDS, MEMORY
from shoal.data.databases.types import fitted_type
from shoal.encoding.source import Relation
from shoal.errors import InputError, near_miss, raise_problems

if TYPE_CHECKING:
    from shoal.data.databases.address import Database, DatabaseTable


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
    return f"{database.kind.name} {found.st_dev}", str(found.st_ino)


IfExists = Literal["fail", "replace"]
IF_EXISTS = ("fail", "replace")
BYTES_OF_A_CELL = 12  # about, as text


@dataclass(frozen=True)
class StoredColumn:
    """A column as a database holds it: its name, its type there, and the SQL that reads it."""

    name: str
    type: str
    expression: str
    is_number_text: bool = False  # whether it holds exact numbers that are read as text


def quoted(*parts: str) -> str:
    """Names in SQL, joined by dots; a quotation mark in one is doubled, so that none can end early."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def text_in_sql(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"


class Connection(ABC):
    """A kind of database, and one transaction in one: what it did is undone unless it is committed.

    A new kind is a subclass, entered in `KINDS` (`address.py`).
    """

    name: ClassVar[str]  # of the kind, and the scheme of its addresses
    schemes: ClassVar[tuple[str, ...]] = ()  # that addresses may have instead
    suffixes: ClassVar[tuple[str, ...]] = ()  # of its files, which need no scheme
    form: ClassVar[str]  # of its addresses, for messages
    library: ClassVar[str]  # the driver
    extra: ClassVar[str] = "databases"  # that installs it
    is_file: ClassVar[bool] = True  # which may be made by writing to it
    counts_quickly: ClassVar[bool] = True  # combinations, sooner than it hands over all records
    signs: ClassVar[Mapping[str, str]] = {}  # the driver's words in lower case: what they mean

    @classmethod
    def locate(cls, rest: str) -> tuple[str, str]:
        """How to reach the database behind a scheme, and how a message may name it."""
        if not re.match("///.", rest):
            raise InputError(
                f"The file of a {cls.name} database stands behind three slashes; write {cls.name}:///FILE, and "
                f"{cls.name}:////FILE for one from the root."
            )
        return rest[3:], rest[3:]

    @classmethod
    def without_password(cls, start: str, rest: str) -> tuple[str, bool]:
        """An address, its scheme and what is behind it, without a password, and whether something was left out."""
        return f"{start}{rest}", False

    @classmethod
    def is_connection_string(cls, text: str) -> bool:
        """Whether a text says how to connect, but is no address."""
        return False

    @classmethod
    def type_problems(cls, schema: pa.Schema, database: Database) -> list[str]:
        """Sentences for columns that a table cannot hold."""
        return []

    @classmethod
    def value_problems(cls, table: pa.Table) -> list[str]:
        """Sentences for columns with values that a table cannot hold."""
        return []

    @classmethod
    def name_problems(cls, name: str) -> list[str]:
        """A sentence for a name of a table that the database keeps for itself."""
        return []

    @classmethod
    def fitted(cls, kind: pa.DataType) -> pa.DataType:
        """The type in which the driver takes a column."""
        return fitted_type(kind)

    @classmethod
    def change(
        cls, database: Database, fill: Callable[[Database], None], replaces: Callable[[], bool]
    ) -> None:
        """Change a database that exists; `replaces` says whether a table of it is replaced."""
        fill(database)

    @classmethod
    def reason(cls, error: Any) -> str:
        """Why the database failed, as one sentence that goes on after its name."""
        words, kind = str(error).lower(), type(error).__name__
        for sign, sentence in cls.signs.items():
            if sign in words:
                return sentence
        if "out of memory" in words:
            return MEMORY
        if kind in ("NotSupportedError", "ArrowNotImplementedError"):
            return HOLDS
        code = getattr(error, "sqlstate", None)
        told = f"code {code}" if code else kind
        return f"could not finish ({told}), and nothing was written; see its log"

    def __init__(self, database: Database, writes: bool) -> None:
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
    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""

    @abstractmethod
    def beside(self, target: DatabaseTable, name: str) -> str:
        """The name of a table in the schema of the target, as SQL has it."""

    def rename(self, target: DatabaseTable, name: str, if_exists: IfExists) -> None:
        """Give a staged table its name, in place of one that has it if that shall be replaced."""
        own = target.parts[-1]
        if if_exists == "replace":
            self.run(f"DROP TABLE IF EXISTS {self.beside(target, own)}")
        self.run(f"ALTER TABLE {self.beside(target, name)} RENAME TO {quoted(own)}")

    def existing_problems(
        self, target: DatabaseTable, if_exists: IfExists, is_read: bool, is_view: bool
    ) -> list[str]:
        """A sentence for why a table or view that exists cannot be replaced; what is read is never changed."""
        name, database = repr(target.table), self.database
        if is_read:
            return [
                f"The table {name} in '{database}' is read to make this release and would be lost; name another table "
                "to write."
            ]
        if if_exists != "replace":
            return [
                f"The table {name} exists in '{database}'; choose another name or pass --if-exists replace "
                '(if_exists="replace").'
            ]
        if is_view:
            return [f"{name} in '{database}' is a view and is not replaced; name another."]
        return []

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

    def run(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def _rows(self, query: str, **options: str) -> list[dict[str, Any]]:
        with self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**options)
            cursor.execute(query)
            return cursor.fetch_arrow_table().to_pylist()

    def _streamed(self, query: str, **options: str) -> pa.RecordBatchReader:
        """The records of a query, whose cursor is closed after the last of them."""
        cursor = self._connection.cursor()
        try:
            cursor.adbc_statement.set_options(**options)
            cursor.execute(query)
            reader = cursor.fetch_record_batch()
        except BaseException:
            cursor.close()
            raise

        def batches() -> Iterator[pa.RecordBatch]:
            with cursor, reader:
                yield from reader

        return pa.RecordBatchReader.from_batches(reader.schema, batches())


def _some(names: Sequence[str]) -> str:
    if not names:
        return "none that you may read"
    return ", ".join(names[:20]) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")


def selected(columns: Sequence[StoredColumn]) -> str:
    """The columns of a SELECT."""
    return ", ".join(f"{column.expression} AS {quoted(column.name)}" for column in columns)


def library_problems(database: Database) -> list[str]:
    """A sentence if the driver of a database is not installed."""
    kind, package = database.kind, database.kind.library.replace("_", "-")
    if find_spec(kind.library) is not None:
        return []
    return [f"'{database}' needs {package}; run: pip install 'shoal[{kind.extra}]'."]


def connect(database: Database, writes: bool = False) -> Connection:
    """Open a transaction: one snapshot that cannot write, unless `writes`."""
    raise_problems(library_problems(database))
    return database.kind(database, writes)
