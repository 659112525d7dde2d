"""The bytes of text files: plain or gzipped, UTF-8, never empty."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8
from pathlib import Path

import pyarrow as pa

from shoal.errors import InputError


def load(path: Path) -> bytes:
    """Read a text file, decompressed and without a byte order mark."""
    data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            data = gzip.decompress(data)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError(
                f"'{path}' is not a whole gzip file; it may be cut off or damaged: copy it again."
            ) from None
    data = data.removeprefix(BOM_UTF8)
    if not data.strip():
        raise InputError(f"'{path}' is empty; a table needs at least a header.")
    if b"\0" in data:
        raise not_utf8(path, data, data.index(b"\0"))
    return data


def not_utf8(path: Path, data: bytes, position: int) -> InputError:
    """Say where a file stops being UTF-8."""
    return InputError(
        f"'{path}' is not UTF-8 text (line {line_number(data, position)}); save it as UTF-8, "
        "in Excel as 'CSV UTF-8'."
    )


def line_number(data: bytes, position: int) -> int:
    """The line, counted from 1, of a byte."""
    return data.count(b"\n" if b"\n" in data else b"\r", 0, position) + 1


def create(path: Path, suffix: str) -> pa.NativeFile:
    """Open a new file for bytes, gzipped if the suffix says so."""
    if suffix.endswith(".gz"):
        return pa.CompressedOutputStream(str(path), "gzip")
    return pa.OSFile(str(path), "wb")
