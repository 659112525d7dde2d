"""Files that a command writes: none may replace what the command reads, and all are checked before the work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def engine_of(table: Path, engine: str | None, memory: str | None, problems: list[str]) -> str:
    """The engine that a table is worked on with; what is wrong with it is added to `problems`."""
    from shoal.engines.memory import read_memory
    from shoal.engines.opening import engine_for
    from shoal.errors import InputError

    amount = memory
    try:
        read_memory(memory)
    except InputError as error:
        problems += error.problems
        amount = None
    try:
        return engine_for(table, engine, amount)
    except InputError as error:
        problems += error.problems
    return "memory"


def place_problems(
    path: Path | None,
    inputs: Iterable[Path | None],
    overwrite: bool,
    is_table: bool = False,
    may_be_folder: bool = False,
) -> list[str]:
    """Sentences for why a file cannot be written; what is read is never replaced."""
    from shoal import io

    if path is None:
        return []
    if may_be_folder and not path.suffix:
        return lost(path, inputs)
    check = io.output_problems if is_table else io.place_problems
    return lost(path, inputs) or check(path, overwrite)


def lost(path: Path, inputs: Iterable[Path | None]) -> list[str]:
    """A sentence if a file is both read and to be written."""
    if _real(path) not in {_real(given) for given in inputs if given}:
        return []
    return [f"'{path}' is read by this command and would be lost; name another file to write."]


def named_twice(*outputs: Path | None) -> list[str]:
    """Sentences for files that are named for two outputs."""
    names = [_real(path) for path in outputs if path]
    return [
        f"'{path}' is named for two outputs; name two files."
        for path in dict.fromkeys(path for path in outputs if path)
        if names.count(_real(path)) > 1
    ]


def files_read(settings: Any) -> list[Path]:
    """The files that settings name: hierarchies of quasi-identifiers and requirements, and that of the key."""
    trees: Sequence[Any] = [
        *settings.quasi_identifiers.values(),
        *(getattr(item, "hierarchy", None) for item in settings.requirements),
    ]
    sources = [*(getattr(tree, "source", None) for tree in trees), settings.key_file]
    return [Path(source) for source in sources if source]


def _real(path: Path) -> str:
    import os

    return os.path.realpath(path)
