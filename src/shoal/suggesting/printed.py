"""Suggestions as a plain table for people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shoal.errors import listed
from shoal.suggesting.batteries import in_short
from shoal.suggesting.verdicts import IDENTIFIER, percent

if TYPE_CHECKING:
    from shoal.suggesting.suggestions import ColumnSuggestion, Suggestions

LONGEST = 30  # characters of a name


def printed(suggestions: Suggestions) -> str:
    """All columns, one per line, then what the quasi-identifiers single out, then remarks."""
    rows = [("column", "role", "model", "values", "why")]
    for column in suggestions.columns:
        rows.append(
            (
                shortened(column.name),
                column.role + ("" if column.is_sure else " ?"),
                column.model or "",
                f"{column.values:,}",
                why(column),
            )
        )
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    lines = [
        "  ".join(
            [*(text.ljust(width) for text, width in zip(row[:4], widths, strict=True)), row[4]]
        )
        for row in rows
    ]
    lines += singled_lines(suggestions)
    return "\n".join([*lines, *suggestions.remarks, *list_lines(suggestions)])


def short_lists(suggestions: Suggestions) -> dict[str, list[str]]:
    """What to look at in the end, by title: columns left out as unknown, unsure ones, and removed ones.

    Similar columns that were decided together are one entry.
    """
    unknown = suggestions.unknown
    unsure = [name for name in suggestions.unsure if name not in unknown]
    labels = {column.name: column.battery for column in suggestions.columns}
    lists = {
        "Left out, meaning unknown": unknown,
        "Unsure": unsure,
        "Removed, identifiers": suggestions.of(IDENTIFIER),
    }
    return {title: in_short(names, labels) for title, names in lists.items() if names}


def list_lines(suggestions: Suggestions) -> list[str]:
    """The short lists, a line each."""
    return [
        f"{title}: {one_line(listed(names))}" for title, names in short_lists(suggestions).items()
    ]


def why(column: ColumnSuggestion) -> str:
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
    """How many records quasi-identifiers single out, added one by one."""
    if not suggestions.together:
        return []
    steps = suggestions.together
    all_found = next((n for n, step in enumerate(steps, 1) if step.unique == 1), len(steps))
    names = [shortened(step.columns[-1]) for step in steps[:all_found]]
    width = max(map(len, names)) + 2
    lines = ["Records singled out by quasi-identifiers, added one by one:"]
    for number, name in enumerate(names):
        shown = ("+ " if number else "  ") + name
        lines.append(f"  {shown.ljust(width)}  {percent(steps[number].unique)}")
    if all_found < len(steps):
        rest = ", ".join(shortened(step.columns[-1]) for step in steps[all_found:])
        add = "adds" if all_found == len(steps) - 1 else "add"
        lines.append(f"  every record is already unique; {rest} {add} nothing")
    if suggestions.compared < suggestions.records:
        lines.append(
            f"  (chosen and ordered on a sample of {suggestions.compared:,} of {suggestions.records:,} records)"
        )
    return lines


def shortened(name: str) -> str:
    """A name that fits into a line."""
    plain = one_line(name)
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


def one_line(text: str) -> str:
    """A text without signs that would break a line or a terminal."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)
