"""How to read a table's file, checked: the `[input]` of a settings file and `reading=` in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from shoal.encoding.source import TYPES, Input
from shoal.errors import near_miss, shown
from shoal.settings.declaration import Setting, is_whole

# How the command line asks for each field of `Input`, which says what the fields mean.
READING = {
    "encoding": Setting("input", help="Of the file, like cp1252; usually UTF-8."),
    "delimiter": Setting("input", help="Between fields, like ';' or tab."),
    "decimal": Setting("input", help="Decimal sign of numbers, '.' or ','."),
    "date_format": Setting(
        "input",
        kind="formats",
        help="How dates are written, like %d.%m.%Y, of all columns or of one; repeatable.",
        metavar="[COLUMN:]FORMAT",
        takes=list,
    ),
    "sheet": Setting("input", help="Sheet of a workbook; usually the first."),
    "missing": Setting(
        "input",
        kind="missing",
        help="Texts that stand for a missing value, like '?,97,98', in all columns or in one; repeatable.",
        metavar="[COLUMN:]TEXTS",
        takes=list,
    ),
    "types": Setting(
        "input",
        kind="types",
        help="What a column holds, text, number or date, repeatable; else it is found out. E.g. region:text.",
        flags=("--type",),
        metavar="COLUMN:TYPE",
        takes=list,
    ),
    "table": Setting(
        "input", help="Table to read from a database, like health.patients.", metavar="NAME"
    ),
    "query": Setting(
        "input", help="SELECT to read from a database, in place of --table.", metavar="SQL"
    ),
    "header_row": Setting(
        "input",
        help="Row with the column names, from 1; rows above it are skipped.",
        metavar="ROW",
        takes=int,
    ),
    "skip_last": Setting(
        "input",
        help="Rows at the end that are no records, like a total.",
        metavar="ROWS",
        takes=int,
    ),
}


def read_input(given: Any, problems: list[str]) -> Input:
    """An `Input` from one, or from a mapping of its fields; what the values mean is checked when a file is read."""
    if not isinstance(given, Input | Mapping):
        problems.append(
            f"The 'reading' parameter must be a dict like {{'encoding': 'cp1252'}}. Got {shown(given)} instead."
        )
        return Input()
    known = [field.name for field in fields(Input)]
    entries: dict[str, Any] = dict(given) if isinstance(given, Mapping) else dict(vars(given))
    for name in entries:
        if name not in known:
            close = near_miss(str(name), known) or f"; known: {', '.join(known)}."
            problems.append(f"Unknown key '{name}' in [input]{close}")
    entries = {
        name: value for name, value in entries.items() if name in known and value is not None
    }
    found: dict[str, Any] = {
        "missing": _missing(entries.pop("missing", ()), problems),
        "types": _types(entries.pop("types", {}), problems),
        "date_format": _date_format(entries.pop("date_format", None), problems),
    }
    for name in ("header_row", "skip_last"):
        if name in entries:
            found[name] = _rows(name, entries.pop(name), problems)
    for name, value in entries.items():
        if not isinstance(value, str) or not value:
            problems.append(f"'{name}' in [input] must be text. Got {shown(value)} instead.")
    texts: dict[str, Any] = {n: v for n, v in entries.items() if isinstance(v, str) and v}
    return Input(**texts, **found)


def _missing(given: Any, problems: list[str]) -> Any:
    """Texts that stand for a missing value: a list of them, or a list for each of some columns."""
    if isinstance(given, Mapping):
        lists = {name: [own] if isinstance(own, str) else own for name, own in given.items()}
        if all(_are_texts(own) for own in lists.values()):
            return {name: tuple(own) for name, own in lists.items()}
    given = [given] if isinstance(given, str) else given
    if _are_texts(given):
        return tuple(given)
    problems.append(
        "'missing' in [input] must be a list of texts, like ['?', '99'], or such a list for each of some columns, like "
        "{'age': ['99']}."
    )
    return ()


def _are_texts(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(item, str) for item in given)


def _types(given: Any, problems: list[str]) -> dict[str, str]:
    """What columns are said to hold."""
    if isinstance(given, Mapping) and all(kind in TYPES for kind in given.values()):
        return dict(given)
    problems.append(
        f"'types' in [input] must say {', '.join(TYPES[:-1])} or {TYPES[-1]} of columns, like {{'region': 'text'}} "
        "(--type region:text)."
    )
    return {}


def _date_format(given: Any, problems: list[str]) -> Any:
    """A format of dates, or one for each of some columns."""
    formats = list(given.values()) if isinstance(given, Mapping) else [given]
    if given is None or all(isinstance(own, str) and own for own in formats):
        return dict(given) if isinstance(given, Mapping) else given
    problems.append(
        "'date_format' in [input] must be text, like '%d.%m.%Y', or such a text for each of some columns, like "
        f"{{'born': '%d.%m.%Y'}}. Got {shown(given)} instead."
    )
    return None


def _rows(name: str, given: Any, problems: list[str]) -> int | None:
    """A number of a row or of rows."""
    least = 1 if name == "header_row" else 0
    if is_whole(given, least):
        return int(given)
    problems.append(
        f"'{name}' in [input] must be a whole number of at least {least}. Got {shown(given)} instead."
    )
    return None
