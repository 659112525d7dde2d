"""Rows that are not records: column names, and a total below the records."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.files.column_types import is_text
from shoal.encoding.source import Input
from shoal.encoding.type_inference import infer
from shoal.errors import LONGEST, InputError, counted, listed, raise_problems

_NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d[.,]?([eE][-+]?\d+)?\s*%?\s*")
_DATE = re.compile(r"\s*\d{1,4}([-./])\d{1,2}\1\d{1,4}([T ,].*)?")
_TIME = re.compile(r"\s*\d{1,2}:\d{2}(:\d{2}.*)?\s*")

MOST_TITLES = 20  # rows above the column names in which titles are searched
LOOKED_AT = 200  # rows that show which columns a table has

HeaderCheck = Callable[[Path, Sequence[str], Sequence[pa.ChunkedArray]], None]


class HeaderBelowTitles(InputError):
    """A file cannot be read from its first row, and its column names seem to be in row `row`."""

    def __init__(self, path: Path, row: int) -> None:
        super().__init__(
            f"The column names of '{path}' seem to be in row {row}, below titles. Use --header-row {row} "
            "(header_row)."
        )
        self.row = row


def check_header(path: Path, names: Sequence[str], columns: Sequence[pa.ChunkedArray]) -> None:
    """Refuse a heading that is a record, without showing it; then names that are empty or not distinct."""
    which = ", ".join(str(n) for n, name in enumerate(names, 1) if _reads_like_a_value(name))
    if which:
        raise _no_header(path, f"the names of columns {which} look like numbers or dates")
    pairs = enumerate(zip(names, columns, strict=True), start=1)
    which = ", ".join(str(n) for n, (name, own) in pairs if name.strip() and _holds(own, name))
    if which:
        raise _no_header(path, f"the names of columns {which} occur among their values")
    check_names(path, names)


def likely_header_row(rows: Sequence[Sequence[Any]]) -> int | None:
    """The row, counted from 1, that seems to contain the column names if the first rows are titles; else None.

    It has a text for each column that has values below, all of them different, and in every row above, at most half
    as many cells are filled.
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
        f"'{path}' seems to have no row of column names: {sign}. Add a first row with column names, and rename "
        "columns whose name looks like a value."
    )


LEAST = 3  # records above a total, needed to show what a record looks like
SAME_SUM = 1e-6  # relative difference up to which a number is the sum of others, perhaps rounded
_TOTAL = re.compile(
    r"(grand |sub|zwischen|end)?-?(sums?|summen?|totals?|totale|totali|totaux|totaal|totales|insgesamt|gesamt|"
    r"gesamtsumme|gesamtergebnis|somme|somma|suma|soma|mittelwert|durchschnitt|average|moyenne|Σ|∑)"
    r"( g[eé]n[eé]rale?)?\W*[0-9]*\W*",
    re.IGNORECASE,
)
_ID = r"^[A-Za-z]{0,4}[-_/ ]?[0-9]+([-_/ ]?[0-9A-Za-z]+)*$"


class TotalRowBelow(InputError):
    """The last row of a file looks like a total."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"The last row of '{path}' looks like a total, not like a record: {why}. Use --skip-last 1 "
            "(skip_last) to leave it out, or --skip-last 0 if it is a record."
        )


def check_total(path: Path, table: pa.Table, input: Input) -> None:
    """Refuse a table whose last row looks like a total, unless the number of such rows was given."""
    if input.skip_last is None and (why := total_sign(table, input)):
        raise TotalRowBelow(path, why)


def total_sign(table: pa.Table, input: Input) -> str | None:
    """Why the last row looks like a total; None if it does not.

    A total has a word for it, or breaks a pattern of identifiers, in a row that is mostly empty; or it has such a word,
    or no text at all, and a number that is the sum of those above.
    """
    if table.num_rows <= LEAST or table.num_columns < 2:
        return None
    last = table.slice(table.num_rows - 1)
    filled = [name for name in table.column_names if last[name][0].as_py() not in (None, "")]
    is_sparse = 0 < 2 * len(filled) <= table.num_columns
    texts = [name for name in filled if is_text(table[name].type)]
    words = [
        name for name in texts[:1] if is_total_word(last[name][0].as_py()) and _is_rare(table[name])
    ]
    if not (words or is_sparse):
        return None
    if words and is_sparse:
        return f"column '{words[0][:LONGEST]}' contains a word such as \"total\""
    if is_sparse and not _is_usual(table, len(filled)):
        for name in texts:
            if _breaks_pattern(table[name]):
                return (
                    f"column '{name[:LONGEST]}' contains an identifier in every row except this one"
                )
    if words or all(_numbers(table[name], input) is not None for name in texts):
        for name in filled:
            if name not in words and _is_sum(table[name], input):
                return f"column '{name[:LONGEST]}' contains the sum of the rows above"
    return None


def is_total_word(text: str) -> bool:
    """Whether a text says that its row is a total."""
    return _TOTAL.fullmatch(text.strip()) is not None


def _above(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.slice(0, len(column) - 1).drop_null()


def _is_rare(column: pa.ChunkedArray) -> bool:
    """Whether no other row has the text of the last one."""
    return not pc.any(pc.equal(_above(column), column[-1])).as_py()


def _is_usual(table: pa.Table, filled: int) -> bool:
    """Whether other rows have as few values as the last one, too."""
    present = reduce(pc.add, (column.is_valid().cast(pa.int32()) for column in table.columns))
    few = pc.sum(pc.less_equal(present, filled)).as_py()
    return bool(few > 1)


def _breaks_pattern(column: pa.ChunkedArray) -> bool:
    """Whether all rows but the last have an identifier, each another one."""
    above = _above(column)
    if len(above) < LEAST or len(above) < len(column) - 1 or len(pc.unique(above)) < len(above):
        return False
    if not pc.all(pc.match_substring_regex(above, _ID)).as_py():
        return False
    return not pc.match_substring_regex(column.slice(len(column) - 1), _ID)[0].as_py()


def _numbers(column: pa.ChunkedArray, input: Input) -> pa.ChunkedArray | None:
    """The values as numbers, None if they are something else."""
    if is_text(column.type):
        column = infer(column, Input(decimal=input.decimal))
    kind = column.type
    return column if pa.types.is_integer(kind) or pa.types.is_floating(kind) else None


def _is_sum(column: pa.ChunkedArray, input: Input) -> bool:
    numbers = _numbers(column, input)
    if numbers is None or numbers[-1].as_py() is None:
        return False
    above = _above(numbers).cast(pa.float64(), safe=False)
    total, last = pc.sum(above).as_py(), float(numbers[-1].as_py())
    if len(above) < LEAST or not total or pc.count_distinct(above).as_py() < 2:
        return False
    return math.isclose(total, last, rel_tol=SAME_SUM)
