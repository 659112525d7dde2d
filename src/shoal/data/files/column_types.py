"""Types of columns: inferred from texts or Python values without loss, and what a format cannot represent."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.frames import NUMBER_MARK, plain_table
from shoal.encoding.source import Input
from shoal.errors import raise_problems

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


def type_problems(schema: pa.Schema, path: Path) -> list[str]:
    """Return columns with a type that only Parquet can store."""
    return [
        f"Column '{field.name}' has type {field.type}, which '{path.name}' cannot store. Write .parquet or leave "
        "the column out."
        for field in schema
        if not any(holds(field.type) for holds in _FLAT)
    ]


def finite_problems(table: pa.Table, path: Path) -> list[str]:
    """Return columns with NaN or infinity, for formats that only have finite numbers."""
    return [
        f"Column '{name}' contains NaN or infinity, which '{path.name}' cannot store. Make them null."
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_floating(column.type) and pc.all(pc.is_finite(column)).as_py() is False
    ]


def unencodable_problems(table: pa.Table, path: Path, encoding: str) -> list[str]:
    """Return columns with a name or texts that an encoding has no characters for."""
    if codecs.lookup(encoding).name.startswith("utf-"):
        return []
    remedy = (
        f"the encoding {encoding} of '{path.name}' does not support. Convert the input to UTF-8"
    )
    found = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not _can_encode([name], encoding):
            found.append(f"Column '{name}' has a name that {remedy}.")
        if is_text(column.type) and not _can_encode(column.unique().to_pylist(), encoding):
            found.append(f"Column '{name}' contains texts that {remedy}.")
    return found


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _can_encode(texts: list[str | None], encoding: str) -> bool:
    try:
        "\n".join(text for text in texts if text is not None).encode(encoding)
    except UnicodeError:
        return False
    return True


def columns_as_text(table: pa.Table) -> pa.Table:
    """Every column as text, where different values have different texts."""
    values = plain_table(table)
    return pa.table([_texts(column) for column in values.columns], values.column_names)


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # bytes, lists, zones nobody knows
        pass
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64()).cast(pa.string())
    texts = [None if value is None else repr(value) for value in column.to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.string())])


class ErrorCell:
    """A cell with a spreadsheet error such as a division by zero."""


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
            counts = " and ".join(f"{kind} ({count:,})" for kind, count in kinds.items())
            found.append(
                f"Column '{name}' of '{path}' contains {counts}. Make it all numbers, all texts or all dates."
            )
            continue
        is_token = NumberToken in types
        try:
            arrays.append(pa.array(values, pa.string() if is_token or not kinds else None))
        except (pa.ArrowException, OverflowError, UnicodeError):
            what = "text with broken Unicode" if "texts" in kinds else "numbers beyond 64 bits"
            found.append(
                f"Column '{name}' of '{path}' contains {what}. Correct it or make it text."
            )
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


Values = TypeVar("Values", pa.Array, pa.ChunkedArray)

_FIRST_DAY = -719_162  # 0001-01-01 in days since 1970; Python knows no day before
_UNITS = {19: "s", 23: "ms", 26: "us", 29: "ns"}  # by the length of a written timestamp
_DAY_LENGTH = 10


Types = Callable[[str], list[pa.DataType]]  # that a column may have, by its first text


def typed_without_loss(
    column: pa.ChunkedArray, types: Types, separator: str = " "
) -> pa.ChunkedArray:
    """Give a text column the first type in which the same texts are written again, else return it unchanged.

    So 34 becomes a number, while 250.10, 02139 and 2024-01-01T10:00+01:00 stay text. `separator` is the text between
    the day and the time.

    Examples
    --------
    >>> typed_without_loss(pa.chunked_array([["1", "2.5"]]), types_of_text).type
    DataType(double)
    >>> typed_without_loss(pa.chunked_array([["1", "2.50"]]), types_of_text).type
    DataType(string)
    """
    first = _first_text(column)
    tried = (_lossless(column, kind, separator) for kind in (types(first) if first else []))
    return next((typed for typed in tried if typed is not None), column)


def types_of_text(first: str, input: Input | None = None) -> list[pa.DataType]:
    """The types that a column of CSV or of number tokens may have; `input` is that of the column.

    What is written with a decimal comma or in a date format of its own stays text.
    """
    input = input or Input()
    date_format = input.date_format if isinstance(input.date_format, str) else None
    if date_format and _fits(first, date_format):
        return []
    if date_format is None and _starts_like_a_date(first):
        return types_of_date(first)
    return [pa.int64(), *([pa.float64()] if input.decimal == "." else []), pa.bool_()]


def types_of_date(first: str) -> list[pa.DataType]:
    """The types that a column of ISO dates may have."""
    if not _starts_like_a_date(first):
        return []
    if len(first) == _DAY_LENGTH:
        return [pa.date32()]
    return [pa.timestamp(_UNITS[len(first)])] if len(first) in _UNITS else []


class PartByPart:
    """The types of columns that are read a part at a time: those that they would have in one piece."""

    def __init__(self) -> None:
        self._left: dict[str, list[pa.DataType]] = {}

    def add(self, name: str, column: pa.ChunkedArray, types: Types, separator: str = " ") -> None:
        """Note which types the next part of a column may have without loss."""
        first = _first_text(column)
        if first is None:
            return
        candidates, self._left[name] = self._left.get(name, types(first)), []
        for kind in candidates:
            typed = _lossless(column, kind, separator)
            if typed is None:
                continue
            self._left[name].append(kind)
            if pa.types.is_integer(
                kind
            ):  # other types can represent all of them if they can represent the extremes
                extremes = pc.min_max(typed).as_py().values()
                column = pa.chunked_array([pa.array(extremes, kind)]).cast(pa.string())

    def found(self) -> dict[str, pa.DataType]:
        """The types of columns that are not text."""
        return {name: types[0] for name, types in self._left.items() if types}


def as_text(column: Values, separator: str = " ") -> Values:
    """Values as CSV and JSON lines write them: plain numbers, true and false, ISO dates and times."""
    text = column.cast(pa.string())
    is_moment = pa.types.is_timestamp(column.type)
    return pc.replace_substring(text, " ", separator) if is_moment and separator != " " else text


def _lossless(column: pa.ChunkedArray, kind: pa.DataType, separator: str) -> pa.ChunkedArray | None:
    """The column in a type, None if the same texts could not be written again."""
    try:
        typed = column.cast(kind)
    except pa.ArrowInvalid:
        return None
    return typed if _is_usual(typed) and as_text(typed, separator).equals(column) else None


def _is_usual(typed: pa.ChunkedArray) -> bool:
    """Whether Python knows every value, and no two texts are equal numbers (0 and -0)."""
    if pa.types.is_floating(typed.type):
        is_minus_zero = pc.and_(pc.equal(typed, 0), pc.less(pc.divide(1.0, typed), 0))
        return pc.all(pc.and_not(pc.is_finite(typed), is_minus_zero)).as_py() is not False
    if pa.types.is_temporal(typed.type):
        days = pc.min(typed).cast(pa.date32()).cast(pa.int32()).as_py()
        return days is None or days >= _FIRST_DAY
    return True


def _first_text(column: pa.ChunkedArray) -> str | None:
    for chunk in column.chunks:
        if chunk.null_count < len(chunk):
            return chunk[pc.index(chunk.is_valid(), True).as_py()].as_py()
    return None


def _starts_like_a_date(text: str) -> bool:
    return len(text) >= _DAY_LENGTH and text[4] == text[7] == "-" and text[:4].isdigit()


def _fits(text: str, date_format: str) -> bool:
    try:
        datetime.strptime(text, date_format)
    except ValueError:
        return False
    return True
