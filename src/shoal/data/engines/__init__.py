"""Tables of any size: one way over DuckDB, Polars and Spark, each imported when it is first used."""
