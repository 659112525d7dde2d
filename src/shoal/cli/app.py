"""The commands in the order that `shoal --help` lists them."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal import __version__
from shoal.cli import applying, checking, listings, opening, preparing, releasing, say, trees

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def shoal(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Make tables about people releasable."""
    if version:
        say(f"shoal {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


for command in (
    releasing.anonymize,
    applying.apply,
    checking.audit,
    checking.evaluate,
    preparing.init,
    trees.hierarchy,
    releasing.demo,
    opening.app,
    preparing.compile,
    preparing.doctor,
    preparing.key,
    listings.methods,
    listings.requirements,
    listings.measures,
):
    app.command()(command)
