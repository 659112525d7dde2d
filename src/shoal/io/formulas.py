"""Texts that a spreadsheet would run as a formula when it opens a CSV file."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.holding import is_text
from shoal.table.plain import is_number, plain

# A formula begins with = or @; with + or - only if it calls (, links | or refers ! to something:
# -5, +49 30 1234 and a lone dash are ordinary values.
_FORMULA = r"(?s)^\s*(=.|@.|[+\-].*[(|!])"
_PHONE = r"^\s*[+\-][0-9 ()/.\-]*$"


def formula_columns(table: pa.Table) -> list[str]:
    """Name the text columns with values that a spreadsheet would run.

    Examples
    --------
    >>> formula_columns(pa.table({"a": ["=1+1"], "b": ["-5"], "c": ["+49 (30) 1234"]}))
    ['a']
    """
    values = plain(table)
    return [
        field.name
        for field, column in zip(values.schema, values.columns, strict=True)
        if is_text(field.type) and not is_number(field) and _has_formula(column.unique())
    ]


def _has_formula(texts: pa.Array) -> bool:
    runs = pc.match_substring_regex(texts, _FORMULA)
    is_phone = pc.match_substring_regex(texts, _PHONE)
    return bool(pc.any(pc.and_not(runs, is_phone)).as_py())
