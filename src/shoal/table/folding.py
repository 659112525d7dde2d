"""Which texts are one: those that differ only in spaces, case or Unicode form and, as values, spellings of a number.

Whoever reads "HIV", "hiv " and "ＨＩＶ" in a group learns the same, so they must not pass for diverse; nor must "1",
"1.0" and "1,00". A text with a leading zero, like "01", is a code and no number.
"""

from __future__ import annotations

import re
from decimal import Decimal
from unicodedata import category, normalize

import pyarrow as pa
import pyarrow.compute as pc

# As people and programs write numbers; 2e10 without a sign after the e may be a code.
_NUMBER = r"[+-]?((0|[1-9][0-9]*)([.,][0-9]*)?|[.,][0-9]+)(e[+-][0-9]{1,3})?"
_ASCII_SPACES = r"[\x09-\x0d\x1c-\x20]+"


def fold(text: str) -> str:
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
        return pa.array([fold(text) for text in values.to_pylist()], type=pa.large_string())
    spaced = pc.replace_substring_regex(pc.ascii_lower(values), _ASCII_SPACES, " ")
    return pc.ascii_trim(spaced, " ").cast(pa.large_string())


def value_key(text: str) -> str:
    """What all texts of one sensitive value share; empty for a text that shows nothing.

    Examples
    --------
    >>> value_key(" 1,50"), value_key("1.5"), value_key("01"), value_key("Flu ")
    ('1.5', '1.5', '01', 'flu')
    """
    plain = fold(text)
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
