"""What a database says when something fails, as one sentence of ours: its own words may show cells and passwords.

Which of its words mean which sentence is said by each kind of database (`Connection.reason`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shoal.errors import translate_errors

if TYPE_CHECKING:
    from shoal.data.databases.address import Database

# That drivers raise errors of, next to their own.
LIBRARIES = ("adbc_driver_manager", "_duckdb", "pyarrow")

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
BROKEN = "is no whole database of its kind; check the file, and that its version is one that is known here"
HOLDS = "cannot hold one of the columns; make it numbers, dates or text, or leave it out"

UNOPENED = "cannot be opened; check the path and its permissions"
MEMORY = "needs more memory than there is; read fewer columns or records"


@contextmanager
def driver_errors(database: Database) -> Iterator[None]:
    """Turn what a driver raises into one sentence, from which nothing of its own words can be had."""
    with translate_errors(
        lambda error: _is_foreign(error, database.kind.library),
        lambda error: f"The database '{database}' {database.kind.reason(error)}.",
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


def _is_foreign(error: Exception, library: str) -> bool:
    """Whether a driver raised it; what a stream of Arrow raises for one is an OSError without a number."""
    module = type(error).__module__.partition(".")[0]
    return module in (*LIBRARIES, library) or (isinstance(error, OSError) and error.errno is None)
