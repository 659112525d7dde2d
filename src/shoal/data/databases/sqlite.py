"""SQLite, by ADBC: columns have the type that all of their values share, and dates are text."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

import pyarrow as pa

from shoal.data.databases import error_messages as why
from shoal.data.databases.connection import (
    BYTES_OF_A_CELL,
    AdbcConnection,
    IfExists,
    StoredColumn,
    file_identity,
    file_problems,
    quoted,
    selected,
)
from shoal.data.databases.types import fitted_type
from shoal.data.files.column_types import type_problems
from shoal.encoding.source import Relation
from shoal.errors import raise_problems

if TYPE_CHECKING:
    from shoal.data.databases.address import Database, DatabaseTable

_STORAGE = ("integer", "real", "text", "blob")
# What a column of a type looks like: a first record with these makes the driver know all types.
_EXAMPLES = {"INTEGER": "0", "REAL": "0.5", "TEXT": "''", "BLOB": "x'00'"}
_ROWS = 65_536  # records of a batch
# Columns of a query: SQLite allows 2,000 sums, and there is one for each kind of value.
_AT_ONCE = 400
SMALL = 10_000_000  # bytes of a file
_PATIENCE = 10_000  # milliseconds to wait for other readers of the file


class SQLite(AdbcConnection):
    """One transaction of a SQLite file."""

    name = "sqlite"
    suffixes = (".sqlite", ".sqlite3")
    form = "sqlite:///FILE"
    library = "adbc_driver_sqlite"
    counts_quickly = False  # it sorts them
    signs: ClassVar[Mapping[str, str]] = {
        "database is locked": why.BUSY,
        "disk is full": why.FULL,
        "no space left": why.FULL,
        "readonly database": why.READ_ONLY,
        "not a database": why.BROKEN,
        "malformed": why.BROKEN,
        "unable to open": why.UNOPENED,
        "already exists": why.EXISTS,
        "no such table": why.NOT_FOUND,
        "no such column": why.QUERY,
        "syntax error": why.QUERY,
    }

    @classmethod
    def type_problems(cls, schema: pa.Schema, database: Database) -> list[str]:
        flat = [field for field in schema if not pa.types.is_binary(field.type)]
        return type_problems(pa.schema(flat), database.path)

    @classmethod
    def name_problems(cls, name: str) -> list[str]:
        if name.lower().startswith("sqlite_"):
            return [f"SQLite reserves names like '{name}'. Choose another one."]
        return []

    @classmethod
    def fitted(cls, kind: pa.DataType) -> pa.DataType:
        """Numbers, bytes and text are what SQLite has; exact numbers, dates and times are text there."""
        found = fitted_type(kind)
        if pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_binary(found):
            return found
        return pa.int64() if pa.types.is_boolean(found) else pa.string()

    def __init__(self, database: Database, writes: bool) -> None:
        from adbc_driver_sqlite import dbapi

        super().__init__(database, writes)
        raise_problems(file_problems(database, writes))
        path = quote(str(database.path.absolute()))
        self._connection = dbapi.connect(f"file:{path}?mode={'rw' if writes else 'ro'}")
        if writes:  # rows of a table that is replaced are overwritten with zeros
            self._rows("PRAGMA secure_delete = ON")

    def commit(self) -> None:
        super().commit()
        # If changes are kept in a log, the file itself and older parts of the log still contain the replaced rows.
        self._connection.adbc_connection.set_autocommit(True)
        self._rows(f"PRAGMA busy_timeout = {_PATIENCE}")
        [row] = self._rows("PRAGMA wal_checkpoint(TRUNCATE)")
        if row["busy"]:
            warnings.warn(
                f"The replaced rows are still in '{self.database}', because another program is reading it. When "
                "it has finished, run PRAGMA wal_checkpoint(TRUNCATE) there.",
                stacklevel=2,
            )

    def _known(self) -> dict[str, dict[str, Any]]:
        """All tables and views by their names in lower case, as SQLite compares them."""
        found = self._rows(
            "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        )
        return {row["name"].lower(): row for row in found}

    def tables(self) -> list[str]:
        return sorted(row["name"] for row in self._known().values())

    def has(self, source: DatabaseTable) -> bool:
        *schema, name = source.parts
        return (not schema or schema[0].lower() == "main") and name.lower() in self._known()

    def _names(self, source: str) -> list[str]:
        with self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {source} LIMIT 0")
            return list(cursor.fetch_arrow_table().schema.names)

    def columns(self, source: str) -> list[StoredColumn]:
        names = self._names(source)
        if not names or len({name.lower() for name in names}) < len(names):
            return [StoredColumn(name, "", quoted(name)) for name in names]
        found: dict[str, set[str]] = {}
        for start in range(0, len(names), _AT_ONCE):
            found |= self._kinds(source, names[start : start + _AT_ONCE])
        raise_problems(
            f"Column '{name}' mixes bytes with numbers or text. Convert it to one of these."
            for name, kinds in found.items()
            if "blob" in kinds and len(kinds) > 1
        )
        return [_column(name, kinds) for name, kinds in found.items()]

    def _kinds(self, source: str, names: Sequence[str]) -> dict[str, set[str]]:
        """Which kinds of values some columns contain."""
        asked = [(name, kind) for name in names for kind in _STORAGE]
        sums = ", ".join(
            f"TOTAL(typeof({quoted(name)}) = '{kind}') AS n{number}"
            for number, (name, kind) in enumerate(asked)
        )
        [row] = self._rows(f"SELECT {sums} FROM {source}")
        found: dict[str, set[str]] = {name: set() for name in names}
        for (name, kind), count in zip(asked, row.values(), strict=True):
            if count:
                found[name].add(kind)
        return found

    def read(self, source: str, columns: Sequence[StoredColumn]) -> pa.RecordBatchReader:
        examples = ", ".join(f"{_EXAMPLES[own.type]} AS {quoted(own.name)}" for own in columns)
        reader = self._streamed(
            f"SELECT {examples} UNION ALL SELECT * FROM (SELECT {selected(columns)} FROM {source})",
            **{"adbc.sqlite.query.batch_rows": str(_ROWS)},
        )
        own = (batch if number else batch.slice(1) for number, batch in enumerate(reader))
        return pa.RecordBatchReader.from_batches(reader.schema, own)

    def relations(self, source: str) -> frozenset[Relation]:
        opened = self._rows(f"EXPLAIN SELECT * FROM {source}")
        pages = {int(row["p2"]) for row in opened if row["opcode"] == "OpenRead"}
        found = self._rows("SELECT rootpage, tbl_name FROM sqlite_master WHERE rootpage > 0")
        place = file_identity(self.database)
        return frozenset(
            (*place, row["tbl_name"].lower()) for row in found if int(row["rootpage"]) in pages
        )

    def size(self, source: str) -> int:
        most = self.database.path.stat().st_size
        if most < SMALL:  # there is no need to count
            return most
        [row] = self._rows(f"SELECT COUNT(*) AS records FROM {source}")
        return BYTES_OF_A_CELL * int(row["records"]) * len(self._names(source))

    def target_problems(
        self, target: DatabaseTable, if_exists: IfExists, read: frozenset[Relation]
    ) -> list[str]:
        *schema, name = target.parts
        if schema and schema[0].lower() != "main":
            return [f"SQLite has no schema '{schema[0]}'. Name the table alone."]
        if found := self.name_problems(name):
            return found
        row = self._known().get(name.lower())
        if row is None:
            return []
        is_read = (*file_identity(self.database), name.lower()) in read
        return self.existing_problems(target, if_exists, is_read, row["type"] != "table")

    def stage(
        self, target: DatabaseTable, name: str, data: pa.RecordBatchReader, types: Mapping[str, str]
    ) -> str:
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(name, data, mode="create")
        return quoted(name)

    def beside(self, target: DatabaseTable, name: str) -> str:
        return quoted(name)


def _column(name: str, kinds: set[str]) -> StoredColumn:
    own = quoted(name)
    if kinds == {"integer"}:
        return StoredColumn(name, "INTEGER", own)
    if kinds == {"blob"}:
        return StoredColumn(name, "BLOB", own)
    kind = "REAL" if kinds and kinds <= {"integer", "real"} else "TEXT"
    return StoredColumn(name, kind, f"CAST({own} AS {kind})")
