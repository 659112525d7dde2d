"""What `shoal init` says on the screen: what was found, what is unsure, and the command that comes next."""

from __future__ import annotations

import shlex
from pathlib import Path

from shoal.cli import say
from shoal.cli.arguments import Place
from shoal.databases import DatabaseTable, without_password
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
