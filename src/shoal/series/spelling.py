"""One spelling for each sensitive value, in all releases of a series.

Texts that differ only in spaces, case or Unicode form are one value, but whoever always writes "Flu" where others
write "flu" could be followed from release to release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.generalization.forms import Ints
from shoal.table.folding import value_key
from shoal.table.frames import Frame, arrow_column

Key = str | None  # of a value: its folded text, None for a missing one


def spellings_of(
    frame: Frame, name: str, keys: Sequence[Key], codes: Ints, known: Mapping[str, str]
) -> dict[str, str]:
    """The spelling of every value of a text column: the known one, or the most frequent of a new value.

    `frame` has the released records only, so that no spelling tells of somebody who is left out; `codes` are the
    places of their values in `keys`. A column of numbers or dates has no spellings.
    """
    column = arrow_column(frame, name)
    if not pa.types.is_large_string(column.type):
        return {}
    texts: dict[str, Counter[str]] = {}
    for text, code in zip(column.to_pylist(), codes.tolist(), strict=True):
        key = keys[code]
        if key is not None and key not in known:
            texts.setdefault(key, Counter())[" ".join(text.split())] += 1
    found = dict(known)
    for key, own in texts.items():
        fitting = sorted(text for text in own if value_key(text) == key)
        found[key] = max(fitting, key=own.__getitem__, default=key)
    return found


def respelled(
    frame: Frame, name: str, keys: Sequence[Key], codes: Ints, spellings: Mapping[str, str]
) -> Frame:
    """The frame with one spelling of each value in a sensitive column, and null for every missing one."""
    column, dtype = arrow_column(frame, name), frame.get_column(name).dtype
    if pa.types.is_floating(column.type):
        return frame.with_columns((nw.col(name) + 0.0).cast(dtype))  # -0.0 is 0.0
    if not pa.types.is_large_string(column.type):
        # Objects may be written in several ways, like Decimal("1.0") and Decimal("1.00").
        return _with_column(frame, name, column.combine_chunks()) if dtype == nw.Object else frame
    by_code = pa.array([key and spellings.get(key) for key in keys], type=pa.large_string())
    texts = by_code.take(pa.array(codes.astype(np.int64)))
    is_same = column.combine_chunks().equals(texts)
    if is_same and not (texts.null_count and frame.implementation.is_pandas()):  # None or NaN
        return frame
    return _with_column(frame, name, texts)


def _with_column(frame: Frame, name: str, array: pa.Array) -> Frame:
    """The frame with another content of a column, of the same type where that is text or categories."""
    native = frame.to_native()
    if isinstance(native, pa.Table):
        place = native.column_names.index(name)
        field = native.schema.field(place)
        fresh = array.dictionary_encode() if pa.types.is_dictionary(field.type) else array
        native = native.set_column(place, field.with_type(fresh.type), fresh)
        return nw.from_native(native, eager_only=True)
    column = nw.from_arrow(pa.table({name: array}), backend=frame.implementation).get_column(name)
    if frame.get_column(name).dtype == nw.Categorical:
        column = column.cast(nw.Categorical)
    return frame.with_columns(column)
