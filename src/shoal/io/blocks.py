"""Text files that outgrow memory: read a block at a time, as strictly as smaller ones, into one Parquet file."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from shoal.errors import InputError
from shoal.io import delimited, json_lines, text
from shoal.io.formats import suffix_of
from shoal.table.source import Dialect, Input

BLOCK = 1 << 26  # bytes read at a time
Tell = Callable[[int], None]  # is told the number of records read so far


def texts_to_parquet(
    paths: Sequence[Path], input: Input, target: Path, tell: Tell = lambda records: None
) -> Dialect | None:
    """Write the records of text files, every value as the text that stands there, into one Parquet file.

    Returns how CSV files are written, by the first; None for JSON lines.

    Raises
    ------
    InputError
        Where a file is torn or not in its encoding, or files differ in their columns.
    """
    if suffix_of(paths[0]).startswith((".jsonl", ".ndjson")):
        _write(target, _json_tables(paths, input), tell)
        return None
    found: list[Dialect] = []
    _write(target, _delimited_tables(paths, input, found), tell)
    return found[0]


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
    paths: Sequence[Path], input: Input, found: list[Dialect]
) -> Iterator[pa.Table]:
    """The records of CSV files with the columns of the first, block by block."""
    names: list[str] = []
    for path in paths:
        lines = 0
        with closing(_blocks(path, input)) as blocks:
            for block in blocks:
                if not lines:
                    table, own = delimited.read_block(path, block, _like_the_first(input, found))
                    encoding, mark = _encoding_of(path, input.encoding)
                    found.append(replace(own, encoding=encoding, has_mark=bool(mark)))
                    names = names or table.column_names
                    if table.column_names != names:
                        raise InputError(
                            f"'{path}' has other columns than '{paths[0]}'; give files with the same header."
                        )
                else:
                    with _counting_from(lines):
                        table = delimited.read_rest(path, block, names, found[-1].delimiter)
                lines += block.count(b"\n")
                yield table.cast(pa.schema([(name, pa.string()) for name in names]))


@contextmanager
def _counting_from(lines: int) -> Iterator[None]:
    """Say where the lines begin that a message counts."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{error} (Counted from line {lines + 1} of the file.)") from None


def _like_the_first(input: Input, found: Sequence[Dialect]) -> Input:
    """Read the files after the first with its delimiter."""
    return replace(input, delimiter=found[0].delimiter) if found else input


def _json_tables(paths: Sequence[Path], input: Input) -> Iterator[pa.Table]:
    """The records of JSON lines; all keys are looked for first, for later lines may have more."""
    names: dict[str, None] = {}
    for path in paths:
        for block in _blocks(path, input):
            for record in json_lines.records_of(path, block):
                names.update(dict.fromkeys(record))
    schema = pa.schema([(name, pa.string()) for name in names])
    for path in paths:
        for block in _blocks(path, input):
            records = json_lines.records_of(path, block)
            columns = {name: [_token(record.get(name)) for record in records] for name in names}
            yield pa.table(columns, schema=schema)


def _token(value: Any) -> str | None:
    """A value as it stands in the file."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        raise InputError("A value is a list or an object; give a table of numbers and text.")
    return str(value)


def _blocks(path: Path, input: Input) -> Generator[bytes]:
    """The content of a file as UTF-8 without a mark, cut where lines outside of quotes end."""
    is_json = suffix_of(path).startswith((".jsonl", ".ndjson"))
    rest = b""
    for piece in _decoded(path, input.encoding):
        data = rest + piece
        end = _last_end(data, is_json)
        if end:
            yield data[:end]
        rest = data[end:]
    if rest.strip():
        yield rest


def _last_end(data: bytes, is_json: bool) -> int:
    """Where the last line ends that is whole: a line break inside of quotes ends none."""
    end = data.rfind(b"\n") + 1
    while end and not is_json and data.count(b'"', 0, end) % 2:
        end = data.rfind(b"\n", 0, end - 1) + 1
    return end


def _decoded(path: Path, encoding: str | None) -> Iterator[bytes]:
    """The bytes of a file, decompressed and as UTF-8, a piece at a time."""
    decoder = None
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
        why = f"is not {encoding} text; say its encoding, for example --encoding utf-8."
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
