"""Replace a table of a DuckDB file by a new file, since freed blocks of the old one would keep every replaced row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from shoal.atomic import write_whole
from shoal.data.databases.address import Database, quoted
from shoal.data.staging import folder_beside
from shoal.errors import InputError

OLD, NEW = "shoal_old", "shoal_new"
# What a file holds: of sequences and types only the names, since copies spell their definitions in another way.
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


def rewrite(database: Database, change: Callable[[Database], None]) -> None:
    """Change a copy of a DuckDB file, and let a fresh copy of that take its place in one step.

    The old file is locked meanwhile, as DuckDB locks files it writes. The new one gets its owner and permissions.
    """
    with folder_beside(database.path) as folder, _locked(database, folder) as connection:
        changed = folder / f"changed{database.path.suffix}"

        def fill(file: Path) -> None:
            _copy(connection, database.path, changed)
            change(Database(database.kind, str(changed), database.shown))
            file.unlink()  # an empty file is none of DuckDB's
            _copy(connection, changed, file)

        write_whole(database.path, True, fill, suffix=database.path.suffix, folder=folder)


@contextmanager
def _locked(database: Database, folder: Path) -> Iterator[Any]:
    """A connection to a file that keeps other processes out, and that has nothing left to write when it is closed."""
    import duckdb

    with closing(duckdb.connect(str(database.path))) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET temp_directory = {_text(str(folder / 'spilled'))}")
        connection.execute(f"SET allowed_directories = [{_text(f'{folder.absolute()}/')}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("CHECKPOINT")
        yield connection


def _copy(connection: Any, source: Path, target: Path) -> None:
    """Copy everything that a file holds, but not its free blocks, into a new file of the same format."""
    [(opened, path)] = connection.execute(
        "SELECT database_name, path FROM duckdb_databases() WHERE database_name = current_catalog()"
    ).fetchall()
    is_opened = Path(path).samefile(source)
    old = opened if is_opened else OLD
    if not is_opened:
        connection.execute(f"ATTACH {_text(str(source.absolute()))} AS {OLD} (READ_ONLY)")
    try:
        where = _text(str(target.absolute()))
        connection.execute(f"ATTACH {where} AS {NEW} ({_format(connection, old)})")
        try:
            connection.execute(f"COPY FROM DATABASE {quoted(old)} TO {NEW}")
            if _objects(connection, old) != _objects(connection, NEW):
                raise InputError(
                    f"The file '{source.name}' holds something that cannot be copied, and a table is replaced by "
                    "copying all others; choose a new name for the table, or a new file."
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
    return f"STORAGE_VERSION {_text(version.removesuffix('+'))}, BLOCK_SIZE {int(size)}"


def _objects(connection: Any, name: str) -> set[tuple[str, ...]]:
    return set(connection.execute(_OBJECTS.format(name=_text(name))).fetchall())


def _text(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"
