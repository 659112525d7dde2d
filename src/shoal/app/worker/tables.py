"""The table of a project, read once and kept while the same file is asked for in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.app.files import read_toml_file
from shoal.generalization.models import labels_of
from shoal.opening import open_table
from shoal.settings.reading import read_input
from shoal.table.frames import arrow_values
from shoal.table.source import Input, Source

_KEPT: dict[str, Any] = {}  # the last table: its key and its source


def path_of(project: str) -> Path:
    """Where the table of a project lies."""
    return Path(read_toml_file(Path(project) / "project.toml")["table"])


def input_of(project: str) -> Input:
    """How the table of a project is read."""
    settings = Path(project) / "settings.toml"
    given = read_toml_file(settings).get("input", {}) if settings.exists() else {}
    problems: list[str] = []
    return read_input(given, problems)


def open_project(project: str, how: Input | None = None) -> Source:
    """The table of a project; what its columns are said to hold counts later, not for reading."""
    path, how = path_of(project), replace(how or input_of(project), types={})
    stat = path.stat() if path.exists() else None
    key = (str(path), how, stat and (stat.st_mtime_ns, stat.st_size))
    if _KEPT.get("key") != key:
        _KEPT.clear()
        _KEPT.update(source=open_table(path, how), key=key)
    source: Source = _KEPT["source"]
    return source


def column_of(source: Source, name: str, how: Input) -> pa.ChunkedArray:
    """One column as Arrow, null where it holds a text that stands for a missing value."""
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
    """A number for each record's value in some columns, −1 where it is missing."""
    found = {}
    for name in columns:
        encoded = column_of(source, name, how).combine_chunks().dictionary_encode()
        found[name] = np.asarray(encoded.indices.fill_null(-1)).astype(np.int64)
    return found
