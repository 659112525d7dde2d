"""Where a table comes from: how its file is to be read, for all columns or for one (`age:97,98`), and how it was
written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

ALL_COLUMNS = "*"  # in settings: what holds for all columns
MOST_ROWS = 1_000  # rows that can be skipped by their numbers


def read_formats(given: Sequence[str]) -> str | dict[str, str] | None:
    """A format of dates for all columns, or COLUMN:FORMAT for some; a format begins with the first %."""
    found = {}
    for text in given:
        column, sign, rest = text.partition("%")
        is_named = len(column) > 1 and column.endswith(":")
        found[column[:-1] if is_named else ALL_COLUMNS] = sign + rest if is_named else text
    return found.get(ALL_COLUMNS) if found.keys() <= {ALL_COLUMNS} else found


def read_missing(given: Sequence[str]) -> list[str] | dict[str, list[str]] | None:
    """Read texts that mean "missing" in all columns, or COLUMN:TEXT,TEXT for some.

    `\\,` is a literal comma and `\\:` a literal colon.

    Examples
    --------
    >>> read_missing(["?,99", "age:Unknown"])
    {'*': ['?', '99'], 'age': ['Unknown']}
    """
    found: dict[str, list[str]] = {}
    for text in given:
        *column, rest = re.split(r"(?<!\\):", text)
        name = ":".join(column) or ALL_COLUMNS
        found.setdefault(name, []).extend(_plain(part) for part in re.split(r"(?<!\\),", rest))
    return found.get(ALL_COLUMNS) if found.keys() <= {ALL_COLUMNS} else found


def read_by_column(given: Sequence[str]) -> str | dict[str, str] | None:
    """Read a text for all columns, or COLUMN:TEXT for some; the text is what follows the last colon."""
    found = {text.rpartition(":")[0] or ALL_COLUMNS: text.rpartition(":")[2] for text in given}
    return found.get(ALL_COLUMNS) if found.keys() <= {ALL_COLUMNS} else found


def read_row_numbers(given: str) -> tuple[int, ...] | None:
    """Row numbers from a text like 2 or 5,7-9, in order; "0" is none of them; None if it is no such text.

    Examples
    --------
    >>> read_row_numbers("5, 2-3"), read_row_numbers("0")
    ((2, 3, 5), ())
    """
    if given.strip() == "0":
        return ()
    found: set[int] = set()
    for part in given.split(","):
        ends = re.fullmatch(r"\s*([0-9]{1,7})\s*(?:-\s*([0-9]{1,7})\s*)?", part)
        if ends is None or not 1 <= int(ends[1]) <= int(ends[2] or ends[1]):
            return None
        if len(found) + int(ends[2] or ends[1]) - int(ends[1]) >= MOST_ROWS:
            return None
        found.update(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return tuple(sorted(found))


def written_by_column(said: str | Mapping[str, str] | None) -> list[str]:
    """The texts that `read_by_column` reads as this."""
    by_column = said if isinstance(said, Mapping) else {ALL_COLUMNS: said} if said else {}
    return [text if name == ALL_COLUMNS else f"{name}:{text}" for name, text in by_column.items()]


def written_formats(said: str | Mapping[str, str] | None) -> list[str]:
    """The texts that `read_formats` reads as this."""
    if isinstance(said, Mapping):
        return [form if name == ALL_COLUMNS else f"{name}:{form}" for name, form in said.items()]
    return [said] if said else []


def written_missing(said: Sequence[str] | Mapping[str, Sequence[str]]) -> list[str]:
    """The texts that `read_missing` reads as this."""
    by_column = said if isinstance(said, Mapping) else {ALL_COLUMNS: said}
    return [
        ("" if name == ALL_COLUMNS else f"{name}:") + ",".join(map(_escaped, own))
        for name, own in by_column.items()
        if own
    ]


def _plain(part: str) -> str:
    return part.replace("\\,", ",").replace("\\:", ":")


def _escaped(text: str) -> str:
    return text.replace(",", "\\,").replace(":", "\\:")


Relation = tuple[str, ...]  # identifies a table of a database, whatever its address
TYPES = ("text", "number", "date")  # the types that can be given for a column
THOUSANDS = (".", ",", "'", " ")  # the separators that can be given


@dataclass(frozen=True)
class Input:
    """How to read a table's file; what is not given is detected automatically or has its usual value.

    Parameters
    ----------
    encoding
        The encoding of a text file, like "cp1252"; by default UTF-8.
    delimiter
        The delimiter of a CSV file; by default the most frequent of , ; tab | in its first row.
    decimal
        The decimal separator of numbers in a CSV file, "." (default) or ",".
    date_format
        The format of dates as text, like "%d.%m.%Y", or by column, like {"born": "%d.%m.%Y"}, where "*" means
        all columns without a format of their own. By default, ISO dates are recognized, and so are other usual formats
        in quasi-identifiers if only one of them fits.
    sheet
        The name of a workbook's sheet; by default the first.
    missing
        Texts that mean "missing", like ["?", "99"], or by column, like {"*": ["?"], "age": ["99"]}, where
        "*" means all columns. They count as missing in quasi-identifiers and sensitive columns; columns that are
        released unchanged keep them.
    types
        The types of columns, by name: "text", "number" or "date", like {"region": "text"}. Text is never read as
        numbers or dates, which matters for codes of categories. A column declared as numbers or dates is refused if it
        has other values. Types that are not given are detected. Types apply to quasi-identifiers and sensitive columns;
        columns that are released unchanged stay unchanged.
    table
        The table to read from a database, like "health.patients".
    query
        A SELECT to read from a database, instead of a table. It is not in the settings that a release writes, because
        it may contain values.
    header_row
        The row of a CSV file or of a sheet with the column names, counted from 1; by default the first. Rows
        above it are skipped.
    header_rows
        How many rows of headings to join into column names (default 1), the last of which is `header_row`: a cell
        merged over several columns goes in front of each of their names.
    skip_rows
        Rows below the column names that are not records, by their numbers, like units or a second heading. By default,
        a file whose first record looks like units is refused; an empty list means that it is a record.
    skip_last
        How many rows at the end of a CSV file or of a sheet are not records, like a row of totals. By default, a file
        whose last row looks like a total is refused; 0 means that it is a record.
    rename
        New names of columns, by the old name or, if that is empty or not unique, by position, counted from 1: like
        {"3": "ward"}. Everything else in the settings uses the new names.
    trim
        Remove spaces at both ends of texts and headings, so that "m " becomes "m".
    thousands
        The thousands separator of numbers written as text, one of . , ' and a space, by column, like {"cost": "."}, or
        for all columns in which every value is such a number. The separators are removed.
    points
        Pairs of columns to join into one of places, by its name: like {"place": ["latitude", "longitude"]}. The new
        column, for the model `shoal.Point`, takes their place. If one of the two is missing, so is the place.
    merge_spellings
        Columns in which values that differ only in case or spaces are one value, in its most frequent spelling.
    """

    encoding: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    date_format: str | Mapping[str, str] | None = field(default=None, hash=False)
    sheet: str | None = None
    missing: tuple[str, ...] | Mapping[str, tuple[str, ...]] = field(default=(), hash=False)
    table: str | None = None
    query: str | None = None
    types: Mapping[str, str] = field(default_factory=dict, hash=False)
    header_row: int | None = None
    header_rows: int = 1
    skip_rows: tuple[int, ...] | None = None
    skip_last: int | None = None
    rename: Mapping[str, str] = field(default_factory=dict, hash=False)
    trim: bool = False
    thousands: str | Mapping[str, str] | None = field(default=None, hash=False)
    merge_spellings: tuple[str, ...] = ()
    points: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def is_text(self, column: str) -> bool:
        """Whether a column is declared as text, whatever its values look like."""
        return self.types.get(column) == "text"

    def format_of(self, column: str) -> str | None:
        """The declared format of a column's dates."""
        return _format_of(self.date_format, column)

    def missing_in(self, column: str) -> tuple[str, ...]:
        """The texts that mean "missing" in a column."""
        if not isinstance(self.missing, Mapping):
            return self.missing
        return (*self.missing.get(ALL_COLUMNS, ()), *self.missing.get(column, ()))

    def thousands_in(self, column: str) -> str | None:
        """The separator of thousands in a column."""
        return _format_of(self.thousands, column)

    def of_column(self, column: str) -> Input:
        """The same with the settings of one column instead of settings by column."""
        return replace(self, date_format=self.format_of(column), missing=self.missing_in(column))

    def of_written(self) -> Input:
        """How to read a file that shoal wrote: it has one sheet, and its names are in the first row."""
        return replace(self.of_all_rows(), sheet=None)

    def of_all_rows(self) -> Input:
        """The same for a file that contains only column names and clean records, as a release does."""
        return replace(
            self,
            header_row=None,
            header_rows=1,
            skip_rows=(),
            skip_last=0,
            rename={},
            trim=False,
            thousands=None,
            merge_spellings=(),
            points={},
        )

    @property
    def cleaning(self) -> dict[str, Any]:
        """The settings that change names or values of a table, as far as they are given."""
        names = ("rename", "trim", "thousands", "merge_spellings", "points")
        return {name: given for name in names if (given := getattr(self, name))}

    @property
    def named_columns(self) -> list[str]:
        """The columns that settings of their own are given for."""
        said = (self.types, self.date_format, self.missing, self.thousands)
        names = [name for own in said if isinstance(own, Mapping) for name in own]
        names += self.merge_spellings
        joined = {ALL_COLUMNS, *(part for parts in self.points.values() for part in parts)}
        return [name for name in dict.fromkeys(names) if name not in joined]

    def with_formats(self, found: Mapping[str, str]) -> Input:
        """The same with formats of dates that were detected in some columns."""
        said = self.date_format
        if isinstance(said, str):
            said = {ALL_COLUMNS: said}
        return replace(self, date_format={**(said or {}), **found}) if found else self


def _format_of(said: str | Mapping[str, str] | None, column: str) -> str | None:
    """The format of a column's dates: by its name, or of all columns."""
    return said.get(column, said.get(ALL_COLUMNS)) if isinstance(said, Mapping) else said


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: fields, numbers, dates, lines and bytes."""

    delimiter: str = ","
    decimal: str = "."
    date_format: str | Mapping[str, str] | None = field(default=None, hash=False)
    line_end: str = "\n"
    encoding: str = "utf-8"
    has_mark: bool = False  # whether a byte order mark comes first

    def format_of(self, column: str) -> str | None:
        """The format of dates in a column, or in the two columns of its bounds."""
        whole = column.removesuffix("_min").removesuffix("_max")
        is_named = isinstance(self.date_format, Mapping) and whole in self.date_format
        return _format_of(self.date_format, whole if is_named else column)


@dataclass(frozen=True)
class Origin:
    """What is known about the database that a table comes from: its kind, its types, and all tables that were read."""

    kind: str
    types: Mapping[str, str] = field(default_factory=dict)  # by column, as the database calls them
    read: frozenset[Relation] = frozenset()


@dataclass(frozen=True)
class Source:
    """An open table: a frame, or a file's content with the way it was written.

    Texts may be numbers or dates, whatever the table comes from: see `shoal.encoding.type_inference`.
    """

    data: Any
    dialect: Dialect | None = None
    stored: Origin | None = None  # of a table of a database
    notes: tuple[
        tuple[str, Mapping[str, Any]], ...
    ] = ()  # choices made, with the fields of `Input` that confirm them
