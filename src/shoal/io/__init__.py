"""Tables from files and back: CSV, JSON lines, Parquet and Excel, by suffix."""

from shoal.io.files import output_problems, place_problems, read, write, write_text

__all__ = ["output_problems", "place_problems", "read", "write", "write_text"]
