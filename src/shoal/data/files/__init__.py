"""Tables in files, read and written: CSV, JSON Lines, Parquet, Excel and statistics packages, by file suffix."""
