"""Read a table from a file and write one, whole or not at all; the suffix names the format."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa

from shoal.errors import InputError, raise_problems
from shoal.io import delimited, excel, json_lines, parquet
from shoal.io.columns import check_names, plain


@dataclass(frozen=True)
class Format:
    """How one kind of file is read, what it cannot hold, and how it is written."""

    read: Callable[[Path], pa.Table]
    problems: Callable[[pa.Table, Path], list[str]]
    write: Callable[[pa.Table, Path, str], None]


_DELIMITED = Format(delimited.read, delimited.problems, delimited.write)
_JSON_LINES = Format(json_lines.read, json_lines.problems, json_lines.write)
_TEXT = {
    ".csv": _DELIMITED,
    ".tsv": _DELIMITED,
    ".txt": _DELIMITED,
    ".jsonl": _JSON_LINES,
    ".ndjson": _JSON_LINES,
}
FORMATS = {
    **_TEXT,
    **{f"{suffix}.gz": form for suffix, form in _TEXT.items()},
    ".parquet": Format(parquet.read, parquet.problems, parquet.write),
    ".xlsx": Format(excel.read, excel.problems, excel.write),
}


def read(path: str | os.PathLike[str]) -> pa.Table:
    """Read a table from a file.

    Types come from the file (Parquet, Excel, JSON) or are inferred over whole columns (CSV, see
    `shoal.io.inference`); only the first sheet of a workbook is read. The table is complete and its
    columns have distinct names, or one `InputError` says what is wrong, without any cell's content.

    Parameters
    ----------
    path
        A .csv, .tsv, .txt, .jsonl or .ndjson file (each also with .gz), .parquet or .xlsx.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "people.csv").write_text("age,zip\\n34,02139\\n")
    ...     read(Path(folder, "people.csv")).to_pylist()
    [{'age': 34, 'zip': '02139'}]
    """
    source = Path(path)
    try:
        raise_problems(_input_problems(source))
        with source.open("rb"):
            pass
        return FORMATS[_suffix(source)].read(source)
    except OSError as error:
        reason = error.strerror or type(error).__name__
    raise InputError(f"'{source}' cannot be read: {reason}; check its permissions and its disk.")


def write(table: pa.Table, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a table to a file, whole or not at all.

    The file gets its name only once it is complete and on disk; until then, and after any failure,
    the name stays free or keeps what it held. Values are written and nothing else: neither metadata
    nor the unused entries of a dictionary.

    Parameters
    ----------
    table
        Any table; what the format cannot hold is refused before anything is written.
    path
        Where to; the suffix chooses the format, as in `read`.
    overwrite
        Replace an existing file.

    Examples
    --------
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write(pa.table({"age": ["30-39", "30-39"]}), Path(folder, "release.csv"))
    ...     print(Path(folder, "release.csv").read_text(), end="")
    "age"
    "30-39"
    "30-39"
    """
    target = Path(path)
    raise_problems(output_problems(target, overwrite))
    check_names(target, table.column_names)
    form = FORMATS[_suffix(target)]
    values = plain(table)
    raise_problems(form.problems(values, target))
    _write_whole(target, overwrite, lambda file: form.write(values, file, _suffix(target)))


def write_text(text: str, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a text to a file in UTF-8, whole or not at all."""
    target = Path(path)
    raise_problems(place_problems(target, overwrite))
    _write_whole(target, overwrite, lambda file: file.write_text(text, "utf-8", newline="\n"))


def _write_whole(target: Path, overwrite: bool, fill: Callable[[Path], object]) -> None:
    """Let a file appear under its name once it is filled and on disk."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        fill(temporary)
        with temporary.open("r+b") as written:
            os.fsync(written.fileno())
        _give_name(temporary, target, overwrite)
        return
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
    finally:
        with suppress(OSError):
            temporary.unlink()
    raise InputError(f"'{target}' cannot be written: {reason}; choose another place.")


def output_problems(path: str | os.PathLike[str], overwrite: bool) -> list[str]:
    """Say in sentences why a table could not be written to this path; nothing when it could."""
    return [*_suffix_problems(Path(path)), *place_problems(path, overwrite)]


def place_problems(path: str | os.PathLike[str], overwrite: bool) -> list[str]:
    """Say in sentences why no file could be written to this path, whatever its format."""
    target = Path(path)
    folder = target.parent
    found = []
    if _is_folder(target):
        found.append(f"The output '{target}' is a folder; name a file in it.")
    elif not _is_folder(folder):
        found.append(f"The folder '{folder}' does not exist; create it or choose another.")
    else:
        if not os.access(folder, os.W_OK | os.X_OK):
            found.append(f"The folder '{folder}' is not writable; choose another.")
        if os.path.lexists(target) and not overwrite:
            found.append(_exists(target))
    return found


def _input_problems(source: Path) -> list[str]:
    if not source.exists():
        return [f"'{source}' does not exist; check the path.", *_suffix_problems(source)]
    if source.is_dir():
        return [f"'{source}' is a folder; name a file in it."]
    if not source.is_file():
        return [f"'{source}' is not a regular file; copy its content to one."]
    if source.stat().st_size == 0:
        return [f"'{source}' is empty; a table needs at least a header.", *_suffix_problems(source)]
    return _suffix_problems(source)


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 (Path.is_dir raises inside a closed folder)


def _suffix(path: Path) -> str:
    """The lower-case suffix, with what stands before a final .gz."""
    suffixes = Path(path.name.lower()).suffixes
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])


def _suffix_problems(path: Path) -> list[str]:
    suffix = _suffix(path)
    if suffix not in FORMATS:
        known = f"{', '.join(_TEXT)} (each also with .gz), .parquet or .xlsx"
        got = f"suffix '{suffix}' is not supported" if suffix else "name has no suffix"
        return [f"The format of '{path}' is unknown: its {got}; use {known}."]
    if suffix == ".xlsx" and find_spec("openpyxl") is None:
        return [f"'{path}' needs openpyxl for Excel files; run: pip install 'shoal[excel]'."]
    return []


def _exists(target: Path) -> str:
    return (
        f"The output '{target}' exists; choose another name or pass --overwrite (overwrite=True)."
    )


def _give_name(temporary: Path, target: Path, overwrite: bool) -> None:
    """Let the finished file appear under its name, in one step."""
    if not overwrite:
        try:
            os.link(temporary, target)  # unlike a rename, refuses a target that appeared meanwhile
            return
        except OSError:  # the target exists, or this file system has no hard links
            if os.path.lexists(target):
                raise InputError(_exists(target)) from None
    temporary.replace(target)
