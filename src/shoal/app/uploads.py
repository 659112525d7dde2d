"""Uploaded files, written to disk as they arrive so that memory does not grow with them."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import IO, Any

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.requests import Request
from starlette.responses import Response

from shoal.app.projects import Projects, safe_name
from shoal.atomic import create_private

logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # it logs single characters
LARGEST = 20 * 2**30  # bytes
MOST_HEADER = 8_192  # bytes of the headers of a part
NO_FILE = "No file was sent, or it was empty. Choose a file that is not empty."


class UploadRejected(Exception):
    """An upload that is refused; the message says why, and `status` is the HTTP status."""

    def __init__(self, why: str, status: int) -> None:
        super().__init__(why)
        self.status = status


def _broken() -> UploadRejected:
    return UploadRejected("The file did not arrive completely. Upload it again.", 400)


class _Parts:
    """Writes the first part with a file name to a folder and ignores other parts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path: Path | None = None
        self._file: IO[bytes] | None = None
        self._field, self._value = b"", b""
        self._headers: dict[bytes, bytes] = {}
        self.size = 0
        self.is_whole = False

    def on_part_begin(self) -> None:
        self._headers, self._field, self._value = {}, b"", b""

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]
        self._limit()

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        self._limit()

    def _limit(self) -> None:
        if len(self._field) + len(self._value) > MOST_HEADER:
            raise _broken()

    def on_header_end(self) -> None:
        self._headers[self._field.lower()] = self._value
        self._field, self._value = b"", b""

    def on_headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"filename", b"").decode("utf-8", "replace")
        if name and self.path is None:
            self.path = self.folder / safe_name(name)
            self._file = os.fdopen(create_private(self.path), "wb")

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self.size += end - start
        if self.size > LARGEST:
            why = f"The file is larger than {LARGEST >> 30} GB. Open it by its path instead."
            raise UploadRejected(why, 413)
        if self._file is not None:
            self._file.write(data[start:end])

    def on_part_end(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def on_end(self) -> None:
        self.is_whole = True


async def receive_file(request: Request, folder: Path) -> Path | None:
    """Write the file from a form to a folder; None if there is none or it is empty.

    Raises `UploadRejected` if the form is broken, cut off or too large.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        return None
    parts = _Parts(folder)
    calls: Any = {name: getattr(parts, name) for name in dir(parts) if name.startswith("on_")}
    try:
        parser = MultipartParser(options[b"boundary"], calls)
        async for chunk in request.stream():
            await asyncio.to_thread(parser.write, chunk)
    except FormParserError:  # its message may contain what was sent
        raise _broken() from None
    finally:
        parts.on_part_end()  # which may be cut off
    if not parts.is_whole:
        raise _broken()
    return parts.path if parts.path is not None and parts.size else None


async def with_upload(
    request: Request,
    projects: Projects,
    use: Callable[[Path], Awaitable[Response]],
    refused: Callable[[str, int], Response],
) -> Response:
    """Receive a file and use it; if there is none, show the sentence that says why.

    The folder of the file is deleted afterwards unless `use` moved it.
    """
    folder = projects.incoming()
    try:
        path = await receive_file(request, folder)
        return refused(NO_FILE, 422) if path is None else await use(path)
    except UploadRejected as error:
        return refused(str(error), error.status)
    except OSError as error:
        why = f"The file could not be copied: {error.strerror}. Open it by its path instead."
        return refused(why, 422)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
