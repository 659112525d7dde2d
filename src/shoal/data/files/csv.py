"""CSV: every column is read as text, then typed where nothing is lost; null is an empty unquoted field."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.data.files import text
from shoal.data.files.header import (
    BelowTitles,
    HeaderCheck,
    TotalBelow,
    check_header,
    check_names,
    check_total,
    is_total_word,
    likely_header_row,
)
from shoal.data.files.text import encoding_problems
from shoal.data.files.types import typed_without_loss
from shoal.encoding.source import Dialect, Input, Source
from shoal.errors import InputError, shown

_TAB = ("tab", "\\t")
_DECIMAL_SIGNS = (".", ",")
_A_MOMENT = datetime(2001, 12, 31, 13, 14, 15)
_SAME_DAY_LATER = _A_MOMENT.replace(year=2029)  # the same weekday and week of the year


def option_problems(input: Input) -> list[str]:
    """Say in sentences which options of reading cannot be used."""
    found = encoding_problems(input.encoding)
    if input.delimiter is not None and not _is_delimiter(delimiter_of(input)):
        found.append(
            "The delimiter must be one character that is no letter, digit or quotation mark, like ; "
            f"or |, or the word tab; got {shown(input.delimiter)}."
        )
    if input.decimal not in _DECIMAL_SIGNS:
        found.append(f"The decimal sign must be . or , and not {shown(input.decimal)}.")
    formats = input.date_format
    for form in formats.values() if isinstance(formats, Mapping) else [formats]:
        if form is not None and not _is_date_format(form):
            found.append(
                "The date format must say day, month and year as Python's strptime does, like %d.%m.%Y; "
                f"got {shown(form)}."
            )
    return found


def delimiter_of(input: Input) -> str | None:
    """The delimiter that is asked for, as the character itself."""
    return "\t" if input.delimiter in _TAB else input.delimiter


def _is_delimiter(character: str | None) -> bool:
    return (
        isinstance(character, str)
        and len(character) == 1
        and character.isascii()
        and not character.isalnum()
        and character not in '"\r\n\0'
    )


def _is_date_format(date_format: str) -> bool:
    """Whether a moment that is written so is understood again, with its year."""
    try:
        written = _A_MOMENT.strftime(date_format)
        if written == _SAME_DAY_LATER.strftime(date_format):
            return False  # it has no year
        return datetime.strptime(written, date_format).year == _A_MOMENT.year
    except (ValueError, TypeError):
        return False


DELIMITERS = ",;\t|"
EVEN = 0.9  # share of rows with as many fields as the column names: a total or a torn row may have fewer

_QUOTE = ord('"')
_HEADER = re.compile(rb'[\r\n]*((?:"[^"]*"|[^"\r\n]+)*)')
_ROW = re.compile(rb'(?:"[^"]*"|[^"\r\n])*(?:\r\n|\r|\n|\Z)')
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_LINE_END = re.compile(rb"\r\n|\r|\n|\Z")
_LOOKED_AT = 1 << 16  # bytes at the beginning in which the column names are looked for
_BLOCK_BYTES = 1 << 24  # also the longest record that Arrow surely accepts


def read(path: Path, input: Input) -> Source:
    """Read a CSV file whose first row, or another one, names the columns, typed where nothing is lost."""
    table, dialect = _read(path, input, check_header)
    check_total(path, table, input)
    with ThreadPoolExecutor() as threads:  # Arrow works outside of Python's lock
        readings = [input.of_column(name) for name in table.column_names]
        typed = list(threads.map(typed_without_loss, table.columns, readings))
    return Source(pa.table(typed, table.column_names), dialect)


def read_texts(path: Path, input: Input) -> pa.Table:
    """Read a CSV file as the texts that stand in it, whatever its columns are called."""
    return _read(path, input, lambda path, names, _: check_names(path, names))[0]


def read_block(path: Path, data: bytes, input: Input) -> tuple[pa.Table, Dialect]:
    """Read the beginning of a CSV file, whole lines in UTF-8, as text."""
    return _parsed(path, text.Text(data, "utf-8", False), input, check_header)


def read_rest(path: Path, data: bytes, names: Sequence[str], delimiter: str) -> pa.Table:
    """Read more lines of a CSV file whose header is known."""
    _check_quotes(path, data, delimiter)
    columns = _columns(path, data, 0, len(names), delimiter)
    check_header(path, names, columns)
    return pa.table(columns, list(names))


def _read(path: Path, input: Input, check: HeaderCheck) -> tuple[pa.Table, Dialect]:
    return _parsed(path, text.load(path, input.encoding), input, check)


def _parsed(
    path: Path, found: text.Text, input: Input, check: HeaderCheck
) -> tuple[pa.Table, Dialect]:
    data = found.data
    above = _rows_end(data, (input.header_row or 1) - 1)
    if input.skip_last:
        data = data[: _last_rows(data, above, input.skip_last)]
    header = _HEADER.match(data, above)
    assert header is not None
    try:
        names_row = header[1].decode()
    except UnicodeDecodeError as error:
        raise text.not_utf8(path, data, header.start(1) + error.start) from None
    delimiter = delimiter_of(input) or _guess_delimiter(names_row)
    _check_quotes(path, data, delimiter, above)
    names = _split(path, names_row, delimiter)
    line_end = _LINE_END.match(data, header.end())
    assert line_end is not None
    try:
        columns = _columns(path, data, line_end.end(), len(names), delimiter)
        check(path, names, columns)
        if len(names) == 1:  # perhaps of a title without any delimiter
            _refuse_titles(path, data, input)
    except InputError:
        _refuse_titles(path, data, input)
        raise
    dialect = Dialect(
        delimiter,
        input.decimal,
        input.date_format,
        line_end[0].decode() or "\n",
        found.encoding,
        found.has_mark,
    )
    return pa.table(columns, names), dialect


def _columns(
    path: Path, data: bytes, start: int, width: int, delimiter: str
) -> list[pa.ChunkedArray]:
    """The fields of all records, which begin at `start`, as text."""
    records = pa.py_buffer(data).slice(start)
    if not len(records) or not width:
        return [pa.chunked_array([], pa.string())] * width
    with suppress(pa.ArrowInvalid):  # its message shows cells
        return _parse(records, width, delimiter).columns
    raise _explanation(path, data, records, width, delimiter)


def _guess_delimiter(names_row: str) -> str:
    """The candidate that is most frequent outside quotes; the comma when there is none."""
    unquoted = re.sub('"[^"]*"', "", names_row)
    return max(DELIMITERS, key=unquoted.count)


def _refuse_titles(path: Path, data: bytes, input: Input) -> None:
    """Say in which row the column names are, if they seem to be below titles and nothing was said about it."""
    if input.header_row is None and text.is_utf8(data):
        row = guess_header_row(data, delimiter_of(input))
        if row is not None:
            raise BelowTitles(path, row) from None


def guess_header_row(data: bytes, delimiter: str | None = None) -> int | None:
    """The row of a CSV file that seems to hold the column names below titles; None where nothing seems so."""
    beginning = data[:_LOOKED_AT].rpartition(b"\n")[0] if len(data) > _LOOKED_AT else data
    lines = beginning.decode("utf-8", "replace")
    found: list[tuple[int, int]] = []
    for candidate in delimiter or DELIMITERS:
        with suppress(csv.Error):
            rows = list(csv.reader(io.StringIO(lines, newline=""), delimiter=candidate))
            row = likely_header_row(rows)
            if row is not None and _are_even(rows[row - 1 :]):
                found.append((len(rows[row - 1]), row))
    return max(found)[1] if found else None


def _are_even(rows: Sequence[Sequence[str]]) -> bool:
    """Whether nearly all rows that are not blank have as many fields as the first."""
    widths = [len(row) for row in rows if row]
    return sum(width == widths[0] for width in widths) >= EVEN * len(widths)


def _rows_end(data: bytes, rows: int) -> int:
    """Where so many rows at the beginning end; line breaks inside of quotes end none."""
    end = 0
    for _ in range(rows):
        row = _ROW.match(data, end) or _LINE.match(data, end)
        assert row is not None
        end = row.end()
    return end


def _last_rows(data: bytes, start: int, rows: int) -> int:
    """Where so many rows at the end begin; blank lines after them are none."""
    mark = b"\n" if b"\n" in data else b"\r"
    end = len(data.rstrip(b"\r\n"))
    for _ in range(rows):
        begin = data.rfind(mark, start, end)
        while begin >= 0 and data.count(b'"', begin, end) % 2:
            begin = data.rfind(mark, start, begin)
        if begin < 0:
            return start
        end = begin
    return end


def _split(path: Path, names_row: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(names_row, newline=""), delimiter=delimiter), [])
    except csv.Error:
        raise InputError(
            f"'{path}' has no readable header; its first row must name the columns."
        ) from None


def _check_quotes(path: Path, data: bytes, delimiter: str, start: int = 0) -> None:
    """Refuse quotes that do not enclose whole values; Arrow would read across rows in silence."""
    octets = np.frombuffer(data, np.uint8)
    marks = np.flatnonzero(octets[start:] == _QUOTE) + start
    is_edge = np.zeros(256, bool)
    is_edge[[ord(delimiter), ord("\r"), ord("\n"), _QUOTE]] = True
    opening, closing = marks[::2], marks[1::2]
    before = opening[opening > 0]
    after = closing[closing < len(octets) - 1]
    misplaced = np.append(before[~is_edge[octets[before - 1]]], after[~is_edge[octets[after + 1]]])
    if len(misplaced):
        line = text.line_number(data, int(misplaced.min()))
        raise InputError(
            f"'{path}' is torn: line {line} has a quotation mark inside a value, or an earlier one "
            'is never closed; enclose such values in quotes and write "" for each mark inside.'
        )
    if len(marks) % 2:
        line = text.line_number(data, int(marks[-1]))
        raise InputError(
            f"'{path}' is torn: the quote opened in line {line} is never closed; the file may be "
            "cut off: copy it again."
        )


def _parse(
    records: pa.Buffer,
    width: int,
    delimiter: str,
    on_ragged: Callable[[Any], str] | None = None,
) -> pa.Table:
    """Read records as text; rows are numbered for `on_ragged`, which costs the threads."""
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    labels = [str(position) for position in range(width)]
    return read_csv(
        pa.BufferReader(records),
        ReadOptions(
            column_names=labels, block_size=_block_size(records), use_threads=on_ragged is None
        ),
        ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            ignore_empty_lines=width > 1,  # in a single column an empty line is a null
            invalid_row_handler=on_ragged,
        ),
        ConvertOptions(
            column_types=dict.fromkeys(labels, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _block_size(records: pa.Buffer) -> int:
    """A size whose blocks part no CR from its LF: Arrow loses that LF (apache/arrow#51368)."""
    length = len(records)
    size = max(_BLOCK_BYTES, length >> 6)
    while any(
        records[end - 1 : end + 1].to_pybytes() == b"\r\n" for end in range(size, length, size)
    ):
        size += 1
    return size


def _is_short_total(path: Path, data: bytes, fields: int, delimiter: str) -> bool:
    """Whether the last row has so many fields and begins with a word for a total."""
    last = data[_last_rows(data, 0, 1) :].strip()
    cells = _split(path, last.decode("utf-8", "replace"), delimiter)
    return len(cells) == fields and is_total_word(next(filter(None, cells), ""))


def _explanation(
    path: Path, data: bytes, records: pa.Buffer, width: int, delimiter: str
) -> InputError:
    """Say why Arrow refused a file, with row numbers and without cells."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return text.not_utf8(path, data, error.start)
    ragged: list[tuple[int, int]] = []

    def skip(row: Any) -> str:
        ragged.append((row.number + 1, row.actual_columns))
        return "skip"

    with suppress(pa.ArrowInvalid):
        _parse(records, width, delimiter, skip)
    if not ragged:
        limit = _BLOCK_BYTES >> 20
        return InputError(f"'{path}' cannot be read as CSV; is a row longer than {limit} MB?")
    row, fields = text.row_in_file(ragged[0][0]), ragged[0][1]
    if len(ragged) == 1 and _is_short_total(path, data, fields, delimiter):
        return TotalBelow(path, f"it has {fields} fields instead of {width}")
    others = f", and {len(ragged) - 1} more rows are ragged" if len(ragged) > 1 else ""
    return InputError(
        f"'{path}' is torn: row {row} (counting the header, not blank lines) has {fields} fields "
        f"instead of {width}{others}; repair or remove such rows."
    )
