"""Tables in files, read and written: CSV, JSON lines, Parquet, Excel and statistics packages, told apart by suffix."""
