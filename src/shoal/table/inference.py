"""What texts mean: whether all of them are whole numbers, decimals, truth values or dates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.table.source import Input

Texts = TypeVar("Texts", pa.Array, pa.ChunkedArray)

# Sixteen digits before the point are what float64 can keep. An exponent needs its sign, as every
# writer of floats gives it: 1E50 is a diagnosis (ICD-11), not a number.
_DECIMAL = r"^-?((0|[1-9][0-9]{0,15})(\.[0-9]+)?|\.[0-9]+)([eE][+-][0-9]+)?$"
_INTEGER = r"^(0|-?[1-9][0-9]{0,18})$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}"
_YEAR_ZERO = r"^0000"  # neither Python nor pandas knows it
_BOOLEANS = (["true", "false"], ["True", "False"], ["TRUE", "FALSE"])
_TIME_DIRECTIVES = ("%H", "%I", "%M", "%S", "%f", "%p", "%X", "%c", "%z", "%Z")


def infer(values: Texts, input: Input) -> Texts:
    """Give texts the type that fits every one of them, or return them as they are.

    Different texts may become one value: 250.1 and 250.10 are the same number. Leading zeros (02139)
    and numbers beyond 64 bits stay text, as do columns of nulls only.

    Parameters
    ----------
    values
        Texts; nulls fit every type. The distinct values of a column are enough.
    input
        Says the decimal sign, and the date format, which comes before any other reading; of one column, see
        `Input.of_column`.

    Examples
    --------
    >>> infer(pa.array(["2,5", "10,0"]), Input(decimal=",")).to_pylist()
    [2.5, 10.0]
    >>> infer(pa.array(["31.12.1999"]), Input(date_format="%d.%m.%Y")).type
    DataType(date32[day])
    """
    if values.null_count == len(values):
        return values
    if isinstance(input.date_format, str):
        dates = _formatted_dates(values, input.date_format)
        if dates is not None:
            return dates
    for typed in (_integers(values), _decimals(values, input.decimal), _booleans(values)):
        if typed is not None:
            return typed
    return _iso_dates(values)


def has_time(date_format: str) -> bool:
    """Whether a date format says the time of day as well."""
    directives = date_format.replace("%%", "")
    return any(directive in directives for directive in _TIME_DIRECTIVES)


def _formatted_dates(values: Texts, date_format: str) -> Texts | None:
    try:
        moments = [
            None if text is None else datetime.strptime(text, date_format)
            for text in values.to_pylist()
        ]
    except ValueError:  # one text that does not fit
        return None
    if not has_time(date_format):
        return _like(values, [moment and moment.date() for moment in moments], pa.date32())
    zones = {moment.tzinfo is not None for moment in moments if moment is not None}
    if zones == {True}:
        instants = [moment and moment.astimezone(UTC) for moment in moments]
        return _like(values, instants, pa.timestamp("us", "UTC"))
    return _like(values, moments, pa.timestamp("us"))


def _integers(values: Texts) -> Texts | None:
    """Whole numbers without leading zeros: 02139 is a zip code."""
    return _cast(values, pa.int64()) if _all_match(values, _INTEGER) else None


def _decimals(values: Texts, sign: str) -> Texts | None:
    if sign != ".":
        if pc.any(pc.match_substring(values, ".")).as_py():
            return None
        values = pc.replace_substring(values, sign, ".")
    typed = _cast(values, pa.float64()) if _all_match(values, _DECIMAL) else None
    return typed if typed is not None and pc.all(pc.is_finite(typed)).as_py() else None


def _booleans(values: Texts) -> Texts | None:
    for style in _BOOLEANS:
        if pc.all(pc.is_in(values.drop_null(), pa.array(style, values.type))).as_py():
            return _cast(values, pa.bool_())
    return None


def _iso_dates(values: Texts) -> Texts:
    """ISO dates, or ISO datetimes, all with a zone or all without one; those with a zone become UTC."""
    if pc.any(pc.match_substring_regex(values, _YEAR_ZERO)).as_py():
        return values
    if _all_match(values, _DATE):
        candidates = [pa.date32()]
    elif _all_match(values, _TIMESTAMP):
        candidates = [pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("us", "ns")]
    else:
        return values
    typed = (_cast(values, type_) for type_ in candidates)
    return next((dates for dates in typed if dates is not None), values)


def _all_match(values: Texts, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _cast(values: Texts, type_: pa.DataType) -> Texts | None:
    try:
        return values.cast(type_)
    except pa.ArrowInvalid:
        return None


def _like(values: Texts, found: Sequence[object], type_: pa.DataType) -> Texts:
    array = pa.array(found, type_)
    return pa.chunked_array([array]) if isinstance(values, pa.ChunkedArray) else array
