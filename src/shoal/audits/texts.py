"""The texts of a table, column by column and row by row, for the audit alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.audits.text_ends import days_of, ends_of_text
from shoal.audits.verdict import Places
from shoal.errors import InputError, raise_problems

_AFTER_ALL = date.max.toordinal() + 1
_DECIMAL = re.compile(  # 2e10 without a plus or minus after the e may be a code
    r"(?P<sign>[+-]?)(?P<digits>(?:0|[1-9][0-9]*)(?:[.,][0-9]*)?|[.,][0-9]+)(?P<power>e[+-][0-9]{1,3})?"
)
_FINER = re.compile(r"\.[0-9]{6}([0-9]+)")  # digits of a second beyond the sixth


@dataclass(frozen=True)
class Reader:
    """How the audit reads values: texts that mean "missing", numbers and dates, as the settings say.

    Missing values and the format of dates apply to all columns, or have an entry for each of some columns and
    one, named *, for all.
    """

    missing: tuple[str, ...] | Mapping[str, tuple[str, ...]] = ()
    decimal: str = "."
    date_format: str | Mapping[str, str] | None = None
    texts: tuple[str, ...] = ()  # columns whose texts are never numbers or dates

    def of_column(self, name: str) -> ColumnReader:
        """How the audit reads one column."""
        missing, form = self.missing, self.date_format
        if isinstance(missing, Mapping):
            missing = (*missing.get("*", ()), *missing.get(name, ()))
        if isinstance(form, Mapping):
            form = form.get(name, form.get("*"))
        return ColumnReader(missing, self.decimal, form, name in self.texts)


@dataclass(frozen=True)
class ColumnReader:
    """How the audit reads the values of one column."""

    missing: tuple[str, ...] = ()
    decimal: str = "."
    date_format: str | None = None
    is_text: bool = False  # whether its texts are never numbers or dates


def visible_texts(frame: nw.DataFrame[Any], columns: Iterable[str]) -> pa.Table:
    """Some columns of a frame as the text that a reader sees; equal texts mean records that look the same."""
    found = {}
    problems = []
    for name in columns:
        try:
            found[name] = _text_of(_arrow_of(frame, name))
        except _NO_TEXT:
            problems.append(_no_text_problem(name))
    raise_problems(problems)
    return pa.table(found)


_NO_TEXT = (pa.ArrowException, TypeError, ValueError, OverflowError, KeyError)


def _no_text_problem(name: str) -> str:
    return (
        f"Column '{name}' contains values without a text form, or mixes types. Convert it to numbers, dates or "
        "text."
    )


def _arrow_of(frame: nw.DataFrame[Any], name: str) -> pa.Array | pa.ChunkedArray:
    """A column as Arrow; a column of an Arrow table is not copied."""
    native = frame.to_native()
    return native[name] if isinstance(native, pa.Table) else frame.get_column(name).to_arrow()


def _text_of(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if pa.types.is_large_string(array.type) or pa.types.is_string(array.type):
        return array
    if isinstance(array, pa.ChunkedArray):
        chunks = [_text_of(chunk).cast(pa.large_string()) for chunk in array.chunks]
        return pa.chunked_array(chunks, type=pa.large_string())
    if pa.types.is_dictionary(array.type):
        return _text_of(array.dictionary_decode())
    with suppress(pa.ArrowNotImplementedError):
        return array.cast(pa.large_string())
    texts = [None if value is None else repr(value) for value in array.to_pylist()]
    return pa.array(texts, type=pa.large_string())


def released_text(value: Any) -> str:
    """A value as releases write it: whole numbers without a decimal point, dates as ISO."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(float(value))
    return str(value)


def same_text(text: str) -> str:
    """The form shared by all texts that differ only in spaces, case or Unicode form."""
    composed = unicodedata.normalize("NFKC", text)
    visible = "".join(sign for sign in composed if unicodedata.category(sign) != "Cf")
    lower = unicodedata.normalize("NFKC", visible.casefold())
    return " ".join(lower.split()).casefold()


def same_value(text: str) -> str:
    """The form shared by all texts of one sensitive value.

    These are texts that differ only in spaces, case or Unicode form, and spellings of one number: 1, 1.0, +1,00 and
    1e+00. A text with a leading zero, like 01, is a code, not a number.
    """
    plain = same_text(text)
    number = _DECIMAL.fullmatch(plain)
    if number is None:
        return plain
    digits = f"{Decimal(number['digits'].replace(',', '.') + (number['power'] or '')):f}"
    whole, _, fraction = digits.partition(".")
    fraction = fraction.rstrip("0")
    plain = whole + ("." + fraction if fraction else "")
    return f"-{plain}" if number["sign"] == "-" and plain != "0" else plain


def ascending_order(
    texts: Sequence[str], decimal: str, date_format: str | None
) -> list[int] | None:
    """The order of texts that are all numbers, all dates, or all ranges of these; None otherwise."""
    for read in (
        partial(decimal_of, decimal=decimal),
        partial(moment, date_format=date_format),
        _days,
        partial(_range, decimal=decimal),
    ):
        with suppress(ValueError, InvalidOperation, TypeError):
            found = [read(text) for text in texts]
            return sorted(range(len(texts)), key=found.__getitem__)
    return None


def _days(text: str) -> tuple[int, int]:
    """The first and the last day of a period like 2020-03 or ≥ 2020."""
    low, high = ends_of_text(text)
    first = (0, 0) if low is None else days_of(low)
    last = (_AFTER_ALL, _AFTER_ALL) if high is None else days_of(high)
    if first is None or last is None:
        raise ValueError("no period")
    return first[0], last[1]


def _range(text: str, decimal: str) -> tuple[Decimal, Decimal]:
    """The ends of a range of numbers like 20–29 or ≥ 90."""
    low, high = ends_of_text(text)
    return (
        decimal_of("-1e9999" if low is None else low.removeprefix(">"), decimal),
        decimal_of("1e9999" if high is None else high.removeprefix("<"), decimal),
    )


def decimal_of(text: str, decimal: str = ".") -> Decimal:
    """A number in a form that can be compared."""
    found = Decimal(text.replace(decimal, ".") if decimal != "." else text)
    if not found.is_finite():
        raise ValueError("not finite")
    return found


def moment(text: str, date_format: str | None) -> tuple[datetime, str]:
    """A date or time in a form that can be compared: to the microsecond, and the digits after."""
    if date_format:
        return datetime.strptime(text, date_format).replace(tzinfo=UTC), ""
    with suppress(ValueError):
        return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC), ""
    digits = _FINER.search(text)
    found = datetime.fromisoformat(text)
    finer = digits[1].rstrip("0") if digits else ""
    return (found if found.tzinfo else found.replace(tzinfo=UTC)), finer


def value_set(array: pa.ChunkedArray, missing: Sequence[str]) -> tuple[pa.Array, list[str]]:
    """Number the values of a column: the number of each record's value, null for a missing one, and the values."""
    encoded = pc.dictionary_encode(array).combine_chunks()
    numbers: dict[str, int] = {}
    labels: list[str] = []
    place: list[int | None] = []
    for text in encoded.dictionary.to_pylist():
        key = same_value(text)
        if not key or text in missing:
            place.append(None)
            continue
        if key not in numbers:
            numbers[key] = len(labels)
            labels.append(text)
        place.append(numbers[key])
    return pa.array(place, type=pa.int64()).take(encoded.indices), labels


@dataclass(frozen=True)
class ColumnTexts:
    """A column: the texts that occur in it, None for a missing value, and each record's place among them."""

    places: Places
    texts: tuple[str | None, ...]
    is_exact: bool  # whether numbers have more digits than floats keep
    is_text: bool = False  # whether the column contains texts, which may be numbers or dates
    order: tuple[str, ...] | None = None  # of the categories, where the column has one itself

    def as_texts(self) -> pa.Array:
        """The text of each record."""
        return pa.array(self.texts, type=pa.large_string()).take(pa.array(self.places))


def column_texts(frame: nw.DataFrame[Any], name: str, missing: Sequence[str] = ()) -> ColumnTexts:
    """Read a column of a frame; `missing` are texts that mean "missing"."""
    try:
        column = _arrow_of(frame, name)
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        plain = pa.chunked_array([_decoded(chunk) for chunk in chunks]) if chunks else column
        encoded = pc.dictionary_encode(plain).combine_chunks()
        values = encoded.dictionary.to_pylist()
        order = _order(chunks)
    except _NO_TEXT:
        values = None  # raise outside of this block: the library's error may show a cell
    if values is None:
        raise InputError(_no_text_problem(name))
    texts = [released_text(value) for value in values]
    known: dict[str | None, int] = {}
    place = [
        known.setdefault(None if text in missing else text, len(known)) for text in (*texts, None)
    ]
    indices = np.asarray(pc.fill_null(encoded.indices, len(texts)))
    found = np.array(place, dtype=np.int64)[indices]
    is_text = pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type)
    return ColumnTexts(found, tuple(known), pa.types.is_decimal(plain.type), is_text, order)


def _order(chunks: Sequence[pa.Array]) -> tuple[str, ...] | None:
    """The categories of an ordered dictionary that all chunks share, as text; None if there is none."""
    if not chunks or not (pa.types.is_dictionary(chunks[0].type) and chunks[0].type.ordered):
        return None
    first = chunks[0].dictionary
    if any(not chunk.dictionary.equals(first) for chunk in chunks):
        return None
    return tuple(released_text(value) for value in first.drop_null().to_pylist())


def _decoded(array: pa.Array) -> pa.Array:
    """The values alone: no dictionaries, run ends or views."""
    if isinstance(array, pa.DictionaryArray):
        return _decoded(array.dictionary_decode())
    if isinstance(array, pa.RunEndEncodedArray):
        return _decoded(pc.run_end_decode(array))
    return array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array


MOST_NUMBERS = 2**62


def numbered(column: pa.ChunkedArray | pa.Array) -> tuple[Places, int]:
    """Number the texts of records in a column, missing values included; also return how many numbers there are."""
    encoded = pc.dictionary_encode(column, null_encoding="encode")
    chunks = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    indices = [np.asarray(chunk.indices) for chunk in chunks]  # all share one dictionary
    place = np.concatenate([np.zeros(0, np.int32), *indices]).astype(np.int64)
    return place, int(place.max(initial=0)) + 1


def combined(columns: Iterable[tuple[Places, int]], records: int) -> tuple[Places, int]:
    """Number the texts of records in several columns together; also return how many numbers there are."""
    number, size = np.zeros(records, dtype=np.int64), 1
    for place, values in columns:
        if size > MOST_NUMBERS // values:  # renumber combinations, so that no product overflows
            number, size = numbered(pa.array(number))
        number, size = number * values + place, size * values
    return numbered(pa.array(number))
