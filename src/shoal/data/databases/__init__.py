"""Tables of databases, read and written: PostgreSQL and SQLite through ADBC, DuckDB files through DuckDB."""

from shoal.data.databases.address import (
    DatabaseTable,
    is_address,
    reading_of,
    stored_place,
    without_password,
)
from shoal.data.databases.connection import IfExists
from shoal.data.databases.reading import (
    open_stored,
    read_stored_texts,
    relations_of,
    stored_bytes,
    stored_to_parquet,
)
from shoal.data.databases.writing import (
    COUNT,
    StagedTable,
    target_problems,
    write_stored,
    write_stored_batches,
)

__all__ = [
    "COUNT",
    "DatabaseTable",
    "IfExists",
    "StagedTable",
    "is_address",
    "open_stored",
    "read_stored_texts",
    "reading_of",
    "relations_of",
    "stored_bytes",
    "stored_place",
    "stored_to_parquet",
    "target_problems",
    "without_password",
    "write_stored",
    "write_stored_batches",
]
