"""DuckDB files, by DuckDB itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from shoal.atomic import write_atomically
from shoal.data.databases import error_messages as why
from shoal.data.databases.connection import (
    BYTES_OF_A_CELL,
    Connection,
    IfExists,
    StoredColumn,
    file_identity,
    file_problems,
    quoted,
    selected,
    text_in_sql,
)
from shoal.data.databases.error_messages import driver_errors
from shoal.data.staging import folder_beside
from shoal.encoding.source import Relation
from shoal.errors import InputError, listed, near_miss, raise_problems

if TYPE_CHECKING:
    from shoal.data.databases.address import Database, DatabaseTable

_SCALARS = (
    r"BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|DATE|"
    "TIMESTAMP( WITH TIME ZONE)?"
)
NATIVE = re.compile(rf"({_SCALARS})(\[\])?|BLOB")
_AGAIN = ("UUID", "JSON", "HUGEINT", "UHUGEINT", "INTERVAL", "TIME")  # types without values in them
_BATCH = 65_536
_CLASSES = {  # of errors
    "ParserException": why.QUERY,
    "BinderException": why.QUERY,
    "CatalogException": why.NOT_FOUND,
    "ConversionException": why.DATA,
    "InvalidInputException": why.DATA,
    "OutOfRangeException": why.DATA,
    "PermissionException": "may only read its own tables. Query only tables in this file",
    "OutOfMemoryException": why.MEMORY,
}

OLD, NEW = "shoal_old", "shoal_new"
# What a file contains: of sequences and types only the names, since copies spell their definitions differently.
_OBJECTS = """
SELECT 'table', schema_name, table_name, sql FROM duckdb_tables() WHERE database_name = {name}
UNION ALL SELECT 'view', schema_name, view_name, sql FROM duckdb_views() WHERE database_name = {name} AND NOT internal
UNION ALL SELECT 'index', schema_name, index_name, sql FROM duckdb_indexes() WHERE database_name = {name}
UNION ALL SELECT 'sequence', schema_name, sequence_name, '' FROM duckdb_sequences() WHERE database_name = {name}
UNION ALL SELECT 'type', schema_name, type_name, '' FROM duckdb_types() WHERE database_name = {name} AND NOT internal
UNION ALL SELECT 'macro', schema_name, function_name, macro_definition FROM duckdb_functions()
  WHERE database_name = {name} AND NOT internal
UNION ALL SELECT 'schema', schema_name, '', '' FROM duckdb_schemas() WHERE database_name = {name} AND NOT internal
"""


class DuckDBFile(Connection):
    """One transaction of a DuckDB file."""

    name = "duckdb"
    suffixes = (".duckdb",)
    form = "duckdb:///FILE"
    library = "duckdb"
    extra = "duckdb"
    signs: ClassVar[Mapping[str, str]] = {
        "could not set lock": why.BUSY,
        "conflicting lock": why.BUSY,
        "different configuration": "is open in this program already. Close that connection first",
        "no space left": why.FULL,
        "not a valid duckdb": why.BROKEN,
        "version number": why.BROKEN,
        "cannot open file": why.UNOPENED,
        "read-only": why.READ_ONLY,
    }

    @classmethod
    def reason(cls, error: Any) -> str:
        if "already exists" in str(error).lower():
            return why.EXISTS
        return _CLASSES.get(type(error).__name__) or super().reason(error)

    @classmethod
    def change(
        cls, database: Database, fill: Callable[[Database], None], replaces: Callable[[], bool]
    ) -> None:
        """Change a file; replacing a table makes a new file, because freed blocks would keep every row."""
        if not replaces():
            fill(database)
            return
        with driver_errors(database):
            _rewrite(database, fill)

    def __init__(self, database: Database, writes: bool) -> None:
        import duckdb

        super().__init__(database, writes)
        raise_problems(file_problems(database, writes))
        if writes and not database.path.stat().st_size:  # which is not a DuckDB file
            database.path.unlink()
        self._connection = duckdb.connect(
            str(database.path),
            read_only=not writes,
            # A query reads and writes no other file, and reads no name as a variable of this program.
            config={"enable_external_access": False, "python_enable_replacements": False},
        )
        self.run("SET enable_progress_bar = false")  # on where Python is interactive
        self.run("BEGIN")

    def close(self) -> None:
        with suppress(Exception):
            self.run("ROLLBACK")
        with suppress(Exception):
            self._connection.close()

    def commit(self) -> None:
        self.run("COMMIT")

    def run(self, statement: str) -> None:
        self._connection.execute(statement)

    def _rows(self, query: str, parameters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, list(parameters)).fetchall()

    def tables(self) -> list[str]:
        found = self._rows(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_catalog = current_catalog() ORDER BY 1, 2"
        )
        return [name if schema == "main" else f"{schema}.{name}" for schema, name in found]

    def _kind(self, table: DatabaseTable) -> str | None:
        """What a name refers to, None for nothing; case does not matter."""
        found = self._rows(
            "SELECT table_type FROM information_schema.tables WHERE table_catalog = current_catalog() "
            "AND lower(table_schema) = lower(?) AND lower(table_name) = lower(?)",
            [self._schema(table), table.parts[-1]],
        )
        return found[0][0] if found else None

    def _schema(self, table: DatabaseTable) -> str:
        return table.parts[0] if len(table.parts) > 1 else "main"

    def has(self, source: DatabaseTable) -> bool:
        return self._kind(source) is not None

    def columns(self, source: str) -> list[StoredColumn]:
        found = self._rows(f"DESCRIBE SELECT * FROM {source}")
        return [_column(str(row[0]), str(row[1])) for row in found]

    def read(self, source: str, columns: Sequence[StoredColumn]) -> pa.RecordBatchReader:
        query = f"SELECT {selected(columns)} FROM {source}"
        return self._connection.sql(query).to_arrow_reader(_BATCH)

    def relations(self, source: str) -> frozenset[Relation]:
        # Not from the plan: it leaves out tables whose statistics are enough, as for COUNT(*).
        found = self._connection.get_table_names(f"SELECT * FROM {source}", qualified=True)
        place = file_identity(self.database)
        return frozenset((*place, _unquoted(name)) for name in found)

    def size(self, source: str) -> int:
        [(records,)] = self._rows(f"SELECT COUNT(*) FROM {source}")
        return BYTES_OF_A_CELL * int(records) * len(self.columns(source))

    def target_problems(
        self, target: DatabaseTable, if_exists: IfExists, read: frozenset[Relation]
    ) -> list[str]:
        schema = self._schema(target)
        query = "SELECT schema_name FROM information_schema.schemata WHERE catalog_name = current_catalog()"
        known = [row[0] for row in self._rows(query)]
        if schema.lower() not in [name.lower() for name in known]:
            close = near_miss(schema, known) or f"; schemas: {listed(sorted(known))}."
            return [f"There is no schema '{schema}' in '{self.database}'{close}"]
        kind = self._kind(target)
        if kind is None:
            return []
        is_read = self._is_read(f"{schema}.{target.parts[-1]}".lower(), read)
        return self.existing_problems(target, if_exists, is_read, kind != "BASE TABLE")

    def stage(
        self, target: DatabaseTable, name: str, data: pa.RecordBatchReader, types: Mapping[str, str]
    ) -> str:
        place = self.beside(target, name)
        again = {column: kind for column, kind in types.items() if kind in _AGAIN}
        columns = [
            f"CAST({quoted(own)} AS {again[own]}) AS {quoted(own)}" if own in again else quoted(own)
            for own in data.schema.names
        ]
        self._connection.register("shoal_records", data)
        try:
            self.run(f"CREATE TABLE {place} AS SELECT {', '.join(columns)} FROM shoal_records")
        finally:
            self._connection.unregister("shoal_records")
        return place

    def _is_read(self, name: str, read: frozenset[Relation]) -> bool:
        """Whether a table may be among those that were read, whose names may lack their schema."""
        place, full = file_identity(self.database), f".{_unquoted(name)}"
        found = [f".{own[-1]}" for own in read if own[:-1] == place]
        return any(full.endswith(own) or own.endswith(full) for own in found)

    def beside(self, target: DatabaseTable, name: str) -> str:
        return quoted(self._schema(target), name)


def _column(name: str, kind: str) -> StoredColumn:
    own = quoted(name)
    is_native = NATIVE.fullmatch(kind) is not None
    return StoredColumn(name, kind, own if is_native else f"CAST({own} AS VARCHAR)")


def _unquoted(name: str) -> str:
    return name.lower().replace('"', "")


def _rewrite(database: Database, change: Callable[[Database], None]) -> None:
    """Change a copy of a DuckDB file, and then let a fresh copy of that replace the file in one step.

    The old file is locked meanwhile, as DuckDB locks files it writes. The new one gets its owner and permissions.
    """
    with folder_beside(database.path) as folder, _locked(database, folder) as connection:
        changed = folder / f"changed{database.path.suffix}"

        def fill(file: Path) -> None:
            _copy(connection, database.path, changed)
            change(replace(database, uri=str(changed)))
            file.unlink()  # an empty file is not a DuckDB file
            _copy(connection, changed, file)

        write_atomically(database.path, True, fill, suffix=database.path.suffix, folder=folder)


@contextmanager
def _locked(database: Database, folder: Path) -> Iterator[Any]:
    """A connection to a file that keeps other processes out, and that has nothing left to write when it is closed."""
    import duckdb

    with closing(duckdb.connect(str(database.path))) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET temp_directory = {text_in_sql(str(folder / 'spilled'))}")
        connection.execute(f"SET allowed_directories = [{text_in_sql(f'{folder.absolute()}/')}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("CHECKPOINT")
        yield connection


def _copy(connection: Any, source: Path, target: Path) -> None:
    """Copy everything that a file contains, except its free blocks, into a new file of the same format."""
    [(opened, path)] = connection.execute(
        "SELECT database_name, path FROM duckdb_databases() WHERE database_name = current_catalog()"
    ).fetchall()
    is_opened = Path(path).samefile(source)
    old = opened if is_opened else OLD
    if not is_opened:
        connection.execute(f"ATTACH {text_in_sql(str(source.absolute()))} AS {OLD} (READ_ONLY)")
    try:
        where = text_in_sql(str(target.absolute()))
        connection.execute(f"ATTACH {where} AS {NEW} ({_format(connection, old)})")
        try:
            connection.execute(f"COPY FROM DATABASE {quoted(old)} TO {NEW}")
            if _objects(connection, old) != _objects(connection, NEW):
                raise InputError(
                    f"The file '{source.name}' contains something that cannot be copied, but replacing a table "
                    "copies all others. Choose a new name for the table, or a new file."
                )
        finally:
            connection.execute(f"DETACH {NEW}")
    finally:
        if not is_opened:
            connection.execute(f"DETACH {OLD}")


def _format(connection: Any, name: str) -> str:
    """The version and block size of a file, so that programs that read it also read its copy."""
    [(version,)] = connection.execute(
        "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = ?", [name]
    ).fetchall()
    [(size,)] = connection.execute(
        "SELECT block_size FROM pragma_database_size() WHERE database_name = ?", [name]
    ).fetchall()
    return f"STORAGE_VERSION {text_in_sql(version.removesuffix('+'))}, BLOCK_SIZE {int(size)}"


def _objects(connection: Any, name: str) -> set[tuple[str, ...]]:
    return set(connection.execute(_OBJECTS.format(name=text_in_sql(name))).fetchall())
