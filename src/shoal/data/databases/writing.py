"""Write a table to a database: staged, audited where it is, and renamed, all in one transaction."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from shoal.atomic import write_atomically
from shoal.data.databases.address import Database, DatabaseTable, name_problems
from shoal.data.databases.connection import (
    IF_EXISTS,
    Connection,
    IfExists,
    connect,
    library_problems,
    quoted,
)
from shoal.data.databases.error_messages import driver_errors
from shoal.data.databases.reading import read_all
from shoal.data.files.formats import path_problems
from shoal.data.staging import folder_beside
from shoal.encoding.frames import plain_schema, plain_table
from shoal.encoding.source import Origin, Relation
from shoal.errors import InputError, ShoalError, added_to, raise_problems, shown

COUNT = "_shoal_count"
ProveStream = Callable[[pa.RecordBatchReader], None]
STAGING = "_shoal_staging_"
NOWHERE = Origin("")  # of a table that comes from no database
_RECORDS = 65_536  # of a batch


@dataclass(frozen=True)
class StagedTable:
    """A staged table, to be read back while no one else sees it."""

    connection: Connection
    source: str  # the SQL after FROM

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return [own.name for own in self.connection.columns(self.source)]

    @property
    def is_counted_quickly(self) -> bool:
        """Whether the database counts combinations faster than it returns all records."""
        return self.connection.counts_quickly

    def records(self) -> pa.Table:
        """All records, in the order in which they were written."""
        return read_all(self.connection, self.source)

    def counted(self, columns: Sequence[str]) -> pa.Table:
        """The combinations of some columns, each with the number of its records in the column `COUNT`."""
        names = ", ".join(map(quoted, columns))
        counted = f"SELECT {names}, COUNT(*) AS {quoted(COUNT)} FROM {self.source} GROUP BY {names}"
        return read_all(self.connection, f"({counted}) AS shoal_counted")


Prove = Callable[[StagedTable], None]


def target_problems(
    target: DatabaseTable,
    if_exists: str = "fail",
    data: pa.Schema | pa.Table | None = None,
    read: frozenset[Relation] = frozenset(),
) -> list[str]:
    """Return reasons why a table could not be written, before anything is computed.

    Parameters
    ----------
    target
        Where to write it.
    if_exists
        What to do with an existing table of that name: "fail" or "replace" it.
    data
        The schema of the output, or all of it.
    read
        The tables that are read, which are never replaced.
    """
    found = []
    if if_exists not in IF_EXISTS:
        found.append(
            f"The 'if_exists' parameter must be 'fail' or 'replace'. Got {shown(if_exists)} instead."
        )
        if_exists = "fail"
    if target.table is None:
        found.append(
            "No output table is named. Name it with --output-table (table=), for example release.patients."
        )
    else:
        found += name_problems(target.table)
    try:
        database = target.database
    except InputError as error:
        return [*found, *error.problems]
    found += library_problems(database)
    if found:
        return found
    if data is not None:
        found += _holding(database, data)
    if database.is_new:
        return [*found, *_new_problems(target)]
    with (
        added_to(found),
        driver_errors(database),
        connect(database, writes=True) as connection,
    ):
        how: IfExists = "replace" if if_exists == "replace" else "fail"
        found += connection.target_problems(target, how, read)
    return found


def write_stored(
    table: pa.Table,
    target: DatabaseTable,
    prove: Prove,
    if_exists: IfExists = "fail",
    stored: Origin | None = None,
    unchanged: Sequence[str] = (),
) -> None:
    """Write a table, whole or not at all; `prove` reads back what was written, and may raise.

    Columns that are `unchanged` get the types of the database they come from, if it is of this kind.
    """
    values, stored = plain_table(table), stored or NOWHERE
    raise_problems(target_problems(target, if_exists, values, stored.read))
    batches = values.to_batches(max_chunksize=_RECORDS)

    def check(connection: Connection, source: str) -> None:
        prove(StagedTable(connection, source))

    _publish(values.schema, batches, target, if_exists, stored, unchanged, check, [])


def write_stored_batches(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    target: DatabaseTable,
    prove: ProveStream,
    if_exists: IfExists = "fail",
    stored: Origin | None = None,
    unchanged: Sequence[str] = (),
) -> None:
    """The same for records that come a batch at a time, and are read back so."""
    stored = stored or NOWHERE
    raise_problems(target_problems(target, if_exists, schema, stored.read))

    def check(connection: Connection, source: str) -> None:
        prove(connection.read(source, connection.columns(source)))

    problems: list[ShoalError] = []
    own = _looked_at(batches, target.database, problems)
    _publish(schema, own, target, if_exists, stored, unchanged, check, problems)


def _publish(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    target: DatabaseTable,
    if_exists: IfExists,
    stored: Origin,
    unchanged: Sequence[str],
    check: Callable[[Connection, str], None],
    problems: Sequence[ShoalError],
) -> None:
    """Stage, check and rename in one transaction; `problems` of batches are known once they were written."""
    database = target.database
    types = {}
    if stored.kind == database.kind.name:
        types = {name: kind for name, kind in stored.types.items() if name in unchanged}

    def fill(place: Database) -> None:
        with driver_errors(database), connect(place, writes=True) as connection:
            raise_problems(connection.target_problems(target, if_exists, stored.read))
            fields = [(own.name, database.kind.fitted(own.type)) for own in plain_schema(schema)]
            kinds = pa.schema(fields)
            own = pa.RecordBatchReader.from_batches(kinds, _cast(batches, kinds))
            name = f"{STAGING}{secrets.token_hex(6)}"
            try:
                source = connection.stage(target, name, own, types)
            except Exception:
                if problems:  # what went wrong in our own batches, which a driver cannot report
                    raise problems[0] from None
                raise
            check(connection, source)
            connection.rename(target, name, if_exists)
            connection.commit()

    if not database.is_new:
        database.kind.change(database, fill, lambda: _replaces(target, if_exists, stored))
        return
    with folder_beside(database.path) as folder:
        write_atomically(
            database.path,
            False,
            lambda file: fill(replace(database, uri=str(file))),
            suffix=database.path.suffix,
            folder=folder,
        )


def _replaces(target: DatabaseTable, if_exists: IfExists, stored: Origin) -> bool:
    """Whether a table is about to be replaced, once it is certain that this is allowed."""
    if if_exists != "replace":
        return False
    database = target.database
    with driver_errors(database), connect(database, writes=True) as connection:
        raise_problems(connection.target_problems(target, if_exists, stored.read))
        return connection.has(target)


def _new_problems(target: DatabaseTable) -> list[str]:
    """Return reasons why a new file with a table cannot be made."""
    found = path_problems(target.database.path, False)
    found += target.database.kind.name_problems(target.parts[-1])
    if len(target.parts) > 1 and target.parts[0].lower() != "main":
        found.append(
            f"'{target.database}' does not exist yet and has no schema '{target.parts[0]}'. Name the table alone."
        )
    return found


def _cast(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Records in the types of a database."""
    for batch in batches:
        yield from plain_table(pa.Table.from_batches([batch])).cast(schema).to_batches()


def _looked_at(
    batches: Iterable[pa.RecordBatch], database: Database, problems: list[ShoalError]
) -> Iterator[pa.RecordBatch]:
    """The same records; problems with them are collected, since a stream cannot report them."""
    for batch in batches:
        found = database.kind.value_problems(pa.Table.from_batches([batch]))
        if found:
            problems.append(InputError(found))
            raise problems[0]
        yield batch


def _holding(database: Database, data: pa.Schema | pa.Table) -> list[str]:
    schema = data if isinstance(data, pa.Schema) else data.schema
    found = database.kind.type_problems(plain_schema(schema), database)
    return found + (database.kind.value_problems(data) if isinstance(data, pa.Table) else [])
