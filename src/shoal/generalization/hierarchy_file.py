"""The lines of a hierarchy's file: CSV without a header, with any usual delimiter."""

from __future__ import annotations

import csv
import io
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from shoal.errors import InputError
from shoal.whole import write_whole

_DELIMITERS = ",;\t|"
_NEEDS_QUOTES = re.compile(r'[,;\t|"\r\n]')

Lines = list[tuple[int, list[str]]]


def read_lines(path: str | os.PathLike[str]) -> Lines:
    """Read the cells of every line that is not blank, with its number; blanks around cells do not count."""
    name = Path(path).name
    text = read_text(path)
    first = re.sub('"[^"]*"', "", text.lstrip()).partition("\n")[
        0
    ]  # cells in quotes may have lines
    candidates = sorted(_DELIMITERS, key=first.count, reverse=True)
    try:
        likely = _split(text, candidates[0])
        others = (_split(text, delimiter) for delimiter in candidates[1:] if delimiter in first)
        return next((lines for lines in (likely, *others) if _is_even(lines)), likely)
    except csv.Error:
        raise _unreadable(name, "not a UTF-8 CSV file; save it as one") from None


def read_text(path: str | os.PathLike[str], what: str = "Hierarchy") -> str:
    """Read a whole UTF-8 file; `what` it is for, in the sentence on what is wrong with it."""
    kind = "UTF-8 CSV file" if what == "Hierarchy" else "UTF-8 text file"
    try:
        if stat.S_ISREG(Path(path).stat().st_mode):  # opening a pipe would wait for ever
            return Path(path).read_bytes().decode("utf-8-sig")
        why = "not a regular file; copy its content to one"
    except OSError as error:
        why = f"{error.strerror}; check the path"
    except UnicodeError:
        why = f"not a {kind}; save it as one"
    except ValueError:  # a NUL character in the path
        why = "no file can have this name; check the path"
    raise _unreadable(Path(path).name, why, what)


def _split(text: str, delimiter: str) -> Lines:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    return [
        (number, [cell.strip() for cell in row]) for number, row in enumerate(rows, start=1) if row
    ]


def _is_even(lines: Lines) -> bool:
    """Whether every line has the same number of cells, as with the right delimiter."""
    return len({len(row) for _, row in lines}) == 1


def _unreadable(name: str, why: str, what: str = "Hierarchy") -> InputError:
    return InputError(f"{what} file '{name}' cannot be read: {why}.")


def write_rows(
    rows: list[list[str]],
    path: str | os.PathLike[str],
    overwrite: bool,
    read: Callable[[Path], list[list[str]]],
) -> None:
    """Write rows to a file, whole or not at all; nothing is written unless `read` reads the same rows from it.

    The file lists original values, so that only its owner may read it. Cells that hold any delimiter stand in quotes.
    """
    text = "".join(",".join(_quoted(cell) for cell in row) + "\n" for row in rows)

    def check(file: Path) -> None:
        try:
            is_same = read(file) == rows
        except InputError:
            is_same = False
        if not is_same:
            raise InputError(
                "A CSV file cannot hold this hierarchy: a label is empty, or begins or ends with a space; rename it."
            )

    target = Path(path)
    write_whole(
        target,
        overwrite,
        lambda file: file.write_text(text, "utf-8", newline=""),
        check,
        target.suffix,
        private=True,
    )


def _quoted(cell: str) -> str:
    if cell and not _NEEDS_QUOTES.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'
