"""Columns that are released unchanged, made anew: nothing of records that are not in the release travels along.

Frames remember more than their records: categories and dictionaries that no record uses any more, an index,
names and notes of the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.table.frames import Frame
from shoal.table.plain import NUMBER_MARK, is_number, plain_column


def rebuilt(frame: Frame, order: npt.NDArray[np.int64]) -> Frame:
    """The records of a frame in another order, with their values and nothing else."""
    taken = nw.maybe_reset_index(frame[order.tolist()])
    native = taken.to_native()
    implementation = taken.implementation
    if implementation.is_pandas():
        native = _pandas(native)
    elif implementation.is_polars():
        native = _polars(native)
    elif implementation.is_pyarrow():
        native = _arrow(native)
    return nw.from_native(native, eager_only=True)


def marked(frame: Frame, original: Frame, columns: Sequence[str]) -> Frame:
    """Mark the columns of an Arrow table that are texts of numbers, as its original does; files need it."""
    table, known = frame.to_native(), original.to_native()
    if not isinstance(table, pa.Table) or not isinstance(known, pa.Table):
        return frame
    for name in columns:
        if is_number(known.schema.field(name)):
            place = table.column_names.index(name)
            field = table.schema.field(name).with_metadata(NUMBER_MARK)
            table = table.set_column(place, field, table[name])
    return nw.from_native(table, eager_only=True)


def _pandas(data: Any) -> Any:
    import pandas as pd

    fresh = {}
    for name in data.columns:
        column = data[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.remove_unused_categories()
            if not column.cat.ordered:  # the order may be that in which values first came
                used = column.cat.categories
                column = column.cat.set_categories(used[np.argsort(used.astype(str))])
        elif isinstance(column.dtype, pd.ArrowDtype):
            array = plain_column(pa.chunked_array([pa.array(column)]))
            column = pd.Series(pd.arrays.ArrowExtensionArray(array), name=name)
        fresh[name] = column
    return pd.DataFrame(fresh)


def _polars(data: Any) -> Any:
    import polars as pl

    fresh = []
    for column in data.get_columns():
        kind = column.dtype
        if isinstance(kind, pl.Enum):
            used = set(column.drop_nulls().unique().cast(pl.String))
            kind = pl.Enum([value for value in kind.categories if value in used])
            fresh.append(column.cast(pl.String).cast(kind))
        elif isinstance(kind, pl.Categorical):
            fresh.append(column.cast(pl.String).cast(pl.Categorical))
        else:
            plain = _plain_polars(kind)
            fresh.append(column if plain == kind else column.cast(plain))
    return pl.DataFrame(fresh)


def _plain_polars(kind: Any) -> Any:
    """A polars type with text in place of categories inside of it."""
    import polars as pl

    if isinstance(kind, pl.Categorical | pl.Enum):
        return pl.String()
    if isinstance(kind, pl.List):
        return pl.List(_plain_polars(kind.inner))
    if isinstance(kind, pl.Array):
        return pl.Array(_plain_polars(kind.inner), kind.shape)
    if isinstance(kind, pl.Struct):
        return pl.Struct([pl.Field(f.name, _plain_polars(f.dtype)) for f in kind.fields])
    return kind


def _arrow(data: pa.Table) -> pa.Table:
    columns = {}
    for name, column in zip(data.column_names, data.columns, strict=True):
        fresh = plain_column(column)
        if pa.types.is_dictionary(column.type):
            fresh = fresh.combine_chunks().dictionary_encode()
        columns[name] = fresh
    return pa.table(columns)
