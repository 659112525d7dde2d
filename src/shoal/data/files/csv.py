"""CSV: every column is read as text, then typed where nothing is lost; null is an empty unquoted field."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.data.files import text
from shoal.data.files.cleaning import (
    block_problems,
    clean_names,
    clean_table,
    cleaning_problems,
)
from shoal.data.files.column_types import typed_without_loss, types_of_text
from shoal.data.files.header import (
    LOOKED_AT,
    HeaderCheck,
    check_header,
    check_names,
    check_units,
    header_below_titles,
    join_headings,
)
from shoal.data.files.proposals import Proposal
from shoal.data.files.totals import check_total, is_total_word, total_below
from shoal.encoding.source import Dialect, Input, Source
from shoal.errors import InputError, counted, raise_problems, shown

_TAB = ("tab", "\\t")
_DECIMAL_SIGNS = (".", ",")
_A_MOMENT = datetime(2001, 12, 31, 13, 14, 15)
_SAME_DAY_LATER = _A_MOMENT.replace(year=2029)  # the same weekday and week of the year


def csv_option_problems(input: Input) -> list[str]:
    """Return reading options that cannot be used."""
    found = text.codec_problems(input.encoding)
    if input.delimiter is not None and not _is_delimiter(delimiter_of(input)):
        found.append(
            "The delimiter must be one character that is not a letter, digit or quotation mark, like ; or |, or "
            f"the word tab. Got {shown(input.delimiter)} instead."
        )
    if input.decimal not in _DECIMAL_SIGNS:
        found.append(
            f"The decimal separator must be . or a comma. Got {shown(input.decimal)} instead."
        )
    found += cleaning_problems(input)
    formats = input.date_format
    for form in formats.values() if isinstance(formats, Mapping) else [formats]:
        if form is not None and not _is_date_format(form):
            found.append(
                "The date format must contain day, month and year as in Python's strptime, like %d.%m.%Y. Got "
                f"{shown(form)} instead."
            )
    return found


def delimiter_of(input: Input) -> str | None:
    """The given delimiter, as the character itself."""
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
    """Whether a moment in this format is read back unchanged, with its year."""
    try:
        written = _A_MOMENT.strftime(date_format)
        if written == _SAME_DAY_LATER.strftime(date_format):
            return False  # it has no year
        return datetime.strptime(written, date_format).year == _A_MOMENT.year
    except (ValueError, TypeError):
        return False


DELIMITERS = ",;\t|"
EVEN = 0.9  # share of rows with as many columns as the heading: a total or a damaged row may have fewer

_QUOTE = ord('"')
_HEADER = re.compile(rb'[\r\n]*((?:"[^"]*"|[^"\r\n]+)*)')
_ROW = re.compile(rb'(?:"[^"]*"|[^"\r\n])*(?:\r\n|\r|\n|\Z)')
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_LINE_END = re.compile(rb"\r\n|\r|\n|\Z")
_BEGINNING = 1 << 16  # bytes at the beginning in which the column names are searched
_BLOCK_BYTES = 1 << 24  # also the longest record that Arrow surely accepts


def read(path: Path, input: Input) -> Source:
    """Read a CSV file whose column names are in the first or another given row, typed without loss."""
    dialect, tables = _read(text.load_text(path, input.encoding), input, check_header)
    (table,) = tables
    check_total(path, table, input)
    table = clean_table(table, input)
    with ThreadPoolExecutor() as threads:  # Arrow works outside of Python's lock
        types = [partial(types_of_text, input=input.of_column(name)) for name in table.column_names]
        typed = list(threads.map(typed_without_loss, table.columns, types))
    return Source(pa.table(typed, table.column_names), dialect)


def read_texts(path: Path, input: Input) -> pa.Table:
    """Read a CSV file as text, whatever its column types."""
    found = text.load_text(path, input.encoding)
    (table,) = _read(found, input, lambda path, names, _: check_names(path, names))[1]
    return clean_table(table, input)


def read_large(path: Path, input: Input) -> tuple[Dialect, Iterator[pa.Table]]:
    """Read a CSV file that may outgrow memory as texts, a part at a time, as strictly as any."""
    raise_problems(block_problems(path, input))
    dialect, tables = _read(
        text.load_text(path, input.encoding, is_large=True), input, check_header
    )
    return dialect, (clean_table(table, input) for table in tables)


def _read(found: text.Text, input: Input, check: HeaderCheck) -> tuple[Dialect, Iterator[pa.Table]]:
    """How a file is written, and its records in one table, or in several where it is not in memory."""
    path, data = found.path, found.data
    row = input.header_row or input.header_rows
    above = _rows_end(data, row - 1)
    if input.skip_last:
        data = data[: _last_rows(data, above, input.skip_last)]
        found = replace(found, data=data)
    header = _HEADER.match(data, above)
    assert header is not None
    names_row = header[1].decode(errors="replace")
    delimiter = delimiter_of(input) or _guess_delimiter(names_row)
    torn = _quotes_problem(found, delimiter, above)
    try:
        header[1].decode()
    except UnicodeDecodeError as error:
        raise found.not_utf8(header.start(1) + error.start) from None
    if torn is not None:
        raise torn
    names = _split(path, names_row, delimiter)
    if input.header_rows > 1:
        upper = data[_rows_end(data, row - input.header_rows) : header.start(1)]
        names = join_headings([*_rows_of(upper.decode(errors="replace"), delimiter), names])
    names = clean_names(names, input)
    line_end = _LINE_END.match(data, header.end())
    assert line_end is not None
    start = line_end.end()
    first = row + 1 + _blank_rows(data, start)  # the number of the first record's row
    if input.skip_rows:
        data = _without_rows(data, start, row, input.skip_rows)
        found = replace(found, data=data)
    records = _Records(found, start, len(names), delimiter)

    def tables() -> Iterator[pa.Table]:
        is_first = True
        try:
            for columns in records.columns():
                check(path, names, columns)
                if len(names) == 1:  # perhaps of a title without any delimiter
                    _refuse_titles(path, data, input)
                if is_first and input.skip_rows is None:
                    few = [column.slice(0, LOOKED_AT).to_pylist() for column in columns]
                    check_units(path, few, first)
                is_first = False
                yield pa.table(columns, names)
        except Proposal as proposal:
            if "skip_rows" not in proposal.changes:
                _refuse_titles(path, data, input)
            raise
        except InputError:
            _refuse_titles(path, data, input)
            raise

    written = (delimiter, input.decimal, input.date_format, line_end[0].decode() or "\n")
    return Dialect(*written, found.encoding, found.has_mark), tables()


def _guess_delimiter(names_row: str) -> str:
    """The candidate that is most frequent outside quotes; the comma when there is none."""
    unquoted = re.sub('"[^"]*"', "", names_row)
    return max(DELIMITERS, key=unquoted.count)


def _refuse_titles(path: Path, data: bytes, input: Input) -> None:
    """Report the row of the column names if they seem to be below titles and no row was given."""
    if input.header_row is None and text.is_utf8(data[:_BEGINNING].rpartition(b"\n")[0]):
        proposal = guess_header_row(path, data, delimiter_of(input))
        if proposal is not None:
            raise proposal from None


def guess_header_row(path: Path, data: bytes, delimiter: str | None = None) -> Proposal | None:
    """Which row of a CSV file seems to contain the column names, if it is not the first; None if it is."""
    beginning = data[:_BEGINNING].rpartition(b"\n")[0] if len(data) > _BEGINNING else data
    lines = beginning.decode("utf-8", "replace")
    found: list[tuple[int, Proposal]] = []
    for candidate in delimiter or DELIMITERS:
        with suppress(csv.Error):
            rows = _rows_of(lines, candidate)
            proposal = header_below_titles(path, rows)
            if proposal is None:
                continue
            row = proposal.changes["header_row"]
            if _are_even(rows[row - 1 :]):
                found.append((len(rows[row - 1]), proposal))
    return max(found, key=lambda own: own[0])[1] if found else None


def _rows_of(lines: str, delimiter: str) -> list[list[str]]:
    """The rows of a text, blank ones included."""
    return list(csv.reader(io.StringIO(lines, newline=""), delimiter=delimiter))


def _blank_rows(data: bytes, start: int) -> int:
    """How many blank rows begin at a place."""
    blank = data[start : start + _BEGINNING]
    blank = blank[: len(blank) - len(blank.lstrip(b"\r\n"))]
    return blank.count(b"\n") or blank.count(b"\r")


def _without_rows(data: bytes, start: int, row: int, skipped: Sequence[int]) -> bytes:
    """The content of a file without some of its rows, which are below the column names in this row."""
    kept, end = [data[:start]], start
    for number in range(row + 1, skipped[-1] + 1):
        begin, end = end, end + _rows_end(memoryview(data)[end:], 1)
        if number not in skipped:
            kept.append(data[begin:end])
    return b"".join([*kept, data[end:]])


def _are_even(rows: Sequence[Sequence[str]]) -> bool:
    """Whether nearly all rows that are not blank have as many columns as the first."""
    widths = [len(row) for row in rows if row]
    return sum(width == widths[0] for width in widths) >= EVEN * len(widths)


def _rows_end(data: bytes | memoryview, rows: int) -> int:
    """The position where the given number of rows at the beginning end; line breaks inside quotes end none."""
    end = 0
    for _ in range(rows):
        row = _ROW.match(data, end) or _LINE.match(data, end)
        assert row is not None
        end = row.end()
    return end


def _last_rows(data: bytes, start: int, rows: int) -> int:
    """The position where the given number of rows at the end begin; blank lines after them do not count."""
    mark = b"\n" if b"\n" in data else b"\r"
    end = len(data.rstrip(b"\r\n"))
    for _ in range(rows):
        begin = data.rfind(mark, start, end)
        quotes = data.count(b'"', max(begin, start), end)
        while begin >= 0 and quotes % 2:
            counted, begin = begin, data.rfind(mark, start, begin)
            quotes += data.count(b'"', max(begin, start), counted)
        if begin < 0:
            return start
        end = begin
    return end


def _split(path: Path, names_row: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(names_row, newline=""), delimiter=delimiter), [])
    except csv.Error:
        raise InputError(
            f"'{path}' has no readable heading. Its first row must contain the column names."
        ) from None


def _quotes_problem(found: text.Text, delimiter: str, start: int) -> InputError | None:
    """Find quotes that do not enclose whole values; Arrow would silently read across rows."""
    is_edge = np.zeros(256, bool)
    is_edge[[ord(delimiter), ord("\r"), ord("\n"), _QUOTE]] = True
    before, is_open = 0, False  # bytes before a piece, and whether it begins inside quotes
    last, misplaced = 0, -1
    for piece in found.pieces():
        octets = np.frombuffer(piece, np.uint8)
        marks = np.flatnonzero(octets == _QUOTE)
        marks = marks[marks >= start - before]
        opening, closing = marks[is_open::2], marks[not is_open :: 2]
        opening, closing = opening[opening > 0], closing[closing < len(octets) - 1]
        wrong = [opening[~is_edge[octets[opening - 1]]], closing[~is_edge[octets[closing + 1]]]]
        if misplaced < 0 and any(map(len, wrong)):
            misplaced = before + int(np.concatenate(wrong).min())
        if len(marks):
            is_open ^= bool(len(marks) % 2)
            last = before + int(marks[-1])
        before += len(piece)
    if misplaced >= 0:
        return InputError(
            f"Line {found.line_number(misplaced)} of '{found.path}' has a quotation mark inside a value, or an "
            'earlier one is never closed. Enclose such values in quotes, and write "" for each quotation mark '
            "inside."
        )
    if is_open:
        return InputError(
            f"The quote opened in line {found.line_number(last)} of '{found.path}' is never closed. The file may "
            "be incomplete: copy it again."
        )
    return None


@dataclass(frozen=True)
class _Records:
    """The records of a file with known columns, which begin at a place in it."""

    text: text.Text
    start: int
    width: int
    delimiter: str

    def columns(self) -> Iterator[list[pa.ChunkedArray]]:
        """Their fields as text, a block at a time."""
        try:
            for block in self._blocks():
                yield self._parse(block).columns
            return
        except pa.ArrowInvalid:  # its message shows cells
            pass
        raise self._explanation()

    def _blocks(self) -> Iterator[pa.Buffer]:
        """Whole records, in pieces of the file that end outside quotes."""
        if self.text.is_whole:
            yield pa.py_buffer(self.text.data).slice(self.start)
            return
        rest, start = b"", self.start
        for piece in self.text.pieces():
            data = rest + piece[start:]
            end = _last_end(data)
            yield pa.py_buffer(data[:end])
            rest, start = data[end:], 0

    def _parse(self, records: pa.Buffer, on_ragged: Callable[[Any], str] | None = None) -> pa.Table:
        """Read records as text; rows are numbered for `on_ragged`, which costs the threads."""
        from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

        labels = [str(position) for position in range(self.width)]
        if not len(records) or not labels:
            return pa.table({label: pa.array([], pa.string()) for label in labels})
        return read_csv(
            pa.BufferReader(records),
            ReadOptions(
                column_names=labels, block_size=_block_size(records), use_threads=on_ragged is None
            ),
            ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=self.width > 1,  # in a single column an empty line is a null
                invalid_row_handler=on_ragged,
            ),
            ConvertOptions(
                column_types=dict.fromkeys(labels, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def _explanation(self) -> InputError:
        """Report why Arrow refused a file, with row numbers and without cells."""
        start = 0
        for piece in self.text.pieces():
            try:
                piece.decode()
            except UnicodeDecodeError as error:
                return self.text.not_utf8(start + error.start)
            start += len(piece)
        rows = 1  # the header
        ragged: list[tuple[int, int]] = []

        def skip(row: Any) -> str:
            ragged.append((rows + row.number, row.actual_columns))
            return "skip"

        last = None
        with suppress(pa.ArrowInvalid):
            for block in self._blocks():
                before = len(ragged)
                rows += len(self._parse(block, skip)) + len(ragged) - before
                last = block if len(block) else last
        if not ragged:
            limit = _BLOCK_BYTES >> 20
            return InputError(
                f"'{self.text.path}' cannot be read as CSV. Check whether a row is longer than {limit} MB."
            )
        row, fields = ragged[0]
        if len(ragged) == 1 and last is not None and self._is_short_total(last, fields):
            return total_below(
                self.text.path, f"it has {counted(fields, 'column')} instead of {self.width}"
            )
        others, remedy = "", "Correct or remove such rows."
        if len(ragged) > 1:
            more = len(ragged) - 1
            others = f", and {counted(more, 'more row')} {'differs' if more == 1 else 'differ'}"
        if fields > self.width:
            remedy = "If titles are above the column names, use --header-row ROW (header_row); else correct such rows."
        return InputError(
            f"Row {row} of '{self.text.path}' (not counting blank lines) has {counted(fields, 'column')}, but the "
            f"heading has {self.width:,}{others}. {remedy}"
        )

    def _is_short_total(self, records: pa.Buffer, fields: int) -> bool:
        """Whether the last row has so many fields and begins with a word for a total."""
        data = records.to_pybytes()
        last = data[_last_rows(data, 0, 1) :].strip().decode("utf-8", "replace")
        cells = _split(self.text.path, last, self.delimiter)
        return len(cells) == fields and is_total_word(next(filter(None, cells), ""))


def _last_end(data: bytes) -> int:
    """The position where the last whole record ends; a line break inside quotes does not end one."""
    end, quotes = len(data), data.count(b'"')
    while quotes % 2:
        start = data.rfind(b"\n", 0, end - 1) + 1
        quotes -= data.count(b'"', start, end)
        end = start
    return end


def _block_size(records: pa.Buffer) -> int:
    """A size whose blocks part no CR from its LF: Arrow loses that LF (apache/arrow#51368)."""
    length = len(records)
    size = max(_BLOCK_BYTES, length >> 6)
    while any(
        records[end - 1 : end + 1].to_pybytes() == b"\r\n" for end in range(size, length, size)
    ):
        size += 1
    return size
