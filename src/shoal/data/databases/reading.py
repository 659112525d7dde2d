"""Read a table of a database: in one snapshot that cannot write, into memory or, a batch at a time, into a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from shoal.data.databases.address import DatabaseTable
from shoal.data.databases.connection import Connection, StoredColumn, connect
from shoal.data.databases.error_messages import driver_errors
from shoal.data.databases.types import Digits
from shoal.data.files.column_types import columns_as_text
from shoal.data.files.header import check_names
from shoal.data.files.streams import batches_of, schema_of, write_part
from shoal.encoding.frames import plain_table
from shoal.encoding.source import Origin, Relation, Source
from shoal.errors import InputError, raise_problems

Tell = Callable[[int], None]  # is told the number of records read so far


def open_stored(table: DatabaseTable) -> Source:
    """Read a table into memory, with what is known about its database.

    Texts of SQLite may be numbers or dates, like those of a CSV file.
    """
    with _opened(table) as connection:
        columns = _columns(connection, table)
        data = read_all(connection, table.source, columns)
        stored = _stored(connection, table, columns)
    return Source(data, stored=stored)


def read_stored_texts(table: DatabaseTable) -> pa.Table:
    """Read a table with every value as text."""
    return columns_as_text(open_stored(table).data)


def stored_to_parquet(table: DatabaseTable, target: Path, tell: Tell) -> Origin:
    """Write the records of a table into one Parquet file, a batch at a time."""
    with _opened(table) as connection:
        columns = _columns(connection, table)
        digits = {own.name: Digits() for own in columns if own.is_number_text}
        reader = connection.read(table.source, columns)
        write_part(target, _plain_batches(reader, digits, tell), reader.schema)
        stored = _stored(connection, table, columns)
    numbers = {name: own for name, own in digits.items() if own.type is not None}
    if numbers:
        texts = target.with_suffix(".texts")
        target.rename(texts)
        schema = _with_numbers(schema_of(texts).empty_table(), numbers).schema
        write_part(target, _typed(batches_of(texts), numbers), schema)
        texts.unlink()
    return stored


def _typed(
    batches: Iterable[pa.RecordBatch], numbers: Mapping[str, Digits]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield from _with_numbers(pa.Table.from_batches([batch]), numbers).to_batches()


def _with_numbers(table: pa.Table, numbers: Mapping[str, Digits]) -> pa.Table:
    """A table with decimals instead of the texts of exact numbers."""
    for name, digits in numbers.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, digits.typed(table.column(place)))
    return table


def relations_of(table: DatabaseTable) -> frozenset[Relation]:
    """All tables that are read for a table or query, also through views."""
    with _opened(table) as connection:
        return connection.relations(table.source)


def stored_bytes(table: DatabaseTable) -> int:
    """About how many bytes the records of a table have, 0 if unknown."""
    with _opened(table) as connection:
        return connection.size(table.source)


def read_all(
    connection: Connection, source: str, columns: Sequence[StoredColumn] | None = None
) -> pa.Table:
    """Read the source after FROM in an open transaction; exact numbers are decimals."""
    asked = connection.columns(source) if columns is None else columns
    table = plain_table(connection.read(source, asked).read_all())
    numbers = {own.name: Digits() for own in asked if own.is_number_text}
    for name, digits in numbers.items():
        digits.add(table[name])
    table = _with_numbers(table, numbers)
    _check_texts(table)
    return table


def _check_texts(table: pa.Table) -> None:
    try:
        table.validate(full=True)
        return
    except (pa.ArrowException, ValueError):
        pass
    raise InputError(
        "The table contains text that is not UTF-8. Correct it, or read other columns with a query."
    )


def _plain_batches(
    reader: pa.RecordBatchReader, digits: dict[str, Digits], tell: Tell
) -> Iterator[pa.RecordBatch]:
    records = 0
    for batch in reader:
        table = plain_table(pa.Table.from_batches([batch]))
        _check_texts(table)
        for name, own in digits.items():
            own.add(table[name])
        records += batch.num_rows
        tell(records)
        yield from table.to_batches()


def _stored(
    connection: Connection, table: DatabaseTable, columns: Sequence[StoredColumn]
) -> Origin:
    types = {own.name: own.type for own in columns}
    return Origin(connection.name, types, connection.relations(table.source))


@contextmanager
def _opened(table: DatabaseTable) -> Iterator[Connection]:
    """A transaction in which a table is known to exist."""
    raise_problems(table.problems())
    database = table.database
    with driver_errors(database), connect(database) as connection:
        if table.table is not None and not connection.has(table):
            raise InputError(connection.missing(table))
        yield connection


def _columns(connection: Connection, table: DatabaseTable) -> list[StoredColumn]:
    """The columns of a table, each with a name of its own."""
    columns = connection.columns(table.source)
    check_names(table, [own.name for own in columns])
    return columns
