"""Which sensitive texts are one value: those that differ only in spaces, case or Unicode form.

Whoever reads "HIV", "hiv " and "ＨＩＶ" in a group learns the same, so they must not pass for diverse.
"""

from __future__ import annotations

from unicodedata import category, normalize

import pyarrow as pa
import pyarrow.compute as pc

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
