"""Read a table from a file and write one, whole or not at all, and find texts that a spreadsheet would run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from shlex import quote
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.atomic import system_reason, write_atomically
from shoal.data.files.column_types import is_text
from shoal.data.files.csv import csv_option_problems
from shoal.data.files.formats import (
    Format,
    format_of,
    input_problems,
    output_problems,
    path_problems,
    row_problems,
    suffix_of,
    suffix_problems,
)
from shoal.data.files.header import check_names
from shoal.data.files.proposals import with_all_findings
from shoal.encoding.frames import is_number_text, plain_schema, plain_table
from shoal.encoding.source import Dialect, Input, Source
from shoal.errors import InputError, Reason, raise_problems

# Whether a column may be released in spite of a reason against it.
Allows = Callable[[str, Reason], bool]

# A formula begins with = or @; with + or - only if it calls (, links | or refers ! to something:
# -5, +49 30 1234 and a lone dash are ordinary values. Spreadsheets treat the wide forms of these characters the same.
_FORMULA = r"(?s)^\s*([=＝].|[@＠].|[+＋\-－].*[(|!])"
_PHONE = r"^\s*[+＋\-－][0-9 ()/.\-]*$"
_RUN_IN = (".csv", ".tsv", ".txt")


def formula_columns(table: pa.Table) -> list[str]:
    """Name the columns with a name or texts that a spreadsheet would run.

    Examples
    --------
    >>> formula_columns(pa.table({"a": ["=1+1"], "b": ["-5"], "c": ["+49 (30) 1234"]}))
    ['a']
    """
    values = plain_table(table)
    return [
        field.name
        for field, column in zip(values.schema, values.columns, strict=True)
        if _has_formula(pa.array([field.name]))
        or (is_text(field.type) and not is_number_text(field) and _has_formula(column))
    ]


def runs_formulas(path: Path) -> bool:
    """Whether a spreadsheet would run the formulas in a file: those of Excel files are marked as text."""
    return suffix_of(path).removesuffix(".gz") in _RUN_IN


def formula_problems(table: pa.Table, path: Path, allows: Allows) -> list[str]:
    """Return problems with columns of a release that a spreadsheet would run in a file, unless allowed."""
    if not runs_formulas(path):
        return []
    return formula_sentences(formula_columns(table), path, allows, ".xlsx or .parquet")


def formula_sentences(
    columns: Iterable[str], path: Path, allows: Allows, instead: str
) -> list[str]:
    """Return problems with columns that contain formulas, with the formats to use instead."""
    return [
        f"Column '{name}' contains texts that a spreadsheet would run as formulas when it opens '{path.name}'. "
        f"Write {instead}, or allow it with --allow {quote(f'{name}:formula')}."
        for name in columns
        if not allows(name, "formula")
    ]


def _has_formula(texts: pa.ChunkedArray | pa.Array) -> bool:
    some = texts.unique()  # which takes less time than to look at all of them
    found = some.filter(pc.match_substring_regex(some, _FORMULA))  # hardly any
    return not pc.all(pc.match_substring_regex(found, _PHONE), min_count=0).as_py()


Found = TypeVar("Found")


def read_file(path: str | os.PathLike[str], input: Input | None = None) -> pa.Table:
    """Read a table from a file.

    Types come from the file (Parquet, Excel). Columns of CSV and JSON Lines are typed if that loses nothing,
    else they are text (see `shoal.data.files.column_types`). The table is complete and its columns have distinct
    names; otherwise, one `InputError` says what is wrong, without any cell's content.

    Parameters
    ----------
    path
        A .csv, .tsv, .txt, .jsonl or .ndjson file (each also with .gz), .parquet, .xlsx, .sav, .dta
        or .sas7bdat, which can only be read.
    input
        How to read the file; by default this is detected.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "people.csv").write_text("age,zip\\n34,02139\\n")
    ...     read_file(Path(folder, "people.csv")).to_pylist()
    [{'age': 34, 'zip': '02139'}]
    """
    return open_file(path, input).data


def open_file(path: str | os.PathLike[str], input: Input | None = None) -> Source:
    """Read a table from a file, with the way the file was written.

    The table is that of `read_file`. A text column of JSON lines that holds number tokens has the field
    metadata ``{b"shoal": b"number"}``, and `write_file` then writes them as they were.
    """
    return _open(path, input, lambda form, source, how: form.read(source, how))


def read_file_texts(path: str | os.PathLike[str], input: Input | None = None) -> pa.Table:
    """Read a table from a file with every value as its text in the file; null is missing.

    Values of Parquet and Excel files become texts; different values become different texts.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "people.jsonl").write_text('{"age": 34.0}\\n{"age": 34}\\n')
    ...     read_file_texts(Path(folder, "people.jsonl")).to_pydict()
    {'age': ['34.0', '34']}
    """
    return _open(path, input, lambda form, source, how: form.read_texts(source, how))


def write_file(
    table: pa.Table,
    path: str | os.PathLike[str],
    overwrite: bool = False,
    dialect: Dialect | None = None,
    check: Callable[[Path], None] | None = None,
    private: bool = False,
) -> None:
    """Write a table to a file, whole or not at all, with values only: no metadata, no dictionaries.

    Parameters
    ----------
    table
        What is written.
    path
        A new file, unless `overwrite`; its suffix names the format, as in `read_file`.
    overwrite
        Replace an existing file in one step; it keeps its permissions, and a link stays a link.
    dialect
        How a CSV file is written: delimiter, decimal sign, dates, line ends and encoding.
    check
        Is given the finished file under a temporary name with the same suffix; if it raises, nothing
        is written.
    private
        Only the owner may read the file: it holds original values.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_file(pa.table({"age": ["30-39", "30-39"]}), Path(folder, "release.csv"))
    ...     print(Path(folder, "release.csv").read_text())
    age
    30-39
    30-39
    <BLANKLINE>
    """
    target = Path(path)
    raise_problems(output_problems(target, overwrite))
    check_names(target, table.column_names)
    form, suffix = format_of(target), suffix_of(target)
    values = plain_table(table)
    raise_problems(form.problems(values, target, dialect))
    write_atomically(
        target,
        overwrite,
        lambda file: form.write(values, file, suffix, dialect),
        check,
        suffix,
        private=private,
    )


def write_text(text: str, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a text to a file in UTF-8, whole or not at all."""
    target = Path(path)
    raise_problems(path_problems(target, overwrite))
    write_atomically(
        target,
        overwrite,
        lambda file: file.write_text(text, "utf-8", newline="\n"),
        suffix=target.suffix,
    )


def file_content_problems(
    table: pa.Schema | pa.Table, path: str | os.PathLike[str], dialect: Dialect | None = None
) -> list[str]:
    """Return what a file of this format could not contain, before anything is computed.

    Parameters
    ----------
    table
        A schema, for problems with types alone, or a table, for problems with its values as well.
    path
        Where to write the table; its suffix names the format.
    dialect
        How to write a CSV file: its encoding may lack a character.
    """
    target = Path(path)
    if suffix_problems(target):  # output_problems reports it
        return []
    is_schema = isinstance(table, pa.Schema)
    values = plain_schema(table).empty_table() if is_schema else plain_table(table)
    return format_of(target).problems(values, target, dialect)


def _open(
    path: str | os.PathLike[str],
    input: Input | None,
    read_as: Callable[[Format, Path, Input], Found],
) -> Found:
    source, how = Path(path), input or Input()
    try:
        raise_problems(
            [*csv_option_problems(how), *input_problems(source), *row_problems(source, how)]
        )
        with source.open("rb"):
            pass
        form = format_of(source)
        return with_all_findings(lambda given: read_as(form, source, given), how)
    except OSError as error:
        why = system_reason(error)
    raise InputError(f"'{source}' cannot be read: {why}. Check its permissions and its disk.")
