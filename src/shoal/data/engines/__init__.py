"""Tables of any size on DuckDB, Polars or Spark: how a frame is opened, hashed and written there."""
