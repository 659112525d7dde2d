"""A column as it was found: distinct values, the place of each record's, and numbers or dates in place of texts.

This is the one place that decides what texts mean, for frames in memory, files, databases and engines alike: texts
that are all numbers or all dates are read as such, so that a table is treated in the same way wherever it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import LONGEST, InputError
from shoal.generalization.forms import Ints, Records
from shoal.generalization.models import is_ordered, labels_of
from shoal.table.date_formats import found_dates
from shoal.table.frames import Frame, arrow_column
from shoal.table.inference import infer
from shoal.table.source import Input


@dataclass(frozen=True)
class Found:
    """A column as it was found: its distinct values in ascending order, and each record's place, −1 for null."""

    values: pa.Array
    labels: tuple[str, ...]
    place: Ints
    typed: pa.Array | None = None  # the values as numbers or dates, where texts can be read so
    # Of the values and perhaps more, where the column has an order of its own.
    order: tuple[str, ...] | None = None
    date_format: str | None = None  # of texts that are dates, where it was found and not said

    @property
    def has_null(self) -> bool:
        return bool((self.place < 0).any())

    def in_order(self) -> Found:
        """The column with numbers or dates in place of texts; texts of one number become one."""
        assert self.typed is not None
        distinct = pc.unique(self.typed)
        values = distinct.take(pc.array_sort_indices(distinct))
        rank = np.asarray(pc.index_in(self.typed, value_set=values), dtype=np.int32)
        labels = labels_of(values)
        if len(values) == len(self.values):  # every number is written in one way, which is kept
            labels = tuple(np.array(self.labels, dtype=object)[np.argsort(rank)])
        place = np.append(rank, np.int32(-1))[self.place]
        return Found(values, labels, place, date_format=self.date_format)

    def as_text(self) -> Found:
        """The column with texts in place of numbers or dates."""
        values, place = _numbered(pa.chunked_array([pa.array(self.labels, pa.large_string())]))
        return Found(values, labels_of(values), np.append(place, np.int32(-1))[self.place])


def find_column(
    frame: Frame,
    name: str,
    reading: Input,
    counts: Records | None = None,
    finds_formats: bool = False,
) -> Found:
    """A column as it was found, or as it is said to be; `finds_formats` looks for dates that are not ISO dates.

    Raises
    ------
    InputError
        Where a column does not hold what it is said to, or its dates can be read in several ways.
    """
    found = _as_found(arrow_column(frame, name, counts), reading.of_column(name))
    if reading.is_text(name):
        return found.as_text()
    wanted = reading.types.get(name)
    if finds_formats and wanted != "number" and found.typed is None:
        found = _with_dates(name, found)
    if wanted is None or not len(found.values):
        return found
    kind = (found.values if found.typed is None else found.typed).type
    is_date = pa.types.is_temporal(kind)
    if is_ordered(kind) and is_date == (wanted == "date"):
        return found
    how = ", say how dates are written (date_format, --date-format)" if wanted == "date" else ""
    raise InputError(
        f"Column '{name[:LONGEST]}' is said to hold {wanted}s, but not all of its values are; name the texts that "
        f"stand for missing values (missing, --missing){how}, or leave its type out (types, --type)."
    )


def _with_dates(name: str, found: Found) -> Found:
    """The column with dates in place of texts, where these are dates in one of the usual forms."""
    if not len(found.values) or not pa.types.is_large_string(found.values.type):
        return found
    dates = found_dates(name, found.values)
    return found if dates is None else replace(found, date_format=dates[0], typed=dates[1])


def _as_found(array: pa.ChunkedArray, reading: Input) -> Found:
    values, place = _numbered(array)
    labels = labels_of(values)
    if reading.missing:
        known = np.array([label not in reading.missing for label in labels], dtype=np.bool_)
        rank = np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)
        place = np.append(rank, np.int32(-1))[place]
        values = values.filter(pa.array(known))
        labels = tuple(label for label, stays in zip(labels, known, strict=True) if stays)
    typed = None
    if len(values) and pa.types.is_large_string(values.type):
        read = infer(values, reading)
        typed = read if is_ordered(read.type) else None
    elif len(values) and pa.types.is_integer(values.type) and reading.date_format is not None:
        read = infer(pa.array(labels, pa.large_string()), reading)  # 20241231 may be a date
        typed = read if pa.types.is_temporal(read.type) else None
    return Found(values, labels, place, typed)


def _numbered(array: pa.ChunkedArray) -> tuple[pa.Array, Ints]:
    """Distinct values in ascending order and each record's place among them, −1 for null."""
    chunks = pc.dictionary_encode(array).chunks
    if not chunks:
        return pa.array([], type=array.type), np.zeros(0, dtype=np.int32)
    known = chunks[-1].dictionary  # all chunks share one
    order = pc.array_sort_indices(known)
    rank = np.full(len(known) + 1, -1, dtype=np.int32)
    rank[np.asarray(order)] = np.arange(len(known))
    indices = [np.asarray(pc.fill_null(chunk.indices, -1)) for chunk in chunks]
    return known.take(order), rank[np.concatenate(indices)]
