"""Machine code of kernels on disk: one file for each kernel and types of its arguments.

Numba asks a `KernelCache` before it compiles a kernel and hands it what it compiled. Code comes with the package, for
any processor of its kind, if the package was built for this Numba and this Python; otherwise it is in the folder of
the user. What cannot be read is compiled anew, and what cannot be written is dropped, also where another Numba keeps
what it compiled in another way.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path

from shoal.kernels.cache import cache_folder, carried_folder

_listener: ContextVar[Callable[[str, str], None] | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def telling(listener: Callable[[str, str], None]) -> Iterator[None]:
    """Call a function before any kernel is compiled, with its name and that of its file; it may raise to stop.

    It may also bring the file, in which case the kernel is not compiled.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def file_name(kernel: str, types: tuple) -> str:
    """Return the name of the file for a kernel and types of its arguments."""
    text = "\n".join(map(str, types))
    return f"{kernel}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.code"


def part_suffix(process: int) -> str:
    """Return how the name of a file ends that a process has not finished writing."""
    return f".{process}.part"


def kept_file(kernel: str, types: tuple) -> Path | None:
    """Return the file that holds a kernel's machine code, None if it has to be compiled."""
    for folder in (carried_folder(), cache_folder()):
        if folder is not None:
            file = folder / file_name(kernel, types)
            if file.is_file():
                return file
    return None


class KernelCache:
    """What Numba asks for the machine code of one kernel; names of methods are Numba's."""

    def __init__(self, kernel: str) -> None:
        self._kernel = kernel

    @property
    def cache_path(self) -> str | None:
        folder = cache_folder()
        return None if folder is None else str(folder)

    def enable(self) -> None:
        """Do nothing: it is always on."""

    def disable(self) -> None:
        """Do nothing."""

    def flush(self) -> None:
        """Do nothing: a change of sources changes the folder."""

    def load_overload(self, sig, target_context):
        """Return what was compiled for these types, None if it was not."""
        types = _arguments(sig)
        found = self._load(types, target_context)
        listener = _listener.get()
        if found is None and listener is not None:
            listener(self._kernel, file_name(self._kernel, types))
            found = self._load(types, target_context)
        return found

    def _load(self, types, target_context):
        file = kept_file(self._kernel, types)
        if file is None:
            return None
        try:
            from numba.core.compiler import CompileResult

            target_context.refresh()
            return CompileResult._rebuild(target_context, *pickle.loads(file.read_bytes()))
        except Exception:  # reading a torn file may raise anything, and so may another Numba
            with contextlib.suppress(OSError):
                file.unlink()
            return None

    def save_overload(self, sig, data) -> None:
        """Keep what was compiled."""
        folder = cache_folder()
        if folder is None:
            return
        file = folder / file_name(self._kernel, _arguments(sig))
        part = file.with_suffix(part_suffix(os.getpid()))
        try:
            from numba.core.serialize import dumps

            if data.lifted or data.library.has_dynamic_globals:
                return  # it holds addresses of this process
            part.write_bytes(dumps(data._reduce()))
            part.replace(file)
        except Exception:  # the disk is full, the folder is gone, Numba is another one
            with contextlib.suppress(OSError):
                part.unlink()


def _arguments(sig) -> tuple:
    """Types of arguments, of a signature or as they are."""
    return tuple(getattr(sig, "args", sig))
