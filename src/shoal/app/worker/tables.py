"""The table of a project, read once and kept open, and its hierarchies: built, uploaded or written as an outline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.app.projects import Project
from shoal.data.open import open_table
from shoal.encoding.frames import arrow_values
from shoal.encoding.models import Hierarchy
from shoal.encoding.models.base import labels_of
from shoal.encoding.source import Input, Source
from shoal.errors import InputError
from shoal.settings.declaration import read_input

_KEPT: dict[str, Any] = {}  # the most recent table: its key and its source


def path_of(project: str) -> Path:
    return Project(Path(project)).table


def input_of(project: str) -> Input:
    return read_input(Project(Path(project)).settings.get("input", {}), problems=[])


def open_project(project: str, how: Input | None = None) -> Source:
    """The table of a project. The types that the user set matter later, not for reading."""
    path, how = path_of(project), replace(how or input_of(project), types={})
    stat = path.stat() if path.exists() else None
    key = (str(path), how, stat and (stat.st_mtime_ns, stat.st_size))
    if _KEPT.get("key") != key:
        _KEPT.clear()
        _KEPT.update(source=open_table(path, how), key=key)
    source: Source = _KEPT["source"]
    return source


def column_of(source: Source, name: str, how: Input) -> pa.ChunkedArray:
    """One column as Arrow, with null for texts that mean a missing value."""
    values, missing = arrow_values(source.data, name), how.missing_in(name)
    if not missing:
        return values
    encoded = values.combine_chunks().dictionary_encode()
    is_missing = pa.array([label in missing for label in labels_of(encoded.dictionary)], pa.bool_())
    nothing = pa.scalar(None, encoded.dictionary.type)
    known = pc.if_else(is_missing, nothing, encoded.dictionary)
    return pa.chunked_array([known.take(encoded.indices)])


def codes_of(
    source: Source, columns: Sequence[str], how: Input
) -> dict[str, npt.NDArray[np.int64]]:
    """A code for each record's value in some columns, −1 if it is missing."""
    found = {}
    for name in columns:
        encoded = column_of(source, name, how).combine_chunks().dictionary_encode()
        found[name] = np.asarray(encoded.indices.fill_null(-1)).astype(np.int64)
    return found


INDENT = "  "
MOST_LINES = 5_000  # of an outline; larger trees are edited as a file


def build_hierarchy(
    answer: Any, project: str, column: str, target: str, how: str
) -> dict[str, Any]:
    """Build a hierarchy from the column's own values and write it."""
    how_read = input_of(project)
    source = open_project(project, how_read)
    values = column_of(source, column, how_read)
    makers = {
        "numbers": lambda: Hierarchy.from_numbers(values),
        "dates": lambda: Hierarchy.from_dates(values),
        "codes": lambda: Hierarchy.from_codes(values),
        "data": lambda: Hierarchy.from_data(
            source.data.to_native(), column, by=_others(project, column)
        ),
    }
    if how not in makers:
        raise InputError(
            f"A hierarchy cannot be built from '{how}'. Choose one of {', '.join(makers)}."
        )
    makers[how]().save(Path(project) / target, overwrite=True)
    return tree(answer, project, column, target)


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
    return tree(answer, project, column, target)


def tree(answer: Any, project: str, column: str, target: str) -> dict[str, Any]:
    """A hierarchy and how it fits its column: the check, each level, and the outline to edit."""
    found = Hierarchy.from_csv(Path(project) / target)
    how_read = input_of(project)
    values = column_of(open_project(project, how_read), column, how_read)
    outline, check = outline_of(found), found.check(values)
    return {
        "preview": found.preview(values).to_dict(),
        "check": str(check),
        "fits": check.missing_values == 0,
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
