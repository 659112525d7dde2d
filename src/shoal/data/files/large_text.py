"""Text files that do not fit into memory: read block by block, as strictly as smaller ones, into one Parquet file."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from shoal.data.files import csv
from shoal.data.files.column_types import PartByPart, types_of_text
from shoal.data.files.formats import suffix_of
from shoal.data.files.json_lines import SEPARATOR, possible_types, tables_of
from shoal.data.files.text import load_text
from shoal.data.files.totals import check_total
from shoal.encoding.frames import is_number_text
from shoal.encoding.source import Dialect, Input
from shoal.errors import InputError

Tell = Callable[[int], None]  # is told the number of records read so far


@dataclass
class ReadTexts:
    """What is known about text files that were read."""

    dialect: Dialect | None = None  # how CSV files are written, by the first
    # Of columns that are typed without loss.
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    numbers: Sequence[str] = ()  # columns of JSON lines that are texts of numbers


def texts_to_parquet(
    paths: Sequence[Path], input: Input, target: Path, tell: Tell = lambda records: None
) -> ReadTexts:
    """Write the records of text files, every value as its text, into one Parquet file.

    Raises
    ------
    InputError
        If a file is damaged or not in its encoding, or files differ in their columns.
    """
    is_json = suffix_of(paths[0]).startswith((".jsonl", ".ndjson"))
    if (input.skip_last or input.skip_rows) and not is_json:
        name = "skip_last" if input.skip_last else "skip_rows"
        raise InputError(
            f"'{paths[0]}' is read in blocks, so rows of it cannot be skipped. Remove these rows and leave out {name} "
            f"(--{name.replace('_', '-')})."
        )
    read, types = ReadTexts(), PartByPart()
    tables = (_json_tables if is_json else _delimited_tables)(paths, input, read, types)
    _write(target, tables, tell)
    read.types = types.found()
    return read


def _write(target: Path, tables: Iterator[pa.Table], tell: Tell) -> None:
    from pyarrow.parquet import ParquetWriter

    writer, records = None, 0
    with ExitStack() as opened:
        for table in tables:
            if writer is None:  # the first table says which columns there are
                writer = ParquetWriter(target, table.schema, compression="zstd")
                opened.enter_context(writer)
            writer.write_table(table)
            records += table.num_rows
            tell(records)


def _delimited_tables(
    paths: Sequence[Path], input: Input, read: ReadTexts, types: PartByPart
) -> Iterator[pa.Table]:
    """The records of CSV files with the columns of the first, block by block."""
    names: list[str] = []
    for path in paths:
        dialect, tables = csv.read_large(path, input)
        read.dialect = read.dialect or dialect
        input = replace(input, delimiter=dialect.delimiter)  # that of the first file
        last: deque[pa.Table] = deque(maxlen=2)  # the last block alone may have a few rows only
        for table in tables:
            names = names or table.column_names
            if table.column_names != names:
                raise InputError(
                    f"'{path}' has other columns than '{paths[0]}'. Give files with the same column names."
                )
            for name in names:
                types.add(name, table[name], partial(types_of_text, input=input.of_column(name)))
            last.append(table)
            yield table
        check_total(path, pa.concat_tables(last), input)


def _json_tables(
    paths: Sequence[Path], input: Input, read: ReadTexts, types: PartByPart
) -> Iterator[pa.Table]:
    """The records of JSON Lines; their columns are searched first, because later lines may have more."""
    kinds: dict[str, set[str]] = {}
    for table in _json_blocks(paths, input):
        for about, column in zip(table.schema, table.columns, strict=True):
            own = kinds.setdefault(about.name, set())
            if column.null_count < len(column):
                own.add("number" if is_number_text(about) else str(about.type))
            types.add(about.name, column, possible_types(about, input), SEPARATOR)
            if len(own) > 1:
                raise InputError(
                    f"Column '{about.name}' of '{paths[0]}' mixes numbers, texts or true/false values. Convert "
                    "it to one kind."
                )
    read.numbers = [name for name, own in kinds.items() if own == {"number"}]
    texts = {name: pa.bool_() if own == {"bool"} else pa.string() for name, own in kinds.items()}
    for table in _json_blocks(paths, input):
        missing = {name: pa.nulls(len(table), kind) for name, kind in texts.items()}
        columns = missing | dict(zip(table.column_names, table.columns, strict=True))
        yield pa.table({name: columns[name].cast(kind) for name, kind in texts.items()})


def _json_blocks(paths: Sequence[Path], input: Input) -> Iterator[pa.Table]:
    for path in paths:
        yield from tables_of(load_text(path, input.encoding, is_large=True))
