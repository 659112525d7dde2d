"""Frames of pandas, polars and Arrow behind one Narwhals interface, and single columns as clean Arrow."""

from __future__ import annotations

import typing
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.forms import Records
from shoal.encoding.models.base import enum_order, labels_of
from shoal.errors import InputError, counted, raise_problems

NUMBER_MARK = {b"shoal": b"number"}  # on a text field: JSON lines write it without quotes


def plain_table(table: pa.Table) -> pa.Table:
    """Keep only values: no metadata, and no dictionaries, which may list values that no record has.

    The mark of number tokens stays. Extension types become their storage types.
    """
    columns, problems = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        try:
            columns.append(plain_column(column))
        except (pa.ArrowException, TypeError, ValueError):  # a message that may show cells
            problems.append(
                f"Column '{field.name}' has type {field.type}, which no file can contain. Convert it to numbers, "
                "dates or text, or leave it out."
            )
    raise_problems(problems)
    fields = [
        pa.field(field.name, column.type, metadata=NUMBER_MARK if is_number_text(field) else None)
        for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema that `plain_table` gives a table."""
    return pa.schema([(field.name, plain_type(field.type)) for field in schema])


def is_number_text(field: pa.Field) -> bool:
    """Whether a text field holds number tokens."""
    return (field.metadata or {}).get(b"shoal") == b"number"


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values alone, at any depth."""
    t = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if t.is_dictionary(kind) or t.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if t.is_string_view(kind):
        return pa.string()
    if t.is_binary_view(kind):
        return pa.binary()
    if t.is_struct(kind):
        return pa.struct([_plain_field(field) for field in kind])
    if t.is_map(kind):
        return pa.map_(plain_type(kind.key_type), _plain_field(kind.item_field))
    if t.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if t.is_large_list(kind) or t.is_large_list_view(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if t.is_list(kind) or t.is_list_view(kind):
        return pa.list_(_plain_field(kind.value_field))
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, plain_type(field.type), field.nullable)


def plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a column, at any depth without dictionaries, run ends and views."""
    kind = plain_type(column.type)
    return pa.chunked_array([_plain_array(chunk, kind) for chunk in column.chunks], kind)


def _plain_array(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        return _plain_array(array.storage, kind)
    if pa.types.is_dictionary(array.type):
        return _plain_array(array.dictionary_decode(), kind)
    if pa.types.is_run_end_encoded(array.type):
        return _plain_array(pc.run_end_decode(array), kind)
    try:
        return array.cast(kind)
    except pa.ArrowNotImplementedError:  # run ends inside of lists
        return pa.array(array.to_pylist(), kind)


Frame = nw.DataFrame[Any]


class AnyFrame(Protocol):
    """A pandas, polars or Arrow frame, as type checkers see it: something with columns."""

    @property
    def columns(self) -> Any: ...


# The kind of frame that goes in and comes out; `Release` alone is one of any kind.
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    FrameT = TypeVar("FrameT", bound=AnyFrame, default=Any)
else:  # before Python 3.13 there are no defaults at run time
    FrameT = typing.TypeVar("FrameT")


def lazy_kind(table: Any) -> str | None:
    """The engine of a frame that is not in memory, None for anything else; no library is imported to find out."""
    kind = type(table)
    library = kind.__module__.partition(".")[0]
    if library in ("duckdb", "_duckdb") and "Relation" in kind.__name__:
        return "duckdb"
    if library == "polars" and kind.__name__ == "LazyFrame":
        return "polars"
    if kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame":
        return "spark"
    return None


def _collected(table: Any, engine: str) -> Any:
    """Bring a frame of an engine into memory."""
    try:
        if engine == "duckdb":
            return table.to_arrow_table()
        return table.collect() if engine == "polars" else table.toArrow()
    except Exception as error:
        kind = type(error).__name__  # raise outside of this block: the error may show a cell
    raise InputError(
        f"The {engine} table cannot be read into memory ({kind}). Check that its query runs to its end."
    )


def open_frame(table: Any) -> Frame:
    """Return a Narwhals frame with usable column names over a pandas, polars or Arrow frame.

    A DuckDB relation, a polars LazyFrame or a Spark DataFrame is brought into memory.
    """
    engine = lazy_kind(table)
    if engine is not None:
        table = _collected(table, engine)
    _check_names(table)
    if isinstance(table, pa.Table):
        table = _takeable(table)
    try:
        return nw.from_native(table, eager_only=True)
    except TypeError:
        raise InputError(
            f"A table of type {type(table).__name__} cannot be read. Give a pandas, polars or Arrow frame, or "
            "the path of a file."
        ) from None


def _takeable(table: pa.Table) -> pa.Table:
    """Give a table types from which Arrow can select records."""
    t = pa.types
    for place, field in enumerate(table.schema):
        kind = field.type
        if t.is_string_view(kind) or t.is_binary_view(kind) or t.is_run_end_encoded(kind):
            table = table.set_column(place, field.name, plain_column(table.column(place)))
    return table


def _check_names(table: Any) -> None:
    """Refuse duplicate and empty column names before any library fails on them."""
    is_arrow = isinstance(table, pa.Table | pa.RecordBatch)
    names = list(table.column_names if is_arrow else getattr(table, "columns", ()))
    problems = [
        f"Column '{name}' occurs {count} times. Rename all but one."
        for name, count in Counter(names).items()
        if count > 1
    ]
    if any(not isinstance(name, str) or not name.strip() for name in names):
        problems.append("A column has no name, or a name that is not text. Name every column.")
    raise_problems(problems)


def arrow_table(frame: Frame) -> pa.Table:
    """All columns as Arrow in whatever types they have."""
    native = frame.to_native()
    if isinstance(native, pa.Table):
        return native
    return pa.table({name: arrow_values(frame, name) for name in frame.columns})


def arrow_values(frame: Frame, name: str) -> pa.ChunkedArray:
    """One column as Arrow in whatever type it has."""
    native = frame.to_native()
    if isinstance(native, pa.Table):
        return native[name]
    column = frame.get_column(name)
    try:
        array = pa.chunked_array([column.to_arrow()])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        array = None  # raise outside of this block: the library's error shows a cell
    if array is None or (column.dtype == nw.Object and _mixes_dates(column, array.type)):
        raise InputError(
            f"Column '{name}' mixes types, or contains values that are not numbers, dates or text. Convert it to "
            "one of these."
        )
    return array


def arrow_column(frame: Frame, name: str, counts: Records | None = None) -> pa.ChunkedArray:
    """One column as Arrow in one of a few types: text, boolean, integer, float, decimal, date, timestamp.

    `counts` are the records of each row, if rows are not records.
    """
    array = arrow_values(frame, name)
    kind = _plain(array.type)
    if kind is None:
        raise InputError(
            f"Column '{name}' contains {_describe(array.type)}, which cannot be generalized. Convert it to "
            "numbers, dates or text."
        )
    array = _decoded(name, array, kind)
    if pa.types.is_floating(kind):
        is_bad = np.asarray(pc.fill_null(pc.invert(pc.is_finite(array)), False))
        bad = np.count_nonzero(is_bad) if counts is None else counts[is_bad].sum()
        if bad:
            raise InputError(
                f"Column '{name}' contains NaN or infinite numbers in {counted(int(bad), 'record')}. Make them "
                "missing or drop them."
            )
        array = pc.add(array, 0.0)  # -0.0 is 0.0
    return array


def category_order(frame: Frame, name: str) -> tuple[str, ...] | None:
    """The column's own order of its categories, used or not, as text; None without an order."""
    if (order := enum_order(frame.get_column(name))) is not None:
        return order
    array = arrow_values(frame, name)
    if not (pa.types.is_dictionary(array.type) and array.type.ordered and array.num_chunks):
        return None
    first, *others = (chunk.dictionary for chunk in array.chunks)
    if any(not other.equals(first) for other in others):  # the order is unknown
        return None
    kind = _plain(first.type)
    return None if kind is None else labels_of(first.cast(kind).drop_null())


def _decoded(name: str, array: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column in the type of its encoding, or a sentence about what cannot be read."""
    try:
        array = array.cast(kind)
        if pa.types.is_large_string(kind):
            array.validate(full=True)
    except (pa.ArrowException, ValueError):
        array = None
    if array is None:
        raise InputError(f"Column '{name}' contains text that is not UTF-8. Correct it.")
    if pa.types.is_temporal(kind):
        ends = pc.min_max(array)
        try:
            [end.as_py() for end in (ends["min"], ends["max"])]
        except (ValueError, OverflowError, KeyError, pa.ArrowException):
            ends = None
        if ends is None:
            raise InputError(
                f"Column '{name}' contains dates outside the years 1 to 9999, or in an unknown time zone. "
                "Correct them or convert the column to text."
            )
    return array


def _mixes_dates(column: nw.Series[Any], kind: pa.DataType) -> bool:
    """Whether a column mixes dates and timestamps: Arrow would silently cut off the hours."""
    return pa.types.is_temporal(kind) and len(set(map(type, column.drop_nulls().to_list()))) > 1


def _plain(kind: pa.DataType) -> pa.DataType | None:
    """The type in which values of an Arrow type are encoded, None if they cannot be."""
    t = pa.types
    if t.is_dictionary(kind) or t.is_run_end_encoded(kind):
        return _plain(kind.value_type)
    if t.is_null(kind) or t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
        return pa.large_string()
    if t.is_floating(kind):
        return pa.float64()
    if t.is_date(kind):
        return pa.date32()
    if t.is_boolean(kind) or t.is_integer(kind) or t.is_decimal(kind) or t.is_timestamp(kind):
        return kind
    return None


def _describe(kind: pa.DataType) -> str:
    """Describe in words what a column contains; the type itself could name cells."""
    t = pa.types
    if t.is_nested(kind):
        return "lists or structures"
    if t.is_time(kind) or t.is_duration(kind):
        return "times of day or durations"
    return "binary data or objects"
