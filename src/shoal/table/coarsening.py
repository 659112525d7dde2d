"""Unprotected columns made coarser, alike in all records, before anything else sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import narwhals as nw
import pyarrow as pa

from shoal.errors import InputError, raise_problems
from shoal.generalization import Calendar, Interval, Model
from shoal.generalization.forms import Records
from shoal.table.encode import encode_column
from shoal.table.frames import Frame
from shoal.table.source import Input, Source


def coarsened(source: Source, models: Mapping[str, Model], reading: Input) -> Source:
    """The same table with what the models make of single values in place of their columns.

    Missing values stay missing. A column that is not in the table is somebody else's problem.

    Raises
    ------
    InputError
        With every problem found: columns that hold no numbers or dates, values outside their hierarchy, …
    """
    frame, problems = source.data, list[str]()
    found: dict[str, pa.Array] = {}
    for name in (name for name in models if name in frame.columns):
        try:
            found[name] = coarse_texts(frame, name, models[name], reading, source.is_text)
        except InputError as error:
            problems.extend(error.problems)
    raise_problems(problems)
    return replace(source, data=_with_columns(frame, found)) if found else source


def coarse_texts(
    frame: Frame,
    name: str,
    model: Model,
    reading: Input,
    is_text: bool,
    counts: Records | None = None,
) -> pa.Array:
    """How a model writes the single values of a column, as it does in a quasi-identifier of equal records."""
    column, codes = encode_column(frame, name, model, reading, is_text, True, counts)
    texts = pa.array(column.form.text(column.form.alone), pa.large_string())
    return texts.take(pa.array(codes))


def coarse_input(reading: Input, models: Mapping[str, Model]) -> Input:
    """How to read a table that is coarsened already: what its columns held before no longer counts."""
    types = {n: kind for n, kind in reading.types.items() if n not in models or kind == "text"}
    return replace(reading, types=types)


def range_columns(models: Mapping[str, Model]) -> list[str]:
    """The columns whose texts are ranges once they are coarsened, which have an order."""
    return [name for name, model in models.items() if isinstance(model, Interval | Calendar)]


def _with_columns(frame: Frame, columns: Mapping[str, pa.Array]) -> Frame:
    """A frame of the same kind with other columns in place of some of its own."""
    native = frame.to_native()
    if isinstance(native, pa.Table):
        for name, column in columns.items():
            native = native.set_column(native.column_names.index(name), name, column)
        return nw.from_native(native, eager_only=True)
    texts = nw.from_arrow(pa.table(dict(columns)), backend=frame.implementation)
    others = frame.drop(list(columns))
    if not others.columns:
        return texts.select(frame.columns)
    others = nw.maybe_reset_index(others)
    return nw.concat([others, texts], how="horizontal").select(frame.columns)
