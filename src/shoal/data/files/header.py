"""Which rows of a file contain the column names: below titles, in two rows, with gaps, and above units."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.files.column_types import is_text
from shoal.data.files.proposals import Finding, Proposal, flags_of
from shoal.errors import InputError, counted, listed, raise_problems

_NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d[.,]?([eE][-+]?\d+)?\s*%?\s*")
_DATE = re.compile(r"\s*\d{1,4}([-./])\d{1,2}\1\d{1,4}([T ,].*)?")
_TIME = re.compile(r"\s*\d{1,2}:\d{2}(:\d{2}.*)?\s*")

MOST_TITLES = 20  # rows above the column names in which titles are searched
LOOKED_AT = 200  # rows that show which columns a table has

HeaderCheck = Callable[[Path, Sequence[str], Sequence[pa.ChunkedArray]], None]


def header_below_titles(path: Path, rows: Sequence[Sequence[Any]]) -> Proposal | None:
    """A question about a file whose first rows are titles, or whose column names are in two rows; None for others."""
    row, height = likely_header_row(rows), 1
    if row is None:
        row, height = likely_two_rows(rows), 2
    if row is None:
        return None
    width = len(_filled(rows[row - 1]))
    above = [len(_filled(own)) for own in rows[: row - height]]
    changes = {"header_row": row, **({"header_rows": height} if height > 1 else {})}
    options = f"{' '.join(flags_of(changes))} ({', '.join(changes)})"
    if height > 1:
        question = (
            f"Rows {row - 1} and {row} of '{path}' look like the column names, in two rows. Use {options} to join "
            "them."
        )
        remark = f"The column names are in rows {row - 1} and {row}, which are joined"
    else:
        question = (
            f"Row {row} of '{path}' looks like the column names: it has {counted(width, 'column')}, the rows above "
            f"have at most {max(above)}. Use {options}."
        )
        remark = f"The column names are in row {row}"
    skipped = "; the rows above are skipped" if above else ""
    return Proposal(Finding(question, f"{remark}{skipped} ({', '.join(changes)}).", changes))


def check_header(path: Path, names: Sequence[str], columns: Sequence[pa.ChunkedArray]) -> None:
    """Refuse a heading that is a record, without showing it; then names that are empty or not distinct."""
    which = ", ".join(str(n) for n, name in enumerate(names, 1) if _reads_like_a_value(name))
    if which:
        raise _no_header(path, f"the names of columns {which} look like numbers or dates")
    pairs = enumerate(zip(names, columns, strict=True), start=1)
    which = ", ".join(str(n) for n, (name, own) in pairs if name.strip() and _holds(own, name))
    if which:
        raise _no_header(path, f"the names of columns {which} occur among their values")
    if proposal := gaps_in(path, names):
        raise proposal
    check_names(path, names)


def likely_header_row(rows: Sequence[Sequence[Any]]) -> int | None:
    """The row, counted from 1, that seems to contain the column names if the first rows are titles; else None.

    It has a text for each column that has values below, all of them different, and in every row above, at most half
    as many cells are filled.
    """
    filled = [_filled(row) for row in rows[:LOOKED_AT]]
    for place in range(min(MOST_TITLES, len(filled) - 1) + 1):
        below = set().union(*filled[place + 1 :])
        names = [rows[place][column] for column in sorted(filled[place])]
        if len(below) < 2 or not below <= filled[place] or not _are_names(names):
            continue
        records = rows[place + 1 : LOOKED_AT]
        if any(rows[place][column] in _cells_of(records, column) for column in filled[place]):
            continue  # a record, whose values other records have, too
        is_first_full = all(2 * len(above) <= len(names) for above in filled[:place])
        return place + 1 if place and is_first_full else None
    return None


def likely_two_rows(rows: Sequence[Sequence[Any]]) -> int | None:
    """The lower, counted from 1, of two rows that together seem to contain the column names; None if there are none.

    Below texts of the lower row are numbers or dates, so it is no record.
    """
    filled = [_filled(row) for row in rows[:LOOKED_AT]]
    for place in range(1, min(MOST_TITLES, len(filled) - 2) + 1):
        below = set().union(*filled[place + 1 :])
        upper, lower = rows[place - 1], rows[place]
        if below <= filled[place - 1] and _are_names([upper[own] for own in sorted(below)]):
            return None  # the upper row alone has a name for each column
        if not all(isinstance(lower[own], str) for own in filled[place]):
            continue
        if any(_reads_like_a_value(lower[own]) for own in filled[place]):
            continue
        names = join_headings([upper, lower])
        wanted = [names[column] for column in sorted(below) if column < len(names)]
        if len(below) < 2 or len(wanted) < len(below) or not _are_names(wanted):
            continue
        records = rows[place + 1 : LOOKED_AT]
        if any(2 * len(above) > len(below) for above in filled[: place - 1]):
            return None
        if any(_is_above_values(records, column) for column in filled[place]):
            return place + 1
    return None


def join_headings(rows: Sequence[Sequence[Any]]) -> list[str]:
    """Several rows of headings as one: a cell also counts for the empty ones after it, as if they were merged.

    Examples
    --------
    >>> join_headings([["id", "home", None, "work"], [None, "zip", "town", "zip"]])
    ['id', 'home zip', 'home town', 'work zip']
    """
    columns = list(zip_longest(*rows))
    parts: list[list[str]] = [[] for _ in columns]
    for level in range(len(rows)):
        carried = ""
        for column, cells in enumerate(columns):
            has_lower = any(_text(cell) for cell in cells[level + 1 :])
            text = _text(cells[level]) or (carried if has_lower else "")
            carried = text if has_lower else ""
            if text and text not in parts[column]:
                parts[column].append(text)
    return [" ".join(own) for own in parts]


def is_like_a_table(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the first rows of a sheet have headings, perhaps below titles, and records."""
    row = likely_header_row(rows) or likely_two_rows(rows) or 1
    headings = _filled(rows[row - 1]) if rows else set()
    records = [own for own in map(_filled, rows[row:]) if 2 * len(own) >= len(headings)]
    if len(headings) < 2 or len(records) < LEAST:
        return False
    below = set().union(*records)
    texts = [cell for cell in rows[row - 1] if isinstance(cell, str) and cell.strip()]
    return 4 * len(headings & below) >= 3 * len(below) and 4 * len(texts) >= 3 * len(headings)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _filled(row: Sequence[Any]) -> set[int]:
    return {place for place, cell in enumerate(row) if cell not in (None, "")}


def _cells_of(rows: Sequence[Sequence[Any]], column: int) -> list[Any]:
    """The cells of one column that are not empty."""
    cells = (own[column] for own in rows if column < len(own))
    return [cell for cell in cells if cell not in (None, "")]


def _is_above_values(records: Sequence[Sequence[Any]], column: int) -> bool:
    """Whether there are only numbers or dates below a cell."""
    below = _cells_of(records, column)
    return len(below) >= LEAST and all(_is_value(cell) for cell in below)


def _is_value(cell: Any) -> bool:
    """Whether a cell is a number or a date."""
    return _reads_like_a_value(cell) if isinstance(cell, str) else not isinstance(cell, bool)


LEAST = 3  # values below a text that show what its column contains


def check_units(path: Path, columns: Sequence[Sequence[Any]], row: int) -> None:
    """Refuse a file whose first record, in this row, looks like units or a second heading.

    It has a text, or nothing, in every column that has only numbers or dates below, and different texts in at least two
    of them. `columns` are the first cells of each column.
    """
    tops = [
        own[0]
        for own in columns
        if len(below := [cell for cell in own[1:] if cell not in (None, "")]) >= LEAST
        and all(_is_value(cell) for cell in below)
        and len(set(below)) > 1
    ]
    texts = {cell for cell in tops if cell not in (None, "")}
    if len(texts) < 2 or any(_is_value(cell) for cell in texts):
        return
    question = (
        f"Row {row} of '{path}' looks like units or a second heading, not like a record: all other rows have numbers "
        f"or dates in {len(tops)} of its columns. Use --skip-rows {row} (skip_rows) to leave it out, or --skip-rows 0 "
        "if it is a record."
    )
    remark = f"Row {row} looks like units or a second heading; it is left out (skip_rows)."
    raise Proposal(Finding(question, remark, {"skip_rows": (row,)}))


MOST_GAPS = (
    0.25  # share of columns without a name of their own, above which the row is probably no heading
)
SHOWN = 4  # options in a sentence


def gaps_in(path: Path, names: Sequence[str]) -> Proposal | None:
    """Names for columns that have none, or that of another column; None if there are no such columns or many."""
    new: dict[str, str] = {}
    taken = {name.strip() for name in names}
    seen: set[str] = set()
    for place, name in enumerate(names, start=1):
        if name.strip() and name not in seen:
            seen.add(name)
            continue
        base = f"{name.strip()}_" if name.strip() else f"column_{place}_"
        tries = (f"{base}{n}" for n in range(2, len(names) + 3))
        choice = next(own for own in tries if own not in taken) if name.strip() else base[:-1]
        while choice in taken:
            choice += "_"
        taken.add(choice)
        new[str(place)] = choice
    if not new or len(new) > max(1, MOST_GAPS * len(names)) or len(names) < 3:
        return None
    empty = [place for place in new if not names[int(place) - 1].strip()]
    double = [place for place in new if place not in empty]
    said = []
    if empty:
        said.append(f"{_columns(empty)} {'has' if len(empty) == 1 else 'have'} no heading")
    if double:
        said.append(
            f"{_columns(double)} {'repeats' if len(double) == 1 else 'repeat'} another heading"
        )
    what = " and ".join(said)
    few = dict(list(new.items())[:SHOWN])
    more = " and so on" if len(new) > SHOWN else ""
    them = "it" if len(new) == 1 else "them"
    question = f"In '{path}', {what}. Name {them}, for example {' '.join(flags_of({'rename': few}))}{more} (rename)."
    remark = f"{what[0].upper()}{what[1:]}: renamed to {listed(new.values())} (rename)."
    return Proposal(Finding(question, remark, {"rename": new}))


def _columns(places: Sequence[str]) -> str:
    return f"{'column' if len(places) == 1 else 'columns'} {listed(places)}"


def _are_names(cells: Sequence[Any]) -> bool:
    texts = [cell.strip() for cell in cells if isinstance(cell, str) and cell.strip()]
    is_distinct = len(texts) == len(cells) == len(set(texts))
    return is_distinct and not any(_reads_like_a_value(text) for text in texts)


def check_names(path: object, names: Sequence[str]) -> None:
    """Refuse duplicate and empty column names, all at once."""
    positions: dict[str, list[str]] = {}
    for position, name in enumerate(names, start=1):
        positions.setdefault(name, []).append(str(position))
    found = [] if names else [f"'{path}' has no columns. A table needs at least one."]
    for name, where in positions.items():
        if not name.strip():
            found.append(
                f"{'Column' if len(where) == 1 else 'Columns'} {listed(where)} of '{path}' "
                f"{'has' if len(where) == 1 else 'have'} no heading. Every column needs one, in a single row."
            )
        elif len(where) > 1:
            found.append(
                f"'{path}' has {counted(len(where), 'column')} named '{name}' (columns {listed(where)}). "
                f"Rename all but one."
            )
    raise_problems(found)


def _reads_like_a_value(name: str) -> bool:
    return any(form.fullmatch(name) for form in (_NUMBER, _DATE, _TIME))


def _holds(column: pa.ChunkedArray, name: str) -> bool:
    return is_text(column.type) and bool(
        pc.any(pc.equal(column, pa.scalar(name, column.type))).as_py()
    )


def _no_header(path: Path, sign: str) -> InputError:
    return InputError(
        f"'{path}' seems to have no row of column names: {sign}. Add a first row with column names, or rename "
        "columns whose name looks like a value (--rename 2:NAME)."
    )
