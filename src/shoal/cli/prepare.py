"""The commands that prepare a first run: `shoal init`, `shoal compile` and `shoal doctor`."""

from __future__ import annotations

import json
import platform
import shlex
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli import arguments as a
from shoal.cli import check_stop, outputs, say
from shoal.cli.arguments import Place
from shoal.cli.gathering import gathers, reading_given
from shoal.cli.show import progress_bar
from shoal.data.databases import DatabaseTable, without_password
from shoal.errors import listed, raise_problems
from shoal.kernels.compile.ahead import (
    MOST,
    can_start,
    compile_ahead,
    missing,
    needed,
    parts,
    processors,
)
from shoal.kernels.compile.cache import cache_folder, cache_note, carried_folder, carried_note
from shoal.kernels.compile.jit import is_known, ways
from shoal.pipeline.estimate import STAGE
from shoal.suggestions.batteries import in_short
from shoal.suggestions.suggest import Suggestions
from shoal.suggestions.toml import list_lines

MANY = 50_000  # records, from which on a run takes more than some seconds and a dry run comes first
ROLES = {
    "quasi-identifier": "quasi-identifiers",
    "sensitive": "sensitive",
    "keep": "kept as they are",
    "drop": "not released",
}


def tell(found: Suggestions, table: Place, settings: Path) -> None:
    """Sum up suggestions that were written to a settings file."""
    labels = {column.name: column.battery for column in found.columns}
    for role, plain in ROLES.items():
        names = [name for name in found.of(role) if name not in found.unknown]
        if names:
            say(f"{plain:20}  {listed(in_short(names, labels))}")
    for remark in found.remarks:
        say(remark)
    for line in list_lines(found):
        say(line)
    if not found.of("quasi-identifier"):
        say(f"Wrote {settings}. Name at least one quasi-identifier in it.")
        return
    named, lacks = _written(table)
    command = f"shoal anonymize {named} --settings {shlex.quote(str(settings))}"
    if lacks:
        say(
            "The password is not shown below; supply it with PGPASSWORD, a password file (PGPASSFILE, ~/.pgpass) or a "
            "service file."
        )
    say(f"Wrote {settings}. Check every role in it, then run:")
    if found.records > MANY:
        say(f"  {command} --dry-run")
    say(f"  {command} --output release.csv")


def _written(table: Place) -> tuple[str, bool]:
    """A table as it was typed, for a shell, and whether a password was left out; the settings know the table in it."""
    if not isinstance(table, DatabaseTable):
        return shlex.quote(str(table)), False
    address, lacks = without_password(str(table.address))
    return shlex.quote(address), lacks


USUAL = ("cover", "refine", "choose")  # parts of a run on up to 100,000 records
DEFAULT = (*USUAL, "carve", "exact", "certificate")  # parts of runs without a choice of method
LIBRARIES = ("numba", "llvmlite", "numpy", "pyarrow", "narwhals", "pandas", "polars")


def compile_kernels(everything: bool, processes: int | None, quiet: bool) -> None:
    """Compile what is missing and say so."""
    wanted = parts() if everything else DEFAULT
    fresh = missing(wanted)
    with progress_bar(quiet) as progress:
        compile_ahead(
            fresh,
            lambda done, total: progress(STAGE, done, total),
            processes=processes or min(processors(), MOST),
        )
        check_stop()
        left = missing(wanted)
        for number, signature in enumerate(left):  # where no process could be started
            progress(STAGE, number, len(left))
            signature.compile()
            check_stop()
    if not quiet:
        say(f"Compiled {len(fresh)} of {len(needed(wanted))} kernels. {_where()}")


def examine(as_json: bool) -> None:
    """Say what a first run depends on."""
    if as_json:
        say(json.dumps(facts()))
        return
    found = facts()
    kernels = found["kernels"]
    lines = [
        f"shoal {found['shoal']} runs in Python {found['python']} on {found['platform']}.",
        "Libraries: " + ", ".join(f"{name} {text}" for name, text in found["libraries"].items()),
        found["compiler"],
        found["carried"],
        _where(),
    ]
    for name, counts in kernels.items():
        lines.append(f"Kernels of {name}: {counts['ready']} of {counts['all']} are compiled.")
    lines.append(found["first_run"])
    for line in lines:
        say(line if line.endswith(".") else f"{line}.")


def facts() -> dict[str, Any]:
    """Return what `examine` says, for programs."""
    folder = cache_folder()
    kernels = {
        name: {"all": len(needed(wanted)), "ready": len(needed(wanted)) - len(missing(wanted))}
        for name, wanted in (
            ("a default run on few records", ("cover", "refine")),
            ("a default run", USUAL),
            ("a default run with a certificate", (*USUAL, "certificate")),
            ("all methods", parts()),
        )
    }
    return {
        "shoal": shoal.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": {name: text for name in LIBRARIES if (text := _version(name))},
        "compiler": _compiler(),
        "carried": _carried(),
        "folder": None if folder is None else str(folder),
        "note": cache_note(),
        "kernels": kernels,
        "seconds": round(_seconds(), 1),
        "first_run": _first_run(),
    }


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def _compiler() -> str:
    if not ways().part:
        return (
            "This Numba works otherwise than those that shoal knows: kernels are compiled the plain way, "
            "and a first run takes several times as long."
        )
    if not is_known():
        return "This Numba is newer than those that shoal was tried with; it compiles as fast as they do."
    return "Kernels are compiled the fast way."


def _carried() -> str:
    if carried_folder() is not None:
        return "The package carries compiled kernels, and they are in use."
    return carried_note()


def _where() -> str:
    return cache_note() or f"Compiled kernels are kept in {cache_folder()}."


def _seconds() -> float:
    """Seconds that a first default run compiles, about: processor time, shared by processes."""
    wanted = missing(USUAL)
    return sum(signature.seconds for signature in wanted) / (processors() if can_start() else 1)


def _first_run() -> str:
    seconds = _seconds()
    if not seconds:
        return "The next run compiles nothing."
    return f"The next run compiles kernels for about {seconds:.0f} s; `shoal compile` does it beforehand."


@gathers(reading=reading_given)
def init(
    *,
    table: a.Table,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write.")] = None,
    overwrite: a.Overwrite = False,
    reading: dict[str, Any],
) -> None:
    """Write a settings file with suggested roles and the reason for each, to be read and corrected."""
    from shoal.data.files.table_file import write_text
    from shoal.settings.input import read_input
    from shoal.suggestions.suggest import suggest

    problems: list[str] = []
    source = outputs.chosen_table(table, None, reading, problems)
    raise_problems(problems)
    target = output or Path(source.name.split(".")[0] + ".toml")
    problems += outputs.place_problems(target, [source], overwrite)
    how = read_input(reading, problems)
    raise_problems(problems)
    found = suggest(source, input=how)
    write_text(found.to_toml(source.name), target, overwrite)
    tell(found, source, target)


def compile(
    everything: Annotated[
        bool, typer.Option("--all", help="Kernels of all methods, not of the default one alone.")
    ] = False,
    processes: Annotated[
        int | None, typer.Option(min=1, help="How many compile at once; usually all processors.")
    ] = None,
    quiet: a.Quiet = False,
) -> None:
    """Compile kernels now, so that the first run need not."""

    compile_kernels(everything, processes, quiet)


def key(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write.", show_default=False)
    ],
) -> None:
    """Write a new secret key for pseudonyms to a file that only its owner may read."""
    from shoal.encoding.other_columns import write_key

    write_key(output)
    say(
        f"Written: {output}. Whoever has it can undo pseudonyms by trying values: keep it secret, and keep it."
    )


def doctor(json: a.Json = False) -> None:
    """Say which versions and compiled kernels are in use and what the next run will compile."""

    examine(json)
