"""Column names: present, distinct, and no first record that was taken for a header."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, raise_problems

_NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d[.,]?([eE][-+]?\d+)?\s*%?\s*")
_DATE = re.compile(r"\s*\d{1,4}([-./])\d{1,2}\1\d{1,4}([T ,].*)?")
_TIME = re.compile(r"\s*\d{1,2}:\d{2}(:\d{2}.*)?\s*")

HeaderCheck = Callable[[Path, Sequence[str], Sequence[pa.ChunkedArray]], None]


def check_header(path: Path, names: Sequence[str], columns: Sequence[pa.ChunkedArray]) -> None:
    """Refuse a header that is a record, without showing it; then names that are empty or not distinct."""
    values = [str(n) for n, name in enumerate(names, start=1) if _reads_like_a_value(name)]
    if values:
        raise _no_header(
            path, f"the names of columns {', '.join(values)} read like numbers or dates"
        )
    among = [
        str(number)
        for number, (name, column) in enumerate(zip(names, columns, strict=True), start=1)
        if name.strip() and _holds(column, name)
    ]
    if among:
        raise _no_header(path, f"the names of columns {', '.join(among)} occur among their values")
    check_names(path, names)


def check_names(path: object, names: Sequence[str]) -> None:
    """Refuse duplicate and empty column names, all at once."""
    positions: dict[str, list[str]] = {}
    for position, name in enumerate(names, start=1):
        positions.setdefault(name, []).append(str(position))
    found = [] if names else [f"'{path}' has no columns; a table needs at least one."]
    for name, where in positions.items():
        if not name.strip():
            found.append(
                f"'{path}' has columns without a name (number {', '.join(where)}); name them all."
            )
        elif len(where) > 1:
            found.append(
                f"'{path}' has {len(where)} columns named '{name}' (number {', '.join(where)}); "
                "rename all but one."
            )
    raise_problems(found)


def _reads_like_a_value(name: str) -> bool:
    return any(form.fullmatch(name) for form in (_NUMBER, _DATE, _TIME))


def _holds(column: pa.ChunkedArray, name: str) -> bool:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return False
    return bool(pc.any(pc.equal(column, pa.scalar(name, column.type))).as_py())


def _no_header(path: Path, sign: str) -> InputError:
    return InputError(
        f"'{path}' seems to have no header: {sign}; add a first row that names the columns, and "
        "rename those that are named like a value."
    )
