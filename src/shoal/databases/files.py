"""Databases that are files: whether they can be read or written, and what tells one from another."""

from __future__ import annotations

import os
import stat

from shoal.databases.address import Database


def file_problems(database: Database, writes: bool) -> list[str]:
    """Sentences for why the file of a database cannot be opened."""
    path = database.path
    try:
        mode = path.stat().st_mode
    except OSError:
        return [f"'{path}' does not exist; check the path."]
    if not stat.S_ISREG(mode):
        return [f"'{path}' is no file of a database; check the path."]
    if not os.access(path, os.R_OK | (os.W_OK if writes else 0)):
        return [f"You may not {'write' if writes else 'read'} '{path}'; check its permissions."]
    if writes and not os.access(path.parent, os.W_OK | os.X_OK):
        return [f"The folder of '{path}' is not writable, which a database needs; check it."]
    return []


def file_identity(database: Database) -> tuple[str, str]:
    """What tells a file from all others, whatever path leads to it."""
    found = database.path.stat()
    return f"{database.kind} {found.st_dev}", str(found.st_ino)


def own_name_problems(name: str) -> list[str]:
    """A sentence for a name that SQLite keeps for itself."""
    if name.lower().startswith("sqlite_"):
        return [f"SQLite keeps names like '{name}' for itself; choose another."]
    return []
