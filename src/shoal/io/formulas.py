"""Texts that a spreadsheet would run as formulas when it opens a CSV file: they attack the reader of a release."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from shlex import quote

import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.formats import suffix_of
from shoal.io.holding import is_text
from shoal.table.plain import is_number, plain

Allows = Callable[[str, str], bool]  # whether somebody allowed a column to be released in spite of a reason

# A formula begins with = or @; with + or - only if it calls (, links | or refers ! to something:
# -5, +49 30 1234 and a lone dash are ordinary values. Spreadsheets read the wide forms of these signs alike.
_FORMULA = r"(?s)^\s*([=＝].|[@＠].|[+＋\-－].*[(|!])"
_PHONE = r"^\s*[+＋\-－][0-9 ()/.\-]*$"
_RUN_IN = (".csv", ".tsv", ".txt")


def formula_columns(table: pa.Table) -> list[str]:
    """Name the columns with a name or texts that a spreadsheet would run.

    Examples
    --------
    >>> formula_columns(pa.table({"a": ["=1+1"], "b": ["-5"], "c": ["+49 (30) 1234"]}))
    ['a']
    """
    values = plain(table)
    return [
        field.name
        for field, column in zip(values.schema, values.columns, strict=True)
        if _has_formula(pa.array([field.name]))
        or (is_text(field.type) and not is_number(field) and _has_formula(column))
    ]


def runs_formulas(path: Path) -> bool:
    """Whether a spreadsheet would run the formulas in a file: those of Excel files are marked as text."""
    return suffix_of(path).removesuffix(".gz") in _RUN_IN


def formula_problems(table: pa.Table, path: Path, allows: Allows) -> list[str]:
    """Sentences for columns of a release that a spreadsheet would run in a file, unless somebody allowed them."""
    if not runs_formulas(path):
        return []
    return problems_of(formula_columns(table), path, allows, ".xlsx or .parquet")


def problems_of(columns: Iterable[str], path: Path, allows: Allows, instead: str) -> list[str]:
    """Sentences for columns that hold formulas, with the formats to write instead."""
    return [
        f"Column '{name}' holds texts that a spreadsheet would run as formulas when it opens '{path.name}'; "
        f"write {instead}, or allow it with --allow {quote(f'{name}:formula')}."
        for name in columns
        if not allows(name, "formula")
    ]


def _has_formula(texts: pa.ChunkedArray | pa.Array) -> bool:
    some = texts.unique()  # which takes less time than to look at all of them
    found = some.filter(pc.match_substring_regex(some, _FORMULA))  # hardly any
    return not pc.all(pc.match_substring_regex(found, _PHONE), min_count=0).as_py()
