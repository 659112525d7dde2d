"""JSON Lines: one object per line; a missing key is a null, dates are ISO text, numbers keep their tokens."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from shoal.data.files import text
from shoal.data.files.column_types import (
    NumberToken,
    Types,
    as_text,
    finite_problems,
    is_text,
    table_from_values,
    type_problems,
    typed_without_loss,
    types_of_date,
    types_of_text,
)
from shoal.data.files.csv_output import BATCH, TEXT, content, join_texts
from shoal.data.files.header import check_names
from shoal.encoding.frames import NUMBER_MARK, is_number_text
from shoal.encoding.source import Dialect, Input, Source
from shoal.errors import InputError

SEPARATOR = "T"  # between the day and the time
_encode = json.JSONEncoder(ensure_ascii=False).encode


def read(path: Path, input: Input) -> Source:
    """Read one record per line, typed where nothing is lost; other number tokens are marked text."""
    table = _read(path, input)
    columns, fields = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        typed = typed_without_loss(column, possible_types(field, input), SEPARATOR)
        mark = NUMBER_MARK if is_number_text(field) and is_text(typed.type) else None
        columns.append(typed)
        fields.append(pa.field(field.name, typed.type, metadata=mark))
    return Source(pa.table(columns, schema=pa.schema(fields)))


def possible_types(field: pa.Field, input: Input) -> Types:
    """The types that a column may have: those of number tokens, and of dates unless they are written otherwise."""
    if is_number_text(field):
        return types_of_text
    is_date = is_text(field.type) and input.format_of(field.name) is None
    return types_of_date if is_date else lambda first: []


def read_texts(path: Path, input: Input) -> pa.Table:
    """Read the texts and number tokens of the file."""
    table = _read(path, input)
    return pa.table([column.cast(pa.string()) for column in table.columns], table.column_names)


def problems(table: pa.Table, path: Path, dialect: Dialect | None) -> list[str]:
    """Return what JSON cannot contain."""
    return [*type_problems(table.schema, path), *finite_problems(table, path)]


def write(table: pa.Table, path: Path, suffix: str, dialect: Dialect | None) -> None:
    """Write one object per record, nulls and all, in UTF-8."""
    write_batches(table.combine_chunks().to_batches(BATCH), path, suffix)


def write_batches(batches: Iterable[pa.RecordBatch], path: Path, suffix: str) -> None:
    """Write JSON lines from records that come a batch at a time."""
    with text.create(path, suffix) as sink:
        for batch in batches:
            sink.write(content(_lines(batch)))


def _read(path: Path, input: Input) -> pa.Table:
    (table,) = tables_of(text.load_text(path, input.encoding))
    return table


def tables_of(found: text.Text) -> Iterator[pa.Table]:
    """Every column as texts, truth values or marked number tokens, in order of first appearance.

    A file that is not in memory makes several tables, whose columns may differ.
    """
    for records in _records(found):
        names = list(dict.fromkeys(name for record in records for name in record))
        check_names(found.path, names)
        columns = {name: [record.get(name) for record in records] for name in names}
        yield table_from_values(found.path, columns)


def _records(found: text.Text) -> Iterator[list[dict[str, Any]]]:
    """The objects of all lines; numbers are their tokens."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_object,
        parse_int=NumberToken,
        parse_float=NumberToken,
        parse_constant=_refuse,
    )
    number = start = 0
    for piece in found.pieces():
        records = []
        for line in io.BytesIO(piece):
            number += 1
            try:
                stripped = line.decode().strip()
                record = decoder.decode(stripped) if stripped else {}
            except UnicodeDecodeError as error:
                raise found.not_utf8(start + error.start) from None
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                raise InputError(
                    f"Line {number} of '{found.path}' is not one JSON object with distinct keys and finite "
                    "numbers. Write one object per line."
                )
            if stripped:
                records.append(record)
            start += len(line)
        if records or found.is_whole:
            yield records


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("duplicate keys")
    "".join(record).encode()  # a key may be no text
    return record


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _lines(batch: pa.RecordBatch) -> pa.Array:
    """The lines of some records."""
    parts: list[pa.Array | str] = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        parts += [", " if parts else "{", f"{_encode(field.name)}: ", _as_json(field, column)]
    return join_texts([*parts, "}\n"])


def _as_json(field: pa.Field, column: pa.Array) -> pa.Array:
    """Numbers and truth values bare, everything else as a JSON text."""
    kind = column.type
    is_bare = pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if is_bare or pa.types.is_decimal(kind) or is_number_text(field):
        return as_text(column).cast(TEXT).fill_null("null")
    codes = as_text(column, SEPARATOR).dictionary_encode()
    tokens = [_encode(value) for value in codes.dictionary.to_pylist()]
    return pa.array(tokens, TEXT).take(codes.indices).fill_null("null")
