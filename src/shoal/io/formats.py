"""The formats by suffix: how each is read, what it cannot hold, and how it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa

from shoal.io import delimited, delimited_output, excel, json_lines, parquet, statistics
from shoal.table.source import Dialect, Input, Source


@dataclass(frozen=True)
class Format:
    """How one kind of file is read, typed or as texts, what it cannot hold, and how it is written."""

    read: Callable[[Path, Input], Source]
    read_texts: Callable[[Path, Input], pa.Table]
    problems: Callable[[pa.Table, Path, Dialect | None], list[str]]
    write: Callable[[pa.Table, Path, str, Dialect | None], None]


_DELIMITED = Format(
    delimited.read, delimited.read_texts, delimited_output.problems, delimited_output.write
)
_JSON_LINES, _PARQUET, _EXCEL, _STATISTICS = (
    Format(form.read, form.read_texts, form.problems, form.write)
    for form in (json_lines, parquet, excel, statistics)
)
_TEXT = {
    ".csv": _DELIMITED,
    ".tsv": _DELIMITED,
    ".txt": _DELIMITED,
    ".jsonl": _JSON_LINES,
    ".ndjson": _JSON_LINES,
}
_FORMATS = {
    **_TEXT,
    **{f"{suffix}.gz": form for suffix, form in _TEXT.items()},
    ".parquet": _PARQUET,
    ".xlsx": _EXCEL,
    ".sav": _STATISTICS,
    ".dta": _STATISTICS,
    ".sas7bdat": _STATISTICS,
}


def format_of(path: Path) -> Format:
    """The format of a path without `suffix_problems`."""
    return _FORMATS[suffix_of(path)]


def suffix_of(path: Path) -> str:
    """The lower-case suffix, with what stands before a final .gz."""
    suffixes = Path(path.name.lower()).suffixes
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])


def suffix_problems(path: Path) -> list[str]:
    """Say that no format has this suffix, or that its library is not installed."""
    suffix = suffix_of(path)
    if suffix not in _FORMATS:
        known = f"{', '.join(_TEXT)} (each also with .gz), .parquet, .xlsx, .sav, .dta or .sas7bdat"
        got = f"suffix '{suffix}' is not supported" if suffix else "name has no suffix"
        return [f"The format of '{path}' is unknown: its {got}; use {known}."]
    if suffix == ".xlsx" and find_spec("openpyxl") is None:
        return [f"'{path}' needs openpyxl for Excel files; run: pip install 'shoal[excel]'."]
    if _FORMATS[suffix] is _STATISTICS and not (find_spec("pyreadstat") and find_spec("pandas")):
        return [
            f"'{path}' needs pyreadstat for SPSS, Stata and SAS files; run: pip install 'shoal[statistics]'."
        ]
    return []


def row_problems(path: Path, input: Input) -> list[str]:
    """Say that a file has no rows that could be skipped."""
    said = {
        "header_row": (input.header_row or 1) > 1,
        "skip_last": bool(input.skip_last),
    }
    has_rows = _FORMATS.get(suffix_of(path)) in (_DELIMITED, _EXCEL, None)
    names = [name for name, is_said in said.items() if is_said and not has_rows]
    return [
        f"'{name}' is for CSV files and workbooks, and '{path}' is none; leave it out."
        for name in names
    ]
