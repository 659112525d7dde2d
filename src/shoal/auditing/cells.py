"""What single columns hold, before and after, as the texts that a release writes for their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.auditing.examination import Places
from shoal.auditing.texts import written
from shoal.errors import InputError


@dataclass(frozen=True)
class Cells:
    """A column: the texts that occur in it, None for a missing value, and each record's place among them."""

    places: Places
    texts: tuple[str | None, ...]
    is_exact: bool  # whether numbers have more digits than floats keep
    is_text: bool = False  # whether the column holds texts, which may be numbers or dates
    order: tuple[str, ...] | None = None  # of the categories, where the column has one itself

    def as_texts(self) -> pa.Array:
        """The text of each record."""
        return pa.array(self.texts, type=pa.large_string()).take(pa.array(self.places))


def read_cells(frame: nw.DataFrame[Any], name: str, missing: Sequence[str] = ()) -> Cells:
    """Read a column of a frame; `missing` are texts that stand for a missing value."""
    try:
        native = frame.to_native()
        is_arrow = isinstance(native, pa.Table)  # of which Narwhals would make a copy
        column = native[name] if is_arrow else frame.get_column(name).to_arrow()
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        plain = pa.chunked_array([_decoded(chunk) for chunk in chunks]) if chunks else column
        encoded = pc.dictionary_encode(plain).combine_chunks()
        values = encoded.dictionary.to_pylist()
        order = _order(chunks)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, KeyError):
        values = None  # raise outside of this block: the library's error may show a cell
    if values is None:
        raise InputError(
            f"Column '{name}' holds values that have no text, or mixes types; "
            "convert it to numbers, dates or text."
        )
    texts = [written(value) for value in values]
    known: dict[str | None, int] = {}
    place = [
        known.setdefault(None if text in missing else text, len(known)) for text in (*texts, None)
    ]
    indices = np.asarray(pc.fill_null(encoded.indices, len(texts)))
    found = np.array(place, dtype=np.int64)[indices]
    is_text = pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type)
    return Cells(found, tuple(known), pa.types.is_decimal(plain.type), is_text, order)


def _order(chunks: Sequence[pa.Array]) -> tuple[str, ...] | None:
    """The categories of an ordered dictionary that all chunks share, as text; None where there is none."""
    if not chunks or not (pa.types.is_dictionary(chunks[0].type) and chunks[0].type.ordered):
        return None
    first = chunks[0].dictionary
    if any(not chunk.dictionary.equals(first) for chunk in chunks):
        return None
    return tuple(written(value) for value in first.drop_null().to_pylist())


def _decoded(array: pa.Array) -> pa.Array:
    """The values alone: no dictionaries, run ends or views."""
    if isinstance(array, pa.DictionaryArray):
        return _decoded(array.dictionary_decode())
    if isinstance(array, pa.RunEndEncodedArray):
        return _decoded(pc.run_end_decode(array))
    return array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array
