"""Write the records of Parquet files to another file or to a folder of parts, a batch at a time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from shoal.errors import raise_problems
from shoal.io import delimited_output, json_lines
from shoal.io.formats import suffix_of
from shoal.io.formulas import formula_columns
from shoal.io.holding import encoding_problems, finite_problems, type_problems
from shoal.io.lines import BATCH
from shoal.table.plain import NUMBER_MARK, plain
from shoal.table.source import Dialect

PART = 5_000_000  # records of a part

Spelled = Callable[[pa.Table], pa.Table]


def same(table: pa.Table) -> pa.Table:
    """The table as it is."""
    return table


def batches_of(sources: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    """The records of Parquet files, values only."""
    from pyarrow.parquet import ParquetFile

    for source in sources:
        with ParquetFile(source) as file:
            for batch in file.iter_batches(BATCH):
                yield from plain(pa.Table.from_batches([batch])).to_batches()


def schema_of(sources: Sequence[Path]) -> pa.Schema:
    """The columns of Parquet files."""
    from pyarrow.parquet import read_schema

    return read_schema(sources[0])


def copy_to(
    sources: Sequence[Path],
    target: Path,
    suffix: str,
    dialect: Dialect | None,
    types: Mapping[str, pa.DataType] | None = None,
    numbers: Sequence[str] = (),
    spelled: Spelled = same,
) -> None:
    """Write the records of Parquet files to one file of another format, or of the same.

    `types` are those that text columns get where a format has types; `numbers` are text columns that JSON lines hold
    as numbers. `spelled` writes texts as the encoding of a delimited file can hold them.
    """
    if suffix == ".parquet" and len(sources) == 1 and not types:
        shutil.copyfile(sources[0], target)
    elif suffix == ".parquet":
        write_part(target, _typed(sources, types or {}), _typed_schema(sources, types or {}))
    elif suffix.startswith((".jsonl", ".ndjson")):
        json_lines.write_batches(_finite(sources, target, types or {}, numbers), target, suffix)
    else:
        names = schema_of(sources).names
        batches = _encodable(sources, target, (dialect or Dialect()).encoding, spelled)
        delimited_output.write_batches(names, batches, target, suffix, dialect)


def split_to(sources: Sequence[Path], folder: Path) -> list[Path]:
    """Write the records of Parquet files to a folder of parts."""
    folder.mkdir(exist_ok=True)
    schema = schema_of(sources)
    parts: list[Path] = []
    waiting: list[pa.RecordBatch] = []

    def finish() -> None:
        parts.append(folder / f"part-{len(parts):05}.parquet")
        write_part(parts[-1], waiting, schema)
        waiting.clear()

    for batch in batches_of(sources):
        waiting.append(batch)
        if sum(own.num_rows for own in waiting) >= PART:
            finish()
    if waiting or not parts:
        finish()
    return parts


def write_part(
    target: Path, batches: Iterator[pa.RecordBatch] | list[pa.RecordBatch], schema: pa.Schema
) -> None:
    """Write one Parquet file as `shoal.io.parquet` does."""
    from pyarrow.parquet import ParquetWriter

    plain_schema = plain(schema.empty_table()).schema
    with ParquetWriter(
        target, plain_schema, compression="zstd", write_page_checksum=True
    ) as writer:
        for batch in batches:
            writer.write_batch(batch.cast(plain_schema))


def stream_problems(schema: pa.Schema, target: Path) -> list[str]:
    """Say which columns a file of this format cannot hold."""
    suffix = suffix_of(target)
    if suffix == ".xlsx":
        return [f"A large table does not fit into '{target}'; write .parquet or .csv."]
    return [] if suffix == ".parquet" else type_problems(plain(schema.empty_table()).schema, target)


def formulas_in(sources: Sequence[Path]) -> list[str]:
    """The columns with texts that a spreadsheet would run as formulas."""
    found: dict[str, None] = {}
    for batch in batches_of(sources):
        found.update(dict.fromkeys(formula_columns(pa.Table.from_batches([batch]))))
    return list(found)


def _encodable(
    sources: Sequence[Path], target: Path, encoding: str, spelled: Spelled
) -> Iterator[pa.RecordBatch]:
    """The records, refused where an encoding cannot hold them."""
    for batch in batches_of(sources):
        table = spelled(pa.Table.from_batches([batch]))
        raise_problems(encoding_problems(table, target, encoding))
        yield from table.to_batches()


def _typed_schema(sources: Sequence[Path], types: Mapping[str, pa.DataType]) -> pa.Schema:
    fields = [(field.name, types.get(field.name, field.type)) for field in schema_of(sources)]
    return pa.schema(fields)


def _typed(sources: Sequence[Path], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    for batch in batches_of(sources):
        fields = [(field.name, types.get(field.name, field.type)) for field in batch.schema]
        yield batch.cast(pa.schema(fields))


def _finite(
    sources: Sequence[Path],
    target: Path,
    types: Mapping[str, pa.DataType],
    numbers: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    for batch in _typed(sources, types):
        raise_problems(finite_problems(pa.Table.from_batches([batch]), target))
        fields = [
            field.with_metadata(NUMBER_MARK)
            if field.name in numbers and field.name not in types
            else field
            for field in batch.schema
        ]
        yield pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))
