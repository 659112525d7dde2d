"""What a database reports when something fails, as a sentence of ours: its own message may show cells and passwords.

Each kind of database lists which of its words mean which sentence (`Connection.reason`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shoal.errors import translate_errors

if TYPE_CHECKING:
    from shoal.data.databases.address import Database

# errors that drivers raise besides their own
LIBRARIES = ("adbc_driver_manager", "_duckdb", "pyarrow")

FULL = "has no space left. Free some"
BUSY = "is in use by another program. Wait until it has finished, or stop it"
QUERY = (
    "does not understand the query. Test it there first: it must be one SELECT, without parameters, whose "
    "columns have distinct names"
)
NOT_FOUND = "no longer has such a table, schema or column. Check the names"
DATA = "could not convert a value to the type the query asks for. Test the query there first"
READ_ONLY = "is read-only for you. A query must be a SELECT, and an output needs a database that you may write to"
EXISTS = "now has a table with the output's name. Choose another name or pass --if-exists replace"
BROKEN = "is damaged or has an unknown version. Check the file and its version"
HOLDS = "cannot store one of the columns. Convert it to numbers, dates or text, or leave it out"

UNOPENED = "cannot be opened. Check the path and its permissions"
MEMORY = "ran out of memory. Read fewer columns or records"


@contextmanager
def driver_errors(database: Database) -> Iterator[None]:
    """Turn errors of a driver into one sentence that repeats nothing of the driver's message."""
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
    """Whether a driver raised this because of Ctrl-C, which ADBC handles itself and turns into other errors."""
    if isinstance(error.__cause__, KeyboardInterrupt):
        return True
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and "due to user request" in str(error)


def _is_foreign(error: Exception, library: str) -> bool:
    """Whether a driver raised it; errors inside an Arrow stream are an OSError without a number."""
    module = type(error).__module__.partition(".")[0]
    return module in (*LIBRARIES, library) or (isinstance(error, OSError) and error.errno is None)
