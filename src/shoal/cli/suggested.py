"""What `shoal init` says on the screen: what was found, what is unsure, and the command that comes next."""

from __future__ import annotations

import shlex
from pathlib import Path

from shoal.cli import say
from shoal.cli.arguments import Place
from shoal.databases import DatabaseTable
from shoal.errors import listed
from shoal.suggesting import Suggestions

MANY = 50_000  # records, from which on a run takes more than some seconds and a dry run comes first
ROLES = {
    "identifier": "identifiers, removed",
    "quasi-identifier": "quasi-identifiers",
    "sensitive": "sensitive",
    "keep": "kept as they are",
    "drop": "not released",
}


def tell(found: Suggestions, table: Place, settings: Path) -> None:
    """Sum up suggestions that were written to a settings file."""
    for role, plain in ROLES.items():
        names = found.of(role)
        if names:
            say(f"{plain:20}  {listed(names)}")
    for remark in found.remarks:
        say(remark)
    if found.unsure:
        say(
            f"Unsure about {len(found.unsure)} of {len(found.columns)} columns, see UNSURE in {settings}."
        )
    if not found.of("quasi-identifier"):
        say(f"Wrote {settings}. Name at least one quasi-identifier in it.")
        return
    command = f"shoal anonymize {_written(table)} --settings {shlex.quote(str(settings))}"
    say(f"Wrote {settings}. Check every role in it, then run:")
    if found.records > MANY:
        say(f"  {command} --dry-run")
    say(f"  {command} --output release.csv")


def _written(table: Place) -> str:
    """A table as a command names it: of an address without user and password; the settings know the table in it."""
    named = table.database if isinstance(table, DatabaseTable) else table
    return shlex.quote(str(named))
