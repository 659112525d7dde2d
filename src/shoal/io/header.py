"""Column names: present, distinct, and no first record that was taken for a header."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, raise_problems

_NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d[.,]?([eE][-+]?\d+)?\s*%?\s*")
_DATE = re.compile(r"\s*\d{1,4}([-./])\d{1,2}\1\d{1,4}([T ,].*)?")
_TIME = re.compile(r"\s*\d{1,2}:\d{2}(:\d{2}.*)?\s*")

MOST_TITLES = 20  # rows above the column names in which titles are looked for
LOOKED_AT = 200  # rows that show which columns a table has

HeaderCheck = Callable[[Path, Sequence[str], Sequence[pa.ChunkedArray]], None]


class BelowTitles(InputError):
    """A file cannot be read from its first row, and its column names seem to be in the row `row`."""

    def __init__(self, path: Path, row: int) -> None:
        super().__init__(
            f"The column names of '{path}' seem to be in row {row}, below titles; use --header-row {row} (header_row)."
        )
        self.row = row


def check_header(path: Path, names: Sequence[str], columns: Sequence[pa.ChunkedArray]) -> None:
    """Refuse a header that is a record, without showing it; then names that are empty or not distinct."""
    values = [str(n) for n, name in enumerate(names, start=1) if _reads_like_a_value(name)]
    if values:
        raise _no_header(
            path, f"the names of columns {', '.join(values)} read like numbers or dates"
        )
    among = [
        str(number)
        for number, (name, column) in enumerate(zip(names, columns, strict=True), start=1)
        if name.strip() and _holds(column, name)
    ]
    if among:
        raise _no_header(path, f"the names of columns {', '.join(among)} occur among their values")
    check_names(path, names)


def likely_header_row(rows: Sequence[Sequence[Any]]) -> int | None:
    """The row, counted from 1, that seems to hold the column names where the first rows are titles; else None.

    It has a text for each column that has values below, all of them different, and every row above has at most half
    as many cells with something in them.
    """
    filled = [
        {place for place, cell in enumerate(row) if cell not in (None, "")}
        for row in rows[:LOOKED_AT]
    ]
    for place in range(min(MOST_TITLES, len(filled) - 1) + 1):
        below = set().union(*filled[place + 1 :])
        names = [rows[place][column] for column in sorted(filled[place])]
        if len(below) < 2 or not below <= filled[place] or not _are_names(names):
            continue
        is_first_full = all(2 * len(above) <= len(names) for above in filled[:place])
        return place + 1 if place and is_first_full else None
    return None


def _are_names(cells: Sequence[Any]) -> bool:
    texts = [cell.strip() for cell in cells if isinstance(cell, str) and cell.strip()]
    is_distinct = len(texts) == len(cells) == len(set(texts))
    return is_distinct and not any(_reads_like_a_value(text) for text in texts)


def check_names(path: object, names: Sequence[str]) -> None:
    """Refuse duplicate and empty column names, all at once."""
    positions: dict[str, list[str]] = {}
    for position, name in enumerate(names, start=1):
        positions.setdefault(name, []).append(str(position))
    found = [] if names else [f"'{path}' has no columns; a table needs at least one."]
    for name, where in positions.items():
        if not name.strip():
            found.append(
                f"'{path}' has columns without a name (number {', '.join(where)}); name them all."
            )
        elif len(where) > 1:
            found.append(
                f"'{path}' has {len(where)} columns named '{name}' (number {', '.join(where)}); "
                "rename all but one."
            )
    raise_problems(found)


def _reads_like_a_value(name: str) -> bool:
    return any(form.fullmatch(name) for form in (_NUMBER, _DATE, _TIME))


def _holds(column: pa.ChunkedArray, name: str) -> bool:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return False
    return bool(pc.any(pc.equal(column, pa.scalar(name, column.type))).as_py())


def _no_header(path: Path, sign: str) -> InputError:
    return InputError(
        f"'{path}' seems to have no header: {sign}; add a first row that names the columns, and "
        "rename those that are named like a value."
    )
