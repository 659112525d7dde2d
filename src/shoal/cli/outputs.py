"""The files that a command writes: checked before the work, and never a file that the command reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.cli.arguments import Place


def chosen_table(table: Place, settings: Any, reading: Any, problems: list[str]) -> Place:
    """The table that is meant: of a database the one that the options or else the settings name."""
    from shoal.data.databases import DatabaseTable

    if isinstance(table, DatabaseTable):
        named = (reading.get("table"), reading.get("query"))
        if settings is not None:
            named = (settings.reading.table, settings.reading.query)
        found = DatabaseTable(table.address, *named)
        problems += found.problems()
        return found
    if "table" in reading:
        problems.append(
            "--table and --query are about databases, and this table is a file; leave them out."
        )
    return table


def target_table(output: Place | None, name: str | None, problems: list[str]) -> Place | None:
    """The table of a database that is meant to be written; any other output as it is."""
    from shoal.data.databases import DatabaseTable

    if isinstance(output, DatabaseTable):
        return DatabaseTable(output.address, name)
    if name is not None:
        problems.append(
            "--output-table is about databases, and the output is none; name a database with -o."
        )
    return output


def engine_of(table: Place, engine: str | None, memory: str | None, problems: list[str]) -> str:
    """The engine that a table is worked on with; what is wrong with it is added to `problems`."""
    from shoal.data.engines.base import read_memory
    from shoal.data.open import engine_for

    amount = memory
    try:
        if memory is not None:
            read_memory(memory)
    except InputError as error:
        problems += error.problems
        amount = None
    if not isinstance(table, Path) and table.problems():  # which stand elsewhere
        return "memory"
    try:
        return engine_for(table, engine, amount)
    except InputError as error:
        problems += error.problems
    return "memory"


def output_place_problems(
    path: Place | None,
    inputs: Iterable[Place | None],
    overwrite: bool,
    is_table: bool = False,
    may_be_folder: bool = False,
    if_exists: str | None = None,
    source: Place | None = None,
) -> list[str]:
    """Sentences for why a file or a table of a database cannot be written; what is read is never replaced."""
    from shoal.data.databases import DatabaseTable, target_problems
    from shoal.data.files import formats

    if isinstance(path, DatabaseTable):
        return target_problems(path, if_exists or "fail", read=_tables_read(source))
    found = []
    if if_exists is not None:
        found.append("--if-exists is about databases, and the output is none; pass --overwrite.")
    if path is None:
        return found
    if may_be_folder and not path.suffix:
        return found + overwrite_problems(path, inputs)
    check = formats.output_problems if is_table else formats.path_problems
    return found + (overwrite_problems(path, inputs) or check(path, overwrite))


def _tables_read(source: Place | None) -> Any:
    """The tables of a database that are read for a source; what keeps them from being read is said elsewhere."""
    from shoal.data.databases import DatabaseTable, relations_of

    if not isinstance(source, DatabaseTable) or source.problems():
        return frozenset()
    try:
        return relations_of(source)
    except InputError:
        return frozenset()


def overwrite_problems(path: Place, inputs: Iterable[Place | None]) -> list[str]:
    """A sentence if a file is both read and to be written; of databases, single tables are looked at elsewhere."""
    if not isinstance(path, Path) or _real(path) not in {_real(given) for given in inputs if given}:
        return []
    return [f"'{path}' is read by this command and would be lost; name another file to write."]


def named_twice(*outputs: Place | None) -> list[str]:
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


def _real(place: Place) -> str:
    """What a path leads to; the file of a database, or its address."""
    import os

    if isinstance(place, Path):
        return os.path.realpath(place)
    try:
        database = place.database
    except InputError:  # said elsewhere
        return ""
    return database.identity
