"""Parquet: types and nulls as they are, pages with checksums."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from shoal.errors import InputError
from shoal.io.columns import check_names


def read(path: Path) -> pa.Table:
    """Read one Parquet file, refusing damaged pages and text that is not UTF-8."""
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(str(path), page_checksum_verification=True) as file:
            table = file.read()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(
            f"'{path}' is not a whole Parquet file; it may be cut off or damaged: copy it again."
        ) from None
    check_names(path, table.column_names)
    return table.cast(pa.schema([(field.name, field.type) for field in table.schema]))


def problems(table: pa.Table, path: Path) -> list[str]:
    """Parquet holds every table."""
    return []


def write(table: pa.Table, path: Path, suffix: str) -> None:
    """Write one Parquet file."""
    from pyarrow.parquet import write_table

    write_table(table, str(path), compression="zstd", write_page_checksum=True)
