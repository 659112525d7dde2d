"""Text files that outgrow memory: read a block at a time, as strictly as smaller ones, into one Parquet file."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from shoal.data.files import csv, json_lines, text
from shoal.data.files.formats import suffix_of
from shoal.data.files.header import check_total
from shoal.data.files.types import PartByPart
from shoal.encoding.frames import is_number
from shoal.encoding.source import Dialect, Input
from shoal.errors import InputError

Tell = Callable[[int], None]  # is told the number of records read so far


@dataclass(frozen=True)
class Read:
    """What is known of text files that were read."""

    dialect: Dialect | None  # how CSV files are written, by the first
    types: Mapping[str, pa.DataType]  # of columns whose texts have a type without loss
    numbers: tuple[str, ...] = ()  # columns of JSON lines that are texts of numbers


def texts_to_parquet(
    paths: Sequence[Path], input: Input, target: Path, tell: Tell = lambda records: None
) -> Read:
    """Write the records of text files, every value as the text that stands there, into one Parquet file.

    Raises
    ------
    InputError
        Where a file is torn or not in its encoding, or files differ in their columns.
    """
    types = PartByPart()
    if suffix_of(paths[0]).startswith((".jsonl", ".ndjson")):
        numbers: list[str] = []
        _write(target, _json_tables(paths, input, numbers, types), tell)
        return Read(None, types.found(), tuple(numbers))
    if input.skip_last:
        raise InputError(
            f"'{paths[0]}' is read block by block, and no rows at its end can be skipped there; remove them and leave "
            "out skip_last (--skip-last)."
        )
    found: list[Dialect] = []
    _write(target, _delimited_tables(paths, input, found, types), tell)
    return Read(found[0], types.found())


def _write(target: Path, tables: Iterator[pa.Table], tell: Tell) -> None:
    from pyarrow.parquet import ParquetWriter

    writer, records = None, 0
    try:
        for table in tables:
            if writer is None:
                writer = ParquetWriter(target, table.schema, compression="zstd")
            writer.write_table(table)
            records += table.num_rows
            tell(records)
    finally:
        if writer is not None:
            writer.close()


def _delimited_tables(
    paths: Sequence[Path], input: Input, found: list[Dialect], types: PartByPart
) -> Iterator[pa.Table]:
    """The records of CSV files with the columns of the first, block by block."""
    names: list[str] = []
    for path in paths:
        own, tables = csv.read_large(path, input)
        found.append(own)
        input = replace(input, delimiter=own.delimiter)  # that of the first file
        last: deque[pa.Table] = deque(maxlen=2)  # the last block alone may have a few rows only
        for table in tables:
            names = names or table.column_names
            if table.column_names != names:
                raise InputError(
                    f"'{path}' has other columns than '{paths[0]}'; give files with the same header."
                )
            for name in names:
                types.add(name, table[name], csv.types_of(name, input))
            last.append(table)
            yield table
        check_total(path, pa.concat_tables(last), input)


def _json_tables(
    paths: Sequence[Path], input: Input, numbers: list[str], types: PartByPart
) -> Iterator[pa.Table]:
    """The records of JSON lines; their columns are looked for first, for later lines may have more."""
    kinds: dict[str, str] = {}
    for table in _json_blocks(paths, input):
        for field, column in zip(table.schema, table.columns, strict=True):
            kind = "number" if is_number(field) else str(field.type)
            before = kinds.get(field.name, "")
            if column.null_count == len(column):
                kinds.setdefault(field.name, "")
            elif before not in ("", kind):
                raise InputError(
                    f"Column '{field.name}' of '{paths[0]}' mixes numbers, texts or true/false values; make it all "
                    "of one kind."
                )
            else:
                kinds[field.name] = kind
            types.add(field.name, column, json_lines.types_of(field, input), json_lines.SEPARATOR)
    numbers += [name for name, kind in kinds.items() if kind == "number"]
    texts = {name: pa.bool_() if kind == "bool" else pa.string() for name, kind in kinds.items()}
    for table in _json_blocks(paths, input):
        columns = {
            name: table[name].cast(kind)
            if name in table.column_names
            else pa.nulls(len(table), kind)
            for name, kind in texts.items()
        }
        yield pa.table(columns)


def _json_blocks(paths: Sequence[Path], input: Input) -> Iterator[pa.Table]:
    for path in paths:
        yield from json_lines.tables_of(text.load(path, input.encoding, is_large=True))
