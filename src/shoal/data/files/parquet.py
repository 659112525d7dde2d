"""Parquet: types and nulls as they are, pages with checksums."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

from shoal.data.files.header import check_names
from shoal.encoding.source import Dialect, Input, Source
from shoal.errors import InputError


def read(path: Path, input: Input) -> Source:
    """Read one Parquet file, refusing damaged pages and text that is not UTF-8."""
    from pyarrow.parquet import ParquetFile

    try:
        with (
            pa.OSFile(str(path), "rb") as opened,  # closed, too, where ParquetFile fails
            ParquetFile(opened, page_checksum_verification=True) as file,
        ):
            table = _without_guessed_order(file.read(), file)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(
            f"'{path}' is not a complete Parquet file. It may be incomplete or damaged: copy it again."
        ) from None
    check_names(path, table.column_names)
    return Source(table.cast(pa.schema([(field.name, field.type) for field in table.schema])))


def _without_guessed_order(table: pa.Table, file: ParquetFile) -> pa.Table:
    """Remove the mark of an order from categories whose order the file does not contain.

    A file without dictionary pages lists values as they come, but Arrow marks them as ordered.
    """
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    chunks = [group.column(j) for group in groups for j in range(group.num_columns)]
    plain = {chunk.path_in_schema for chunk in chunks if not chunk.has_dictionary_page}
    for place, field in enumerate(table.schema):
        kind = field.type
        if field.name in plain and pa.types.is_dictionary(kind) and kind.ordered:
            column = [
                pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary)
                for chunk in table.column(place).chunks
            ]
            unordered = pa.dictionary(kind.index_type, kind.value_type)
            table = table.set_column(place, field.name, pa.chunked_array(column, unordered))
    return table


def problems(table: pa.Table, path: Path, dialect: Dialect | None) -> list[str]:
    """Parquet holds every table."""
    return []


def write(table: pa.Table, path: Path, suffix: str, dialect: Dialect | None) -> None:
    """Write one Parquet file, without metadata."""
    from pyarrow.parquet import write_table

    fields = [(field.name, field.type) for field in table.schema]
    values = table.cast(pa.schema(fields))
    write_table(values, str(path), compression="zstd", write_page_checksum=True)
