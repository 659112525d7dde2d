"""Tables from files and back: CSV, JSON lines, Parquet and Excel, by suffix."""

from shoal.io.files import output_problems, read, write

__all__ = ["output_problems", "read", "write"]
