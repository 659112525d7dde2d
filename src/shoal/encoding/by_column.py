"""Options for columns in one line of text: `?,99` for all columns, `age:97,98` for one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

ALL_COLUMNS = "*"  # in settings: what holds for all columns


def read_formats(given: Sequence[str]) -> str | dict[str, str] | None:
    """A format of dates for all columns, or COLUMN:FORMAT for some; a format begins with the first %."""
    found = {}
    for text in given:
        column, sign, rest = text.partition("%")
        is_named = len(column) > 1 and column.endswith(":")
        found[column[:-1] if is_named else ALL_COLUMNS] = sign + rest if is_named else text
    return found.get(ALL_COLUMNS) if found.keys() <= {ALL_COLUMNS} else found


def read_missing(given: Sequence[str]) -> list[str] | dict[str, list[str]] | None:
    """Texts for a missing value in all columns, or COLUMN:TEXT,TEXT for some.

    `\\,` is a plain comma and `\\:` a plain colon.

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
