"""A total below the records: a row that would be released as if it were a person."""

from __future__ import annotations

import math
import re
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.files.column_types import is_text
from shoal.data.files.proposals import Finding, Proposal
from shoal.encoding.source import Input
from shoal.encoding.type_inference import infer
from shoal.errors import LONGEST

LEAST = 3  # records above a total, needed to show what a record looks like
SAME_SUM = 1e-6  # relative difference up to which a number is the sum of others, perhaps rounded
_TOTAL = re.compile(
    r"(grand |sub|zwischen|end)?-?(sums?|summen?|totals?|totale|totali|totaux|totaal|totales|insgesamt|gesamt|"
    r"gesamtsumme|gesamtergebnis|somme|somma|suma|soma|mittelwert|durchschnitt|average|moyenne|Σ|∑)"
    r"( g[eé]n[eé]rale?)?\W*[0-9]*\W*",
    re.IGNORECASE,
)
_ID = r"^[A-Za-z]{0,4}[-_/ ]?[0-9]+([-_/ ]?[0-9A-Za-z]+)*$"


def total_below(path: Path, why: str) -> Proposal:
    """The last row of a file looks like a total."""
    question = (
        f"The last row of '{path}' looks like a total, not like a record: {why}. Use --skip-last 1 "
        "(skip_last) to leave it out, or --skip-last 0 if it is a record."
    )
    remark = "The last row looks like a total; it is left out (skip_last)."
    return Proposal(Finding(question, remark, {"skip_last": 1}))


def check_total(path: Path, table: pa.Table, input: Input) -> None:
    """Refuse a table whose last row looks like a total, unless the number of such rows was given."""
    if input.skip_last is None and (why := total_sign(table, input)):
        raise total_below(path, why)


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
