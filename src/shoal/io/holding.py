"""What a format cannot hold, told from a table's types and values, before anything is written."""

from __future__ import annotations

import codecs
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

_FLAT = (
    pa.types.is_null,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
)


def type_problems(schema: pa.Schema, path: Path) -> list[str]:
    """Say which columns have a type that only Parquet can hold."""
    return [
        f"Column '{field.name}' has type {field.type}, which '{path.name}' cannot hold; "
        "write .parquet or leave the column out."
        for field in schema
        if not any(holds(field.type) for holds in _FLAT)
    ]


def finite_problems(table: pa.Table, path: Path) -> list[str]:
    """Say which columns hold NaN or infinity, where the format knows finite numbers only."""
    return [
        f"Column '{name}' holds NaN or infinity, which '{path.name}' cannot hold; make them null."
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_floating(column.type) and pc.all(pc.is_finite(column)).as_py() is False
    ]


def encoding_problems(table: pa.Table, path: Path, encoding: str) -> list[str]:
    """Say which columns have a name or texts that an encoding has no characters for."""
    if codecs.lookup(encoding).name.startswith("utf-"):
        return []
    remedy = f"the encoding {encoding} of '{path.name}' cannot hold; convert the input to UTF-8"
    found = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not _can_encode([name], encoding):
            found.append(f"Column '{name}' has a name that {remedy}.")
        if is_text(column.type) and not _can_encode(column.unique().to_pylist(), encoding):
            found.append(f"Column '{name}' holds texts that {remedy}.")
    return found


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _can_encode(texts: list[str | None], encoding: str) -> bool:
    try:
        "\n".join(text for text in texts if text is not None).encode(encoding)
    except UnicodeError:
        return False
    return True
