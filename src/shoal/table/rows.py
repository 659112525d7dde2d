"""Rows of small numbers: which of them are equal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.generalization.forms import Ints, Records

MOST_NUMBERS = 2**62


class Distinct(NamedTuple):
    """Distinct rows in lexicographic order."""

    first: Records  # where each is found first
    place: Ints  # of every row among them
    counts: Records  # how often each is found


def row_numbers(rows: npt.NDArray[np.integer[Any]]) -> Records:
    """A number for each row of numbers from 0 on; equal rows have the same, and the order of rows is kept."""
    numbers, size = np.zeros(rows.shape[0], dtype=np.int64), 1
    for column in rows.T:
        width = int(column.max(initial=0)) + 1
        if size > MOST_NUMBERS // width:  # number them anew, so that no product overflows
            numbers = np.unique(numbers, return_inverse=True)[1]
            size = int(numbers.max(initial=0)) + 1
        numbers, size = numbers * width + column, size * width
    return numbers


def distinct_rows(rows: npt.NDArray[np.integer[Any]]) -> Distinct:
    """Find the distinct rows of numbers from 0 on."""
    numbers = row_numbers(rows)
    _, first, place, counts = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True
    )
    return Distinct(first, place.astype(np.int32), counts)
