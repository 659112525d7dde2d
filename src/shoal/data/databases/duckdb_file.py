"""DuckDB files, by DuckDB itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from shoal.data.databases.address import Database, DatabaseTable, quoted
from shoal.data.databases.connection import (
    BYTES_OF_A_CELL,
    Connection,
    IfExists,
    StoredColumn,
    exists_already,
    file_identity,
    file_problems,
    is_source,
    selected,
)
from shoal.encoding.source import Relation
from shoal.errors import listed, near_miss, raise_problems

_SCALARS = (
    r"BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|DATE|"
    "TIMESTAMP( WITH TIME ZONE)?"
)
NATIVE = re.compile(rf"({_SCALARS})(\[\])?|BLOB")
_AGAIN = ("UUID", "JSON", "HUGEINT", "UHUGEINT", "INTERVAL", "TIME")  # types without values in them
_BATCH = 65_536


class DuckDBFile(Connection):
    """One transaction of a DuckDB file."""

    def __init__(self, database: Database, writes: bool) -> None:
        import duckdb

        super().__init__(database)
        raise_problems(file_problems(database, writes))
        if (
            writes and not database.path.stat().st_size
        ):  # to DuckDB an empty file is none of its own
            database.path.unlink()
        self._connection = duckdb.connect(
            str(database.path),
            read_only=not writes,
            # A query reads and writes no other file, and takes no name for a variable of this program.
            config={"enable_external_access": False, "python_enable_replacements": False},
        )
        self._connection.execute(
            "SET enable_progress_bar = false"
        )  # on where Python is interactive
        self._connection.execute("BEGIN")

    def close(self) -> None:
        with suppress(Exception):
            self._connection.execute("ROLLBACK")
        with suppress(Exception):
            self._connection.close()

    def commit(self) -> None:
        self._connection.execute("COMMIT")

    def _rows(self, query: str, parameters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, list(parameters)).fetchall()

    def tables(self) -> list[str]:
        found = self._rows(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_catalog = current_catalog() ORDER BY 1, 2"
        )
        return [name if schema == "main" else f"{schema}.{name}" for schema, name in found]

    def _kind(self, table: DatabaseTable) -> str | None:
        """What a name stands for, None where it stands for nothing; case does not matter."""
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
        known = [
            row[0]
            for row in self._rows(
                "SELECT schema_name FROM information_schema.schemata WHERE catalog_name = current_catalog()"
            )
        ]
        if schema.lower() not in [name.lower() for name in known]:
            close = near_miss(schema, known) or f"; schemas: {listed(sorted(known))}."
            return [f"There is no schema '{schema}' in '{self.database}'{close}"]
        kind = self._kind(target)
        if kind is None:
            return []
        if self._is_read(f"{schema}.{target.parts[-1]}".lower(), read):
            return [is_source(target, self.database)]
        if if_exists != "replace":
            return [exists_already(target, self.database)]
        if kind != "BASE TABLE":
            return [
                f"{target.table!r} in '{self.database}' is a view and is not replaced; name another."
            ]
        return []

    def stage(
        self, target: DatabaseTable, name: str, data: pa.RecordBatchReader, types: Mapping[str, str]
    ) -> str:
        place = quoted(self._schema(target), name)
        again = {column: kind for column, kind in types.items() if kind in _AGAIN}
        columns = [
            f"CAST({quoted(own)} AS {again[own]}) AS {quoted(own)}" if own in again else quoted(own)
            for own in data.schema.names
        ]
        self._connection.register("shoal_records", data)
        try:
            self._rows(f"CREATE TABLE {place} AS SELECT {', '.join(columns)} FROM shoal_records")
        finally:
            self._connection.unregister("shoal_records")
        return place

    def _is_read(self, name: str, read: frozenset[Relation]) -> bool:
        """Whether a table may be among those that were read, which are written with or without their schema."""
        place, full = file_identity(self.database), _unquoted(name)
        found = [own[-1] for own in read if own[:-1] == place]
        return any(
            full == own or full.endswith(f".{own}") or own.endswith(f".{full}") for own in found
        )

    def rename(self, target: DatabaseTable, name: str, if_exists: IfExists) -> None:
        schema = self._schema(target)
        if if_exists == "replace":
            self._rows(f"DROP TABLE IF EXISTS {quoted(schema, target.parts[-1])}")
        self._rows(f"ALTER TABLE {quoted(schema, name)} RENAME TO {quoted(target.parts[-1])}")


def _column(name: str, kind: str) -> StoredColumn:
    own = quoted(name)
    is_native = NATIVE.fullmatch(kind) is not None
    return StoredColumn(name, kind, own if is_native else f"CAST({own} AS VARCHAR)")


def _unquoted(name: str) -> str:
    return name.lower().replace('"', "")
