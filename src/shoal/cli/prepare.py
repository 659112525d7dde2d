"""The commands that prepare a first run: `shoal init`, `shoal compile` and `shoal doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import arguments as a
from shoal.cli import say
from shoal.cli.arguments import reading_given, shares_options
from shoal.errors import raise_problems
from shoal.settings.declaration import read_input


@shares_options(reading=reading_given)
def init(
    *,
    table: a.Table,
    output: a.OutputFile = None,
    overwrite: a.Overwrite = False,
    reading: dict[str, Any],
) -> None:
    """Suggest a role for each column in a settings file.

    Check and correct the file before you use it.
    """
    from shoal.cli.show import show_suggestions
    from shoal.data.files.table_file import write_text
    from shoal.suggestions.suggest import suggest

    problems: list[str] = []
    source = a.chosen_table(table, None, reading, problems)
    raise_problems(problems)
    target = output or Path(source.name.split(".")[0] + ".toml")
    problems += a.output_place_problems(target, [source], overwrite)
    how = read_input(reading, problems)
    raise_problems(problems)
    found = suggest(source, reading=how)
    write_text(found.to_toml(source.name), target, overwrite)
    show_suggestions(found, source, target)


def compile(
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Compile the kernels of all methods, not only of the default one."
        ),
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="Number of parallel compilations (default: all processors)."),
    ] = None,
    quiet: a.Quiet = False,
) -> None:
    """Compile kernels now to save time in the first run."""
    from shoal.cli.first_run import compile_kernels

    compile_kernels(everything, processes, quiet)


def key(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write.", show_default=False)
    ],
) -> None:
    """Write a new secret key for pseudonyms to a file.

    Only you can read the file.
    """
    from shoal.encoding.other_columns import write_key

    write_key(output)
    say(
        f"Wrote {output}. Anyone who has this key can undo the pseudonyms by trying values. Keep it secret, and "
        "keep a backup."
    )


def doctor(json: a.Json = False) -> None:
    """Print versions and the state of compiled kernels.

    Also says what the next run will compile.
    """
    from shoal.cli.first_run import print_first_run

    print_first_run(json)
