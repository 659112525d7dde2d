"""The order in which records are released: chance that depends on what is released, not on where it came from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.generalization.forms import Ints
from shoal.table.closed import Closed
from shoal.table.frames import Frame, arrow_values

Hashes = npt.NDArray[np.uint64]


def shuffled(
    frame: Frame, closed: Closed, unchanged: Sequence[str], seed: int
) -> npt.NDArray[np.int64]:
    """Order records by a seeded hash of everything they release.

    A shuffle of the input order could be undone by anyone who knows the seed; this one says nothing about
    the input order, because only records that read the same can tie.
    """
    mixed = _mix(
        np.full(closed.table.records, seed, dtype=np.uint64) ^ closed.groups.astype(np.uint64)
    )
    for name in unchanged:
        mixed = _mix(mixed ^ _ranks(arrow_values(frame, name)).astype(np.uint64))
    return np.argsort(mixed, kind="stable")


def _ranks(array: pa.ChunkedArray) -> Ints:
    """A number per value that does not depend on the order of records; null is 0."""
    try:
        values = pc.unique(array.drop_null())
        values = values.take(pc.array_sort_indices(values))
        places = pc.index_in(array, value_set=values)
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid):
        texts = [None if v is None else repr(v) for v in array.to_pylist()]
        return _ranks(pa.chunked_array([texts], type=pa.string()))
    return np.asarray(pc.fill_null(pc.add(places, 1), 0), dtype=np.int32)


def _mix(x: Hashes) -> Hashes:
    """Scramble 64-bit numbers (the finalizer of SplitMix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
