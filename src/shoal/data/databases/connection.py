"""What reading and writing need from a database of any kind; databases that are files."""

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
    """Return reasons why the file of a database cannot be opened."""
    path = database.path
    try:
        mode = path.stat().st_mode
    except OSError:
        return [f"'{path}' does not exist. Check the path."]
    if not stat.S_ISREG(mode):
        return [f"'{path}' is not a database file. Check the path."]
    if not os.access(path, os.R_OK | (os.W_OK if writes else 0)):
        return [f"You may not {('write' if writes else 'read')} '{path}'. Check its permissions."]
    if writes and not os.access(path.parent, os.W_OK | os.X_OK):
        return [
            f"The folder of '{path}' is not writable, but the database needs to write there. Check its permissions."
        ]
    return []


def file_identity(database: Database) -> tuple[str, str]:
    """An identity of a file that does not depend on the path that leads to it."""
    found = database.path.stat()
    return f"{database.kind.name} {found.st_dev}", str(found.st_ino)


IfExists = Literal["fail", "replace"]
IF_EXISTS = ("fail", "replace")
BYTES_OF_A_CELL = 12  # about, as text


@dataclass(frozen=True)
class StoredColumn:
    """A column in a database: its name, its type there, and the SQL that reads it."""

    name: str
    type: str
    expression: str
    is_number_text: bool = False  # whether it contains exact numbers that are read as text


def quoted(*parts: str) -> str:
    """Names in SQL, joined by dots; quotation marks in them are doubled, so that none can end a name early."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def text_in_sql(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"


class Connection(ABC):
    """A kind of database, and one transaction in one: its changes are undone unless it is committed.

    A new kind is a subclass, listed in `KINDS` (`address.py`).
    """

    name: ClassVar[str]  # of the kind, and the scheme of its addresses
    schemes: ClassVar[tuple[str, ...]] = ()  # alternatives in addresses
    suffixes: ClassVar[tuple[str, ...]] = ()  # of its files, which need no scheme
    form: ClassVar[str]  # of its addresses, for messages
    library: ClassVar[str]  # the driver
    extra: ClassVar[str] = "databases"  # that installs it
    is_file: ClassVar[bool] = True  # which writing can create
    counts_quickly: ClassVar[bool] = True  # combinations, sooner than it hands over all records
    signs: ClassVar[Mapping[str, str]] = {}  # the driver's words in lower case, and what they mean

    @classmethod
    def locate(cls, rest: str) -> tuple[str, str]:
        """How to reach the database after a scheme, and its name in messages."""
        if not re.match("///.", rest):
            raise InputError(
                f"The path of a {cls.name} database needs three slashes. Write {cls.name}:///FILE, or "
                f"{cls.name}:////FILE for an absolute path."
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
        """Return a sentence if the database reserves the name of a table."""
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
        """Why the database failed, as the rest of a sentence that begins with its name."""
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
        return f"could not finish ({told}), and nothing was written. See its log"

    def __init__(self, database: Database, writes: bool) -> None:
        self.database = database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Undo what was not committed, and disconnect."""

    @abstractmethod
    def commit(self) -> None:
        """Make the changes visible to others, all at once."""

    @abstractmethod
    def tables(self) -> list[str]:
        """The names of tables and views that may be read, for messages."""

    @abstractmethod
    def has(self, source: DatabaseTable) -> bool:
        """Whether a table or view exists."""

    @abstractmethod
    def columns(self, source: str) -> list[StoredColumn]:
        """The columns of the source after FROM."""

    @abstractmethod
    def read(self, source: str, columns: Sequence[StoredColumn]) -> pa.RecordBatchReader:
        """The records of the source after FROM, as a stream."""

    @abstractmethod
    def relations(self, source: str) -> frozenset[Relation]:
        """All tables that are read for the source after FROM, also through views."""

    @abstractmethod
    def size(self, source: str) -> int:
        """About how many bytes the records of the source after FROM have, 0 if unknown."""

    @abstractmethod
    def target_problems(
        self, target: DatabaseTable, if_exists: IfExists, read: frozenset[Relation]
    ) -> list[str]:
        """Return reasons why a table cannot be written."""

    @abstractmethod
    def stage(
        self, target: DatabaseTable, name: str, data: pa.RecordBatchReader, types: Mapping[str, str]
    ) -> str:
        """Write records to a new table next to the target; return the SQL after FROM that reads it.

        `types` are the types of single columns, as this database calls them.
        """

    @abstractmethod
    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""

    @abstractmethod
    def beside(self, target: DatabaseTable, name: str) -> str:
        """The name of a table in the schema of the target, as SQL has it."""

    def rename(self, target: DatabaseTable, name: str, if_exists: IfExists) -> None:
        """Give a staged table its name; an existing one is replaced if that was chosen."""
        own = target.parts[-1]
        if if_exists == "replace":
            self.run(f"DROP TABLE IF EXISTS {self.beside(target, own)}")
        self.run(f"ALTER TABLE {self.beside(target, name)} RENAME TO {quoted(own)}")

    def existing_problems(
        self, target: DatabaseTable, if_exists: IfExists, is_read: bool, is_view: bool
    ) -> list[str]:
        """Return a sentence if an existing table or view cannot be replaced; what is read is never changed."""
        name, database = repr(target.table), self.database
        if is_read:
            return [
                f"The table {name} in '{database}' is read to make this release and would be lost. Name another "
                "table to write."
            ]
        if if_exists != "replace":
            return [
                f"The table {name} exists in '{database}'. Choose another name or pass --if-exists replace "
                '(if_exists="replace").'
            ]
        if is_view:
            return [
                f"{name} in '{database}' is a view, which cannot be replaced. Choose another name."
            ]
        return []

    def missing(self, table: DatabaseTable) -> str:
        """Report a missing table, and which one was probably meant."""
        known = self.tables()
        close = near_miss(str(table.table), known) or f"; tables: {_some(known)}."
        return f"There is no table {table.table!r} in '{self.database}'{close}"


class AdbcConnection(Connection):
    """A transaction by a driver of ADBC."""

    _connection: Any

    def close(self) -> None:
        with suppress(Exception):  # if the connection is lost, there is nothing to undo
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
    """Return a sentence if the driver of a database is not installed."""
    kind, package = database.kind, database.kind.library.replace("_", "-")
    if find_spec(kind.library) is not None:
        return []
    return [f"'{database}' needs {package}. Install it with: pip install 'shoal[{kind.extra}]'."]


def connect(database: Database, writes: bool = False) -> Connection:
    """Open a transaction: one snapshot that cannot write, unless `writes`."""
    raise_problems(library_problems(database))
    return database.kind(database, writes)
