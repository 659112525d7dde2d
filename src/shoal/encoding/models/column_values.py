"""The distinct values of a column and how often each occurs, from whatever holds a column."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.encoding.models.base import labels_of
from shoal.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

_MIXED = "The values mix types, or are no numbers, dates or texts; give those of one column."


@dataclass(frozen=True)
class Counted:
    """The distinct values of a column in ascending order, as they are and as text, and the records that have each."""

    values: pa.Array
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    missing: int  # records without a value

    @property
    def records(self) -> int:
        """Records with a value."""
        return sum(self.counts)


def counted(values: Any, missing: Collection[str] = ()) -> Counted:
    """Count the values of a list, or of a pandas, polars or Arrow column; `missing` are texts that stand for none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, Counted):
        return values
    array = arrow_of(values)
    try:
        found = array.value_counts()
        distinct, counts = found.field("values"), found.field("counts").to_pylist()
        order = pc.array_sort_indices(distinct).to_pylist()
    except (pa.ArrowException, TypeError, ValueError):
        order = None  # raise outside of this block: the library's error may show a cell
    if order is None:
        raise InputError(_MIXED)
    labels = labels_of(distinct.drop_null())
    known = iter(labels)
    texts = [None if is_null else next(known) for is_null in distinct.is_null().to_pylist()]
    kept = [i for i in order if texts[i] is not None and texts[i] not in missing]
    return Counted(
        values=distinct.take(pa.array(kept, pa.int64())),
        labels=tuple(str(texts[i]) for i in kept),
        counts=tuple(counts[i] for i in kept),
        missing=len(array) - sum(counts[i] for i in kept),
    )


def arrow_of(values: Any) -> pa.Array:
    """The values of a column as one Arrow array, categories as what they stand for."""
    import pyarrow as pa

    array = _arrow(values)
    if array is None:
        raise InputError(_MIXED)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    return array


def own_order(values: Any) -> tuple[str, ...] | None:
    """The order of the categories of a column that has one itself, used or not, as text; else None."""
    import pyarrow as pa

    if isinstance(values, list | tuple):
        return None
    if (order := enum_order(values)) is not None:
        return order
    array = _arrow(values)
    if array is None or not (pa.types.is_dictionary(array.type) and array.type.ordered):
        return None
    return labels_of(array.dictionary.drop_null())


def enum_order(column: Any) -> tuple[str, ...] | None:
    """The categories of an Enum of polars, else None; the Arrow that polars 1.0 makes of it does not tell its order."""
    import narwhals as nw

    series = nw.from_native(column, series_only=True, pass_through=True)
    if not (isinstance(series, nw.Series) and series.implementation.is_polars()):
        return None
    return tuple(series.dtype.categories) if isinstance(series.dtype, nw.Enum) else None


def _arrow(values: Any) -> pa.Array | None:
    """The values as Arrow holds them, None where it cannot."""
    import pyarrow as pa

    if isinstance(values, str | bytes | dict):
        raise InputError("Give the values of a column, as a list or a column of a table.")
    try:
        if hasattr(values, "to_arrow"):  # polars and Narwhals
            values = values.to_arrow()
        if isinstance(values, pa.ChunkedArray):
            values = values.unify_dictionaries().combine_chunks()
        if isinstance(values, pa.Array):
            return values
        is_column = hasattr(values, "__array__") or hasattr(values, "__arrow_array__")
        return pa.array(values if is_column else list(values), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
