"""How many records have a unique value, or a unique combination of values, in columns released without protection.

Anyone who knows these values for a person can find the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.assess import Result
from shoal.encoding.encode import distinct_rows, row_numbers
from shoal.encoding.forms import Ints, Records
from shoal.encoding.frames import Frame, arrow_values, plain_column
from shoal.errors import InputError


@dataclass(frozen=True)
class KeptColumns(Result):
    """Columns released without protection, and the number of records they identify."""

    columns: tuple[str, ...]
    alone: int  # released records with a combination of these columns that no other has


def singled_out(frame: Frame, columns: Sequence[str]) -> list[KeptColumns]:
    """Count the records that each column identifies and, if there are several, all columns together.

    Missing values are one value. Lists and other nested values are compared as text.

    Examples
    --------
    >>> import pandas as pd
    >>> from shoal.encoding.frames import open_frame
    >>> frame = open_frame(pd.DataFrame({"ward": [1, 1, 2], "bed": ["a", "b", "a"]}))
    >>> [(item.columns, item.alone) for item in singled_out(frame, ["ward", "bed"])]
    [(('ward',), 1), (('bed',), 1), (('ward', 'bed'), 3)]
    """
    if not columns or not frame.shape[0]:
        return [KeptColumns((name,), 0) for name in columns]
    codes = np.column_stack([_codes(frame, name) for name in columns])
    found = [KeptColumns((name,), _alone(codes[:, [j]])) for j, name in enumerate(columns)]
    if len(columns) > 1:
        found.append(KeptColumns(tuple(columns), _alone(codes)))
    return found


def count_identified(
    frame: Frame, columns: Sequence[str], persons: Records | None = None, groups: Ints | None = None
) -> int:
    """Count the people whose combination of these columns nobody else has.

    `persons` has the number of each record's person; without it, every record is a person. `groups` numbers the sets of
    records that agree in further columns.
    """
    if not columns or not frame.shape[0]:
        return 0
    codes = [_codes(frame, name) for name in columns]
    codes += [] if groups is None else [groups]
    if persons is None:
        return _alone(np.column_stack(codes))
    found = distinct_rows(np.column_stack(codes))
    pairs = distinct_rows(np.column_stack([found.place, persons]))
    combination, person = found.place[pairs.first], persons[pairs.first]
    alone = np.bincount(combination) == 1
    return int(np.unique(person[alone[combination]]).size)


def _codes(frame: Frame, name: str) -> npt.NDArray[np.int32]:
    """Number the values of a column; returns the number of each record's value."""
    values = values_of(frame, name)
    try:
        encoded = values.combine_chunks().dictionary_encode(null_encoding="encode")
    except (pa.ArrowException, TypeError):
        texts = pa.array([repr(value) for value in values.to_pylist()], type=pa.large_string())
        encoded = texts.dictionary_encode()
    return np.asarray(encoded.indices).astype(np.int32)


def values_of(frame: Frame, name: str) -> pa.ChunkedArray:
    """A released column as Arrow, converted to text if Arrow does not know its objects."""
    try:
        values = arrow_values(frame, name)
    except InputError:
        column: list[Any] = frame.get_column(name).to_list()
        values = pa.chunked_array([pa.array([repr(value) for value in column], pa.large_string())])
    return plain_column(values)


def _alone(codes: npt.NDArray[np.int32]) -> int:
    """Rows that occur once."""
    return int(np.count_nonzero(np.unique(row_numbers(codes), return_counts=True)[1] == 1))
