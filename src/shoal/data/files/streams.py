"""Write the records of Parquet files to another file or to a folder of parts, a batch at a time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from shoal.data.files import csv_output, json_lines
from shoal.data.files.column_types import finite_problems, type_problems, unencodable_problems
from shoal.data.files.csv_output import BATCH
from shoal.data.files.formats import suffix_of
from shoal.data.files.table_file import formula_columns
from shoal.encoding.frames import NUMBER_MARK, plain_table
from shoal.encoding.source import Dialect
from shoal.errors import raise_problems

PART = 5_000_000  # records of a part

Spelled = Callable[[pa.Table], pa.Table]
Types = Mapping[str, pa.DataType]  # of single columns, by name


def batches_of(source: Path, kinds: Types | None = None) -> Iterator[pa.RecordBatch]:
    """The records of a Parquet file, values only; single columns may get other types than the file has."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(source) as file:
        for batch in file.iter_batches(BATCH):
            for own in plain_table(pa.Table.from_batches([batch])).to_batches():
                yield own.cast(_with_types(own.schema, kinds)) if kinds else own


def schema_of(source: Path, kinds: Types | None = None) -> pa.Schema:
    """The columns of a Parquet file, some of them perhaps with other types."""
    from pyarrow.parquet import read_schema

    found = read_schema(source)
    return _with_types(found, kinds) if kinds else found


def _with_types(schema: pa.Schema, types: Types) -> pa.Schema:
    return pa.schema(
        [field.with_type(types.get(field.name, field.type)) for field in schema], schema.metadata
    )


def copy_to(
    source: Path,
    target: Path,
    suffix: str,
    dialect: Dialect,
    types: Types,
    numbers: Sequence[str],
    spelled: Spelled,
    kinds: Types,
) -> None:
    """Write the records of a Parquet file to one of another format, or of the same.

    `types` are those that text columns get in formats with types; `numbers` are text columns that JSON Lines store
    as numbers. `spelled` writes texts in characters that the encoding of a delimited file has. `kinds` are the types
    that columns have in the original table, if those of the Parquet file differ.
    """
    told = {**kinds, **types}
    if suffix == ".parquet" and not told:
        shutil.copyfile(source, target)
    elif suffix == ".parquet":
        write_part(target, batches_of(source, told), schema_of(source, told))
    elif suffix.startswith((".jsonl", ".ndjson")):
        unread = [name for name in numbers if name not in told]
        json_lines.write_batches(_finite(batches_of(source, told), target, unread), target, suffix)
    else:
        batches = _encodable(batches_of(source, kinds), target, dialect.encoding, spelled)
        csv_output.write_batches(schema_of(source).names, batches, target, suffix, dialect)


def split_to(source: Path, folder: Path, kinds: Types) -> list[Path]:
    """Write the records of a Parquet file to a folder of parts."""
    folder.mkdir(exist_ok=True)
    schema = schema_of(source, kinds)
    parts: list[Path] = []
    waiting: list[pa.RecordBatch] = []

    def finish() -> None:
        parts.append(folder / f"part-{len(parts):05}.parquet")
        write_part(parts[-1], waiting, schema)
        waiting.clear()

    for batch in batches_of(source, kinds):
        waiting.append(batch)
        if sum(own.num_rows for own in waiting) >= PART:
            finish()
    if waiting or not parts:
        finish()
    return parts


def write_part(target: Path, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    """Write one Parquet file as `shoal.data.files.parquet` does."""
    from pyarrow.parquet import ParquetWriter

    plain = plain_table(schema.empty_table()).schema
    with ParquetWriter(target, plain, compression="zstd", write_page_checksum=True) as writer:
        for batch in batches:
            writer.write_batch(batch.cast(plain))


def stream_problems(schema: pa.Schema, target: Path) -> list[str]:
    """Return columns that a file of this format cannot contain."""
    suffix = suffix_of(target)
    if suffix == ".xlsx":
        return [f"A large table does not fit into '{target}'. Write .parquet or .csv."]
    if suffix == ".parquet":
        return []
    return type_problems(plain_table(schema.empty_table()).schema, target)


def formulas_in(source: Path) -> list[str]:
    """The columns with texts that a spreadsheet would run as formulas."""
    found: dict[str, None] = {}
    for batch in batches_of(source):
        found.update(dict.fromkeys(formula_columns(pa.Table.from_batches([batch]))))
    return list(found)


def _encodable(
    batches: Iterable[pa.RecordBatch], target: Path, encoding: str, spelled: Spelled
) -> Iterator[pa.RecordBatch]:
    """The records; they are refused if an encoding has no characters for them."""
    for batch in batches:
        table = spelled(pa.Table.from_batches([batch]))
        raise_problems(unencodable_problems(table, target, encoding))
        yield from table.to_batches()


def _finite(
    batches: Iterable[pa.RecordBatch], target: Path, numbers: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        raise_problems(finite_problems(pa.Table.from_batches([batch]), target))
        fields = [
            field.with_metadata(NUMBER_MARK) if field.name in numbers else field
            for field in batch.schema
        ]
        yield pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))
