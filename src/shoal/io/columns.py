"""Columns of Python values, as JSON and Excel give them: one kind each, or refused with counts."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import raise_problems
from shoal.table.plain import NUMBER_MARK


class ErrorCell:
    """Stands for a cell that holds a spreadsheet error such as a division by zero."""


class NumberToken(str):
    """A number as a file writes it: 34, 34.0 and 3.4e1 differ."""


_KINDS: dict[type, str] = {
    bool: "true/false values",
    int: "numbers",
    float: "numbers",
    NumberToken: "numbers",
    str: "texts",
    date: "dates",
    datetime: "dates",
    time: "times of day",
    timedelta: "durations",
    ErrorCell: "spreadsheet errors",
}
_NOT_VALUES = {"spreadsheet errors", "lists or objects"}


def table_from_values(path: Path, columns: dict[str, list[Any]]) -> pa.Table:
    """Build a table from Python values, refusing columns that mix kinds, all at once.

    Number tokens become marked text.
    """
    arrays: list[pa.Array] = []
    fields: list[pa.Field] = []
    found = []
    for name, values in columns.items():
        types = Counter(map(type, values))
        kinds = _count_kinds(types)
        if len(kinds) > 1 or kinds.keys() & _NOT_VALUES:
            counts = " and ".join(f"{count} {kind}" for kind, count in kinds.items())
            found.append(
                f"Column '{name}' of '{path}' holds {counts}; make it all numbers, all texts or "
                "all dates."
            )
            continue
        is_token = NumberToken in types
        try:
            arrays.append(pa.array(values, pa.string() if is_token or not kinds else None))
        except (pa.ArrowException, OverflowError, UnicodeError):
            what = "text with broken Unicode" if "texts" in kinds else "numbers beyond 64 bits"
            found.append(f"Column '{name}' of '{path}' holds {what}; repair it or make it text.")
            continue
        mark = NUMBER_MARK if is_token else None
        fields.append(pa.field(name, arrays[-1].type, metadata=mark))
    raise_problems(found)
    return pa.table(arrays, schema=pa.schema(fields))


def _count_kinds(types: Counter[type]) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for type_, count in types.items():
        if type_ is not type(None):
            kinds[_KINDS.get(type_, "lists or objects")] += count
    return kinds
