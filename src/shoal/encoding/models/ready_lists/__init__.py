"""The data of ready-made hierarchies, made by tools/make_ready_lists.py; the head of each file names its source."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

Rows = tuple[tuple[str, ...], ...]


@cache
def rows_of(name: str) -> Rows:
    """The lines of a list, without the comments at its head."""
    text = files(__name__).joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    return tuple(tuple(line.split("\t")) for line in text.splitlines() if not line.startswith("#"))
