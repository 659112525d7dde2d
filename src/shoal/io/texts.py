"""Values as texts: two values have the same text only if they are the same."""

from __future__ import annotations

import pyarrow as pa

from shoal.table.plain import plain


def texts_of(table: pa.Table) -> pa.Table:
    """Every column as text, where different values have different texts."""
    values = plain(table)
    return pa.table([_texts(column) for column in values.columns], values.column_names)


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # bytes, lists, zones nobody knows
        return _of_others(column)


def _of_others(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64()).cast(pa.string())
    texts = [None if value is None else repr(value) for value in column.to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.string())])
