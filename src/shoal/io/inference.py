"""The type of a text column: the first of a few that fits every value, else text."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

# Sixteen digits before the point are what float64 can keep. An exponent needs its sign, as every
# writer of floats gives it: 1E50 is a diagnosis (ICD-11), not a number.
_DECIMAL = r"^-?((0|[1-9][0-9]{0,15})(\.[0-9]+)?|\.[0-9]+)([eE][+-][0-9]+)?$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}"
_BOOLEANS = (["true", "false"], ["True", "False"], ["TRUE", "FALSE"])


def infer(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a text column the type that fits every value: integer, decimal, boolean or date."""
    if column.null_count == len(column):
        return column
    for as_type in (_integers, _decimals, _booleans):
        typed = as_type(column)
        if typed is not None:
            return typed
    return infer_dates(column)


def infer_dates(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a text column of ISO dates or datetimes their type; datetimes with a zone become UTC."""
    if column.null_count == len(column):
        return column
    if _all_match(column, _DATE):
        candidates = [pa.date32()]
    elif _all_match(column, _TIMESTAMP):
        candidates = [pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("us", "ns")]
    else:
        return column
    typed = (_cast(column, type_) for type_ in candidates)
    return next((dates for dates in typed if dates is not None), column)


def _integers(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Whole numbers, if they read the same when written again: 02139 is a zip code."""
    typed = _cast(column, pa.int64())
    return typed if typed is not None and typed.cast(pa.string()).equals(column) else None


def _decimals(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    typed = _cast(column, pa.float64()) if _all_match(column, _DECIMAL) else None
    return typed if typed is not None and pc.all(pc.is_finite(typed)).as_py() else None


def _booleans(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    for style in _BOOLEANS:
        if pc.all(pc.is_in(column.drop_null(), pa.array(style))).as_py():
            return _cast(column, pa.bool_())
    return None


def _all_match(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern)).as_py())


def _cast(column: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return column.cast(type_)
    except pa.ArrowInvalid:
        return None
