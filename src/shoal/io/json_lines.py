"""JSON lines: one object per line; a missing key is a null, and dates are ISO text."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.io import text
from shoal.io.columns import check_names, finite_problems, table_from_values, type_problems
from shoal.io.inference import infer_dates

_BATCH = 1 << 16


def read(path: Path) -> pa.Table:
    """Read one record per line, the columns in order of their first appearance."""
    records = _records(path, text.load(path))
    names = list(dict.fromkeys(name for record in records for name in record))
    check_names(path, names)
    columns = {name: [record.get(name) for record in records] for name in names}
    table = table_from_values(path, columns)
    typed = [
        infer_dates(column) if column.type == pa.string() else column for column in table.columns
    ]
    return pa.table(typed, names)


def problems(table: pa.Table, path: Path) -> list[str]:
    """Say what JSON cannot hold."""
    return [*type_problems(table, path), *finite_problems(table, path)]


def write(table: pa.Table, path: Path, suffix: str) -> None:
    """Write one object per record, nulls and all."""
    columns = [_as_json(column) for column in table.columns]
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    with text.create(path, suffix) as sink:
        for batch in pa.table(columns, table.column_names).to_batches(_BATCH):
            lines = "".join(f"{encode(record)}\n" for record in batch.to_pylist())
            sink.write(lines.encode())


def _records(path: Path, data: bytes) -> list[dict[str, Any]]:
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)
    records = []
    for number, line in enumerate(io.BytesIO(data), start=1):
        try:
            stripped = line.decode().strip()
            record = decoder.decode(stripped) if stripped else {}
        except UnicodeDecodeError as error:
            raise text.not_utf8(path, data, data.index(line) + error.start) from None
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise InputError(
                f"'{path}' is torn: line {number} is not one JSON object with distinct keys and "
                "finite numbers; write one object per line."
            )
        if stripped:
            records.append(record)
    return records


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("duplicate keys")
    return record


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _as_json(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates and times as ISO text, decimals as numbers, the rest as it is."""
    if pa.types.is_temporal(column.type):
        return pc.replace_substring(column.cast(pa.string()), " ", "T")
    return column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column
