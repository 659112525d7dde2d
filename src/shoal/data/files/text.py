"""The bytes of text files: plain or gzipped, in any encoding, never empty."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from shoal.errors import InputError, shown

# Lines and rows of a file before the part that is being read, in files that are read a part at a time.
_BEFORE: ContextVar[tuple[int, int]] = ContextVar("before", default=(0, 0))

MARKS = {  # the byte order mark of an encoding; longer ones first, since UTF-32's begins like UTF-16's
    "utf-8": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}

_USUAL = ("cp1252", "cp850", "mac_roman")  # of files that are not UTF-8, in Western Europe


@dataclass(frozen=True)
class Text:
    """What a text file says, as UTF-8 without a byte order mark, and how the file itself says it."""

    data: bytes
    encoding: str
    has_mark: bool


def load(path: Path, encoding: str | None = None) -> Text:
    """Read a text file, decompressed; without a mark or a given encoding it must be UTF-8."""
    raw = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            raw = gzip.decompress(raw)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError(
                f"'{path}' is not a whole gzip file; it may be cut off or damaged: copy it again."
            ) from None
    text = _decoded(path, raw, encoding)
    if not text.data or text.data.isspace():
        raise InputError(f"'{path}' is empty; a table needs at least a header.")
    if b"\0" in text.data:
        if text.encoding == "utf-8":
            raise not_utf8(path, text.data, text.data.index(b"\0"))
        raise _not_encoded(path, text.encoding)
    return text


def guess_encoding(path: str | os.PathLike[str]) -> str | None:
    """The encoding of a text file that is not UTF-8, by whether its letters beyond ASCII are letters then."""
    try:
        raw = Path(path).read_bytes()
        raw = gzip.decompress(raw) if Path(path).suffix.lower() == ".gz" else raw
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return next((name for name in _USUAL if _has_letters(raw, name)), None)
    except (OSError, EOFError, zlib.error):
        pass
    return None


def _has_letters(raw: bytes, encoding: str) -> bool:
    try:
        beyond = [sign for sign in raw.decode(encoding) if sign > "\x7f"]
    except UnicodeDecodeError:
        return False
    return sum(map(str.isalpha, beyond)) >= 0.8 * len(beyond) and "\0" not in beyond


def encoding_problems(encoding: str | None) -> list[str]:
    """Say whether Python knows no such encoding of text."""
    try:
        if encoding is not None:
            b"    ".decode(encoding)  # refuses codecs of bytes, like hex, as well
    except UnicodeError:
        return []
    except (LookupError, ValueError, TypeError):
        return [
            "The encoding must be one that Python knows, like utf-8, cp1252 or latin-1; got "
            f"{shown(encoding)}."
        ]
    return []


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def not_utf8(path: Path, data: bytes, position: int) -> InputError:
    """Say where a file stops being UTF-8."""
    return InputError(
        f"'{path}' is not UTF-8 text (line {line_number(data, position)}); save it as UTF-8, in Excel "
        "as 'CSV UTF-8', or say its encoding, for example --encoding cp1252 (encoding=\"cp1252\")."
    )


def line_number(data: bytes, position: int) -> int:
    """The line of its file, counted from 1, of a byte."""
    return in_file(data.count(b"\n" if b"\n" in data else b"\r", 0, position) + 1)


@contextmanager
def counting_from(lines: int, rows: int) -> Iterator[None]:
    """Let messages about a part of a file count its lines and rows from the beginning of the file."""
    token = _BEFORE.set((lines, rows))
    try:
        yield
    finally:
        _BEFORE.reset(token)


def in_file(line: int) -> int:
    """The number of a line in its file, from that in the part which is being read."""
    return line + _BEFORE.get()[0]


def row_in_file(row: int) -> int:
    """The number of a row in its file, from that in the part which is being read."""
    return row + _BEFORE.get()[1]


def create(path: Path, suffix: str) -> pa.NativeFile:
    """Open a file for bytes, gzipped if the suffix says so."""
    if suffix.endswith(".gz"):
        return pa.CompressedOutputStream(str(path), "gzip")
    return pa.OSFile(str(path), "wb")


def _decoded(path: Path, raw: bytes, encoding: str | None) -> Text:
    name = "" if encoding is None else codecs.lookup(encoding).name
    for marked, mark in MARKS.items():
        if raw.startswith(mark) and may_be(marked, name):
            return _as_utf8(path, raw[len(mark) :], marked, True)
    return _as_utf8(path, raw, name.removesuffix("-sig") or "utf-8", False)


def may_be(marked: str, name: str) -> bool:
    """Whether a file with this mark has the encoding asked for: utf-16 comes in two orders of bytes."""
    return not name or name in (marked, f"{marked}-sig", marked[: len("utf-16")])


def _as_utf8(path: Path, raw: bytes, encoding: str, has_mark: bool) -> Text:
    if encoding == "utf-8":  # checked where it is parsed
        return Text(raw, encoding, has_mark)
    try:
        return Text(raw.decode(encoding).encode(), encoding, has_mark)
    except UnicodeError:
        raise _not_encoded(path, encoding) from None


def _not_encoded(path: Path, encoding: str) -> InputError:
    return InputError(
        f"'{path}' is not {encoding} text; say its encoding, for example --encoding utf-8 "
        '(encoding="utf-8").'
    )
