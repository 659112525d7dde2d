"""Values and nothing else: what a file must not carry along is taken off before it is written."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import raise_problems

NUMBER_MARK = {b"shoal": b"number"}  # on a text field: JSON lines write it without quotes


def plain(table: pa.Table) -> pa.Table:
    """Keep values only: no metadata, and no dictionaries, which may list values no record has.

    The one mark that stays is that of number tokens. Extension types become what they store.
    """
    columns, problems = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        try:
            columns.append(plain_column(column))
        except (pa.ArrowException, TypeError, ValueError):  # a message that may show cells
            problems.append(
                f"Column '{field.name}' has type {field.type}, which no file can hold; convert it to "
                "numbers, dates or text, or leave it out."
            )
    raise_problems(problems)
    fields = [
        pa.field(field.name, column.type, metadata=NUMBER_MARK if is_number(field) else None)
        for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema that `plain` gives a table."""
    return pa.schema([(field.name, plain_type(field.type)) for field in schema])


def is_number(field: pa.Field) -> bool:
    """Whether a text field holds number tokens."""
    return (field.metadata or {}).get(b"shoal") == b"number"


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values alone, at any depth."""
    t = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if t.is_dictionary(kind) or t.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if t.is_string_view(kind):
        return pa.string()
    if t.is_binary_view(kind):
        return pa.binary()
    if t.is_struct(kind):
        return pa.struct([_plain_field(field) for field in kind])
    if t.is_map(kind):
        return pa.map_(plain_type(kind.key_type), _plain_field(kind.item_field))
    if t.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if t.is_large_list(kind) or t.is_large_list_view(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if t.is_list(kind) or t.is_list_view(kind):
        return pa.list_(_plain_field(kind.value_field))
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, plain_type(field.type), field.nullable)


def plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a column, at any depth without dictionaries, run ends and views."""
    kind = plain_type(column.type)
    return pa.chunked_array([_plain_array(chunk, kind) for chunk in column.chunks], kind)


def _plain_array(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        return _plain_array(array.storage, kind)
    if pa.types.is_dictionary(array.type):
        return _plain_array(array.dictionary_decode(), kind)
    if pa.types.is_run_end_encoded(array.type):
        return _plain_array(pc.run_end_decode(array), kind)
    try:
        return array.cast(kind)
    except pa.ArrowNotImplementedError:  # run ends inside of lists
        return pa.array(array.to_pylist(), kind)
