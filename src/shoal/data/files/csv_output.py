"""Writing CSV: quotes only where a field needs them, in the dialect of the file the table came from."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.files import text
from shoal.data.files.column_types import type_problems, unencodable_problems
from shoal.encoding.source import Dialect
from shoal.encoding.type_inference import has_time

TEXT = pa.large_string()  # a batch of long texts may have more than 2 GB
BATCH = 1 << 16  # records that are joined at a time


def join_texts(parts: list[pa.Array | str], by: str = "") -> pa.Array:
    """Join texts, element by element; a plain text is repeated for every element."""
    texts = [pa.scalar(part, TEXT) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*texts, pa.scalar(by, TEXT))


def content(texts: pa.Array) -> pa.Buffer:
    """The bytes of all texts, one after the other."""
    _, offset_bytes, data = texts.buffers()
    if not len(texts) or data is None:
        return pa.py_buffer(b"")
    offsets = pa.Array.from_buffers(
        pa.int64(), len(texts) + 1, [None, offset_bytes], offset=texts.offset
    )
    start, end = offsets[0].as_py(), offsets[-1].as_py()
    return data.slice(start, end - start)


AT_ONCE = 8  # batches whose lines are in memory at the same time
_SIGNS = "+-.: "  # in numbers, dates and times, besides letters and digits


def problems(table: pa.Table, path: Path, dialect: Dialect | None) -> list[str]:
    """Return what a CSV file in this dialect cannot contain."""
    encoding = (dialect or Dialect()).encoding
    return [*type_problems(table.schema, path), *unencodable_problems(table, path, encoding)]


def write(table: pa.Table, path: Path, suffix: str, dialect: Dialect | None) -> None:
    """Write CSV; an empty text is quoted, so that it differs from null, which is nothing."""
    write_batches(table.column_names, table.to_batches(BATCH), path, suffix, dialect)


def write_batches(
    names: Sequence[str],
    batches: Iterable[pa.RecordBatch],
    path: Path,
    suffix: str,
    dialect: Dialect | None,
) -> None:
    """Write CSV from records that come a batch at a time."""
    dialect = dialect or Dialect()
    delimiter = "\t" if suffix.startswith(".tsv") else dialect.delimiter
    encoder = codecs.getincrementalencoder(dialect.encoding)()
    is_utf8 = codecs.lookup(dialect.encoding).name == "utf-8"
    with text.create(path, suffix) as sink:
        if dialect.has_mark:
            sink.write(text.MARKS.get(dialect.encoding, b""))
        for lines in _lines(names, batches, delimiter, dialect):
            if is_utf8:
                sink.write(lines)
            else:
                sink.write(encoder.encode(lines.to_pybytes().decode()))
        sink.write(encoder.encode("", final=True))


def _lines(
    names: Sequence[str], batches: Iterable[pa.RecordBatch], delimiter: str, dialect: Dialect
) -> Iterator[pa.Buffer]:
    """The header and the records, line ends and all, as UTF-8."""
    header = _quoted(pa.array(names, TEXT), delimiter)
    yield pa.py_buffer((delimiter.join(header.to_pylist()) + dialect.line_end).encode())
    waiting = iter(batches)
    with ThreadPoolExecutor() as threads:  # Arrow works outside of Python's lock
        while some := list(islice(waiting, AT_ONCE)):
            yield from threads.map(lambda batch: _records(batch, delimiter, dialect), some)


def _records(batch: pa.RecordBatch, delimiter: str, dialect: Dialect) -> pa.Buffer:
    """The lines of some records."""
    fields = [
        _fields(column, delimiter, dialect, dialect.format_of(name))
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    fields[-1] = join_texts([fields[-1], dialect.line_end])
    return content(join_texts(fields, delimiter))


def _fields(
    column: pa.Array, delimiter: str, dialect: Dialect, date_format: str | None
) -> pa.Array:
    """One column of a batch as it appears between delimiters."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        fields = _quoted(column.cast(TEXT), delimiter)
    elif date_format and _has_format(kind, date_format):
        fields = _quoted(_formatted(column, date_format), delimiter)
    else:
        fields = column.cast(TEXT)
        if dialect.decimal != "." and (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            fields = pc.replace_substring(fields, ".", dialect.decimal)
        if delimiter in _SIGNS + dialect.decimal:
            fields = _quoted(fields, delimiter)
    return fields.fill_null("") if fields.null_count else fields


def _quoted(fields: pa.Array, delimiter: str) -> pa.Array:
    """Quote the fields that contain a delimiter, a quotation mark or a line break, and empty ones."""
    octets = content(fields).to_pybytes()  # searched at once, which is faster than each field
    marks = [mark for mark in (delimiter, '"', "\r", "\n") if mark.encode() in octets]
    if not marks and pc.min(pc.binary_length(fields)).as_py() != 0:
        return fields
    codes = fields.dictionary_encode()  # texts with commas or quotes tend to come again
    texts = codes.dictionary
    must = pc.equal(pc.binary_length(texts), 0)
    for mark in marks:
        must = pc.or_(must, pc.match_substring(texts, mark))
    enclosed = join_texts(['"', pc.replace_substring(texts, '"', '""'), '"'])
    return pc.if_else(must, enclosed, texts).take(codes.indices)


def _has_format(kind: pa.DataType, date_format: str) -> bool:
    """Whether a column is written in the date format: one without a time would cut timestamps off."""
    return pa.types.is_timestamp(kind) if has_time(date_format) else pa.types.is_date(kind)


def _formatted(column: pa.Array, date_format: str) -> pa.Array:
    codes = column.dictionary_encode()
    values = codes.dictionary
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", values.type.tz), safe=False)
    texts = [_one(value, date_format) for value in values.to_pylist()]
    return pa.array(texts, TEXT).take(codes.indices)


def _one(value: date | datetime, date_format: str) -> str:
    """A date in its format; the year has four digits, which strftime forgets before 1000."""
    year = f"{value.year:04d}"
    parts = date_format.split("%%")
    return "%".join(value.strftime(part.replace("%Y", year)) for part in parts)
