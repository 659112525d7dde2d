"""Databases for tests, each with the same people: a PostgreSQL server that runs, files of SQLite and DuckDB."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import local
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest

RECORDS = 6_000
TOWNS = ("Lyon", "Paris", "Porto", "Braga")
ILLNESSES = ("asthma", "flu", "gout")
PASSWORD = "hunter2-is-secret"
KINDS = ("postgresql", "sqlite", "duckdb")


def people(records: int = RECORDS) -> pa.Table:
    """Records with a name each, which must be seen nowhere."""
    numbers = range(records)
    return pa.table(
        {
            "name": [f"Zyzzyva {i}" for i in numbers],
            "age": [18 + i * 37 % 83 for i in numbers],
            "town": [TOWNS[i * 7 % 4] for i in numbers],
            "ill": [ILLNESSES[i * 5 % 3] for i in numbers],
        }
    )


@dataclass(frozen=True)
class Server:
    """A server that runs: addresses of it, and plain ways to ask it."""

    socket: str
    own: local = field(default_factory=local, compare=False)  # a connection of each thread

    def uri(
        self, user: str = "postgres", password: str | None = None, name: str = "postgres"
    ) -> str:
        secret = "" if password is None else f":{password}"
        return f"postgresql://{user}{secret}@/{name}?host={quote(self.socket, safe='')}"

    def do(self, *statements: str) -> None:
        """Run statements in one transaction."""
        with self._transaction() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self._transaction() as cursor:
            cursor.execute(query)
            return cursor.fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """A cursor of the thread's connection, which takes long to make; it is committed in the end."""
        from adbc_driver_postgresql import dbapi

        if not hasattr(self.own, "connection"):
            self.own.connection = dbapi.connect(self.uri())
        connection = self.own.connection
        try:
            with connection.cursor() as cursor:
                yield cursor
            connection.commit()
        except BaseException:
            connection.close()
            del self.own.connection
            raise

    def close(self) -> None:
        """End the connection of this thread."""
        if hasattr(self.own, "connection"):
            self.own.connection.close()
            del self.own.connection

    def fill(self, table: pa.Table, schema: str, name: str) -> None:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.uri()) as connection:
            with connection.cursor() as cursor:
                cursor.adbc_ingest(name, table.to_reader(), mode="replace", db_schema_name=schema)
            connection.commit()

    def relations(self) -> list[tuple[Any, ...]]:
        """All tables and views, with their numbers, which change when one is made anew."""
        return self.rows(
            "SELECT n.nspname::text, c.relname::text, c.oid::bigint FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'p') "
            "AND n.nspname !~ '^(pg_|information_schema)' ORDER BY 1, 2"
        )


def asked(uri: str, query: str) -> list[tuple[Any, ...]]:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
        cursor.execute(query)
        return cursor.fetchall()


@dataclass(frozen=True)
class Place:
    """A database of one kind, with the table `people` in it, and what it holds by its own library."""

    kind: str
    address: str
    source: str
    target: str
    rows: Callable[[str], list[tuple[Any, ...]]]
    tables: Callable[[], list[str]]


def asking(kind: str, path: Path) -> Callable[[str], list[tuple[Any, ...]]]:
    """A function that asks a file, by Python's own library or DuckDB."""

    def rows(query: str) -> list[tuple[Any, ...]]:
        if kind == "duckdb":
            import duckdb

            with duckdb.connect(str(path), read_only=True) as connection:
                return connection.execute(query).fetchall()
        with closing(sqlite3.connect(path)) as connection:
            return connection.execute(query).fetchall()

    return rows


def filled_sqlite(path: Path, table: pa.Table, name: str = "people") -> Callable[..., Any]:
    """A SQLite file with a table."""
    columns = ", ".join(map(own_quoted, table.column_names))
    marks = ", ".join("?" * table.num_columns)
    rows = zip(*table.to_pydict().values(), strict=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE {own_quoted(name)} ({columns})")
        connection.executemany(f"INSERT INTO {own_quoted(name)} VALUES ({marks})", rows)
        connection.commit()
    return asking("sqlite", path)


def filled_duckdb(path: Path, table: pa.Table, name: str = "people") -> Callable[..., Any]:
    """A DuckDB file with a table."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute(f"CREATE TABLE {own_quoted(name)} AS SELECT * FROM given")
    return asking("duckdb", path)


def own_quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
