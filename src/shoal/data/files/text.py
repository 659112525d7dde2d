"""Text files, plain or gzipped, in any encoding: all at once, or whole lines at a time."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import pyarrow as pa

from shoal.data.files.proposals import Finding, Proposal
from shoal.errors import InputError, shown

PIECE = 1 << 25  # bytes that are read at a time from a file that does not fit into memory

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
    """The content of a text file, as UTF-8 without a byte order mark, and how the file itself is encoded."""

    path: Path
    data: bytes  # all of it, or the lines at the beginning
    is_whole: bool
    encoding: str
    has_mark: bool

    def pieces(self) -> Iterator[bytes]:
        """All content of the file, whole lines at a time; it may still not be UTF-8."""
        start = 0
        for piece in self._lines():
            if b"\0" in piece:
                if self.encoding == "utf-8":
                    raise self.not_utf8(start + piece.index(b"\0"))
                raise _not_encoded(self.path, self.encoding)
            yield piece
            start += len(piece)

    def _lines(self) -> Iterator[bytes]:
        if self.is_whole:
            return iter([self.data])
        return _whole_lines(_decoded(self.path, self.encoding, self.has_mark, PIECE))

    def not_utf8(self, position: int) -> InputError:
        """Report where a file stops being UTF-8, with the encoding that it seems to have."""
        guess = guess_encoding(self.path) if self.is_whole else None
        question = (
            f"'{self.path}' is not UTF-8 text (line {self.line_number(position)}). Save it as UTF-8, in Excel as "
            f"'CSV UTF-8', or give its encoding, for example --encoding {guess or _USUAL[0]} (encoding="
            f'"{guess or _USUAL[0]}").'
        )
        if guess is None:
            return InputError(question)
        remark = f"The file is not UTF-8, so it is read as {guess}. Check letters with accents."
        return Proposal(Finding(question, remark, {"encoding": guess}))

    def line_number(self, position: int) -> int:
        """The line, counted from 1, of a byte."""
        feeds = returns = start = 0
        has_feeds = False
        for piece in self._lines():
            stop = max(0, position - start)
            feeds += piece.count(b"\n", 0, stop)
            returns += piece.count(b"\r", 0, stop)
            has_feeds = has_feeds or b"\n" in piece
            start += len(piece)
        return (feeds if has_feeds else returns) + 1


def load_text(path: Path, encoding: str | None = None, is_large: bool = False) -> Text:
    """Read a text file, decompressed, or its beginning; without a mark or a given encoding it must be UTF-8."""
    name, has_mark = _encoding_of(path, encoding)
    pieces = _decoded(path, name, has_mark, PIECE if is_large else -1)
    data = next(_whole_lines(pieces)) if is_large else b"".join(pieces)
    if not data or data.isspace():
        raise InputError(f"'{path}' is empty. A table needs at least column names.")
    return Text(path, data, not is_large, name, has_mark)


def _encoding_of(path: Path, given: str | None) -> tuple[str, bool]:
    """The encoding of a text file, given or by its byte order mark, and whether it has such a mark."""
    name = "" if given is None else codecs.lookup(given).name
    start = next(_decoded(path, "utf-8", False, 4), b"")
    for marked, mark in MARKS.items():
        either = marked[: len("utf-16")]  # which has two byte orders
        if start.startswith(mark) and name in ("", marked, f"{marked}-sig", either):
            return marked, True
    return name.removesuffix("-sig") or "utf-8", False


def _decoded(path: Path, encoding: str, has_mark: bool, size: int) -> Iterator[bytes]:
    """The content of a file, decompressed and as UTF-8, some bytes at a time."""
    decoder = None
    if encoding != "utf-8":  # which is checked where it is parsed
        # without a mark for another order
        order = "-le" if encoding in ("utf-16", "utf-32") else ""
        decoder = codecs.getincrementaldecoder(encoding + order)()
    is_gzipped = path.suffix.lower() == ".gz"
    try:
        with cast("IO[bytes]", gzip.open(path)) if is_gzipped else path.open("rb") as file:
            file.read(len(MARKS[encoding]) if has_mark else 0)
            while piece := file.read(size):
                yield decoder.decode(piece).encode() if decoder else piece
            if decoder and (piece := decoder.decode(b"", final=True).encode()):
                yield piece
            return
    except (EOFError, gzip.BadGzipFile, zlib.error):
        why = InputError(
            f"'{path}' is not a complete gzip file. It may be incomplete or damaged: copy it again."
        )
    except UnicodeError:
        why = _not_encoded(path, encoding)
    raise why


def _whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces that end where lines do."""
    rest: list[bytes] = []
    last = next(pieces, b"")
    for piece in pieces:
        end = last.rfind(b"\n") + 1 or last.rfind(b"\r", 0, -1) + 1  # \n may follow a \r at the end
        if end:
            yield b"".join([*rest, last[:end]])
            rest = []
        rest.append(last[end:])
        last = piece
    yield b"".join([*rest, last])


def guess_encoding(path: str | os.PathLike[str]) -> str | None:
    """Guess the encoding of a text file that is not UTF-8: the one in which its bytes beyond ASCII are letters."""
    try:
        raw = b"".join(_decoded(Path(path), "utf-8", False, -1))
    except (OSError, InputError):
        return None
    if is_utf8(raw):
        return None
    return next((name for name in _USUAL if _has_letters(raw, name)), None)


def _has_letters(raw: bytes, encoding: str) -> bool:
    try:
        beyond = [sign for sign in raw.decode(encoding) if sign > "\x7f"]
    except UnicodeDecodeError:
        return False
    return sum(map(str.isalpha, beyond)) >= 0.8 * len(beyond) and "\0" not in beyond


def codec_problems(encoding: str | None) -> list[str]:
    """Return a problem if Python does not know an encoding of text."""
    try:
        if encoding is not None:
            b"    ".decode(encoding)  # refuses codecs of bytes, like hex, as well
    except UnicodeError:
        return []
    except (LookupError, ValueError, TypeError):
        return [
            f"The encoding must be one that Python knows, like utf-8, cp1252 or latin-1. Got {shown(encoding)} "
            "instead."
        ]
    return []


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def create(path: Path, suffix: str) -> pa.NativeFile:
    """Open a file for bytes, gzipped if the suffix says so."""
    if suffix.endswith(".gz"):
        return pa.CompressedOutputStream(str(path), "gzip")
    return pa.OSFile(str(path), "wb")


def _not_encoded(path: Path, encoding: str) -> InputError:
    return InputError(
        f"'{path}' is not {encoding} text. Give its encoding, for example --encoding utf-8 (encoding=\"utf-8\")."
    )
