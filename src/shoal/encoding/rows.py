"""Equal rows of integers, equal texts, and the random order of released records."""

from __future__ import annotations

import re
from contextvars import ContextVar
from decimal import Decimal
from typing import Any, NamedTuple
from unicodedata import category, normalize

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.forms import Ints, Records

MOST_NUMBERS = 2**62
FIXED_SEED: ContextVar[int | None] = ContextVar("FIXED_SEED", default=None)


class DistinctRows(NamedTuple):
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


def distinct_rows(rows: npt.NDArray[np.integer[Any]]) -> DistinctRows:
    """Find the distinct rows of numbers from 0 on."""
    numbers = row_numbers(rows)
    _, first, place, counts = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True
    )
    return DistinctRows(first, place.astype(np.int32), counts)


def fixed_seed() -> int | None:
    """What decides draws that are otherwise fresh in every run, for tests only; see `shoal.testing`."""
    return FIXED_SEED.get()


def random_order(records: int) -> npt.NDArray[np.int64]:
    """A random order of so many records.

    No function of the records decides it, and no seed that is known: from such an order an outsider could
    conclude on records that were left out, or on the order of the input.
    """
    return np.random.default_rng(fixed_seed()).permutation(records)


# As people and programs write numbers; 2e10 without a sign after the e may be a code.
_NUMBER = r"[+-]?((0|[1-9][0-9]*)([.,][0-9]*)?|[.,][0-9]+)(e[+-][0-9]{1,3})?"
_ASCII_SPACES = r"[\x09-\x0d\x1c-\x20]+"


def fold_text(text: str) -> str:
    """The form that all texts of one value share; empty for a text that shows nothing.

    Examples
    --------
    >>> fold(" Type  2\\u200b"), fold("\\uff28\\uff29\\uff36")
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
    """What all texts of one sensitive value share; empty for a text that shows nothing.

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
    """A number in digits, with a decimal point if it needs one and without zeros at its end."""
    number = format(Decimal(text.replace(",", ".")), "f")
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return "0" if number == "-0" else number
