"""What a table reads, column by column, for the audit alone: encoding, methods and kernels share none of this."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError


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


def same_value(text: str) -> str:
    """What all texts that differ only in spaces, case or Unicode form have in common."""
    composed = unicodedata.normalize("NFKC", text)
    visible = "".join(sign for sign in composed if unicodedata.category(sign) != "Cf")
    lower = unicodedata.normalize("NFKC", visible.casefold())
    return " ".join(lower.split()).casefold()


def ascending(texts: Sequence[str], decimal: str, date_format: str | None) -> list[int] | None:
    """The order of texts that are all numbers or all dates; None where they are neither."""
    for read in (_number, _moment):
        with suppress(ValueError, InvalidOperation, TypeError):
            moments = [read(text, decimal, date_format) for text in texts]
            return sorted(range(len(texts)), key=moments.__getitem__)
    return None


def _number(text: str, decimal: str, date_format: str | None) -> Decimal:
    number = Decimal(text.replace(decimal, ".") if decimal != "." else text)
    if not number.is_finite():
        raise ValueError("not finite")
    return number


def _moment(text: str, decimal: str, date_format: str | None) -> datetime:
    if date_format:
        return datetime.strptime(text, date_format).replace(tzinfo=UTC)
    with suppress(ValueError):
        return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def value_set(array: pa.ChunkedArray, missing: Sequence[str]) -> tuple[pa.Array, list[str]]:
    """For each record its number among a column's values (null for missing ones), and these values."""
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
