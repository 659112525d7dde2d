"""SPSS, Stata and SAS files, by pyreadstat: numbers, dates and texts unchanged, codes without their labels.

These files have no whole numbers and no missing texts: numbers that are all whole are read as such, and an empty text
is a missing value. SAS files are read only.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.files.column_types import is_text
from shoal.data.files.header import check_names
from shoal.encoding.source import Dialect, Input, Source
from shoal.errors import LONGEST, InputError, counted

LARGEST = 2**53  # up to which floats hold every whole number
_NAMES = {
    ".sav": re.compile(r"[A-Za-z@][\w.@#$]{0,62}[\w@#$]|[A-Za-z@]"),
    ".dta": re.compile(r"[A-Za-z_]\w{0,31}", re.ASCII),
}
_WIDEST = {".sav": 32_767, ".dta": 2_045}  # bytes of a text
_KINDS = {".sav": "SPSS", ".dta": "Stata", ".sas7bdat": "SAS"}


def read(path: Path, input: Input) -> Source:
    """Read one file."""
    import pyreadstat

    readers: dict[str, Any] = {
        ".sav": pyreadstat.read_sav,
        ".dta": pyreadstat.read_dta,
        ".sas7bdat": pyreadstat.read_sas7bdat,
    }
    suffix, columns = path.suffix.lower(), None
    with suppress(Exception):  # the library has many kinds of errors, which may show a cell
        columns, _ = readers[suffix](str(path), output_format="dict", encoding=input.encoding)
    if columns is None:
        raise InputError(
            f"'{path}' is not a complete {_KINDS[suffix]} file. It may be incomplete or damaged, or its texts "
            "have another encoding: copy it again, or give the encoding (--encoding)."
        )
    check_names(path, list(columns))
    return Source(pa.table({name: _array(name, list(own)) for name, own in columns.items()}))


def _array(name: str, values: list[Any]) -> pa.Array:
    """A column in the type that its values have."""
    known = [value for value in values if value is not None and value == value]
    values = [None if value is None or value != value else value for value in values]
    if all(isinstance(value, str) for value in known):
        return pa.array([value or None for value in values], pa.string())
    if all(isinstance(value, datetime) for value in known):
        return pa.array(values, pa.timestamp("us"))
    if all(isinstance(value, date) and not isinstance(value, datetime) for value in known):
        return pa.array(values, pa.date32())
    if all(isinstance(value, int | float) for value in known):
        if all(float(value).is_integer() and abs(value) <= LARGEST for value in known):
            return pa.array([None if value is None else int(value) for value in values], pa.int64())
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    raise InputError(
        f"Column '{name[:LONGEST]}' contains times of day or mixes types. Convert it to numbers, dates or text."
    )


def problems(table: pa.Table, path: Path, dialect: Dialect | None) -> list[str]:
    """What such a file cannot contain."""
    suffix = path.suffix.lower()
    if suffix not in _NAMES:
        return ["SAS files can be read but not written. Write .sav, .dta, .parquet or .csv."]
    kind, found = _KINDS[suffix], []
    for name in table.column_names:
        if not _NAMES[suffix].fullmatch(name):
            found.append(
                f"{kind} files cannot have a column named '{name[:LONGEST]}'. Rename it to letters, digits and "
                f"_, at most {(32 if suffix == '.dta' else 64)} characters, a letter first."
            )
    if len({name.lower() for name in table.column_names}) < table.num_columns:
        found.append(
            f"Some column names differ only in case, which {kind} files do not distinguish. Rename them."
        )
    for name, column in zip(table.column_names, table.columns, strict=True):
        found += [
            f"Column '{name[:LONGEST]}' {what}, which {kind} files cannot store. Convert it or leave it out."
            for what in _unfit(column, _WIDEST[suffix])
        ]
    return found


def _unfit(column: pa.ChunkedArray, widest: int) -> list[str]:
    kind, t = column.type, pa.types
    if is_text(kind):
        longest = pc.max(pc.binary_length(column)).as_py() or 0
        return [f"has texts of more than {counted(widest, 'byte')}"] if longest > widest else []
    if t.is_integer(kind):
        ends = pc.min_max(column)
        far = max(abs(ends["min"].as_py() or 0), abs(ends["max"].as_py() or 0))
        return ["has whole numbers of more than 53 bits"] if far > LARGEST else []
    plain = t.is_floating(kind) or t.is_boolean(kind) or t.is_date(kind) or t.is_null(kind)
    if plain or (t.is_timestamp(kind) and kind.tz is None):
        return []
    return [f"has type {kind}"]


def write(table: pa.Table, path: Path, suffix: str, dialect: Dialect | None) -> None:
    """Write one file; missing texts become empty ones, true and false become texts."""
    import pyreadstat

    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_boolean(column.type) or pa.types.is_null(column.type):
            column = column.cast(pa.string())
        if pa.types.is_integer(column.type):
            column = column.cast(pa.float64())
        if is_text(column.type):
            column = column.fill_null("")
        if pa.types.is_timestamp(column.type):
            column = _in_nanoseconds(column)
        columns[name] = column
    frame = pa.table(columns).to_pandas(date_as_object=True, timestamp_as_object=True)
    if suffix == ".dta":
        pyreadstat.write_dta(frame, str(path), version=15)
    else:
        pyreadstat.write_sav(frame, str(path))


def _in_nanoseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times in the one unit that every version of pyreadstat writes correctly; those beyond 1677 to 2262 unchanged."""
    try:
        return column.cast(pa.timestamp("ns"))
    except pa.ArrowInvalid:
        return column
