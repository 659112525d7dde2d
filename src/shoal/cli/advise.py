"""`shoal advise`: what to change if a release is too coarse, measured on the table."""

from __future__ import annotations

import shlex
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import WRITTEN, say
from shoal.cli import arguments as a
from shoal.cli.arguments import GivenSettings, reading_given, release_given, shares_options
from shoal.errors import InputError, raise_problems

if TYPE_CHECKING:
    from shoal.advice.explore import Explored


@shares_options(given=release_given, reading=reading_given)
def advise(
    *,
    table: a.Table,
    settings: a.SettingsFile = None,
    given: GivenSettings,
    apply: Annotated[
        list[int] | None,
        typer.Option(
            metavar="NUMBER",
            help="Write new settings with this suggestion to --output; repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Settings file to write.", show_default=False),
    ] = None,
    overwrite: a.Overwrite = False,
    explore: Annotated[
        bool,
        typer.Option(
            "--explore",
            help="Instead show loss and highest risk for several k, without each column and with other requirements.",
        ),
    ] = False,
    reading: dict[str, Any],
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Say what to change if a release is too coarse."""
    from shoal.advice.advise import advise as search
    from shoal.advice.explore import explore as explored
    from shoal.api.advise import IN_MEMORY
    from shoal.cli.show import as_typed, progress_bar
    from shoal.data.open import open_table
    from shoal.settings.settings import make_settings

    problems = [*given.problems]
    chosen: Any = None
    try:
        chosen = make_settings(settings, reading, **given.settings)
    except InputError as error:
        problems += error.problems
    source = a.chosen_table(table, chosen, reading, problems)
    if a.engine_of(source, None, None, problems) != "memory":
        problems.append(IN_MEMORY)
    problems += a.output_place_problems(output, [source, settings], overwrite)
    if output is not None and chosen is not None:
        problems += a.overwrite_problems(output, a.files_read(chosen))
    if bool(apply) != (output is not None):
        problems.append(
            "--apply and --output belong together: the number of a suggestion, and the settings file to write."
        )
    if apply and explore:
        problems.append("--explore makes no suggestions to apply. Leave out --explore or --apply.")
    raise_problems(problems)
    chosen = replace(chosen, series=False)
    with progress_bar(quiet or json) as progress:
        opened = open_table(source, chosen.reading)
        if explore:
            rows = explored(opened, chosen, progress)
            say(dumps([row.to_dict() for row in rows]) if json else "\n".join(_table(rows)))
            return
        found = search(opened, chosen, progress)
    if apply and output is not None:
        found.apply(*apply).save(output)
        WRITTEN.append(output)
    if json:
        written = {"output": str(output)} if output else {}
        say(dumps({**found.to_dict(), **written}))
    elif output is not None and not quiet:
        say(f"Wrote {output}; comments of other settings files are not in it. Run it with:")
        named, place = as_typed(table)[0], shlex.quote(str(output))
        say(f"  shoal anonymize {named} --settings {place} --output release.csv")
    elif not quiet:
        say(str(found))
        if found.suggestions:
            say("\nTo write settings with a suggestion: --apply NUMBER --output new.toml")


def _table(rows: list[Explored]) -> list[str]:
    """Explored settings as lines of a table; the last column says what is changed besides k."""
    lines = [
        f"{'k':>6}  {'detail lost':>11}  {'highest risk':>12}  {'groups':>7}  left out or required"
    ]
    return lines + [
        f"{row.k:>6,}  {f'{100 * row.loss:.1f} %':>11}  {f'{100 * row.highest_risk:.2g} %':>12}  "
        f"{row.groups:>7,}  {row.left_out or row.requirement or ''}".rstrip()
        for row in rows
    ]
