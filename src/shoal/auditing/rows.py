"""Numbers for what records read: equal numbers mean that they read the same."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.auditing.examination import Places

MOST_NUMBERS = 2**62


def numbered(column: pa.ChunkedArray | pa.Array) -> tuple[Places, int]:
    """Number what records read in a column, a missing value included; also return how many numbers there are."""
    encoded = pc.dictionary_encode(column, null_encoding="encode")
    chunks = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    indices = [np.asarray(chunk.indices) for chunk in chunks]  # all share one dictionary
    place = np.concatenate([np.zeros(0, np.int32), *indices]).astype(np.int64)
    return place, int(place.max(initial=0)) + 1


def combined(columns: Iterable[tuple[Places, int]], records: int) -> tuple[Places, int]:
    """Number what records read in several columns together; also return how many numbers there are."""
    number, size = np.zeros(records, dtype=np.int64), 1
    for place, values in columns:
        if size > MOST_NUMBERS // values:  # number combinations anew, so that no product overflows
            number, size = numbered(pa.array(number))
        number, size = number * values + place, size * values
    return numbered(pa.array(number))
