"""What a table reads, column by column, for the audit alone: encoding, methods and kernels share none of this."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from shoal.auditing.spans import days_of, ends_of
from shoal.errors import InputError

_AFTER_ALL = date.max.toordinal() + 1
_FINER = re.compile(r"\.[0-9]{6}([0-9]+)")  # digits of a second beyond the sixth


@dataclass(frozen=True)
class Reader:
    """How the audit reads values, as the settings say: texts that are missing values, numbers and dates."""

    missing: tuple[str, ...] = ()
    decimal: str = "."
    date_format: str | None = None
    texts: tuple[str, ...] = ()  # columns whose texts are never numbers or dates


def texts_of(frame: nw.DataFrame[Any], columns: Iterable[str]) -> pa.Table:
    """Some columns of a frame as the text that a reader sees; equal texts mean records that read the same."""
    found = {}
    problems = []
    native = frame.to_native()
    for name in columns:
        try:
            is_arrow = isinstance(native, pa.Table)  # of which Narwhals would make a copy
            found[name] = _text_of(native[name] if is_arrow else frame.get_column(name).to_arrow())
        except (pa.ArrowException, TypeError, ValueError, OverflowError, KeyError):
            problems.append(
                f"Column '{name}' holds values that have no text, or mixes types; "
                "convert it to numbers, dates or text."
            )
    if problems:
        raise InputError(problems)
    return pa.table(found)


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


def written(value: Any) -> str:
    """A value as releases write it: whole numbers without a decimal point, dates as ISO."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(float(value))
    return str(value)


def same_value(text: str) -> str:
    """The form that all texts share which differ only in spaces, case or Unicode form."""
    composed = unicodedata.normalize("NFKC", text)
    visible = "".join(sign for sign in composed if unicodedata.category(sign) != "Cf")
    lower = unicodedata.normalize("NFKC", visible.casefold())
    return " ".join(lower.split()).casefold()


def ascending(texts: Sequence[str], decimal: str, date_format: str | None) -> list[int] | None:
    """The order of texts that are all numbers, dates, or ranges of these; None where they are none of them."""
    for read in (
        partial(_number, decimal=decimal),
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
    low, high = ends_of(text)
    first = (0, 0) if low is None else days_of(low)
    last = (_AFTER_ALL, _AFTER_ALL) if high is None else days_of(high)
    if first is None or last is None:
        raise ValueError("no period")
    return first[0], last[1]


def _range(text: str, decimal: str) -> tuple[Decimal, Decimal]:
    """The ends of a range of numbers like 20–29 or ≥ 90."""
    low, high = ends_of(text)
    return (
        _number("-1e9999" if low is None else low.removeprefix(">"), decimal),
        _number("1e9999" if high is None else high.removeprefix("<"), decimal),
    )


def _number(text: str, decimal: str) -> Decimal:
    number = Decimal(text.replace(decimal, ".") if decimal != "." else text)
    if not number.is_finite():
        raise ValueError("not finite")
    return number


def moment(text: str, date_format: str | None) -> tuple[datetime, str]:
    """A date or time as something that can be compared: to the microsecond, and the digits after."""
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
