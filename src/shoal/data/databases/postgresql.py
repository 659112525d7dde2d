"""PostgreSQL, by ADBC: records come and go by binary COPY."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from shoal.data.databases.address import Database, DatabaseTable, quoted
from shoal.data.databases.connection import (
    AdbcConnection,
    IfExists,
    StoredColumn,
    exists_already,
    is_source,
    selected,
    streamed,
)
from shoal.data.databases.types import LONGEST_NAME
from shoal.encoding.source import Relation
from shoal.errors import listed, near_miss

_SCALARS = (
    "boolean",
    "smallint",
    "integer",
    "bigint",
    "real",
    "double precision",
    "text",
    "character varying",
    "date",
    "timestamp without time zone",
    "timestamp with time zone",
)
# Types that arrive as they are; all others are read as their text.
NATIVE = {*_SCALARS, "bytea", "time without time zone", *(f"{name}[]" for name in _SCALARS[:8])}
NUMERIC = "numeric"
_CUT_OFF = ("character", "bit")  # without their length, these hold one sign: they stay text
_TYPE = "SELECT oid::regtype::text AS own FROM pg_type WHERE oid = to_regtype({kind}) AND typtype <> 'p'"
_ORDINARY = "r"  # the mark of an ordinary table in the catalogue

_TARGET = """
SELECT n.oid IS NOT NULL AS has_schema,
  COALESCE(has_schema_privilege(n.oid, 'CREATE'), false) AS may_create,
  current_setting('transaction_read_only') = 'on' AS is_read_only,
  c.oid::text AS own, c.relkind::text AS kind,
  quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS spelled,
  COALESCE(pg_has_role(c.relowner, 'USAGE'), true) AS is_owner,
  EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid OR i.inhrelid = c.oid) AS is_parted,
  EXISTS (
    SELECT FROM pg_depend d LEFT JOIN pg_constraint k ON k.oid = d.objid AND d.classid = 'pg_constraint'::regclass
    WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid AND d.deptype = 'n'
      AND (d.classid = 'pg_rewrite'::regclass OR k.conrelid <> c.oid)
  ) AS is_needed
FROM (SELECT {schema} AS name) s LEFT JOIN pg_namespace n ON n.nspname = s.name
LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = {table}
"""


# Locks of this transaction; scans are listed as well, since a function that catches an error gives its locks back.
_TOUCHED = """
SELECT relation::text AS own FROM pg_locks
WHERE pid = pg_backend_pid() AND locktype = 'relation'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
UNION
SELECT relid::text FROM pg_stat_xact_all_tables WHERE COALESCE(seq_scan, 0) + COALESCE(idx_scan, 0) > 0
"""
# The tables behind foreign tables, by name: they are read by another connection, perhaps of the same server.
_FOREIGN = ("postgresql", "by another connection")
_REMOTE = """
SELECT quote_ident(COALESCE(o.schema_name, n.nspname)) || '.' || quote_ident(COALESCE(o.table_name, c.relname)) AS own
FROM pg_locks l JOIN pg_foreign_table f ON f.ftrelid = l.relation
JOIN pg_class c ON c.oid = f.ftrelid JOIN pg_namespace n ON n.oid = c.relnamespace,
LATERAL (
  SELECT MAX(option_value) FILTER (WHERE option_name = 'schema_name') AS schema_name,
    MAX(option_value) FILTER (WHERE option_name = 'table_name') AS table_name
  FROM pg_options_to_table(f.ftoptions)
) o
WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation'
"""


class PostgreSQL(AdbcConnection):
    """One transaction of a PostgreSQL server."""

    def __init__(self, database: Database, writes: bool) -> None:
        from adbc_driver_postgresql import dbapi

        super().__init__(database)
        self._connection = dbapi.connect(database.uri)
        try:
            if not writes:
                self._do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for option, value in (
                ("client_encoding", "UTF8"),
                ("standard_conforming_strings", "on"),
                ("lock_timeout", "60s"),  # for whoever waits to replace a table
                (
                    "synchronize_seqscans",
                    "off",
                ),  # so that records come in the order they were written
                ("max_parallel_workers_per_gather", "0"),
                ("work_mem", "64MB"),  # to count combinations
            ):
                self._do(f"SET LOCAL {option} = '{value}'")
        except BaseException:
            self.close()
            raise

    def _rows(self, query: str, by_copy: bool = True) -> list[dict[str, Any]]:
        with self._connection.cursor() as cursor:
            if not by_copy:
                cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
            cursor.execute(query)
            return cursor.fetch_arrow_table().to_pylist()

    def tables(self) -> list[str]:
        found = self._rows(
            "SELECT table_schema::text AS schema, table_name::text AS name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
        )
        return [f"{row['schema']}.{row['name']}" for row in found]

    def has(self, source: DatabaseTable) -> bool:
        [row] = self._rows(f"SELECT to_regclass({_text(source.source)}) IS NOT NULL AS found")
        return bool(row["found"])

    def columns(self, source: str) -> list[StoredColumn]:
        with self._connection.cursor() as cursor:
            names = cursor.adbc_execute_schema(f"SELECT * FROM {source}").names
        if not names or len(set(names)) < len(names):  # which nobody can ask for by name
            return [StoredColumn(name, "", quoted(name)) for name in names]
        asked = ", ".join(f"pg_typeof(s.{quoted(name)})::text" for name in names)
        [row] = self._rows(
            f"SELECT ARRAY[{asked}] AS types FROM (SELECT 1) AS one "
            f"LEFT JOIN (SELECT * FROM {source} LIMIT 0) AS s ON true"
        )
        return [_column(name, kind) for name, kind in zip(names, row["types"], strict=True)]

    def read(self, source: str, columns: Sequence[StoredColumn]) -> pa.RecordBatchReader:
        cursor = self._connection.cursor()
        try:
            cursor.execute(f"SELECT {selected(columns)} FROM {source}")
            return streamed(cursor)
        except BaseException:
            cursor.close()
            raise

    def _plan(self, source: str) -> dict[str, Any]:
        query = f"EXPLAIN (VERBOSE, FORMAT JSON) SELECT * FROM {source}"
        [row] = self._rows(query, by_copy=False)
        [value] = row.values()
        return json.loads(value)[0]["Plan"]

    def relations(self, source: str) -> frozenset[Relation]:
        """All tables that this transaction has read or is about to read.

        Planning locks whatever a query names, also through views and partitions. Functions read tables that no plan
        shows: these are locked, or at least counted as scanned, once the query has run.
        """
        self._plan(source)
        place = self._place()
        found: set[Relation] = {(*place, row["own"]) for row in self._rows(_TOUCHED)}
        return frozenset(found | {(*_FOREIGN, row["own"]) for row in self._rows(_REMOTE)})

    def _place(self) -> tuple[str, str]:
        """What tells this database from all others, whatever its address: when its server began, and its number."""
        [row] = self._rows(
            "SELECT pg_postmaster_start_time()::text AS start, oid::text AS own FROM pg_database "
            "WHERE datname = current_database()"
        )
        return f"postgresql {row['start']}", row["own"]

    def size(self, source: str) -> int:
        plan = self._plan(source)
        return int(plan.get("Plan Rows", 0)) * int(plan.get("Plan Width", 0))

    def _schema(self, target: DatabaseTable) -> str:
        """The schema of a table to write: the one that is named, or the first of the search path."""
        if len(target.parts) > 1:
            return target.parts[0]
        [row] = self._rows("SELECT current_schema()::text AS own")
        return row["own"] or "public"

    def target_problems(
        self, target: DatabaseTable, if_exists: IfExists, read: frozenset[Relation]
    ) -> list[str]:
        found = [
            f"The name '{part}' has more than {LONGEST_NAME} bytes, which PostgreSQL would cut off; shorten it."
            for part in target.parts
            if len(part.encode()) > LONGEST_NAME
        ]
        schema = self._schema(target)
        [row] = self._rows(_TARGET.format(schema=_text(schema), table=_text(target.parts[-1])))
        if row["is_read_only"]:
            found.append(
                f"The database '{self.database}' only lets you read; write to another, or as another user."
            )
        if not row["has_schema"]:
            known = self._rows(
                "SELECT nspname::text AS name FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema)' ORDER BY 1"
            )
            names = [own["name"] for own in known]
            close = near_miss(schema, names) or f"; schemas: {listed(names)}."
            return [*found, f"There is no schema '{schema}' in '{self.database}'{close}"]
        if not row["may_create"]:
            found.append(
                f"You may not create tables in schema '{schema}' of '{self.database}'; ask for GRANT CREATE ON SCHEMA, "
                "or name another schema."
            )
        if row["own"] is not None:
            found += self._existing_problems(target, if_exists, read, row)
        return found

    def _existing_problems(
        self,
        target: DatabaseTable,
        if_exists: IfExists,
        read: frozenset[Relation],
        row: Mapping[str, Any],
    ) -> list[str]:
        """Sentences for why a table that exists cannot be replaced."""
        if read & {(*self._place(), row["own"]), (*_FOREIGN, row["spelled"])}:
            return [is_source(target, self.database)]
        if if_exists != "replace":
            return [exists_already(target, self.database)]
        what = f"The table {target.table!r} in '{self.database}'"
        if row["kind"] != _ORDINARY or row["is_parted"]:
            return [f"{what} is a view, has parts or is one, and is not replaced; name another."]
        if not row["is_owner"]:
            return [f"{what} belongs to somebody else; ask its owner, or name another."]
        if row["is_needed"]:
            return [
                f"{what} is needed by views or foreign keys; drop these first, or name another."
            ]
        return []

    def stage(
        self, target: DatabaseTable, name: str, data: pa.RecordBatchReader, types: Mapping[str, str]
    ) -> str:
        schema = self._schema(target)
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(name, data, mode="create", db_schema_name=schema)
        changes = []
        for column, kind in types.items():
            if kind in NATIVE or kind.removesuffix("[]") in _CUT_OFF:
                continue
            for row in self._rows(_TYPE.format(kind=_text(kind))):
                own, spelled = quoted(column), row["own"]  # as this server spells it
                changes.append(f"ALTER COLUMN {own} TYPE {spelled} USING {own}::{spelled}")
        if changes:
            self._do(f"ALTER TABLE {quoted(schema, name)} {', '.join(changes)}")
        return quoted(schema, name)

    def rename(self, target: DatabaseTable, name: str, if_exists: IfExists) -> None:
        schema = self._schema(target)
        if if_exists == "replace":
            self._do(f"DROP TABLE IF EXISTS {quoted(schema, target.parts[-1])}")
        self._do(f"ALTER TABLE {quoted(schema, name)} RENAME TO {quoted(target.parts[-1])}")


def _column(name: str, kind: str) -> StoredColumn:
    own = quoted(name)
    expression = own if kind in NATIVE else f"{own}::text"
    return StoredColumn(name, kind, expression, kind == NUMERIC)


def _text(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"
