"""The commands in the order that `shoal --help` lists them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from shoal import __version__
from shoal.cli import advise, anonymize, apply, check, hierarchy, prepare, say
from shoal.errors import InputError


def methods() -> None:
    """List the methods that make groups.

    For each: its paper, its guarantee, how its running time grows, and its options.
    """
    from shoal.api.catalogue import method_facts
    from shoal.cli.show import show_facts

    show_facts(method_facts())


def requirements() -> None:
    """List the requirements beyond k with their parameters."""
    from shoal.api.catalogue import requirement_facts
    from shoal.cli.show import show_facts

    show_facts(requirement_facts())


def measures() -> None:
    """List the measures of information loss."""
    from shoal.api.catalogue import list_measures
    from shoal.cli.show import show_list

    show_list(list_measures())


def hierarchies() -> None:
    """List the ready-made hierarchies."""
    from shoal.api.catalogue import hierarchy_facts
    from shoal.cli.show import show_facts

    show_facts(hierarchy_facts())


NEEDED = ("jinja2", "python_multipart", "starlette", "uvicorn")


def app(
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the browser, or only print the address."),
    ] = True,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this computer; 0 picks a free one.")
    ] = 0,
    folder: Annotated[
        Path | None, typer.Option(help="Folder for projects (default: your user data folder).")
    ] = None,
) -> None:
    """Open the app in your browser.

    It leads you from a table to a release without the command line.
    """
    if any(find_spec(name) is None for name in NEEDED):
        raise InputError(
            "The app needs an extra package. Install it with: pip install 'shoal[app]'"
        )
    from shoal.app.server import serve

    serve(folder, port, browser, say)


commands = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@commands.callback(invoke_without_command=True)
def shoal(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Anonymize tables about people."""
    if version:
        say(f"shoal {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


for command in (
    anonymize.anonymize,
    advise.advise,
    apply.apply,
    check.audit,
    check.evaluate,
    prepare.init,
    hierarchy.hierarchy,
    anonymize.demo,
    app,
    prepare.compile,
    prepare.doctor,
    prepare.key,
    methods,
    requirements,
    measures,
    hierarchies,
):
    commands.command()(command)
