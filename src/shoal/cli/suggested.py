"""What `shoal init` says on the screen: what was found, what is unsure, and the command that comes next."""

from __future__ import annotations

import shlex
from pathlib import Path

from shoal.cli import say
from shoal.cli.arguments import Place
from shoal.databases import DatabaseTable, without_password
from shoal.errors import listed
from shoal.suggesting import Suggestions
from shoal.suggesting.batteries import in_short
from shoal.suggesting.printed import list_lines

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
