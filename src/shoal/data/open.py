"""The front door for every table: opens a frame, a file or a table of a database, or reads it as texts."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pyarrow as pa

from shoal.data.databases import DatabaseTable, is_address, open_stored, read_stored_texts
from shoal.data.files.table_file import open_file, read_texts
from shoal.encoding.frames import AnyFrame, open_frame
from shoal.encoding.source import Input, Source

AnyTable = AnyFrame | DatabaseTable | str | os.PathLike[str]


def open_table(table: Any, input: Input | None = None) -> Source:
    """Whatever the user gave, a frame, a path or a table of a database, as a frame with what is known of it."""
    if isinstance(table, Source):
        return table
    table = stored_in(table, input)
    if isinstance(table, DatabaseTable):
        source = open_stored(table)
    else:
        is_path = isinstance(table, str | os.PathLike)
        source = open_file(table, input or Input()) if is_path else Source(table)
    return replace(source, data=open_frame(source.data))


def stored_in(table: Any, input: Input | None) -> Any:
    """The table of a database where its address is given; which table that is says `input`."""
    if not is_address(table):
        return table
    how = input or Input()
    return DatabaseTable(table, how.table, how.query)


def texts_in(table: Any, input: Input) -> pa.Table | None:
    """All values of a file or of a table of a database as texts, None for a frame."""
    table = stored_in(table, input)
    if isinstance(table, DatabaseTable):
        return read_stored_texts(table)
    if isinstance(table, str | os.PathLike):
        return read_texts(table, input)
    return None


def of_release(input: Input) -> Input:
    """How to read a release by the settings it was made with: their sheet, table and query are the original's."""
    return replace(input.of_written(), table=None, query=None)
