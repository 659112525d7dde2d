"""A table as integers: one code per record and column, which rows are equal, and the random order of records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple
from unicodedata import category, normalize

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.forms import Floats, Ints, Records
from shoal.encoding.frames import Frame, category_order
from shoal.encoding.models import (
    Form,
    Interval,
    Model,
    Order,
    Prefix,
    RangeForm,
    Ready,
    Suppression,
)
from shoal.encoding.models.base import is_ordered
from shoal.encoding.released_texts import order_of_ranges
from shoal.encoding.source import Input
from shoal.encoding.type_inference import TypedColumn, mostly_looks_like, type_column
from shoal.errors import InputError, added_to, listed, near_miss, raise_problems

MOST_NUMBERS = 2**62
FIXED_SEED: ContextVar[int | None] = ContextVar("FIXED_SEED", default=None)


class DistinctRows(NamedTuple):
    """Distinct rows in lexicographic order."""

    first: Records  # where each occurs first
    place: Ints  # of every row among them
    counts: Records  # how often each occurs


def row_numbers(rows: npt.NDArray[np.integer[Any]]) -> Records:
    """A number for each row of numbers from 0 on; equal rows have the same, and the order of rows is kept."""
    numbers, size = np.zeros(rows.shape[0], dtype=np.int64), 1
    for column in rows.T:
        width = int(column.max(initial=0)) + 1
        if size > MOST_NUMBERS // width:  # renumber them, so that no product overflows
            numbers = np.unique(numbers, return_inverse=True)[1]
            size = int(numbers.max(initial=0)) + 1
        numbers, size = numbers * width + column, size * width
    return numbers


def distinct_rows(rows: npt.NDArray[np.integer[Any]]) -> DistinctRows:
    """Find the distinct rows of numbers from 0 on."""
    numbers = row_numbers(rows)
    _, first, place, counts = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True
    )
    return DistinctRows(first, place.astype(np.int32), counts)


def fixed_seed() -> int | None:
    """Seeds for draws that are otherwise new in every run, for tests only; see `shoal.testing`."""
    return FIXED_SEED.get()


def random_order(records: int) -> npt.NDArray[np.int64]:
    """A random order of so many records.

    It depends on no function of the records and on no known seed: otherwise, an attacker could draw conclusions
    about records that were left out, or about the order of the input.
    """
    return np.random.default_rng(fixed_seed()).permutation(records)


# As people and programs write numbers; 2e10 without a plus or minus after the e may be a code.
_NUMBER = r"[+-]?((0|[1-9][0-9]*)([.,][0-9]*)?|[.,][0-9]+)(e[+-][0-9]{1,3})?"
_ASCII_SPACES = r"[\x09-\x0d\x1c-\x20]+"


def fold_text(text: str) -> str:
    """The form shared by all texts of one value; empty for a text without visible characters.

    Examples
    --------
    >>> fold_text(" Type  2\\u200b"), fold_text("\\uff28\\uff29\\uff36")
    ('type 2', 'hiv')
    """
    if not text.isascii():
        text = normalize("NFKC", text)
        text = "".join(sign for sign in text if category(sign) != "Cf")  # such as zero-width spaces
        text = normalize("NFKC", text.casefold())
    return " ".join(text.split()).casefold()


def fold_all(values: pa.Array) -> pa.Array:
    """Fold many texts at once."""
    if not pc.all(pc.string_is_ascii(values)).as_py():
        return pa.array([fold_text(text) for text in values.to_pylist()], type=pa.large_string())
    spaced = pc.replace_substring_regex(pc.ascii_lower(values), _ASCII_SPACES, " ")
    return pc.ascii_trim(spaced, " ").cast(pa.large_string())


def value_key(text: str) -> str:
    """The key of a sensitive value that all its spellings share; empty for a text without visible characters.

    Examples
    --------
    >>> value_key(" 1,50"), value_key("1.5"), value_key("01"), value_key("Flu ")
    ('1.5', '1.5', '01', 'flu')
    """
    plain = fold_text(text)
    return _plain_number(plain) if re.fullmatch(_NUMBER, plain) else plain


def value_keys(texts: pa.Array) -> list[str]:
    """The keys of many texts at once."""
    folded = fold_all(texts)
    is_number = pc.match_substring_regex(folded, f"^{_NUMBER}$").to_pylist()
    return [
        _plain_number(text) if number else text
        for text, number in zip(folded.to_pylist(), is_number, strict=True)
    ]


def _plain_number(text: str) -> str:
    """A number in digits, with a decimal point only if it needs one and without zeros at its end."""
    number = format(Decimal(text.replace(",", ".")), "f")
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return "0" if number == "-0" else number


NOTHING = pa.array([], type=pa.large_string())  # the values of a column that is missing everywhere


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: its model, its form and how often each code occurs."""

    name: str
    model: Model
    form: Form
    counts: Floats
    date_format: str | None = None  # of texts that are dates, if it was detected and not given
    looks_like: str | None = None  # numbers or dates, if most texts are such and others are not


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: a code per record and the values in ascending order; null has the last code.

    Texts that differ only in spaces, case or Unicode form, or in how they spell a number, are one value, represented by
    the first of them.
    """

    codes: Ints
    values: pa.Array
    has_null: bool
    labels: tuple[str, ...]  # of the values, without null
    are_ranges: bool = False  # whether they are texts of ranges, which have an order like numbers

    @property
    def is_ordered(self) -> bool:
        """Whether ascending values mean something: numbers, dates and ranges of them."""
        return self.are_ranges or is_ordered(self.values.type)

    @property
    def size(self) -> int:
        return len(self.values) + self.has_null

    @property
    def all_labels(self) -> list[str | None]:
        """A label per code, None for null."""
        return [*self.labels, *([None] if self.has_null else [])]


@dataclass(frozen=True)
class Table:
    """An encoded table: everything known about its quasi-identifiers and sensitive columns, as integers.

    A row is a record or, in a counted table, represents `counts` records with the same codes.
    """

    columns: tuple[Column, ...]
    codes: Ints  # rows × quasi-identifiers
    sensitive: Mapping[str, Sensitive]
    counts: Records | None = None  # the records of each row; None if each row is a record

    @property
    def rows(self) -> int:
        return int(self.codes.shape[0])

    @cached_property
    def records(self) -> int:
        return self.rows if self.counts is None else int(self.counts.sum())

    def count(self, numbers: Records, size: int = 0) -> npt.NDArray[Any]:
        """Count records by a number that each row has, from 0 to at least size − 1."""
        return np.bincount(numbers, self.counts, size)

    @cached_property
    def classes(self) -> Ints:
        """The class of each record: a number for its combination of sensitive values."""
        if not self.sensitive:
            return np.zeros(self.rows, dtype=np.int32)
        rows = np.column_stack([column.codes for column in self.sensitive.values()])
        return distinct_rows(rows).place

    def take(self, records: Records) -> Table:
        """The table of some of the records, with the same domains."""
        columns = tuple(
            replace(column, counts=np.bincount(codes, minlength=column.form.size).astype(float))
            for column, codes in zip(self.columns, self.codes[records].T, strict=True)
        )
        return replace(self.pick(records), columns=columns)

    def pick(self, rows: Records, counts: Records | None = None) -> Table:
        """Some rows, each as often as it is named and with its own count, of which columns keep their counts."""
        secrets = {n: replace(s, codes=s.codes[rows]) for n, s in self.sensitive.items()}
        return Table(self.columns, self.codes[rows], secrets, counts)

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
    input: Input | None = None,
    may_be_empty: bool = False,
    ranges: Sequence[str] = (),
) -> Table:
    """Turn a frame's quasi-identifiers and sensitive columns into codes.

    `input` says which texts mean "missing", and how texts that are numbers or dates are written.
    `may_be_empty` lets quasi-identifiers be missing in all records, as in what is left of a table.
    `ranges` are sensitive columns that were coarsened to ranges.

    Raises `InputError` with every problem found: missing or empty columns, mixed types, values outside their
    hierarchy, …
    """
    problems = column_problems(frame.columns, [*quasi_identifiers, *sensitive, *identifiers])
    if not frame.shape[0]:
        problems.append("The table has no records. Give at least one.")
    raise_problems(problems)
    reading = input or Input()
    columns, codes = [], np.empty((frame.shape[0], len(quasi_identifiers)), dtype=np.int32)
    for j, name in enumerate(quasi_identifiers):
        with added_to(problems):
            model = quasi_identifiers[name] if isinstance(quasi_identifiers, Mapping) else None
            column, codes[:, j] = encode_column(frame, name, model, reading, may_be_empty)
            columns.append(column)
    secrets: dict[str, Sensitive] = {}
    for name in sensitive:
        with added_to(problems):
            secrets[name] = encode_sensitive(frame, name, reading, None, name in ranges)
    raise_problems(problems)
    return Table(tuple(columns), codes, secrets)


def encode_column(
    frame: Frame,
    name: str,
    model: Model | None,
    reading: Input,
    may_be_empty: bool = False,
    counts: Records | None = None,
) -> tuple[Column, Ints]:
    """Encode one quasi-identifier; returns the code of each row as well.

    `counts` are the records of each row, where rows are distinct values.
    """
    takes_dates = model is None or _means_numbers(model) or reading.types.get(name) == "date"
    found = type_column(frame, name, reading, counts, finds_formats=takes_dates)
    given, is_empty = model, may_be_empty and not len(found.values)
    if is_empty:
        found, model = replace(found, values=NOTHING), Suppression()
    if isinstance(model, Order):
        found = replace(found, order=category_order(frame, name))
    if isinstance(model, Prefix | Ready) and pa.types.is_integer(found.values.type):
        found = replace(found, values=pa.array(found.labels, pa.large_string()))
    date_format = found.date_format or reading.format_of(name)
    column, codes = _encode_column(name, found, model, counts, date_format)
    if is_empty and given is not None:
        column = replace(column, model=given)  # which says how the column is written
    is_text = pa.types.is_large_string(found.values.type) and found.typed is None
    if model is None and is_text and len(found.values) and not reading.is_text(name):
        column = replace(column, looks_like=mostly_looks_like(found.values))
    return column, codes


def encode_sensitive(
    frame: Frame, name: str, reading: Input, counts: Records | None = None, is_range: bool = False
) -> Sensitive:
    """Encode one sensitive column; `is_range` says that it was coarsened to texts of ranges."""
    found = type_column(frame, name, reading, counts)
    order = order_of_ranges(found.labels, reading.decimal) if is_range else None
    if order is not None:
        values = found.values.take(pa.array(order, pa.int64()))
        labels = tuple(found.labels[i] for i in order)
        rank = np.append(np.argsort(order), len(order)).astype(np.int32)  # place -1 is null
        return Sensitive(rank[found.place], values, found.has_null, labels, are_ranges=True)
    if found.typed is not None and len(pc.unique(found.typed)) == len(found.values):
        found = found.in_order()
    elif pa.types.is_large_string(found.values.type):
        found = _united(found)
    place = np.where(found.place < 0, len(found.values), found.place)
    return Sensitive(place, found.values, found.has_null, found.labels)


def column_problems(
    present: Sequence[str], wanted: Iterable[str], what: str = "table"
) -> list[str]:
    """Return a sentence for every wanted column that does not exist."""
    return [
        f"Column '{name}' is not in the {what}{near_miss(name, present) or '.'} "
        f"Columns: {listed(present)}."
        for name in wanted
        if name not in present
    ]


def _encode_column(
    name: str,
    found: TypedColumn,
    model: Model | None,
    records: Records | None,
    date_format: str | None = None,
) -> tuple[Column, Ints]:
    if not len(found.values) and found.values is not NOTHING:
        raise InputError(f"Column '{name}' is empty. Leave it out of the quasi-identifiers.")
    if found.typed is not None and (model is None or _means_numbers(model)):
        read = found.in_order()
        is_date = pa.types.is_temporal(read.values.type)
        # 250.1 and 250.10 may be two codes, so they stay texts unless a type is given.
        if is_date or (model and model.needs_numbers) or len(read.values) == len(found.values):
            found = read
    if model is None:
        model = default_model(found.values.type)
    if isinstance(model, Order):
        form, code_of = model.compile(name, found.values, found.has_null, found.order)
    else:
        form, code_of = model.compile(name, found.values, found.has_null)
    labels = list(form.labels)
    for code, label in zip(code_of.tolist(), found.labels, strict=True):
        if code not in form.fixed:  # values are released as the table writes them
            labels[code] = label
    form = replace(form, labels=tuple(labels))
    if isinstance(form, RangeForm):
        form = replace(form, date_format=date_format)
    lookup = np.append(code_of, form.null).astype(np.int32)  # place -1 is null
    codes = lookup[found.place]
    counts = np.bincount(codes, records, form.size).astype(np.float64)
    return Column(name, model, form, counts, found.date_format), codes


def _means_numbers(model: Model) -> bool:
    """Whether a model is about numbers or dates: an interval, or one with a domain of them."""
    domain = getattr(model, "domain", None)
    if isinstance(domain, list | tuple) and not any(isinstance(value, str) for value in domain):
        return True
    return model.needs_numbers


def _united(found: TypedColumn) -> TypedColumn:
    """Replace all texts that mean one value by one of them; texts without visible characters are missing values."""
    keys = value_keys(found.values)
    first: dict[str, int] = {"": -1}
    kept = [i for i, key in enumerate(keys) if first.setdefault(key, i) == i]
    values = found.values
    if found.typed is not None:
        values, numbers = found.typed, found.typed.to_pylist()
        kept.sort(key=numbers.__getitem__)
    rank = {i: rank for rank, i in enumerate(kept)}
    number = np.array([rank.get(first[key], -1) for key in keys] + [-1], dtype=np.int32)
    labels = tuple(found.labels[i] for i in kept)
    return TypedColumn(values.take(pa.array(kept, pa.int64())), labels, number[found.place])


def default_model(kind: pa.DataType) -> Model:
    """Interval for numbers and dates, suppression for the rest."""
    return Interval() if is_ordered(kind) else Suppression()
