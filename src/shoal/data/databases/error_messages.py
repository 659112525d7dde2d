"""What a database says when something fails, as one sentence of ours: its own words may show cells and passwords."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shoal.data.databases.address import DUCKDB, POSTGRESQL, Database
from shoal.errors import in_our_words

LIBRARIES = ("adbc_driver_manager", "duckdb", "_duckdb", "pyarrow")

REFUSED = (
    "refuses to let you in; check the user, and the password in PGPASSWORD, a password file (PGPASSFILE) or a service "
    "file"
)
UNREACHABLE = (
    "cannot be reached; check host, port and network, or what PGHOST, PGPORT and PGSERVICE say"
)
LOST = (
    "broke the connection off, and what was not finished is undone; try again, or ask who runs it"
)
RIGHTS = "does not grant you the right; ask its owner to GRANT it, or use another user"
FULL = "has no space left; make room there"
BUSY = "is in use by somebody else; wait until they are done, or stop them"
QUERY = (
    "does not understand the query; try it there first: one SELECT, without parameters, whose columns have "
    "names of their own"
)
NOT_FOUND = "has no such table, schema or column any more; check the names"
DATA = "cannot make one of the values what the query wants; try the query there first"
READ_ONLY = "only lets you read; a query must be a SELECT, and an output needs a database that may be written"
EXISTS = "has a table of the output's name by now; choose another name or pass --if-exists replace"
DEPENDS = "has views or keys that depend on the table that shall be replaced; drop them first, or choose another name"
BROKEN = "is no whole database of its kind; check the file, and that its version is one that is known here"
HOLDS = "cannot hold one of the columns; make it numbers, dates or text, or leave it out"

# PostgreSQL's codes by their beginnings, the longest first.
_CODES = {
    "28": REFUSED,
    "3D": "has no such database; check the name behind the host",
    "08": LOST,
    "57P": LOST,
    "57014": "stopped the work, since it took longer than it allows (statement_timeout); ask for more",
    "55P03": BUSY,
    "40": BUSY,
    "42501": RIGHTS,
    "42P01": NOT_FOUND,
    "42P07": EXISTS,
    "3F": NOT_FOUND,
    "42": QUERY,
    "0A": QUERY,
    "25006": READ_ONLY,
    "2BP01": DEPENDS,
    "53100": FULL,
    "53": "has no room for another connection or no memory left; try again later",
    "22": DATA,
}
# Signs in the words of drivers that have no code, in lower case; the first that is found decides.
_SIGNS = (
    ("password authentication failed", REFUSED),
    ("no password supplied", REFUSED),
    ("no pg_hba.conf entry", REFUSED),
    ('role "', REFUSED),
    ("invalid connection option", "has an address with an option that is not known; mend it"),
    ("invalid integer value", "has an address that cannot be read; a port is a number"),
    (
        "invalid uri",
        "has an address that cannot be read; write signs of a password as %40 and so on",
    ),
    ("invalid port", "has an address that cannot be read; a port is a number"),
    (
        "definition of service",
        "has no such service in the service file; check PGSERVICE and PGSERVICEFILE",
    ),
    ("could not translate host", UNREACHABLE),
    ("connection refused", UNREACHABLE),
    ("timeout expired", UNREACHABLE),
    ("connection to server", UNREACHABLE),
    ("server closed the connection", LOST),
    ("terminating connection", LOST),
    ("no connection to the server", LOST),
    ("connection not open", LOST),
    ("ssl", LOST),
    ("invalid input", DATA),
    ("division by zero", DATA),
    ("out of range", DATA),
    ("statement timeout", _CODES["57014"]),
    ("permission denied", RIGHTS),
    ("database is locked", BUSY),
    ("could not set lock", BUSY),
    ("conflicting lock", BUSY),
    ("different configuration", "is open in this program already; close that connection first"),
    ("disk is full", FULL),
    ("no space left", FULL),
    ("readonly database", READ_ONLY),
    ("read-only", READ_ONLY),
    ("not a database", BROKEN),
    ("not a valid duckdb", BROKEN),
    ("malformed", BROKEN),
    ("version number", BROKEN),
    ("unable to open", "cannot be opened; check the path and its permissions"),
    ("cannot open file", "cannot be opened; check the path and its permissions"),
    ("already exists", EXISTS),
    ("no such table", NOT_FOUND),
    ("no such column", QUERY),
    ("syntax error", QUERY),
    ("out of memory", "needs more memory than there is; read fewer columns or records"),
)
_CLASSES = {  # DuckDB's
    "ParserException": QUERY,
    "BinderException": QUERY,
    "CatalogException": NOT_FOUND,
    "ConversionException": DATA,
    "InvalidInputException": QUERY,
    "PermissionException": "may not use files beside its own; query its own tables",
    "OutOfMemoryException": "needs more memory than there is; read fewer columns or records",
}


@contextmanager
def speaking_of(database: Database) -> Iterator[None]:
    """Turn what a driver raises into one sentence, from which nothing of its own words can be had."""
    with in_our_words(
        _is_foreign, lambda error: f"The database '{database}' {reason(error, database)}."
    ):
        try:
            yield
        except Exception as error:
            if _is_interrupt(error):
                raise KeyboardInterrupt from None
            raise


def _is_interrupt(error: Exception) -> bool:
    """Whether a driver raised this because of Ctrl-C, which ADBC takes for itself and turns into other errors."""
    if isinstance(error.__cause__, KeyboardInterrupt):
        return True
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and "due to user request" in str(error)


def _is_foreign(error: Exception) -> bool:
    """Whether a driver raised it; what a stream of Arrow raises for one is an OSError without a number."""
    module = type(error).__module__.partition(".")[0]
    return module in LIBRARIES or (isinstance(error, OSError) and error.errno is None)


def reason(error: Any, database: Database) -> str:
    """Why a database failed."""
    code = getattr(error, "sqlstate", None) or ""
    for length in (5, 3, 2):
        if code and code[:length] in _CODES:
            return _CODES[code[:length]]
    words = str(error).lower()
    if database.kind == POSTGRESQL and 'database "' in words and "does not exist" in words:
        return _CODES["3D"]
    for sign, sentence in _SIGNS:
        if sign in words:
            return sentence
    kind = type(error).__name__
    if database.kind == DUCKDB and kind in _CLASSES:
        return _CLASSES[kind]
    if kind in ("NotSupportedError", "ArrowNotImplementedError"):
        return HOLDS
    told = f"code {code}" if code else kind
    return f"could not finish ({told}), and nothing was written; see its log"
