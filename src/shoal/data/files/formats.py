"""The formats by suffix, and why a file cannot be read from a path or written to one."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from shoal.atomic import output_exists_problem, real_target, system_reason, write_atomically
from shoal.data.files import csv, csv_output, excel, json_lines, parquet, statistics
from shoal.data.files.cleaning import renamed_and_clean
from shoal.data.files.column_types import columns_as_text
from shoal.encoding.source import Dialect, Input, Source
from shoal.errors import InputError, counted

Opened = TypeVar("Opened", Source, pa.Table)


@dataclass(frozen=True)
class Format:
    """How one kind of file is read, what it cannot contain, and how it is written."""

    read: Callable[[Path, Input], Source]
    problems: Callable[[pa.Table, Path, Dialect | None], list[str]]
    write: Callable[[pa.Table, Path, str, Dialect | None], None]
    own_texts: Callable[[Path, Input], pa.Table] | None = None  # if a file itself has texts

    def read_texts(self, path: Path, input: Input) -> pa.Table:
        """Read every value as text."""
        if self.own_texts is None:
            return columns_as_text(self.read(path, input).data)
        return self.own_texts(path, input)


def cleaned(read: Callable[[Path, Input], Opened]) -> Callable[[Path, Input], Opened]:
    """A reader whose tables are cleaned as `Input` says."""

    def reader(path: Path, input: Input) -> Opened:
        found = read(path, input)
        if not input.cleaning:
            return found
        if isinstance(found, Source):
            return replace(found, data=renamed_and_clean(found.data, input))
        return renamed_and_clean(found, input)

    return reader


_DELIMITED = Format(csv.read, csv_output.problems, csv_output.write, csv.read_texts)
_EXCEL = Format(excel.read, excel.problems, excel.write, excel.read_texts)
_JSON_LINES = Format(
    cleaned(json_lines.read), json_lines.problems, json_lines.write, cleaned(json_lines.read_texts)
)
_PARQUET, _STATISTICS = (
    Format(cleaned(form.read), form.problems, form.write) for form in (parquet, statistics)
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
    """The lower-case suffix, including the one before a final .gz."""
    suffixes = Path(path.name.lower()).suffixes
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])


def suffix_problems(path: Path) -> list[str]:
    """Report that no format has this suffix, or that its library is not installed."""
    suffix = suffix_of(path)
    if suffix not in _FORMATS:
        if _is_sqlite(path):
            return [
                f"'{path}' is an SQLite database. Give its address, sqlite:///{path}, and name a table with --table "
                "(table=)."
            ]
        known = f"{', '.join(_TEXT)} (each also with .gz), .parquet, .xlsx, .sav, .dta or .sas7bdat"
        got = f"suffix '{suffix}' is not supported" if suffix else "name has no suffix"
        return [f"The format of '{path}' is unknown, because its {got}. Use {known}."]
    if suffix == ".xlsx" and find_spec("openpyxl") is None:
        return [
            f"'{path}' needs openpyxl for Excel files. Install it with: pip install 'shoal[excel]'."
        ]
    if _FORMATS[suffix] is _STATISTICS and not (find_spec("pyreadstat") and find_spec("pandas")):
        return [
            f"'{path}' needs pyreadstat for SPSS, Stata and SAS files. Install it with: pip install "
            "'shoal[statistics]'."
        ]
    return []


def _is_sqlite(path: Path) -> bool:
    """Whether a file without the suffix of one is an SQLite database."""
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except (OSError, ValueError):
        return False


def row_problems(path: Path, input: Input) -> list[str]:
    """Report that a file has no rows that could be skipped."""
    said = {
        "header_row": (input.header_row or 1) > 1,
        "header_rows": input.header_rows > 1,
        "skip_rows": bool(input.skip_rows),
        "skip_last": bool(input.skip_last),
    }
    has_rows = _FORMATS.get(suffix_of(path)) in (_DELIMITED, _EXCEL, None)
    heading, skipped = input.header_row or input.header_rows, input.skip_rows or ()
    found = []
    if heading < input.header_rows:
        found.append(
            "'header_rows' must not be larger than 'header_row', the last row of headings."
        )
    if skipped and skipped[0] <= heading:
        found.append(
            f"'skip_rows' is for rows below the column names in row {heading}; those above are skipped anyway. Leave "
            f"row {skipped[0]} out of it."
        )
    return found + [
        f"'{name}' is for CSV files and workbooks, but '{path}' is neither. Leave it out."
        for name, is_said in said.items()
        if is_said and not has_rows
    ]


_LONGEST_NAME = 255  # bytes, on every file system in use


def input_problems(path: Path) -> list[str]:
    """Return reasons why no table can be read from this path."""
    if _is_unwritable_name(path):
        return [_bad_name("input")]
    try:
        status = path.stat()
    except OSError as error:
        return _missing(path, error)
    if stat.S_ISDIR(status.st_mode):
        return [f"'{path}' is a folder. Name a file in it."]
    if not stat.S_ISREG(status.st_mode):
        return [f"'{path}' is not a regular file. Copy its content to one."]
    if status.st_size == 0:
        return [f"'{path}' is empty. A table needs at least column names.", *suffix_problems(path)]
    return suffix_problems(path)


def output_problems(path: str | os.PathLike[str], overwrite: bool) -> list[str]:
    """Return reasons why a table cannot be written to this path; none if it can."""
    target = Path(path)
    if _is_unwritable_name(target):
        return [_bad_name("output")]
    return [*suffix_problems(target), *path_problems(path, overwrite)]


def path_problems(path: str | os.PathLike[str], overwrite: bool) -> list[str]:
    """Return reasons why no file can be written to this path, whatever its format."""
    target = Path(path)
    if _is_unwritable_name(target):
        return [_bad_name("output")]
    if len(os.fsencode(target.name)) > _LONGEST_NAME:
        return [
            f"The output's name has {counted(len(os.fsencode(target.name)), 'byte')}, but only {_LONGEST_NAME} "
            "are allowed. Choose a shorter one."
        ]
    try:
        return _target_problems(target, overwrite)
    except OSError as error:
        return [f"The output '{target}' cannot be used: {system_reason(error)}. Choose another."]


def space_problems(bytes_needed: int, path: str | os.PathLike[str]) -> list[str]:
    """Report that the disk of an output has too little free space."""
    folder = real_target(Path(path)).parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError:  # place_problems says why
        return []
    if bytes_needed <= free:
        return []
    return [
        f"The folder '{folder}' has {free / 1000000.0:,.1f} MB of free space, but the output needs about "
        f"{bytes_needed / 1000000.0:,.1f} MB. Free some space or choose another folder."
    ]


def _target_problems(target: Path, overwrite: bool) -> list[str]:
    mode = _mode(target)
    if mode is None and target.is_symlink():
        return [f"The output '{target}' is a broken link. Remove it or choose another name."]
    if mode is not None and stat.S_ISDIR(mode):
        return [f"The output '{target}' is a folder. Name a file in it."]
    if mode is not None and not stat.S_ISREG(mode):
        return [f"The output '{target}' is not a regular file. Choose another name."]
    folder = real_target(target).parent
    if not folder.is_dir():
        return [f"The folder '{folder}' does not exist. Create it or choose another."]
    found = []
    if not os.access(folder, os.W_OK | os.X_OK):
        found.append(f"The folder '{folder}' is not writable. Choose another.")
    if mode is not None and not overwrite:
        found.append(output_exists_problem(target))
    return found


def _mode(path: Path) -> int | None:
    """Kind and permissions of the file that a path leads to, None if there is none."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # reported by the folder
        return None


def _missing(path: Path, error: OSError) -> list[str]:
    if error.errno == errno.ELOOP:
        return [f"'{path}' is a link that leads to itself. Name the file."]
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return [f"'{path}' does not exist. Check the path.", *suffix_problems(path)]
    return [f"'{path}' cannot be read: {system_reason(error)}. Check its permissions and its disk."]


def _is_unwritable_name(path: Path) -> bool:
    """Whether a name cannot be shown or passed to the system: bytes that are not UTF-8, or NUL."""
    try:
        return b"\0" in str(path).encode()
    except UnicodeEncodeError:
        return True


def _bad_name(what: str) -> str:
    return f"The name of the {what} contains characters that are not UTF-8, or NUL. Choose another name."


class OwnFile(NamedTuple):
    """The name of a kind of file, in the file and in messages, and the remedy if another one was given."""

    kind: str  # the entry "shoal" of the file
    version: int  # the entry "version"
    name: str  # like "Recoding", before the path
    what: str  # like "not a recoding. Give a file that …", for a file of another kind
    remedy: str  # like "Make it again from a release", for a file of another version


def write_own(own: OwnFile, path: Path, content: Mapping[str, Any], overwrite: bool) -> None:
    """Write a file of this kind and version, which its owner alone may read."""
    marked = {"shoal": own.kind, "version": own.version, **content}
    text = json.dumps(marked, ensure_ascii=False) + "\n"
    write_atomically(path, overwrite, lambda file: file.write_text(text, "utf-8"), private=True)


def read_own(own: OwnFile, path: Path) -> dict[str, Any]:
    """Read the content of a file that says it is of this kind and version."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{own.name} '{path}' is not a regular file. Name one that is.")
        content = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(
            content, ensure_ascii=False
        ).encode()  # half of a surrogate pair cannot be written
    except OSError as error:
        raise InputError(
            f"{own.name} '{path}' cannot be read: {error.strerror}. Check the path."
        ) from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("shoal") != own.kind:
        raise InputError(f"'{path}' is {own.what}.")
    if content.get("version") != own.version:
        raise InputError(
            f"{own.name} '{path}' was written by another version of shoal. {own.remedy}."
        )
    return content
