"""Tables of databases, read and written: PostgreSQL and SQLite through ADBC, DuckDB files through DuckDB."""
