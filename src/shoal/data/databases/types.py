"""Types on the way in and out of databases: exact numbers from their texts, and what drivers take."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.databases.address import DUCKDB, POSTGRESQL, Database
from shoal.data.files.types import type_problems
from shoal.encoding.frames import plain_schema, plain_type

LONGEST_NAME = 63  # bytes of a name; PostgreSQL cuts longer ones off

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
        """The decimals that hold all of them exactly, None where none do."""
        digits = self.whole + self.fraction
        if not self.is_number or digits > _MOST_DIGITS:
            return None
        return pa.decimal128(digits, self.fraction)

    def typed(self, texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """Texts as these decimals, or as they are."""
        return texts if self.type is None else _shortened(texts).cast(self.type)


def _shortened(texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Numbers without zeros at the end of their fractions."""
    return pc.replace_substring_regex(
        pc.replace_substring_regex(texts, r"(\.[0-9]*?)0+$", r"\1"), r"\.$", ""
    )


def holding_problems(schema: pa.Schema, database: Database) -> list[str]:
    """Say in sentences which columns a table of this database cannot hold."""
    plain = plain_schema(schema)
    if database.kind == DUCKDB:
        return []
    if database.kind != POSTGRESQL:
        flat = [field for field in plain if not pa.types.is_binary(field.type)]
        return type_problems(pa.schema(flat), database.path)
    found = [
        f"Column '{name}' has a name of more than {LONGEST_NAME} bytes, which PostgreSQL would cut off; rename it."
        for name in plain.names
        if len(name.encode()) > LONGEST_NAME
    ]
    return found + [
        f"Column '{field.name}' has type {field.type}, which PostgreSQL cannot hold; make it numbers, dates or text, "
        "or leave it out."
        for field in plain
        if pa.types.is_nested(field.type) and not _is_plain_list(field.type)
    ]


def fitted(schema: pa.Schema, database: Database) -> pa.Schema:
    """A schema with the types in which a database takes records."""
    own = fitted_type if database.kind in (POSTGRESQL, DUCKDB) else _sqlite_type
    return pa.schema([(field.name, own(field.type)) for field in plain_schema(schema)])


def _is_plain_list(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return is_list and not pa.types.is_nested(kind.value_type)


def _sqlite_type(kind: pa.DataType) -> pa.DataType:
    """Numbers, bytes and text are what SQLite has; exact numbers, dates and times are text there."""
    found = fitted_type(kind)
    if pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_binary(found):
        return found
    return pa.int64() if pa.types.is_boolean(found) else pa.string()


def fitted_type(kind: pa.DataType) -> pa.DataType:
    """The type in which drivers take a column."""
    kind = plain_type(kind)
    if pa.types.is_large_list(kind):
        return pa.list_(fitted_type(kind.value_type))
    if pa.types.is_list(kind):
        return pa.list_(fitted_type(kind.value_type))
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale) if kind.precision <= 38 else pa.string()
    return _WIDER.get(kind, kind)
