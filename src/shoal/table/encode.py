"""A table's quasi-identifiers as integers: one code per record and column, and what each code means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, near_miss, raise_problems
from shoal.generalization import Form, Interval, Model, Suppression
from shoal.generalization.forms import Floats, Ints
from shoal.generalization.models import is_ordered
from shoal.table.frames import Frame, arrow_column
from shoal.table.rows import distinct_rows


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: its model, its form and how often each code occurs."""

    name: str
    model: Model
    form: Form
    counts: Floats


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: a code per record and the values in ascending order; null has the last code."""

    codes: Ints
    values: pa.Array
    has_null: bool

    @property
    def size(self) -> int:
        return len(self.values) + self.has_null


@dataclass(frozen=True)
class Table:
    """An encoded table: all that is known of its quasi-identifiers and sensitive columns, as integers."""

    columns: tuple[Column, ...]
    codes: Ints  # records × quasi-identifiers
    sensitive: Mapping[str, Sensitive]

    @property
    def records(self) -> int:
        return int(self.codes.shape[0])

    @cached_property
    def classes(self) -> Ints:
        """A number per record for its combination of sensitive values."""
        if not self.sensitive:
            return np.zeros(self.records, dtype=np.int32)
        rows = np.column_stack([column.codes for column in self.sensitive.values()])
        return distinct_rows(rows).place

    @cached_property
    def slots(self) -> tuple[slice, ...]:
        """The rows of closures that belong to each quasi-identifier."""
        ends = np.cumsum([0, *(column.form.slots for column in self.columns)])
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def encode(
    frame: Frame,
    quasi_identifiers: Mapping[str, Model | None] | Sequence[str],
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
) -> Table:
    """Turn a frame's quasi-identifiers and sensitive columns into codes.

    Raises
    ------
    InputError
        With every problem found: missing or empty columns, mixed types, values outside their hierarchy, …
    """
    problems = column_problems(frame.columns, [*quasi_identifiers, *sensitive, *identifiers])
    if not frame.shape[0]:
        problems.append("The table has no records; give at least one.")
    raise_problems(problems)
    columns, codes = [], np.empty((frame.shape[0], len(quasi_identifiers)), dtype=np.int32)
    for j, name in enumerate(quasi_identifiers):
        try:
            model = quasi_identifiers[name] if isinstance(quasi_identifiers, Mapping) else None
            column, codes[:, j] = _encode_column(frame, name, model)
            columns.append(column)
        except InputError as error:
            problems.extend(error.problems)
    secrets: dict[str, Sensitive] = {}
    for name in sensitive:
        try:
            secrets[name] = _encode_sensitive(arrow_column(frame, name))
        except InputError as error:
            problems.extend(error.problems)
    raise_problems(problems)
    return Table(tuple(columns), codes, secrets)


def column_problems(present: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Sentences for every wanted column that is not there."""
    return [
        f"Column '{name}' is not in the table{near_miss(name, present) or '.'} "
        f"Columns: {', '.join(present)}."
        for name in wanted
        if name not in present
    ]


def _encode_column(frame: Frame, name: str, model: Model | None) -> tuple[Column, Ints]:
    array = arrow_column(frame, name)
    if array.null_count == len(array):
        raise InputError(f"Column '{name}' is empty; leave it out of the quasi-identifiers.")
    if model is None:
        model = default_model(array.type)
    values, place = _numbered(array)
    form, code_of = model.compile(name, values, bool(array.null_count))
    lookup = np.append(code_of, form.null).astype(np.int32)  # place -1 is null
    codes = lookup[place]
    counts = np.bincount(codes, minlength=form.size).astype(np.float64)
    return Column(name, model, form, counts), codes


def _encode_sensitive(array: pa.ChunkedArray) -> Sensitive:
    values, place = _numbered(array)
    return Sensitive(np.where(place < 0, len(values), place), values, bool(array.null_count))


def default_model(kind: pa.DataType) -> Model:
    """Interval for numbers and dates, suppression for the rest."""
    return Interval() if is_ordered(kind) else Suppression()


def _numbered(array: pa.ChunkedArray) -> tuple[pa.Array, Ints]:
    """Distinct values in ascending order and each record's place among them, -1 for null."""
    values = pc.unique(array.drop_null())
    values = values.take(pc.array_sort_indices(values))
    place = pc.fill_null(pc.index_in(array, value_set=values), -1)
    return values, np.asarray(place, dtype=np.int32)
