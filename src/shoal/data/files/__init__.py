"""Tables from files and back: CSV, JSON lines, Parquet and Excel, by suffix."""
