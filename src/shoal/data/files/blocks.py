"""Text files that outgrow memory: read a block at a time, as strictly as smaller ones, into one Parquet file."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

import pyarrow as pa

from shoal.data.files import csv, json_lines, text
from shoal.data.files.formats import suffix_of
from shoal.data.files.header import check_names, check_total
from shoal.data.files.types import (
    dates_without_loss,
    numbers_without_loss,
    table_from_values,
    typed_without_loss,
)
from shoal.encoding.frames import is_number
from shoal.encoding.source import Dialect, Input
from shoal.errors import InputError

BLOCK = 1 << 26  # bytes read at a time
LONGEST = 1 << 26  # bytes that a record may have, lines inside of quotes and all
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
    if suffix_of(paths[0]).startswith((".jsonl", ".ndjson")):
        numbers: list[str] = []
        types = _Types()
        _write(target, _json_tables(paths, input, numbers, types), tell)
        return Read(None, types.common(), tuple(numbers))
    if input.skip_last:
        raise InputError(
            f"'{paths[0]}' is read block by block, and no rows at its end can be skipped there; remove them and leave "
            "out skip_last (--skip-last)."
        )
    found: list[Dialect] = []
    types = _Types()
    _write(target, _delimited_tables(paths, input, found, types), tell)
    return Read(found[0], types.common())


class _Types:
    """The types that columns of texts may have without loss, block by block."""

    def __init__(self) -> None:
        self._found: dict[str, set[pa.DataType]] = {}

    def add(self, name: str, typed: pa.ChunkedArray) -> None:
        """Note the type of a column in one block."""
        if typed.null_count < len(typed):
            self._found.setdefault(name, set()).add(typed.type)

    def common(self) -> dict[str, pa.DataType]:
        """The types of columns that have the same one in all blocks, and not that of text."""
        same = {name: next(iter(types)) for name, types in self._found.items() if len(types) == 1}
        return {name: kind for name, kind in same.items() if not pa.types.is_string(kind)}


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
    paths: Sequence[Path], input: Input, found: list[Dialect], types: _Types
) -> Iterator[pa.Table]:
    """The records of CSV files with the columns of the first, block by block."""
    names: list[str] = []
    for path in paths:
        lines, rows, table = 0, 0, pa.table({})
        with closing(_blocks(path, input)) as blocks:
            for block in blocks:
                if not lines:
                    table, own = csv.read_block(path, block, _like_the_first(input, found))
                    encoding, mark = _encoding_of(path, input.encoding)
                    found.append(replace(own, encoding=encoding, has_mark=bool(mark)))
                    names = names or table.column_names
                    if table.column_names != names:
                        raise InputError(
                            f"'{path}' has other columns than '{paths[0]}'; give files with the same header."
                        )
                else:
                    with text.counting_from(lines, rows):
                        table = csv.read_rest(path, block, names, found[-1].delimiter)
                lines, rows = lines + block.count(b"\n"), rows + table.num_rows
                for name in names:
                    types.add(name, typed_without_loss(table[name], input.of_column(name)))
                yield table.cast(pa.schema([(name, pa.string()) for name in names]))
        check_total(path, table, input)


def _like_the_first(input: Input, found: Sequence[Dialect]) -> Input:
    """Read the files after the first with its delimiter."""
    return replace(input, delimiter=found[0].delimiter) if found else input


def _json_tables(
    paths: Sequence[Path], input: Input, numbers: list[str], types: _Types
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
            if kind == "number":
                types.add(field.name, numbers_without_loss(column))
            elif kind == "string" and input.format_of(field.name) is None:
                types.add(field.name, dates_without_loss(column, "T"))
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
        lines = 0
        for block in _blocks(path, input):
            with text.counting_from(lines, 0):
                records = json_lines.records_of(path, block)
            lines += block.count(b"\n")
            names = list(dict.fromkeys(name for record in records for name in record))
            check_names(path, names)
            columns = {name: [record.get(name) for record in records] for name in names}
            yield table_from_values(path, columns)


def _blocks(path: Path, input: Input) -> Generator[bytes]:
    """The content of a file as UTF-8 without a mark, cut where lines outside of quotes end."""
    is_json = suffix_of(path).startswith((".jsonl", ".ndjson"))
    rest = b""
    for piece in _decoded(path, input.encoding):
        data = rest + piece
        end = _last_end(data, is_json)
        if end:
            yield data[:end]
        elif not is_json and len(data) > LONGEST:  # a quote that is never closed: reading says so
            yield data[: data.rfind(b"\n") + 1]
        rest = data[end:]
    if rest.strip():
        yield rest


def _last_end(data: bytes, is_json: bool) -> int:
    """Where the last line ends that is whole: a line break inside of quotes ends none."""
    end = data.rfind(b"\n") + 1
    quotes = 0 if is_json else data.count(b'"', 0, end)
    while end and quotes % 2:
        start = data.rfind(b"\n", 0, end - 1) + 1
        quotes -= data.count(b'"', start, end)
        end = start
    return end


def _decoded(path: Path, encoding: str | None) -> Iterator[bytes]:
    """The bytes of a file, decompressed and as UTF-8, a piece at a time."""
    decoder, name = None, encoding
    try:
        with _opened(path) as file:
            name, mark = _encoding_of(path, encoding)
            if name != "utf-8":
                decoder = codecs.getincrementaldecoder(name)()
            file.read(len(mark))
            piece = file.read(BLOCK)
            while piece:
                yield decoder.decode(piece).encode() if decoder else piece
                piece = file.read(BLOCK)
            if decoder:
                yield decoder.decode(b"", final=True).encode()
            return
    except (EOFError, gzip.BadGzipFile, zlib.error):
        why = "is not a whole gzip file; it may be cut off or damaged: copy it again."
    except UnicodeError:
        why = f"is not {name} text; say its encoding, for example --encoding utf-8."
    raise InputError(f"'{path}' {why}")


def _encoding_of(path: Path, given: str | None) -> tuple[str, bytes]:
    """The encoding of a text file, given or by its byte order mark, and the mark."""
    with _opened(path) as file:
        start = file.read(4)
    for name, mark in text.MARKS.items():
        if start.startswith(mark) and (
            given is None or text.may_be(name, codecs.lookup(given).name)
        ):
            return name, mark
    return (codecs.lookup(given).name.removesuffix("-sig") if given else "utf-8"), b""


def _opened(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")
