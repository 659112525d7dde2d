"""A billion records as counts: how many of them every combination of values would have, without any record drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.tables import Table
from shoal.encoding.encode import Table as Encoded
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame

COLUMNS = ("age", "sex", "race", "marital-status", "education", "workclass", "occupation")
ANEW = 0.1  # the chance that a cell is drawn anew from its column


def draw_counts(source: Table, records: int, seed: int = 1) -> Encoded:
    """Draw the counts of so many records, each like one of the source, one cell in ten drawn anew from its column.

    The chance of a combination follows from the source: a cell that is drawn anew spreads its value over the column.
    So all chances together are an array with an axis for each column, and each axis is spread in turn.
    """
    small = encode(open_frame(source.data.select(COLUMNS)), {n: source.models[n] for n in COLUMNS})
    sizes = tuple(column.form.size for column in small.columns)
    chances = np.bincount(
        np.ravel_multi_index(tuple(small.codes.T), sizes), minlength=np.prod(sizes)
    )
    chances = chances.reshape(sizes) / small.records
    for axis, codes in enumerate(small.codes.T):
        own = np.bincount(codes, minlength=sizes[axis]) / small.records
        whole = chances.sum(axis=axis, keepdims=True)
        shape = [-1 if other == axis else 1 for other in range(len(sizes))]
        chances = (1 - ANEW) * chances + ANEW * whole * own.reshape(shape)
    drawn = np.random.default_rng(seed).multinomial(records, chances.reshape(-1) / chances.sum())
    found = np.flatnonzero(drawn)
    codes = np.column_stack(np.unravel_index(found, sizes)).astype(np.int32)
    counts = drawn[found].astype(np.int64)
    columns = tuple(
        replace(column, counts=np.bincount(codes[:, j], counts, sizes[j]))
        for j, column in enumerate(small.columns)
    )
    return Encoded(columns, codes, {}, counts)
