"""The type of a text column: one from which every value is written again as it was, else text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.table.source import Input

Values = TypeVar("Values", pa.Array, pa.ChunkedArray)

_FIRST_DAY = -719_162  # 0001-01-01 in days since 1970; Python knows no day before
_UNITS = {19: "s", 23: "ms", 26: "us", 29: "ns"}  # by the length of a written timestamp
_DAY_LENGTH = 10


def typed_without_loss(column: pa.ChunkedArray, input: Input | None = None) -> pa.ChunkedArray:
    """Give a text column a type if the CSV writer then writes the same texts, else return it.

    So 34 becomes a number, while 250.10, 02139 and 2024-01-01T10:00+01:00 stay text. What is written
    with a decimal comma or in a date format of its own stays text, too. `input` is that of one column.

    Examples
    --------
    >>> typed_without_loss(pa.chunked_array([["1", "2.5"]])).type
    DataType(double)
    >>> typed_without_loss(pa.chunked_array([["1", "2.50"]])).type
    DataType(string)
    """
    input = input or Input()
    date_format = input.date_format if isinstance(input.date_format, str) else None
    first = _first_text(column)
    if first is None or (date_format and _fits(first, date_format)):
        return column
    if date_format is None and _starts_like_a_date(first):
        return dates_without_loss(column)
    types = [pa.int64(), pa.float64()] if input.decimal == "." else [pa.int64()]
    return next(_lossless(column, [*types, pa.bool_()], as_text), column)


def numbers_without_loss(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a column of number tokens the type of a number if the same tokens are written again."""
    return next(_lossless(column, [pa.int64(), pa.float64()], as_text), column)


def dates_without_loss(column: pa.ChunkedArray, separator: str = " ") -> pa.ChunkedArray:
    """Give ISO dates, or ISO datetimes with this separator, their type if nothing is lost."""
    first = _first_text(column) or ""
    if not _starts_like_a_date(first):
        return column
    if len(first) == _DAY_LENGTH:
        return next(_lossless(column, [pa.date32()], as_text), column)
    types = [pa.timestamp(_UNITS[len(first)])] if len(first) in _UNITS else []
    return next(_lossless(column, types, lambda typed: as_text(typed, separator)), column)


def as_text(column: Values, separator: str = " ") -> Values:
    """Values as CSV and JSON lines write them: plain numbers, true and false, ISO dates and times."""
    text = column.cast(pa.string())
    is_moment = pa.types.is_timestamp(column.type)
    return pc.replace_substring(text, " ", separator) if is_moment and separator != " " else text


def _lossless(
    column: pa.ChunkedArray,
    types: list[pa.DataType],
    written: Callable[[pa.ChunkedArray], pa.ChunkedArray],
) -> Iterator[pa.ChunkedArray]:
    """The column in each of these types that loses nothing, in order."""
    for type_ in types:
        try:
            typed = column.cast(type_)
        except pa.ArrowInvalid:
            continue
        if _is_usual(typed) and written(typed).equals(column):
            yield typed


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
