"""The address of a database table, shown without user and password, and the names in it, quoted."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.data.databases.connection import Connection, quoted
from shoal.data.databases.duckdb_file import DuckDBFile
from shoal.data.databases.postgresql import PostgreSQL
from shoal.data.databases.sqlite import SQLite
from shoal.errors import InputError, added_to, shown

# Every kind of database by the scheme of its addresses.
KINDS: dict[str, type[Connection]] = {
    scheme: kind
    for kind in (PostgreSQL, SQLite, DuckDBFile)
    for scheme in (kind.name, *kind.schemes)
}
SUFFIXES = {suffix: kind for kind in KINDS.values() for suffix in kind.suffixes}
*_FORMS, _LAST_FORM = dict.fromkeys(kind.form for kind in KINDS.values())
KNOWN = f"{', '.join(_FORMS)} or {_LAST_FORM}"

_SCHEME = re.compile(r"(?P<name>[a-z][a-z0-9]*)(\+[a-z0-9_]+)?:(?P<rest>//.*)", re.I | re.S)
# As paths write addresses.
_COLLAPSED = re.compile(r"(?P<name>[a-z][a-z0-9]*)(\+[a-z0-9_]+)?:/", re.I)
_OTHERS = ("mysql", "mariadb", "mssql", "oracle", "snowflake", "bigquery", "redshift", "jdbc")
_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


@dataclass(frozen=True)
class Database:
    """A database: its kind, how to reach it, and its name in messages."""

    kind: type[Connection]
    uri: str = field(repr=False)  # the path of a file; for a server perhaps with a password
    shown: str

    @property
    def path(self) -> Path:
        """The file of a database that is one."""
        return Path(self.uri)

    @property
    def is_new(self) -> bool:
        """Whether it is a file that does not exist yet."""
        return self.kind.is_file and not self.path.exists()

    @property
    def identity(self) -> str:
        """What two addresses of the same database share."""
        return os.path.realpath(self.path) if self.kind.is_file else self.uri

    def __str__(self) -> str:
        return self.shown


@dataclass(frozen=True)
class DatabaseTable:
    """A table of a PostgreSQL, SQLite or DuckDB database, or the result of a query there.

    Use it anywhere instead of the path of a file.

    Parameters
    ----------
    address
        postgresql://HOST/DATABASE, sqlite:///FILE or duckdb:///FILE, or the path of a .sqlite, .sqlite3 or .duckdb
        file. Keep the password in PGPASSWORD, a password file or a service file.
    table
        The name of a table or view, perhaps with its schema: "health.patients". Put a name with dots or quotes into
        double quotes.
    query
        A SELECT instead of a table.

    Examples
    --------
    >>> import shoal
    >>> print(shoal.DatabaseTable("postgresql://me:secret@host/db", table="health.patients"))
    health.patients in postgresql://host/db
    """

    address: str | os.PathLike[str] = field(repr=False)
    table: str | None = None
    query: str | None = None

    @property
    def database(self) -> Database:
        """The database, or an error that says what its address lacks."""
        return database_of(self.address)

    @property
    def parts(self) -> tuple[str, ...]:
        """The name of the table in its parts: perhaps a schema, and the table."""
        return split_name(self.table or "")

    @property
    def name(self) -> str:
        """The bare name of the table as a file may be called, or a word for a query."""
        if self.table is None:
            return "query"
        return re.sub(r"[^\w-]+", "-", self.parts[-1]).strip("-") or "table"

    @property
    def source(self) -> str:
        """The SQL after FROM, quoted so that a name cannot end it early."""
        if self.table is not None:
            return quoted(*self.parts)
        query = str(self.query).strip().removesuffix(";")
        return f"(\n{query}\n) AS shoal_source"

    def problems(self) -> list[str]:
        """Return problems with an address or a name."""
        found, place = list[str](), "the database"
        with added_to(found):
            place = self.database.shown
        if (self.table is None) == (self.query is None):
            what = "neither is named" if self.table is None else "both are named"
            found.append(
                f"Reading from '{place}' needs either a table or a query, and {what}. Name one with "
                "shoal.DatabaseTable(…, table=…) (--table) or query=… (--query)."
            )
        elif self.table is not None:
            found += name_problems(self.table)
        elif not isinstance(self.query, str) or not self.query.strip() or "\0" in self.query:
            found.append("The 'query' parameter must be a SELECT statement, as text.")
        return found

    def __str__(self) -> str:
        return f"{'query' if self.table is None else self.table} in {self.database}"


def is_address(place: object) -> bool:
    """Whether a text or path names a database."""
    if not isinstance(place, str | os.PathLike):
        return False
    text = os.fspath(place)
    if not isinstance(text, str):
        return False
    scheme = _SCHEME.fullmatch(text) if isinstance(place, str) else _COLLAPSED.match(text)
    if scheme and scheme["name"].lower() in (*KINDS, *_OTHERS):
        return True
    if text.lower().startswith("jdbc:") or _is_connection_string(text):
        return True
    return Path(text).suffix.lower() in SUFFIXES


def _is_connection_string(text: str) -> bool:
    return "=" in text and any(kind.is_connection_string(text) for kind in KINDS.values())


def database_of(address: str | os.PathLike[str]) -> Database:
    """The database that an address names.

    Examples
    --------
    >>> print(database_of("postgres://me:secret@host:5432/db?sslpassword=x"))
    postgresql://host:5432/db
    """
    text = os.fspath(address)
    if not isinstance(text, str) or not is_address(address):
        raise InputError(f"The address of a database must be {KNOWN}.")
    if not isinstance(address, str) and _COLLAPSED.match(text):
        raise InputError("The address of a database must be text, not a path. Give it as str.")
    if text.lower().startswith("jdbc:"):
        raise InputError(f"Databases of kind 'jdbc' are not supported. Use {KNOWN}.")
    if _is_connection_string(text):
        raise InputError(
            "A connection string like host=… dbname=… is not supported. Write it as an address, "
            "postgresql://USER@HOST/DATABASE, and keep the password in PGPASSWORD, a password file or a service "
            "file."
        )
    if "\0" in text:
        raise InputError("The address of the database contains a NUL character. Remove it.")
    scheme = _SCHEME.fullmatch(text)
    if scheme is None:
        return Database(SUFFIXES[Path(text).suffix.lower()], text, text)
    name, rest = scheme["name"].lower(), scheme["rest"]
    if name in _OTHERS:
        raise InputError(f"Databases of kind '{name}' are not supported. Use {KNOWN}.")
    return Database(KINDS[name], *KINDS[name].locate(rest))


def without_password(address: str) -> tuple[str, bool]:
    """An address as it was typed, but without a password, and whether something was left out.

    Examples
    --------
    >>> without_password("postgresql://me:secret@/db?host=/run/pg&password=secret")
    ('postgresql://me@/db?host=/run/pg', True)
    """
    scheme = _SCHEME.fullmatch(address)
    kind = KINDS.get(scheme["name"].lower()) if scheme else None
    if scheme is None or kind is None:
        return address, False
    return kind.without_password(address.removesuffix(scheme["rest"]), scheme["rest"])


def reading_of(data: object) -> dict[str, Any]:
    """What is read from a database, as fields of `Input`; empty for anything but its tables."""
    return {"table": data.table, "query": data.query} if isinstance(data, DatabaseTable) else {}


def stored_place(
    path: str | os.PathLike[str], table: str | None, if_exists: str
) -> DatabaseTable | None:
    """The table of a database to write a release to, None for a file."""
    if is_address(path):
        return DatabaseTable(path, table)
    if table is not None or if_exists != "fail":
        raise InputError(
            "'table' and 'if_exists' are for databases, but this output is a file. Leave them out, or give the "
            "address of a database."
        )
    return None


def name_problems(name: object) -> list[str]:
    """Return problems with the name of a table."""
    if not isinstance(name, str):
        return [f"The name of a table must be text. Got {shown(name)} instead."]
    found: list[str] = []
    with added_to(found):
        split_name(name)
    return found


def split_name(name: str) -> tuple[str, ...]:
    """A name in its parts, at dots outside of double quotes.

    Examples
    --------
    >>> split_name('health."patients 2.0"')
    ('health', 'patients 2.0')
    """
    parts, place = [], 0
    while True:
        found = _PART.match(name, place)
        if found is None:
            break
        parts.append(found[1].replace('""', '"') if found[1] else found[2])
        place = found.end() + 1  # behind the dot
        if name[found.end() : place] != ".":
            break
    if not 1 <= len(parts) <= 2 or place != len(name) + 1 or "\0" in name:
        raise InputError(
            f"{shown(name)} is not a valid table name. Write TABLE or SCHEMA.TABLE, and put a part with dots or "
            'quotation marks into double quotes, like health."patients 2.0".'
        )
    return tuple(parts)
