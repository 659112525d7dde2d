"""Rules that every format shares: column names, columns of one kind, columns a file can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import raise_problems


class ErrorCell:
    """Stands for a cell that holds a spreadsheet error such as a division by zero."""


_KINDS: dict[type, str] = {
    bool: "true/false values",
    int: "numbers",
    float: "numbers",
    str: "texts",
    date: "dates",
    datetime: "dates",
    time: "times of day",
    timedelta: "durations",
    ErrorCell: "spreadsheet errors",
}
_NOT_VALUES = {"spreadsheet errors", "lists or objects"}


def check_names(path: Path, names: Sequence[str]) -> None:
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


def table_from_values(path: Path, columns: dict[str, list[Any]]) -> pa.Table:
    """Build a table from Python values, refusing columns that mix kinds, all at once."""
    arrays: dict[str, pa.Array] = {}
    found = []
    for name, values in columns.items():
        kinds = _count_kinds(values)
        if len(kinds) > 1 or kinds.keys() & _NOT_VALUES:
            counts = " and ".join(f"{count} {kind}" for kind, count in kinds.items())
            found.append(
                f"Column '{name}' of '{path}' holds {counts}; make it all numbers, all texts or "
                "all dates."
            )
            continue
        try:
            arrays[name] = pa.array(values, None if kinds else pa.string())
        except (pa.ArrowException, OverflowError, UnicodeError):
            what = "text with broken Unicode" if "texts" in kinds else "numbers beyond 64 bits"
            found.append(f"Column '{name}' of '{path}' holds {what}; repair it or make it text.")
    raise_problems(found)
    return pa.table(arrays)


def _count_kinds(values: Iterable[Any]) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for type_, count in Counter(map(type, values)).items():
        if type_ is not type(None):
            kinds[_KINDS.get(type_, "lists or objects")] += count
    return kinds


def plain(table: pa.Table) -> pa.Table:
    """Keep values only: no metadata, and no dictionaries, which may list values no record has."""
    return table.cast(pa.schema([(field.name, _plain_type(field.type)) for field in table.schema]))


def _plain_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(type_):
        return _plain_type(type_.value_type)
    return pa.string() if pa.types.is_string_view(type_) else type_


def type_problems(table: pa.Table, path: Path) -> list[str]:
    """Say which columns have a type that only Parquet can hold."""
    return [
        f"Column '{field.name}' has type {field.type}, which '{path.name}' cannot hold; "
        "write .parquet or leave the column out."
        for field in table.schema
        if not any(holds(field.type) for holds in _FLAT)
    ]


_FLAT = (
    pa.types.is_null,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
)


def finite_problems(table: pa.Table, path: Path) -> list[str]:
    """Say which columns hold NaN or infinity, where the format knows finite numbers only."""
    return [
        f"Column '{name}' holds NaN or infinity, which '{path.name}' cannot hold; make them null."
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_floating(column.type) and not pc.all(pc.is_finite(column)).as_py()
    ]
