"""Closures as texts, bounds or single numbers in a frame of the user's kind, and a given release back as closures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.closed import Closed
from shoal.encoding.encode import Column, Table, column_problems, distinct_rows
from shoal.encoding.forms import Ints, RangeForm
from shoal.encoding.forms.base import SIGNS
from shoal.encoding.frames import NUMBER_MARK, Frame, arrow_column, is_number_text, plain_column
from shoal.encoding.models import Interval, Model, Order
from shoal.encoding.models.base import labels_of
from shoal.encoding.released_texts import has_middle, has_numbers, middles, rounded_means
from shoal.errors import InputError, added_to, counted, raise_problems


def reordered_frame(frame: Frame, order: npt.NDArray[np.int64]) -> Frame:
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
        if is_number_text(known.schema.field(name)):
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
            if not column.cat.ordered:  # the order may be that in which values first occurred
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
    """A polars type with text instead of categories inside it."""
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


Style = Literal["text", "bounds", "midpoint", "mean"]
STYLES = get_args(Style)
SINGLE = ("midpoint", "mean")  # styles that cannot be read back: a number is no range


def bound_names(name: str) -> tuple[str, str]:
    """The two columns that hold an interval's bounds."""
    return f"{name}_min", f"{name}_max"


def render(
    frame: Frame,
    closed: Closed,
    order: npt.NDArray[np.int64],
    unchanged: Sequence[str] = (),
    style: str = "text",
    pseudonyms: Mapping[str, pa.Array] | None = None,
) -> Frame:
    """Make the released frame: records in `order`, closures instead of quasi-identifiers, `unchanged` columns.

    `frame` contains the records of `closed` in its order, and so do `pseudonyms`, which replace identifiers. Columns
    are in the frame's order; all others are left out.
    """
    columns = {column.name: j for j, column in enumerate(closed.table.columns)}
    groups = pa.array(closed.groups[order])
    released = {
        name: {key: values.take(groups) for key, values in _rendered(closed, j, style).items()}
        for name, j in columns.items()
    }
    return assemble_frame(frame, released, order, unchanged, pseudonyms)


def assemble_frame(
    frame: Frame,
    generalized: Mapping[str, Mapping[str, pa.Array]],
    order: npt.NDArray[np.int64],
    unchanged: Sequence[str] = (),
    pseudonyms: Mapping[str, pa.Array] | None = None,
) -> Frame:
    """Make a frame of the user's kind: `generalized` has the columns that replace each quasi-identifier.

    Its columns are already in the released order; `frame` and `pseudonyms` are reordered here.
    """
    replaced = pseudonyms or {}
    released: dict[str, pa.Array] = {}
    names: list[str] = []
    for name in frame.columns:
        if name in generalized:
            released.update(generalized[name])
            names.extend(generalized[name])
        elif name in replaced:
            released[name] = replaced[name].take(pa.array(order))
            names.append(name)
        elif name in unchanged:
            names.append(name)
    backend = frame.implementation
    texts = native_nulls(nw.from_arrow(pa.table(released), backend=backend), released)
    kept = [name for name in names if name not in released]
    if not kept:
        return texts.select(names)
    others = reordered_frame(frame.select(kept), order)
    joined = nw.concat([others, texts], how="horizontal").select(names)
    return marked(joined, frame, kept)


def native_nulls(frame: Frame, columns: dict[str, pa.Array]) -> Frame:
    """Keep whole numbers whole if some are missing: pandas would turn them into floats."""
    if not frame.implementation.is_pandas():
        return frame
    import pandas as pd

    data = frame.to_native()
    for name, column in columns.items():
        if column.null_count and pa.types.is_integer(column.type):
            kind = "UInt64" if pa.types.is_unsigned_integer(column.type) else "Int64"
            data[name] = pd.array(column.to_pylist(), dtype=kind)
    return nw.from_native(data, eager_only=True)


def _rendered(closed: Closed, j: int, style: str) -> dict[str, pa.Array]:
    """The values that each group releases in one quasi-identifier, by released column."""
    column, closures = closed.table.columns[j], closed.of_column(j)
    if style == "mean" and has_numbers(column.form):
        codes = closed.table.codes[:, j]
        is_declared = getattr(column.model, "domain", None) is not None
        means = rounded_means(column.form, closures, codes, closed.groups, is_declared)
        return {column.name: means}
    return rendered_columns(column, closures, style)


def rendered_columns(column: Column, closures: Ints, style: str) -> dict[str, pa.Array]:
    """The texts of closures in a style that needs nothing else, by released column."""
    name, form = column.name, column.form
    is_range = isinstance(column.model, Interval | Order)
    if style == "bounds" and is_range and not isinstance(form, RangeForm):  # no value is left
        return dict.fromkeys(bound_names(name), pa.nulls(closures.shape[1], pa.string()))
    if isinstance(form, RangeForm):
        if style == "bounds":
            return dict(zip(bound_names(name), form.bounds(closures), strict=True))
        if style == "midpoint" and has_middle(form):
            return {name: middles(*form.bounds(closures))}
    return {name: pa.array(form.text(closures), type=pa.string())}


def single_problems(style: str) -> list[str]:
    """Return a sentence if a release of this style cannot be read back."""
    if style not in SINGLE:
        return []
    return [
        f"A release with render = '{style}' shows single numbers, so its ranges cannot be read back. Use the "
        "Release object in Python, or make the release with render = 'text' or 'bounds'."
    ]


def spelled_for(
    table: pa.Table,
    columns: Sequence[Column],
    encoding: str,
    coarsen: Mapping[str, Model] | None = None,
) -> pa.Table:
    """A released table whose ranges are spelled plainly if an encoding of files lacks the usual signs."""
    try:
        SIGNS.encode(encoding)
    except LookupError:  # said when the file is written
        return table
    except UnicodeError:
        spellings = {column.name: column.form.plainly for column in columns}
        spellings |= {name: model.plainly for name, model in (coarsen or {}).items()}
        for name, plainly in spellings.items():
            if name in table.column_names:
                place = table.column_names.index(name)
                texts = table[name].combine_chunks().dictionary_encode()
                plain = [plainly(text) for text in texts.dictionary.to_pylist()]
                spelled = pa.array(plain, type=texts.dictionary.type).take(texts.indices)
                table = table.set_column(place, table.schema.field(place), spelled)
    return table


def read_closed_groups(table: Table, frame: Frame) -> Closed:
    """Read a release of an encoded table, records in the same order, back to groups and closures.

    Raises `InputError` if records or columns are missing, or texts are not closures of their column.
    """
    if frame.shape[0] != table.records:
        raise InputError(
            f"The release has {counted(frame.shape[0], 'record')} but the table has {table.records:,}. Give a "
            "release of the whole table in the same order (keep_order)."
        )
    return Closed(table, *read_closures(table.columns, frame))


def read_closures(columns: Sequence[Column], frame: Frame) -> tuple[Ints, Ints]:
    """Read released quasi-identifiers, whatever the order of records, back to a group per record and closures.

    Records are in one group if their texts are equal, as in the audit: `1–2` and `*` are two groups even if both cover
    all values.

    Raises `InputError` if columns are missing or texts are not closures of their column.
    """
    problems: list[str] = []
    places, closures = [], []
    for column in columns:
        with added_to(problems):
            place, column_closures = _parsed(column, frame)
            places.append(place)
            closures.append(column_closures)
    raise_problems(problems)
    first, groups, _ = distinct_rows(np.stack(places, axis=1))
    per_group = np.concatenate([c[:, p[first]] for c, p in zip(closures, places, strict=True)])
    order = np.lexsort(per_group[::-1])  # whatever the order of records
    return np.argsort(order)[groups].astype(np.int32), np.ascontiguousarray(per_group[:, order])


def _parsed(column: Column, frame: Frame) -> tuple[Ints, Ints]:
    """A closure number per record and the closures, of one quasi-identifier of a release."""
    bounds = bound_names(column.name)
    form = column.form
    if (
        isinstance(form, RangeForm)
        and column.name not in frame.columns
        and all(name in frame.columns for name in bounds)
    ):
        (low, low_texts), (high, high_texts) = (texts_by_record(frame, name) for name in bounds)
        first, place, _ = distinct_rows(np.stack([low, high], axis=1))
        nulls = np.count_nonzero((low == len(low_texts) - 1) & (high == len(high_texts) - 1))
        known_nulls = column.counts[form.null] if form.has_null else 0
        unknown_ends = form.parse("*" if nulls > known_nulls else None)
        ends = [(low_texts[a], high_texts[b]) for a, b in zip(low[first], high[first], strict=True)]
        parsed = [unknown_ends if a is b is None else form.of_bounds(a, b) for a, b in ends]
    else:
        raise_problems(column_problems(frame.columns, [column.name]))
        place, texts = texts_by_record(frame, column.name)
        used, where = np.unique(place, return_inverse=True)
        place = where.astype(np.int32)
        parsed = [form.parse(texts[i]) for i in used]
    unknown = sum(closure is None for closure in parsed)
    if unknown:
        raise InputError(
            f"The {column.model.name} model cannot read {counted(unknown, 'released value')} of column "
            f"'{column.name}', out of {len(parsed):,}. Release it with the same model{_as_ranges(column, frame)}."
        )
    return place, np.array(parsed, dtype=np.int32).reshape(len(parsed), -1).T


def _as_ranges(column: Column, frame: Frame) -> str:
    """A further remedy for fractions instead of ranges, which cannot be read back."""
    if not has_middle(column.form) or column.name not in frame.columns:
        return ""
    is_fraction = pa.types.is_floating(arrow_column(frame, column.name).type)
    return ", as ranges and not as single numbers" if is_fraction else ""


def texts_by_record(frame: Frame, name: str) -> tuple[Ints, list[str | None]]:
    """A released column: each record's place in a list of texts, whose last is None."""
    array = arrow_column(frame, name)
    values = pc.unique(array.drop_null())
    place = pc.fill_null(pc.index_in(array, value_set=values), len(values))
    return np.asarray(place, dtype=np.int32), [*labels_of(values), None]
