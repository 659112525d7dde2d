"""Excel: one sheet of an .xlsx workbook, with column names in the first row or in another given row.

Excel keeps 16 digits and milliseconds, and has no empty text, which becomes null. Empty rows and
columns at the end of a sheet do not belong to the table. A workbook of some kilobytes can name cells
that span billions, so its unpacked size is limited before it is built.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time
from functools import reduce
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.files.cleaning import clean_names, clean_table
from shoal.data.files.column_types import (
    ErrorCell,
    columns_as_text,
    finite_problems,
    is_text,
    table_from_values,
    type_problems,
)
from shoal.data.files.header import (
    LOOKED_AT,
    HeaderCheck,
    check_header,
    check_names,
    check_units,
    header_below_titles,
    is_like_a_table,
    join_headings,
)
from shoal.data.files.proposals import Finding, Proposal, flags_of
from shoal.data.files.totals import LEAST, check_total, total_below
from shoal.encoding.source import Dialect, Input, Source
from shoal.errors import LONGEST, InputError, counted, near_miss

_MAX_ROWS, _MAX_COLUMNS, _MAX_CHARACTERS = 1 << 20, 1 << 14, 32_767
_MAX_WHOLE = 10**15
# Cells of a table, filled or not, that are always allowed; beyond that, one in this many must be filled.
_FEW_CELLS, _SPARSEST = 10_000_000, 20
# Bytes that may always be unpacked; beyond that, at most this many per byte of the file. Sheets have 5 to 30.
_FEW_BYTES, _DENSEST = 200_000_000, 100
LOOKED_INTO, MOST_SHEETS = 20, 5  # sheets that are searched for a table, and that a message names
_NOT_IN_XML = r"[\x00-\x08\x0b-\x1f]"  # nor carriage returns, which become line feeds


def read(path: Path, input: Input) -> Source:
    """Read one sheet; cells have their stored type, formulas their last value."""
    table, notes = _read(path, input, check_header)
    check_total(path, table, input)
    return Source(clean_table(table, input), notes=notes)


def read_texts(path: Path, input: Input) -> pa.Table:
    """Read every cell as text, whatever the columns are called."""
    table, _ = _read(path, input, lambda path, names, _: check_names(path, names))
    return columns_as_text(clean_table(table, input))


def _read(
    path: Path, input: Input, check: HeaderCheck
) -> tuple[pa.Table, tuple[tuple[str, Mapping[str, Any]], ...]]:
    """The table of one sheet, and what to know about the choice of the sheet."""
    rows, first, others = _rows(path, input.sheet)
    notes: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    if others:
        like = [title for title, few in others.items() if is_like_a_table(few)]
        if not is_like_a_table(rows[:LOOKED_AT]):
            _ask_for_sheet(path, like)
        elif like:
            remark = (
                f"The workbook has {counted(len(others) + 1, 'sheet')}; the first is read (sheet)."
            )
            notes = ((remark, {"sheet": first}),)
    try:
        table = _table(path, rows, input, check)
        if others and not table.num_rows:
            raise InputError(f"'{path}' has no records in its first sheet.")
        return table, notes
    except Proposal:
        raise
    except InputError as error:
        if not others:
            raise
        found = (
            *error.problems,
            f"'{path}' has {counted(len(others) + 1, 'sheet')}. If the table is not in the first, name its sheet with "
            "--sheet (sheet=).",
        )
    raise InputError(found)


def _ask_for_sheet(path: Path, like: Sequence[str]) -> None:
    """Ask which sheet has the table if the first has none."""
    if not like:
        return
    names = [title[:LONGEST] for title in like[:MOST_SHEETS]]
    if len(like) == 1:
        flag = flags_of({"sheet": like[0]})[0]
        question = f"The table of '{path}' seems to be in sheet '{names[0]}', not in the first. Use {flag} (sheet)."
        remark = f"The table is in sheet '{names[0]}'; the other sheets are not read (sheet)."
        raise Proposal(Finding(question, remark, {"sheet": like[0]}))
    shown = ", ".join(f"'{name}'" for name in names) + (" …" if len(like) > MOST_SHEETS else "")
    raise InputError(
        f"'{path}' has no table in its first sheet, but in {counted(len(like), 'other')}: {shown}. Choose one with "
        "--sheet (sheet)."
    )


def problems(table: pa.Table, path: Path, dialect: Dialect | None) -> list[str]:
    """Return what a sheet cannot contain without loss."""
    found = [*type_problems(table.schema, path), *finite_problems(table, path)]
    if table.num_rows >= _MAX_ROWS or table.num_columns > _MAX_COLUMNS:
        found.append(
            f"The table has {counted(table.num_rows, 'record')} and {counted(table.num_columns, 'column')}, more "
            f"than a sheet of '{path.name}' can contain. Write .csv or .parquet."
        )
    found += [
        f"Column '{name}' contains {loss}, which Excel cannot store. Write .csv or .parquet."
        for name, column in zip(table.column_names, table.columns, strict=True)
        if (loss := _loss(column))
    ]
    empty = [
        pc.fill_null(pc.equal(pc.utf8_length(c), 0), True) if is_text(c.type) else c.is_null()
        for c in table.columns
    ]
    records = pc.sum(reduce(pc.and_, empty)).as_py() if empty else 0
    if records:
        found.append(
            f"{counted(records, 'record')} {'is' if records == 1 else 'are'} empty in all columns, which "
            f"'{path.name}' cannot store. Write .csv or .parquet."
        )
    return found


def write(table: pa.Table, path: Path, suffix: str, dialect: Dialect | None) -> None:
    """Write one sheet; text that looks like a formula stays text."""
    hook = sys.unraisablehook
    sys.unraisablehook = lambda _: None
    failure = None
    try:
        _write(table, path)
    except OSError as error:
        failure = OSError(error.errno, error.strerror)
    finally:
        gc.collect()  # now, because incomplete archives print errors when they are cleared away
        sys.unraisablehook = hook
    if failure is not None:
        raise failure


def _write(table: pa.Table, path: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet()

    def as_cell(value: Any) -> Any:
        if not (isinstance(value, str) and value.startswith(("=", "#"))):
            return value
        cell = WriteOnlyCell(sheet, value)
        cell.data_type = "s"
        return cell

    sheet.append([as_cell(name) for name in table.column_names])
    columns = [_as_excel(column) for column in table.columns]
    for batch in pa.table(columns, table.column_names).to_batches(1 << 16):
        values = (column.to_pylist() for column in batch.columns)
        for record in zip(*values, strict=True):
            sheet.append([as_cell(value) for value in record])
    workbook.save(path)


def _table(path: Path, rows: list[list[Any]], input: Input, check: HeaderCheck) -> pa.Table:
    proposal = None if input.header_row else header_below_titles(path, rows)
    row, height = input.header_row or input.header_rows, input.header_rows
    headings = rows[row - height : row]
    skipped = {*(input.skip_rows or ()), *range(1, row + 1)}
    last = len(rows) - (input.skip_last or 0)
    records = [own for number, own in enumerate(rows[:last], 1) if number not in skipped]
    if not headings:
        raise InputError(f"'{path}' has an empty sheet. A table needs at least column names.")
    try:
        columns = _columns(headings, records)
        names = clean_names(_names(headings, len(columns)), input)
        if input.skip_rows is None:
            check_units(path, [values[:LOOKED_AT] for values in columns], row + 1)
        if input.skip_last is None and (name := _text_below_numbers(names, columns)) is not None:
            raise total_below(
                path, f"column '{name[:LONGEST]}' contains text there but nowhere above"
            )
        check(path, names, [_texts_in(column) for column in columns])
    except InputError:
        if proposal is None:
            raise
        raise proposal from None
    return table_from_values(path, dict(zip(names, columns, strict=True)))


def _columns(headings: list[list[Any]], records: list[list[Any]]) -> list[list[Any]]:
    """The values of each column below the headings."""
    width = max(map(len, (*headings, *records)), default=0)
    whole = [[None] * width, *records]  # so that there are columns even without a record
    return [_retype(list(values)[1:]) for values in zip_longest(*whole)]


def _names(headings: list[list[Any]], width: int) -> list[str]:
    """The column names, of one row or joined of several."""
    cells = [[None if isinstance(own, ErrorCell) else own for own in row] for row in headings]
    names = (
        join_headings(cells)
        if len(cells) > 1
        else ["" if own is None else str(own) for own in cells[0]]
    )
    return [*names, *[""] * (width - len(names))]


def _text_below_numbers(names: list[str], columns: list[list[Any]]) -> str | None:
    """The column that has a text only in the last row, if most of that row is empty; None if there is none."""
    if not all(columns) or sum(values[-1] is None for values in columns) * 2 < len(columns):
        return None
    for name, values in zip(names, columns, strict=True):
        above = [value for value in values[:-1] if value is not None]
        is_new = isinstance(values[-1], str) and not any(isinstance(own, str) for own in above)
        if is_new and len(above) >= LEAST:
            return name
    return None


def _rows(path: Path, sheet: str | None) -> tuple[list[list[Any]], str, dict[str, list[list[Any]]]]:
    """The cells of a sheet, by default the first, its name, and the first rows of others unless it was chosen."""
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl's warnings may show cells
        try:
            _check_unpacked(path)
            workbook = load_workbook(path, read_only=True, data_only=True)
            try:
                sheets = {found.title: found for found in workbook.worksheets}
                if sheet is None or sheet in sheets:
                    chosen = sheets[sheet] if sheet is not None else workbook.worksheets[0]
                    more = workbook.worksheets[1:LOOKED_INTO] if sheet is None else []
                    others = {
                        own.title: _bounded(path, islice(_cells(own), LOOKED_AT)) for own in more
                    }
                    return _bounded(path, _cells(chosen)), chosen.title, others
            finally:
                workbook.close()
        except InputError:
            raise
        except Exception:  # whatever a damaged archive or its XML makes openpyxl raise
            raise InputError(
                f"'{path}' is not a complete Excel workbook. It may be incomplete, damaged or "
                "password-protected: save it again as .xlsx."
            ) from None
    raise InputError(
        f"'{path}' has no sheet '{sheet}' among its {len(sheets)}{near_miss(sheet, sheets) or '.'}"
    )


def raw_rows(path: Path, sheet: str | None) -> list[list[Any]]:
    """All rows of a sheet as they are, without their empty ends."""
    return _rows(path, sheet)[0]


def sheet_names(path: Path) -> list[str]:
    """The names of the sheets with cells; none if the file is no complete workbook."""
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _check_unpacked(path)
            workbook = load_workbook(path, read_only=True)
            try:
                return [sheet.title for sheet in workbook.worksheets]
            finally:
                workbook.close()
        except Exception:  # whoever reads the table says why it cannot be read
            return []


def _cells(sheet: Any) -> Iterator[list[Any]]:
    sheet.reset_dimensions()  # the stored size may be wrong, and would cut the sheet
    for row in sheet.iter_rows():
        yield [ErrorCell() if cell.data_type == "e" else cell.value for cell in row]


def _check_unpacked(path: Path) -> None:
    """Refuse a workbook whose unpacked size is far larger than that of usual sheets."""
    with ZipFile(path) as parts:
        unpacked = sum(part.file_size for part in parts.infolist())
    if unpacked > max(_FEW_BYTES, _DENSEST * path.stat().st_size):
        raise InputError(
            f"'{path}' would unpack to {unpacked / 1e6:,.0f} MB, far more than a table of its size needs. Save "
            "the table as .csv."
        )


def _bounded(path: Path, cells: Iterable[list[Any]]) -> list[list[Any]]:
    """The rows of a table without its empty ends, unless nearly all of it would be empty."""
    rows: list[list[Any]] = []
    height = width = filled = 0
    for row in cells:
        while row and row[-1] is None:
            row.pop()
        rows.append(row)
        if row:
            height, width = len(rows), max(width, len(row))
            filled += len(row) - row.count(None)
        is_sparse = height * width > max(_FEW_CELLS, _SPARSEST * filled)
        if is_sparse or len(rows) > _MAX_ROWS:
            raise InputError(
                f"'{path}' has cells so far apart that the table would have {counted(len(rows), 'row')} and "
                f"{counted(width, 'column')}, nearly all of them empty. Delete the cells that do not belong to "
                "the table, or save it as .csv."
            )
    return rows[:height]


def _texts_in(values: list[Any]) -> pa.ChunkedArray:
    texts = {value for value in values if isinstance(value, str) and value.isprintable()}
    return pa.chunked_array([pa.array(sorted(texts), pa.string())])


def _retype(values: list[Any]) -> list[Any]:
    """Undo Excel's types: whole numbers stored as floats, and dates stored as midnights."""
    present = [value for value in values if value is not None]
    types = set(map(type, present))
    if types == {datetime} and all(value.time() == time() for value in present):
        return [value and value.date() for value in values]
    are_numbers = types <= {int, float}
    if are_numbers and all(abs(value) < _MAX_WHOLE and value == int(value) for value in present):
        return [value if value is None else int(value) for value in values]
    return values


def _loss(column: pa.ChunkedArray) -> str | None:
    if pa.types.is_integer(column.type):
        extremes = pc.min_max(column).as_py().values()
        if any(value is not None and abs(value) >= _MAX_WHOLE for value in extremes):
            return "whole numbers of more than 15 digits"
    if is_text(column.type):
        if pc.any(pc.match_substring_regex(column, _NOT_IN_XML)).as_py():
            return "control characters"
        if (pc.max(pc.utf8_length(column)).as_py() or 0) > _MAX_CHARACTERS:
            return f"texts of more than {_MAX_CHARACTERS:,} characters"
    return None


def _as_excel(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Excel has no time zones and no nanoseconds."""
    if not pa.types.is_timestamp(column.type):
        return column
    return column.cast(pa.string() if column.type.tz else pa.timestamp("us"), safe=False)
