"""Where a table comes from: how its file is to be read, and how it was written, so that a release reads like it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Relation = tuple[
    str, ...
]  # what tells a table of a database from all others, whatever address leads to it

TYPES = ("text", "number", "date")  # what a column can be said to hold


@dataclass(frozen=True)
class Input:
    """How to read a table's file; what is not said is found out or the usual.

    Parameters
    ----------
    encoding
        Of a text file, like "cp1252"; by default UTF-8.
    delimiter
        Between the fields of a CSV file; by default the most frequent of , ; tab | in its first row.
    decimal
        The decimal sign of numbers in a CSV file, "." (default) or ",".
    date_format
        How dates in a CSV file are written, like "%d.%m.%Y"; by default ISO dates are known as such.
    sheet
        The name of a workbook's sheet; by default the first.
    missing
        Texts that stand for a missing value, like ["?", "99"]. They count as missing in quasi-identifiers and
        sensitive columns; columns that are released unchanged keep them.
    types
        What columns hold, by name: "text", "number" or "date", like {"region": "text"}. Text is never taken for
        numbers or dates, as codes of categories might be; a column that is said to hold numbers or dates and has
        other values is refused. Of columns that are not named it is found out. It counts for quasi-identifiers and
        sensitive columns; columns that are released unchanged stay as they are.
    table
        The table to read from a database, like "health.patients".
    query
        A SELECT to read from a database, in place of a table. Settings that a release writes do not hold it, since
        it may hold values.
    """

    encoding: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    date_format: str | None = None
    sheet: str | None = None
    missing: tuple[str, ...] = ()
    table: str | None = None
    query: str | None = None
    types: Mapping[str, str] = field(default_factory=dict, hash=False)

    def is_text(self, column: str) -> bool:
        """Whether a column is said to hold text, whatever its values look like."""
        return self.types.get(column) == "text"


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: fields, numbers, dates, lines and bytes."""

    delimiter: str = ","
    decimal: str = "."
    date_format: str | None = None
    line_end: str = "\n"
    encoding: str = "utf-8"
    has_mark: bool = False  # whether a byte order mark comes first


@dataclass(frozen=True)
class Stored:
    """What is known of the database that a table comes from: its kind, its types, and all tables that were read."""

    kind: str
    types: Mapping[str, str] = field(default_factory=dict)  # by column, as the database calls them
    read: frozenset[Relation] = frozenset()


@dataclass(frozen=True)
class Source:
    """An open table: a frame, or a file's content with the way it was written.

    Columns of a CSV file are text unless another type loses nothing: `is_text` says that the others may
    still hold numbers or dates, which quasi-identifiers are asked for.
    """

    data: Any
    dialect: Dialect | None = None
    is_text: bool = False
    stored: Stored | None = None  # of a table of a database
