"""The first and last rows of a table's file as they are, so that the user can point at the column names."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from shoal.app.worker.tables import input_of, open_project, path_of
from shoal.data.files import excel, text
from shoal.data.files.csv import DELIMITERS, delimiter_of
from shoal.data.files.formats import suffix_of
from shoal.encoding.source import Input

FIRST, LAST = 20, 5  # rows that are shown
LONGEST = 60  # characters of a cell that are shown
WHOLE = 1 << 26  # bytes of a text file up to which its last rows are shown, too
TEXTS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")


def preview(answer: Any, project: str) -> dict[str, Any]:
    """The first rows, before anything is taken for column names, and the last ones if that is quick.

    `header_row` is the row that has the column names now; it is None for formats that know their columns.
    """
    path, how = path_of(project), input_of(project)
    suffix = suffix_of(path)
    if suffix == ".xlsx":
        first, last = _ends(excel.raw_rows(path, how.sheet))
    elif suffix in TEXTS:
        first, last = _of_text(path, how)
    else:
        return _typed_rows(project)
    return {
        "rows": _shown(first),
        "last": _shown(last),
        "header_row": how.header_row or 1,
        "skip_last": how.skip_last or 0,
    }


def sheets_of(path: Path) -> list[str]:
    """The names of a workbook's sheets; none if the file is no workbook."""
    return excel.sheet_names(path) if suffix_of(path) == ".xlsx" else []


def _of_text(path: Path, how: Input) -> tuple[list[Any], list[Any]]:
    is_large = path.stat().st_size > WHOLE
    data = text.load_text(path, how.encoding, is_large).data
    start = _decoded(data[: 1 << 16])
    delimiter = delimiter_of(how) or max(DELIMITERS, key=start.count)
    if is_large or path.suffix.lower() == ".gz":
        return list(islice(csv.reader(start.splitlines(True), delimiter=delimiter), FIRST)), []
    return _ends(csv.reader(_decoded(data).splitlines(True), delimiter=delimiter))


def _decoded(data: bytes) -> str:
    """The text of a file, whose encoding may not be known yet."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _ends(rows: Iterable[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """The first rows, and the last of the others."""
    given = list(rows)
    return given[:FIRST], given[max(FIRST, len(given) - LAST) :]


def _typed_rows(project: str) -> dict[str, Any]:
    """The first rows of a format that knows its columns, and names them."""
    frame = open_project(project).data
    few = frame[: min(FIRST, frame.shape[0])]
    cells = [few.get_column(name).to_list() for name in frame.columns]
    rows = [list(row) for row in zip(*cells, strict=True)]
    return {"rows": _shown(rows), "last": [], "header_row": None, "skip_last": 0}


def _shown(rows: Iterable[Sequence[Any]]) -> list[list[str]]:
    return [["" if cell is None else str(cell)[:LONGEST] for cell in row] for row in rows]
