"""Types on the way in and out of databases: exact numbers from their texts, and what drivers take."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.frames import plain_type

_NUMBER = r"^-?[0-9]+(\.[0-9]+)?$"
_MOST_DIGITS = 38  # of Arrow's decimals that engines know
_WIDER = {
    pa.int8(): pa.int16(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    pa.time32("s"): pa.time64("us"),
    pa.time32("ms"): pa.time64("us"),
    pa.time64("ns"): pa.time64("us"),
    pa.null(): pa.string(),
}


class Digits:
    """How many digits the exact numbers of a column need, block by block."""

    def __init__(self) -> None:
        self.whole, self.fraction, self.is_number = 1, 0, True

    def add(self, texts: pa.Array | pa.ChunkedArray) -> None:
        """Look at some texts of the column."""
        if not self.is_number or texts.null_count == len(texts):
            return
        if pc.all(pc.match_substring_regex(texts, _NUMBER)).as_py() is False:  # NaN or Infinity
            self.is_number = False
            return
        short = _shortened(texts)
        longest = pc.utf8_length(pc.replace_substring_regex(short, r"^-|\.[0-9]+$", ""))
        after = pc.utf8_length(pc.replace_substring_regex(short, r"^[^.]*\.?", ""))
        self.whole = max(self.whole, pc.max(longest).as_py())
        self.fraction = max(self.fraction, pc.max(after).as_py())

    @property
    def type(self) -> pa.DataType | None:
        """The decimals that represent all of them exactly, None if there are none."""
        digits = self.whole + self.fraction
        if not self.is_number or digits > _MOST_DIGITS:
            return None
        return pa.decimal128(digits, self.fraction)

    def typed(self, texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """Texts as these decimals, or unchanged."""
        return texts if self.type is None else _shortened(texts).cast(self.type)


def _shortened(texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Numbers without zeros at the end of their fractions."""
    return pc.replace_substring_regex(
        pc.replace_substring_regex(texts, r"(\.[0-9]*?)0+$", r"\1"), r"\.$", ""
    )


def fitted_type(kind: pa.DataType) -> pa.DataType:
    """The type in which drivers take a column."""
    kind = plain_type(kind)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(fitted_type(kind.value_type))
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale) if kind.precision <= 38 else pa.string()
    return _WIDER.get(kind, kind)
