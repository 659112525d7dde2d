"""Any frame in: pandas, polars and Arrow behind one Narwhals face, and single columns as clean Arrow."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, raise_problems

Frame = nw.DataFrame[Any]


def open_frame(table: Any) -> Frame:
    """Return a Narwhals frame over an eager pandas, polars or Arrow frame with usable column names."""
    _check_names(table)
    try:
        return nw.from_native(table, eager_only=True)
    except TypeError:
        raise InputError(
            f"A table of type {type(table).__name__} cannot be read; "
            "give a pandas, polars or Arrow frame, or the path of a file."
        ) from None


def _check_names(table: Any) -> None:
    """Refuse duplicate and empty column names before any library trips over them."""
    names = list(getattr(table, "column_names", getattr(table, "columns", ())))
    problems = [
        f"Column '{name}' occurs {count} times; rename all but one."
        for name, count in Counter(names).items()
        if count > 1
    ]
    if any(not isinstance(name, str) or not name.strip() for name in names):
        problems.append("A column has no name or a name that is not text; name every column.")
    raise_problems(problems)


def arrow_column(frame: Frame, name: str) -> pa.ChunkedArray:
    """One column as Arrow in one of a few types: text, boolean, integer, float, decimal, date, timestamp."""
    try:
        array = pa.chunked_array([frame.get_column(name).to_arrow()])
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, ValueError):
        raise InputError(
            f"Column '{name}' mixes values of different types; convert it to numbers, dates or text."
        ) from None
    kind = array.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or pa.types.is_string_view(kind) or pa.types.is_null(kind):
        kind = pa.large_string()
    elif pa.types.is_date64(kind):
        kind = pa.date32()
    elif pa.types.is_float16(kind) or pa.types.is_float32(kind):
        kind = pa.float64()
    elif pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_time(kind):
        raise InputError(
            f"Column '{name}' holds {kind}, which cannot be generalized; convert it to numbers, dates or text."
        )
    array = array.cast(kind)
    if pa.types.is_floating(kind) and not pc.all(pc.is_finite(array), min_count=0).as_py():
        bad = pc.sum(pc.invert(pc.is_finite(array))).as_py()
        raise InputError(
            f"Column '{name}' holds NaN or infinite numbers in {bad} record(s); make them missing or drop them."
        )
    return array
