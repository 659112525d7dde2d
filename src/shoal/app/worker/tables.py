"""The table of a project, read once and kept open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.app.projects import Project
from shoal.data.open import open_table
from shoal.encoding.frames import arrow_values
from shoal.encoding.models.base import labels_of
from shoal.encoding.source import Input, Source
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
