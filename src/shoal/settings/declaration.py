"""Declares settings: each once, with its place in a file, its check, option and explanation; also reads files."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from textwrap import fill, indent
from typing import Any, NamedTuple

from shoal.encoding.source import MOST_ROWS, THOUSANDS, TYPES, Input, read_row_numbers
from shoal.errors import near_miss, shown

WIDTH, INDENT = 112, "    "  # line width of docstrings

_TAKES = {bool: bool, int: int, float: float, tuple: list}  # by the type of a default
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


class Check(NamedTuple):
    """The values that a setting can have: in words, and as a function."""

    expected: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Question:
    """How the app asks for a setting: on which pages, and in which words."""

    label: str
    hint: str = ""
    pages: tuple[str, ...] = ("run",)
    choices: Mapping[str, str] = field(default_factory=dict)  # words for each value
    usual: str = ""  # what an empty answer means
    examples: tuple[str, ...] = ()  # example answers; others can be given
    is_wide: bool = False  # whether it gets a line of its own


@dataclass(frozen=True)
class Setting:
    """The declaration of one setting.

    `kind` says how its value is read and written if it is not a plain value; there is a function for each kind in
    `kinds.py`, `toml.py` and `cli/options.py`.
    """

    section: str  # of a settings file
    doc: str = ""  # links are relative to the folder docs
    in_python: str = ""  # what to add in the Python documentation
    key: str = ""  # in its section; empty for the name of the setting
    kind: str = "plain"
    check: Check | None = None
    default: Callable[[], Any] = lambda: None
    name: str = ""
    always: bool = False  # whether a settings file includes it even at its default
    init: str | None = (
        None  # comment that `shoal init` writes next to it; None if it does not write it
    )
    help: str = ""  # on the command line; None for no option
    flags: tuple[str, ...] = ()  # empty for one made from the name
    metavar: str | None = None
    takes: Any = str  # the type of the option
    is_keyword: bool = True  # whether `anonymize` takes it by name
    ask: Question | None = None  # in the app; None if no page asks for it

    def problem(self, value: Any) -> str | None:
        """Return a sentence if the value is not allowed; the default is always allowed."""
        if self.check is None or self.check.fits(value) or value == self.default():
            return None
        return wrong(self.name, self.check.expected, value)

    @property
    def explained(self) -> str:
        """The name and the explanation, as in a docstring."""
        text = fill(_LINK.sub(r"\1", f"{self.doc} {self.in_python}"), WIDTH, break_on_hyphens=False)
        return indent(f"{self.name}\n{indent(text, INDENT)}", INDENT)

    @property
    def is_single(self) -> bool:
        """Whether it has a key of its own, not tables by column or by requirement."""
        return self.kind not in ("models", "weights", "requirements", "input")

    def page(self, folder: str) -> str:
        """Return the explanation for a documentation page; `folder` is the path from that page to the others."""
        return _LINK.sub(rf"[\1]({folder}\2)", self.doc)


def setting(default: Any, section: str, *, doc: str, **more: Any) -> Any:
    """Declare a field of a dataclass as a setting; a default that is callable makes a new value each time.

    Unless given, the type of the option follows from the default. Settings that `shoal init` writes are in every file.
    """
    more.setdefault("always", "init" in more)
    more.setdefault("takes", list if default is dict else _TAKES.get(type(default), str))
    own = Setting(section, " ".join(doc.split()), **more)
    if callable(default):
        return field(default_factory=default, metadata={"setting": own})
    return field(default=default, metadata={"setting": own})


def declared(kind: Any) -> dict[str, Setting]:
    """Return the settings that a dataclass declares, by name."""
    found = {}
    for own in fields(kind):
        said = own.metadata["setting"]
        default = own.default_factory
        if default is dataclasses.MISSING:
            default = _always(own.default)
        found[own.name] = dataclasses.replace(
            said, name=own.name, key=said.key or own.name, default=default
        )
    return found


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


def plain_problems(settings: Any, known: Mapping[str, Setting]) -> dict[str, str]:
    """Return sentences about values that are never allowed, by name."""
    found = {name: own.problem(getattr(settings, name)) for name, own in known.items()}
    return {name: problem for name, problem in found.items() if problem}


def wrong(parameter: str, expected: str, value: Any) -> str:
    return f"The '{parameter}' parameter must be {expected}. Got {shown(value)} instead."


def unknown_keys(where: str, given: Mapping[str, Any], known: Any, problems: list[str]) -> None:
    for key in given:
        if key not in known:
            close = near_miss(str(key), known) or f"; known: {', '.join(known) or 'none'}."
            problems.append(f"Unknown key '{key}' in {where}{close}")


def is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def one_of(*names: str) -> Check:
    *first, last = (f"'{name}'" for name in names)
    return Check(f"{', '.join(first)} or {last}", lambda value: value in names)


SHARE = Check("a share from 0 to below 1", lambda value: is_number(value) and 0 <= value < 1)
FLAG = Check("true or false", lambda value: isinstance(value, bool))
TEXT = Check("text", lambda value: isinstance(value, str))


def _ask(label: str, hint: str = "", **more: Any) -> Question:
    return Question(label, hint, pages=("table",), **more)


def _field(name: str, help: str, ask: Question | None = None, **more: Any) -> Setting:
    return Setting("input", name=name, key=name, help=help, ask=ask, **more)


# How the command line and the app ask for each field of `Input`, whose docstring explains the fields.
_ENCODINGS = ("utf-8", "cp1252", "iso-8859-15", "cp1250", "utf-16")
_DELIMITERS = {
    "": "detect automatically",
    ",": "comma",
    ";": "semicolon",
    "tab": "tab",
    "|": "vertical bar",
}
_FIELDS = (
    _field(
        "encoding",
        "Encoding of the file, such as cp1252 (default: detected, usually UTF-8).",
        _ask("Encoding", "of accented letters", examples=_ENCODINGS),
    ),
    _field(
        "delimiter",
        "Delimiter between columns, such as ';' or tab (default: detected).",
        _ask("Delimiter", choices=_DELIMITERS),
    ),
    _field(
        "decimal",
        "Decimal separator of numbers: '.' or ','.",
        _ask("Decimal separator", choices={"": "point: 1.5", ",": "comma: 1,5"}),
    ),
    _field(
        "date_format",
        "Format of dates, such as %d.%m.%Y, for all columns or for one; repeatable.",
        _ask("Format of dates", examples=("%d.%m.%Y",)),
        kind="formats",
        metavar="[COLUMN:]FORMAT",
        takes=list,
    ),
    _field(
        "missing",
        "Texts that mean \"missing\", such as '?,97,98', for all columns or for one; repeatable.",
        _ask('Texts that mean "missing"', "separated by commas", examples=("?, 99; age: Unknown",)),
        kind="missing",
        metavar="[COLUMN:]TEXTS",
        takes=list,
    ),
    _field("sheet", "Sheet of a workbook (default: the first).", _ask("Sheet of a workbook")),
    _field(
        "types",
        "Type of a column: text, number or date (default: detected), for example region:text; repeatable.",
        kind="types",
        flags=("--type",),
        metavar="COLUMN:TYPE",
        takes=list,
    ),
    _field("table", "Table to read from a database, such as health.patients.", metavar="NAME"),
    _field("query", "SELECT statement to read from a database, instead of --table.", metavar="SQL"),
    _field(
        "header_row",
        "Row number of the column names; rows above it are skipped.",
        _ask("Row with the column names", examples=("1",)),
        metavar="ROW",
        takes=int,
    ),
    _field(
        "header_rows",
        "Number of heading rows to join, the last of which is --header-row (default 1).",
        _ask("Rows of headings to join", "the last is the row with the column names"),
        metavar="ROWS",
        takes=int,
    ),
    _field(
        "skip_rows",
        "Rows below the column names to leave out, such as 2 or 5,7-9; 0 for none.",
        _ask("Row numbers to leave out", "such as units below the column names", examples=("2",)),
        kind="rows",
        metavar="ROWS",
    ),
    _field(
        "skip_last",
        "Number of rows to skip at the end, such as a total.",
        _ask("Rows to skip at the end", "such as a total"),
        metavar="ROWS",
        takes=int,
    ),
    _field(
        "rename",
        "New name of a column, by its old name or its position, such as 3:ward; repeatable.",
        _ask("New names of columns", "old name or position first", examples=("3:ward; Geb.:born",)),
        kind="renamed",
        metavar="OLD:NEW",
        takes=list,
    ),
    _field(
        "trim",
        "Remove spaces at both ends of texts and headings.",
        _ask("Remove spaces at both ends of texts"),
        takes=bool,
    ),
    _field(
        "thousands",
        "Thousands separator of numbers (. , ' or a space), for all columns or for one; repeatable.",
        _ask("Thousands separator", "of one column or of all", examples=("cost:.",)),
        kind="by_column",
        metavar="[COLUMN:]CHARACTER",
        takes=list,
    ),
    _field(
        "merge_spellings",
        "Column in which values that differ only in case or spaces are one value; repeatable.",
        _ask("Columns where case and spaces do not matter", "separated by ;", examples=("answer",)),
        kind="names",
        metavar="COLUMN",
        takes=list,
    ),
    _field(
        "points",
        "Latitude and longitude to join into one column, such as place:latitude,longitude; repeatable.",
        _ask("Latitude and longitude as one column", examples=("place: latitude, longitude",)),
        kind="missing",
        flags=("--point",),
        metavar="NEW:LATITUDE,LONGITUDE",
        takes=list,
    ),
)
READING = {own.name: own for own in _FIELDS}


def read_input(given: Any, problems: list[str]) -> Input:
    """Return an `Input` from one, or from a mapping of its fields; the values are checked when a file is read."""
    if not isinstance(given, Input | Mapping):
        problems.append(
            f"The 'reading' parameter must be a dict like {{'encoding': 'cp1252'}}. Got {shown(given)} instead."
        )
        return Input()
    known = [field.name for field in fields(Input)]
    entries: dict[str, Any] = dict(given) if isinstance(given, Mapping) else dict(vars(given))
    unknown_keys("[input]", entries, known, problems)
    entries = {
        name: value for name, value in entries.items() if name in known and value is not None
    }
    found: dict[str, Any] = {
        name: reader(name, entries.pop(name), problems)
        for name, reader in _READ_INPUT.items()
        if name in entries
    }
    for name, value in entries.items():
        if not isinstance(value, str) or not value:
            problems.append(f"'{name}' in [input] must be text. Got {shown(value)} instead.")
    texts: dict[str, Any] = {n: v for n, v in entries.items() if isinstance(v, str) and v}
    return Input(**texts, **found)


def _missing(_: str, given: Any, problems: list[str]) -> Any:
    """Read texts that mean "missing": a list, or a list for each of some columns."""
    if isinstance(given, Mapping):
        lists = {name: [own] if isinstance(own, str) else own for name, own in given.items()}
        if all(_are_texts(own) for own in lists.values()):
            return {name: tuple(own) for name, own in lists.items()}
    given = [given] if isinstance(given, str) else given
    if _are_texts(given):
        return tuple(given)
    problems.append(
        "'missing' in [input] must be a list of texts, like ['?', '99'], or a list for each of some columns, "
        "like {'age': ['99']}."
    )
    return ()


def _are_texts(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(item, str) for item in given)


def _types(_: str, given: Any, problems: list[str]) -> dict[str, str]:
    if isinstance(given, Mapping) and all(kind in TYPES for kind in given.values()):
        return dict(given)
    problems.append(
        f"'types' in [input] must be {', '.join(TYPES[:-1])} or {TYPES[-1]} for each of some columns, like "
        "{'region': 'text'} (--type region:text)."
    )
    return {}


def _date_format(_: str, given: Any, problems: list[str]) -> Any:
    """Read a format of dates, or one for each of some columns."""
    formats = list(given.values()) if isinstance(given, Mapping) else [given]
    if all(isinstance(own, str) and own for own in formats):
        return dict(given) if isinstance(given, Mapping) else given
    problems.append(
        "'date_format' in [input] must be text, like '%d.%m.%Y', or a text for each of some columns, like "
        f"{{'born': '%d.%m.%Y'}}. Got {shown(given)} instead."
    )
    return None


def _rows(name: str, given: Any, problems: list[str]) -> int | None:
    least = 0 if name == "skip_last" else 1
    if is_whole(given, least):
        return int(given)
    problems.append(
        f"'{name}' in [input] must be a whole number of at least {least}. Got {shown(given)} instead."
    )
    return 1 if name == "header_rows" else None


def _row_numbers(name: str, given: Any, problems: list[str]) -> tuple[int, ...] | None:
    """Read the numbers of rows: a list, or a text like 5,7-9."""
    found = read_row_numbers(given) if isinstance(given, str) else None
    if isinstance(given, list | tuple) and len(given) <= MOST_ROWS:
        is_plain = all(is_whole(row, 1) for row in given)
        found = tuple(sorted(set(given))) if is_plain else None
    if found is None:
        problems.append(
            f"'{name}' in [input] must be a list of at most {MOST_ROWS:,} row numbers, like [2, 5] (--skip-rows 2,5)."
        )
    return found


def _renamed(name: str, given: Any, problems: list[str]) -> dict[str, str]:
    """Read new names by old names or positions."""
    names = {str(old): new for old, new in given.items()} if isinstance(given, Mapping) else {}
    if names and all(old and isinstance(new, str) and new.strip() for old, new in names.items()):
        return names
    if not isinstance(given, Mapping) or names:
        problems.append(
            f"'{name}' in [input] must give new names by old names or positions, like {{'3': 'ward'}} (--rename "
            "3:ward)."
        )
    return {}


def _thousands(name: str, given: Any, problems: list[str]) -> Any:
    """Read a thousands separator, or one for each of some columns."""
    signs = list(given.values()) if isinstance(given, Mapping) else [given]
    if all(isinstance(sign, str) and sign in THOUSANDS for sign in signs):
        return dict(given) if isinstance(given, Mapping) else given
    problems.append(
        f"'{name}' in [input] must be one of . , ' or a space, for all columns or for each of some, like "
        "{'cost': '.'} (--thousands cost:.)."
    )
    return None


def _flag(name: str, given: Any, problems: list[str]) -> bool:
    if isinstance(given, bool):
        return given
    problems.append(f"'{name}' in [input] must be true or false. Got {shown(given)} instead.")
    return False


def _column_names(name: str, given: Any, problems: list[str]) -> tuple[str, ...]:
    if _are_texts(given):
        return tuple(dict.fromkeys(given))
    problems.append(f"'{name}' in [input] must be a list of column names, like ['answer'].")
    return ()


def _points(name: str, given: Any, problems: list[str]) -> dict[str, tuple[str, ...]]:
    """Read pairs of columns by the name of the column that they become."""
    if isinstance(given, Mapping) and all(
        _are_texts(pair) and len(set(pair)) == len(pair) == 2 for pair in given.values()
    ):
        return {str(new): tuple(pair) for new, pair in given.items()}
    problems.append(
        f"'{name}' in [input] must be two columns by the name of a new one, like {{'place': ['latitude', "
        "'longitude']} (--point place:latitude,longitude)."
    )
    return {}


# Readers of the fields of `Input` that are not texts.
_READ_INPUT: dict[str, Callable[[str, Any, list[str]], Any]] = {
    "missing": _missing,
    "types": _types,
    "date_format": _date_format,
    "header_row": _rows,
    "header_rows": _rows,
    "skip_rows": _row_numbers,
    "skip_last": _rows,
    "rename": _renamed,
    "trim": _flag,
    "thousands": _thousands,
    "merge_spellings": _column_names,
    "points": _points,
}
