"""Several records per person: what identifiers that repeat say about the persons in each group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.auditing.verdict import Persons
from shoal.generalization.forms import Ints
from shoal.table.frames import Frame, arrow_values
from shoal.table.plain import plain_column

MOST_RECORDS = 50  # of a person, on average


def count_persons(
    frame: Frame, groups: Ints, identifiers: Sequence[str], k: int
) -> tuple[Persons, ...]:
    """Find identifiers that repeat and have fewer than k values in some group.

    `groups` has the group of each record of the frame.

    A record without a value counts as a person of its own. A column with few values, each in very many
    records, does not tell persons apart.
    """
    found = []
    for name in identifiers:
        values = arrow_values(frame, name)
        try:
            encoded = plain_column(values).combine_chunks().dictionary_encode()
        except pa.ArrowNotImplementedError:
            texts = [None if value is None else repr(value) for value in values.to_pylist()]
            encoded = pa.array(texts, type=pa.string()).dictionary_encode()
        codes = np.asarray(encoded.indices.cast(pa.int64()).fill_null(-1)).copy()
        unknown = np.flatnonzero(codes < 0)
        codes[unknown] = len(encoded.dictionary) + np.arange(unknown.size)
        persons = int(codes.max()) + 1
        if not codes.size / MOST_RECORDS <= persons < codes.size:
            continue
        pairs = np.unique(groups.astype(np.int64) * persons + codes)
        smallest = int(np.bincount(pairs // persons).min())
        if smallest < k:
            found.append(Persons(name, len(np.unique(codes)), smallest))
    return tuple(found)
