"""PostgreSQL, by ADBC: records come and go by binary COPY."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.databases import error_messages as why
from shoal.data.databases.connection import (
    AdbcConnection,
    IfExists,
    StoredColumn,
    quoted,
    selected,
    text_in_sql,
)
from shoal.encoding.source import Relation
from shoal.errors import listed, near_miss

if TYPE_CHECKING:
    from shoal.data.databases.address import Database, DatabaseTable

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
# Types that are read unchanged; all others are read as text.
NATIVE = {*_SCALARS, "bytea", "time without time zone", *(f"{name}[]" for name in _SCALARS[:8])}
NUMERIC = "numeric"
_CUT_OFF = ("character", "bit")  # without their length, these have one character: they stay text
_TYPE = "SELECT oid::regtype::text AS own FROM pg_type WHERE oid = to_regtype({kind}) AND typtype <> 'p'"
_ORDINARY = "r"  # the mark of an ordinary table in the catalogue
_LOCAL = {  # settings of a transaction
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "lock_timeout": "60s",  # for sessions that wait to replace a table
    "synchronize_seqscans": "off",  # so that records come in the order they were written
    "max_parallel_workers_per_gather": "0",
    "work_mem": "64MB",  # to count combinations
}

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


# Hosts with numbers for ports, and a database of plain letters: anything else could be part of a password.
_HARMLESS = re.compile(
    r"(?P<shown>[\w.\[\]-]*(:\d+)?(,[\w.\[\]-]+(:\d+)?)*(/[\w.-]*)?)(\?.*)?", re.S
)
_USER = re.compile(r"[\w.%~+-]*")
# Hosts, each with a number for its port, and a database.
_PLACE = re.compile(
    r"(?:(?:\[[\da-f:.%]+\]|[\w.%-]*)(?::\d*)?(?:,|(?=/|$)))*(?:/[\w.%~ -]*)?", re.I
)
_OPTIONS = (  # parameters of an address that contain no secret
    "host",
    "hostaddr",
    "port",
    "user",
    "dbname",
    "service",
    "passfile",
    "connect_timeout",
    "application_name",
    "options",
    "client_encoding",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "target_session_attrs",
    "gssencmode",
    "channel_binding",
)
# A part of what PostgreSQL calls a connection string: host=… user=… password=…
_WORD = re.compile(r"\s*(\w+)\s*=\s*(?:'(?:[^'\\]|\\.)*'|[^\s']\S*|)")
LONGEST_NAME = 63  # bytes of a name; longer ones are cut off

_TIMEOUT = "stopped the work, because it took longer than the server allows (statement_timeout). Ask for a higher limit"
_NO_DATABASE = "has no such database. Check the name after the host"
_UNREACHABLE = (
    "cannot be reached. Check host, port and network, or what PGHOST, PGPORT and PGSERVICE say"
)
_REFUSED = (
    "refused the login. Check the user, and the password in PGPASSWORD, a password file (PGPASSFILE) or a "
    "service file"
)
_LOST = "closed the connection, and unfinished work is undone. Try again, or ask its administrator"
_PORT = "has an address that cannot be read. A port must be a number"
_RIGHTS = "denies you permission. Ask the owner to GRANT it, or use another user"
# What SQLSTATE means, by its beginnings.
_CODES = {
    "28": _REFUSED,
    "3D": _NO_DATABASE,
    "08": _LOST,
    "57P": _LOST,
    "57014": _TIMEOUT,
    "55P03": why.BUSY,
    "40": why.BUSY,
    "42501": _RIGHTS,
    "42P01": why.NOT_FOUND,
    "42P07": why.EXISTS,
    "3F": why.NOT_FOUND,
    "42": why.QUERY,
    "0A": why.QUERY,
    "25006": why.READ_ONLY,
    "2BP01": "has views or keys that depend on the table to be replaced. Drop them first, or choose another name",
    "53100": why.FULL,
    "53": "has no free connection or memory. Try again later",
    "22": why.DATA,
}


class PostgreSQL(AdbcConnection):
    """One transaction of a PostgreSQL server."""

    name = "postgresql"
    schemes = ("postgres",)
    form = "postgresql://HOST/DATABASE"
    library = "adbc_driver_postgresql"
    is_file = False
    # Where there is no SQLSTATE: while it connects, and in a stream of records.
    signs: ClassVar[Mapping[str, str]] = {
        "password authentication failed": _REFUSED,
        "no password supplied": _REFUSED,
        "no pg_hba.conf entry": _REFUSED,
        'role "': _REFUSED,
        "invalid connection option": "has an address with an unknown option. Correct it",
        "invalid integer value": _PORT,
        "invalid uri": "has an address that cannot be read. Encode special characters of a password, such as @ as %40",
        "invalid port": _PORT,
        "definition of service": "has no such service in the service file. Check PGSERVICE and PGSERVICEFILE",
        "could not translate host": _UNREACHABLE,
        "connection refused": _UNREACHABLE,
        "timeout expired": _UNREACHABLE,
        "connection to server": _UNREACHABLE,
        "server closed the connection": _LOST,
        "terminating connection": _LOST,
        "no connection to the server": _LOST,
        "connection not open": _LOST,
        "ssl": _LOST,
        "invalid input": why.DATA,
        "division by zero": why.DATA,
        "out of range": why.DATA,
        "statement timeout": _TIMEOUT,
        "permission denied": _RIGHTS,
        "no space left": why.FULL,
        "read-only": why.READ_ONLY,
    }

    @classmethod
    def reason(cls, error: Any) -> str:
        code, words = getattr(error, "sqlstate", None) or "", str(error).lower()
        for length in (5, 3, 2):
            if code[:length] in _CODES:
                return _CODES[code[:length]]
        if 'database "' in words and "does not exist" in words:
            return _NO_DATABASE
        return super().reason(error)

    @classmethod
    def locate(cls, rest: str) -> tuple[str, str]:
        """The address, and its form in messages: hosts and database, nothing that might be a secret."""
        found = _HARMLESS.fullmatch(rest[2:].rpartition("@")[2])
        return f"{cls.name}:{rest}", f"{cls.name}://{found['shown'] if found else '…'}"

    @classmethod
    def without_password(cls, start: str, rest: str) -> tuple[str, bool]:
        body = rest[2:]
        before, at, _ = body.partition("@")
        login = before if at and "/" not in before else ""  # as PostgreSQL finds it
        user, _, password = login.partition(":")
        place, _, options = body.removeprefix(f"{login}@").partition("?")
        if not (_USER.fullmatch(user) and _PLACE.fullmatch(place) and "@" not in options):
            return cls.locate(rest)[1], True
        given = [option for option in options.split("&") if option]
        kept = [option for option in given if option.partition("=")[0] in _OPTIONS]
        host = f"{user}{'@' if login else ''}{place}"
        shown = f"{start}//{host}{'?' if kept else ''}{'&'.join(kept)}"
        return shown, bool(password) or len(kept) < len(given)

    @classmethod
    def is_connection_string(cls, text: str) -> bool:
        """Whether a text is a connection string like host=… password=…; a file may be called user=1.csv."""
        words, place = [], 0
        while found := _WORD.match(text, place):
            words.append(found[1].lower())
            place = found.end()
        if text[place:].strip() or not words:
            return False
        return "password" in words or len({*words} & {*_OPTIONS}) > 1

    @classmethod
    def type_problems(cls, schema: pa.Schema, database: Database) -> list[str]:
        found = [
            f"Column '{name}' has a name of more than {LONGEST_NAME} bytes, which PostgreSQL would cut off. "
            "Rename it."
            for name in schema.names
            if len(name.encode()) > LONGEST_NAME
        ]
        return found + [
            f"Column '{field.name}' has type {field.type}, which PostgreSQL cannot store. Convert it to numbers, "
            "dates or text, or leave it out."
            for field in schema
            if pa.types.is_nested(field.type) and not _is_plain_list(field.type)
        ]

    @classmethod
    def value_problems(cls, table: pa.Table) -> list[str]:
        return [
            f"Column '{field.name}' contains texts with a NUL character, which PostgreSQL cannot store. Remove "
            "it."
            for field, column in zip(table.schema, table.columns, strict=True)
            if (pa.types.is_string(field.type) or pa.types.is_large_string(field.type))
            and pc.any(pc.match_substring(column, "\0")).as_py()
        ]

    def __init__(self, database: Database, writes: bool) -> None:
        from adbc_driver_postgresql import dbapi

        super().__init__(database, writes)
        self._connection = dbapi.connect(database.uri)
        try:
            if not writes:
                self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for option, value in _LOCAL.items():
                self.run(f"SET LOCAL {option} = '{value}'")
        except BaseException:
            self.close()
            raise

    def tables(self) -> list[str]:
        found = self._rows(
            "SELECT table_schema::text AS schema, table_name::text AS name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
        )
        return [f"{row['schema']}.{row['name']}" for row in found]

    def has(self, source: DatabaseTable) -> bool:
        [row] = self._rows(f"SELECT to_regclass({text_in_sql(source.source)}) IS NOT NULL AS found")
        return bool(row["found"])

    def columns(self, source: str) -> list[StoredColumn]:
        with self._connection.cursor() as cursor:
            names = cursor.adbc_execute_schema(f"SELECT * FROM {source}").names
        if not names or len(set(names)) < len(names):  # which cannot be selected by name
            return [StoredColumn(name, "", quoted(name)) for name in names]
        asked = ", ".join(f"pg_typeof(s.{quoted(name)})::text" for name in names)
        [row] = self._rows(
            f"SELECT ARRAY[{asked}] AS types FROM (SELECT 1) AS one "
            f"LEFT JOIN (SELECT * FROM {source} LIMIT 0) AS s ON true"
        )
        return [_column(name, kind) for name, kind in zip(names, row["types"], strict=True)]

    def read(self, source: str, columns: Sequence[StoredColumn]) -> pa.RecordBatchReader:
        return self._streamed(f"SELECT {selected(columns)} FROM {source}")

    def _plan(self, source: str) -> dict[str, Any]:
        query = f"EXPLAIN (VERBOSE, FORMAT JSON) SELECT * FROM {source}"
        [row] = self._rows(query, **{"adbc.postgresql.use_copy": "false"})
        [value] = row.values()
        return json.loads(value)[0]["Plan"]

    def relations(self, source: str) -> frozenset[Relation]:
        """All tables that this transaction has read or is about to read.

        Planning locks everything that a query names, also through views and partitions. Functions may read tables that
        no plan shows: these are locked, or at least counted as scanned, once the query has run.
        """
        self._plan(source)
        place = self._place()
        found: set[Relation] = {(*place, row["own"]) for row in self._rows(_TOUCHED)}
        return frozenset(found | {(*_FOREIGN, row["own"]) for row in self._rows(_REMOTE)})

    def _place(self) -> tuple[str, str]:
        """The identity of this database, whatever its address: when its server started, and its number."""
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
            f"The name '{part}' has more than {LONGEST_NAME} bytes, which PostgreSQL would cut off. Shorten it."
            for part in target.parts
            if len(part.encode()) > LONGEST_NAME
        ]
        schema = self._schema(target)
        [row] = self._rows(
            _TARGET.format(schema=text_in_sql(schema), table=text_in_sql(target.parts[-1]))
        )
        if row["is_read_only"]:
            found.append(
                f"The database '{self.database}' is read-only for you. Write to another one, or as another user."
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
                f"You may not create tables in schema '{schema}' of '{self.database}'. Ask for GRANT CREATE ON "
                "SCHEMA, or name another schema."
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
        """Return reasons why an existing table cannot be replaced."""
        is_read = bool(read & {(*self._place(), row["own"]), (*_FOREIGN, row["spelled"])})
        if found := self.existing_problems(target, if_exists, is_read, is_view=False):
            return found
        what = f"The table {target.table!r} in '{self.database}'"
        if row["kind"] != _ORDINARY or row["is_parted"]:
            return [
                f"{what} is a view or a partitioned table, or part of one, and cannot be replaced. Choose another "
                "name."
            ]
        if not row["is_owner"]:
            return [f"{what} belongs to another user. Ask them, or choose another name."]
        if row["is_needed"]:
            return [
                f"{what} is needed by views or foreign keys. Drop these first, or choose another name."
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
            for row in self._rows(_TYPE.format(kind=text_in_sql(kind))):
                own, spelled = quoted(column), row["own"]  # as this server spells it
                changes.append(f"ALTER COLUMN {own} TYPE {spelled} USING {own}::{spelled}")
        if changes:
            self.run(f"ALTER TABLE {quoted(schema, name)} {', '.join(changes)}")
        return quoted(schema, name)

    def beside(self, target: DatabaseTable, name: str) -> str:
        return quoted(self._schema(target), name)


def _is_plain_list(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return is_list and not pa.types.is_nested(kind.value_type)


def _column(name: str, kind: str) -> StoredColumn:
    own = quoted(name)
    expression = own if kind in NATIVE else f"{own}::text"
    return StoredColumn(name, kind, expression, kind == NUMERIC)
