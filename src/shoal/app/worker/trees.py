"""The hierarchy of a column: made from its values or from a ready-made one, and edited as an outline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.app.projects import Project
from shoal.app.worker.charts import LEAST
from shoal.app.worker.tables import column_of, input_of, open_project
from shoal.data.open import open_table
from shoal.encoding.forms.base import STAR
from shoal.encoding.models import Hierarchy
from shoal.encoding.models.base import counted_values
from shoal.encoding.models.ready import READY
from shoal.errors import InputError

INDENT = "  "
MOST_LINES = 5_000  # of an outline; larger trees are edited as a file


def build_hierarchy(
    answer: Any, project: str, column: str, target: str, how: str
) -> dict[str, Any]:
    """Build a hierarchy from the column's own values, or from a ready-made one, and write it."""
    how_read = input_of(project)
    source = open_project(project, how_read)
    values = column_of(source, column, how_read)
    makers: dict[str, Callable[[], Hierarchy]] = {
        "values": lambda: Hierarchy.from_rows([one, STAR] for one in counted_values(values).labels),
        "numbers": lambda: Hierarchy.from_numbers(values),
        "dates": lambda: Hierarchy.from_dates(values),
        "codes": lambda: Hierarchy.from_codes(values),
        "data": lambda: Hierarchy.from_data(
            source.data.to_native(), column, by=_others(project, column)
        ),
        **{which: partial(_from_ready, column, which, values) for which in READY},
    }
    if how not in makers:
        raise InputError(
            f"A hierarchy cannot be built from '{how}'. Choose one of {', '.join(makers)}."
        )
    makers[how]().save(Path(project) / target, overwrite=True)
    return _described(project, column, target)


def _from_ready(column: str, which: str, values: pa.ChunkedArray) -> Hierarchy:
    """The part of a ready-made hierarchy that a column needs; values that it lacks are right below the root."""
    known = READY[which]
    found = {label: known.labels(label) for label in counted_values(values).labels}
    if not any(found.values()):
        raise InputError(
            f"None of the values of column '{column}' is in the ready-made hierarchy '{which}' ({known.values}). "
            "Build the tree from something else."
        )
    nothing = (None,) * len(known.levels)
    rows = [[label, *(above or nothing), STAR] for label, above in found.items()]
    return Hierarchy.from_rows([label or row[0] for label in row] for row in rows)


def _others(project: str, column: str) -> list[str] | None:
    """Columns by which the categories of one column are compared: all other quasi-identifiers and sensitive columns."""
    settings = Project(Path(project)).settings
    columns = settings.get("columns", {})
    names = [*settings.get("quasi_identifiers", {}), *columns.get("sensitive", [])]
    return [name for name in names if name != column] or None


def write_outline(
    answer: Any, project: str, column: str, target: str, outline: str
) -> dict[str, Any]:
    Hierarchy.from_dict(read_outline(outline)).save(Path(project) / target, overwrite=True)
    return _described(project, column, target)


def tree(answer: Any, project: str, column: str, target: str) -> dict[str, Any]:
    """A hierarchy and how it fits its column: the check, each level, and the outline to edit.

    The outline has every value of the column, also in the waiting file of a new month: those that the hierarchy lacks,
    `added`, are at its end, right below the root. `counts` has the records of each value, −1 if they are fewer than
    ten.
    """
    return _described(project, column, target, _waiting_values(project, column))


def _waiting_values(project: str, column: str) -> Sequence[str]:
    """The values of a column in the file of a new month that waits to be used."""
    waiting, how = Project(Path(project)).waiting, input_of(project)
    if waiting:
        with suppress(InputError):  # which the page of the new month reports
            source = open_table(waiting["table"], replace(how, types={}))
            if column in source.data.columns:
                return counted_values(column_of(source, column, how)).labels
    return ()


def _described(project: str, column: str, target: str, more: Sequence[str] = ()) -> dict[str, Any]:
    found = Hierarchy.from_csv(Path(project) / target)
    how_read = input_of(project)
    values = counted_values(column_of(open_project(project, how_read), column, how_read))
    counts = dict.fromkeys(found.leaves, 0)
    for label, count in zip(values.labels, values.counts, strict=True):
        name = label if label in counts else label.strip()
        counts[name] = counts.get(name, 0) + count
    fits = len(counts) == len(found.leaves)
    for label in more:
        if label not in counts:
            counts.setdefault(label.strip(), 0)
    added = list(counts)[len(found.leaves) :]
    outline = outline_of(found) + "".join(f"{INDENT}{label}\n" for label in added)
    return {
        "preview": found.preview(values).to_dict(),
        "check": str(found.check(values)),
        "fits": fits,
        "is_foreign": not any(counts[leaf] for leaf in found.leaves),
        "added": added,
        "counts": {label: -1 if 0 < count < LEAST else count for label, count in counts.items()},
        "outline": outline if outline.count("\n") < MOST_LINES else None,
    }


def outline_of(found: Hierarchy) -> str:
    """A hierarchy as indented lines, root first."""
    whole: dict[str, Any] = {}
    for row in found.rows():
        below = whole
        for label, _ in groupby(reversed(row)):  # a value is repeated in the levels it skips
            below = below.setdefault(label, {})
    return "".join(_indented(whole, ""))


def _indented(below: dict[str, Any], indent: str) -> Iterator[str]:
    for label, deeper in below.items():
        yield f"{indent}{label}\n"
        yield from _indented(deeper, indent + INDENT)


def read_outline(outline: str) -> dict[str, Any]:
    """Nested dicts from indented lines; a line with none below it is a value."""
    whole: dict[str, Any] = {}
    above: list[tuple[int, dict[str, Any]]] = [(-1, whole)]
    problems = []
    for number, line in enumerate(outline.expandtabs(2).splitlines(), start=1):
        label = line.strip()
        if not label:
            continue
        depth = len(line) - len(line.lstrip())
        while above[-1][0] >= depth:
            above.pop()
        if label in above[-1][1]:
            problems.append(
                f"Line {number} of the outline repeats another line of its branch. Remove one of them."
            )
        below: dict[str, Any] = {}
        above[-1][1][label] = below
        above.append((depth, below))
    if len(whole) != 1:
        problems.append(
            "The outline must start with one line for everything, like *. Indent all other lines below it."
        )
    if problems:
        raise InputError(problems)
    return {label: _closed(below) for label, below in whole.items()}


def _closed(below: dict[str, Any]) -> Any:
    return {label: _closed(deeper) for label, deeper in below.items()} if below else None
