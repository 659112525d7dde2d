"""Suggestions as a settings file that a person reads and corrects, and as a plain table."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.encoding.source import Input
from shoal.errors import counted, listed
from shoal.report.formats import percent
from shoal.settings.settings import SETTINGS
from shoal.settings.toml import written
from shoal.suggestions.findings import DROP, IDENTIFIER, KEEP, QUASI, SENSITIVE
from shoal.suggestions.meaning import names_with_batteries

if TYPE_CHECKING:
    from shoal.suggestions.suggest import ColumnSuggestion, Suggestions


LONGEST = 30  # characters of a name


def suggestions_text(suggestions: Suggestions) -> str:
    """All columns, one per line, then what the quasi-identifiers identify, then remarks."""
    rows = [("column", "role", "model", "values", "why")]
    for column in suggestions.columns:
        role = column.role + ("" if column.is_sure else " ?")
        values, why = f"{column.values:,}", reason_line(column)
        rows.append((shortened(column.name), role, column.model or "", values, why))
    widths = [*(max(len(row[place]) for row in rows) for place in range(4)), 0]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        for row in rows
    ]
    lines += singled_lines(suggestions)
    return "\n".join([*lines, *suggestions.remarks, *list_lines(suggestions)])


def short_lists(suggestions: Suggestions) -> dict[str, list[str]]:
    """Columns to check, by title: left out as unknown, unsure, and removed.

    Similar columns that were decided together are one entry.
    """
    unknown = suggestions.unknown
    unsure = [name for name in suggestions.unsure if name not in unknown]
    labels = {column.name: column.battery for column in suggestions.columns}
    lists = {
        "Left out, meaning unknown": unknown,
        "Unsure": unsure,
        "Removed as identifiers": suggestions.of(IDENTIFIER),
    }
    return {title: names_with_batteries(names, labels) for title, names in lists.items() if names}


def list_lines(suggestions: Suggestions) -> list[str]:
    """The short lists, a line each."""
    return [
        f"{title}: {one_line(listed(names))}" for title, names in short_lists(suggestions).items()
    ]


def reason_line(column: ColumnSuggestion) -> str:
    """The reason in one line, with the shape of values and doubts."""
    parts = [column.reason]
    if column.shapes:
        parts.append(" or ".join(column.shapes))
    if column.missing:
        parts.append("missing: " + " ".join(text or '""' for text in column.missing))
    if column.maybe_missing:
        parts.append("perhaps missing: " + " ".join(column.maybe_missing))
    return one_line("; ".join([*parts, *column.doubts]))


def singled_lines(suggestions: Suggestions) -> list[str]:
    """How many records quasi-identifiers identify, added one by one."""
    if not suggestions.together:
        return []
    steps = suggestions.together
    all_found = next((n for n, step in enumerate(steps, 1) if step.unique == 1), len(steps))
    names = [shortened(step.columns[-1]) for step in steps[:all_found]]
    width = max(map(len, names)) + 2
    lines = [
        "Share of records that nobody else matches, when the quasi-identifiers are added one by one:"
    ]
    for number, name in enumerate(names):
        shown = ("+ " if number else "  ") + name
        lines.append(f"  {shown.ljust(width)}  {percent(steps[number].unique)}")
    if all_found < len(steps):
        rest = ", ".join(shortened(step.columns[-1]) for step in steps[all_found:])
        add = "adds" if all_found == len(steps) - 1 else "add"
        lines.append(f"  Every record is already unique; {rest} {add} nothing.")
    if suggestions.compared < suggestions.records:
        lines.append(
            f"  (chosen and ordered on a sample of {suggestions.compared:,} of "
            f"{counted(suggestions.records, 'record')})"
        )
    return lines


def shortened(name: str) -> str:
    """A name that fits into a line."""
    plain = one_line(name)
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


def one_line(text: str) -> str:
    """A text without characters that would break a line or a terminal."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)


MANY = 4  # columns with the same reason that share a comment
WIDEST = 32  # characters of a name before the comments of all move
LINE = 90  # characters of names in a line

_HEADER = """\
# Settings for {title}, suggested from its column names and values. Check every line, because
# the table cannot show what outsiders know. Start with the lines marked UNSURE. Each reason ends
# with what the values look like: 9 means a digit, A and a mean letters.
"""
_DIVERSITY = """\

# Without this, all records of a group may have the same sensitive value; see `shoal requirements`.
# [[requirement.diversity]]
# l = 2  # no sensitive value has more than 1/l of a group's records
# kind = "frequency"  # or distinct, entropy, recursive (then also c)
# columns = ["COLUMN"]  # by default all sensitive columns
"""
_LISTS = {"identifiers": IDENTIFIER, "sensitive": SENSITIVE, "keep": KEEP}  # settings and roles


def suggested_settings_text(suggestions: Suggestions, title: str) -> str:
    """The whole file."""
    columns = "".join(_list(suggestions, key, role) for key, role in _LISTS.items())
    return "".join(
        [
            _HEADER.format(title=one_line(title)),
            _comments(suggestions.remarks),
            f"\n[columns]\n{_person(suggestions)}{columns}{_others(suggestions)}\n",
            _coarsened(suggestions),
            _comments(singled_lines(suggestions)),
            _quasi_identifiers(suggestions),
            _section("requirement", k=suggestions.k),
            _DIVERSITY,
            *(_section(name) for name in ("objective", "method", "output")),
            _input(suggestions),
        ]
    )


def _with(suggestions: Suggestions, role: str) -> list[ColumnSuggestion]:
    return [column for column in suggestions.columns if column.role == role]


def _section(section: str, **given: Any) -> str:
    """A section with the settings that everyone should check, at their defaults or as given."""
    lines = [f"\n[{section}]"]
    for name, own in SETTINGS.items():
        if own.section == section and own.init is not None:
            comment = f"  # {own.init}" if own.init else ""
            lines.append(f"{own.key} = {toml_value(given.get(name, written(own)))}{comment}")
    return "\n".join([*lines, ""])


def _list(suggestions: Suggestions, key: str, role: str) -> str:
    columns, meaning = _with(suggestions, role), SETTINGS[key].init
    if not columns:
        return f"{key} = []  # {meaning}\n"
    return "\n".join([f"{key} = [  # {meaning}", *_listed(columns), "]\n"])


def _person(suggestions: Suggestions) -> str:
    if suggestions.person is None:
        return ""
    return f"person = {toml_name(suggestions.person)}  # k counts people, who have several records each\n"


def _others(suggestions: Suggestions) -> str:
    dropped = _with(suggestions, DROP)
    if not dropped:
        return 'others = "refuse"  # a table with columns not listed here is refused; or "drop" or "keep" them\n'
    return "\n".join(
        [
            'others = "drop"  # columns not listed here are not released; "refuse" stops at new ones',
            "# Not released. To release one, list it above; if others may know it, make it a quasi-identifier:",
            *(f"# {line}" for line in _listed(dropped)),
            "",
        ]
    )


def _listed(columns: Sequence[ColumnSuggestion]) -> list[str]:
    """Names with their reasons; many columns with the same reason share it."""
    by_reason: dict[str, list[str]] = {}
    for column in columns:
        by_reason.setdefault(_why(column), []).append(f"{toml_name(column.name)},")
    few = [
        (f"{toml_name(column.name)},", reason)
        for column in columns
        if len(by_reason[reason := _why(column)]) < MANY
    ]
    width = min(WIDEST, max((len(name) for name, _ in few), default=0))
    lines = [f"  {name.ljust(width)}  # {reason}" for name, reason in few]
    for reason, names in by_reason.items():
        if len(names) >= MANY:
            lines.append(f"  # these {len(names)}: {reason}")
            lines += [f"  {line}" for line in _wrapped(names)]
    return lines


def _wrapped(names: Sequence[str]) -> list[str]:
    """Names in lines of usual length; a name is never cut."""
    lines = [""]
    for name in names:
        if lines[-1] and len(lines[-1]) + len(name) > LINE:
            lines.append("")
        lines[-1] += f" {name}" if lines[-1] else name
    return lines


def _quasi_identifiers(suggestions: Suggestions) -> str:
    columns = _with(suggestions, QUASI)
    if not columns:
        return "# No quasi-identifier was found. Name at least one: [quasi_identifiers.COLUMN]\n"
    return "\n".join(
        f"[quasi_identifiers.{toml_name(column.name)}]  # {counted(column.values, 'value')}; "
        f"{_why(column)}\n{_model(column)}"
        for column in columns
    )


def _coarsened(suggestions: Suggestions) -> str:
    """Sensitive and kept columns that have a model, which coarsens them in all records."""
    lines = [
        f"{toml_name(column.name)} = {toml_value({'model': column.model, **column.options})}  # {column.model_reason}\n"
        for column in suggestions.columns
        if column.role in (SENSITIVE, KEEP) and column.model
    ]
    return f"[columns.coarsen]  # coarser in all records\n{''.join(lines)}\n" if lines else ""


def _model(column: ColumnSuggestion) -> str:
    options = "".join(f"\n{key} = {toml_value(value)}" for key, value in column.options.items())
    return f'model = "{column.model}"{options}  # {column.model_reason}\n'


def _why(column: ColumnSuggestion) -> str:
    unsure = not column.is_sure or column.doubts
    return f"UNSURE: {reason_line(column)}" if unsure else reason_line(column)


def _comments(lines: Sequence[str]) -> str:
    return "".join(f"# {one_line(line)}\n" for line in lines)


def _input(suggestions: Suggestions) -> str:
    """How the file is read, as far as it is not as usual, with what was found."""
    given, usual = vars(suggestions.reading), vars(Input())
    said = {name: value for name, value in given.items() if value not in (None, usual[name])}
    if not said:
        return ""
    why = {name: f"  # {one_line(text)}" for name, text in suggestions.detected.items()}
    long = {n: v for n, v in said.items() if isinstance(v, Mapping) and len(v) > MANY}
    plain = [
        f"{name} = {toml_value(value)}{why.get(name, '')}\n"
        for name, value in said.items()
        if name not in long
    ]
    tables = [
        f"\n[input.{name}]{why.get(name, '')}\n"
        + "".join(f"{_key(key)} = {toml_value(v)}\n" for key, v in value.items())
        for name, value in long.items()
    ]
    return "".join(["\n[input]\n", *plain, *tables])


def toml_value(value: Any) -> str:
    """A text, or a list or table of texts, as TOML."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        return (
            f"{{ {', '.join(f'{_key(key)} = {toml_value(item)}' for key, item in value.items())} }}"
        )
    return toml_name(value) if isinstance(value, str) else json.dumps(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_name(name)


def toml_name(name: str) -> str:
    """A name as TOML: like JSON, which leaves DEL as it is."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
