"""Frames in, codes out, closures back to text."""

from shoal.table.encode import Column, Sensitive, Table, encode
from shoal.table.frames import open_frame

__all__ = ["Column", "Sensitive", "Table", "encode", "open_frame"]
