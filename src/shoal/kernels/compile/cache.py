"""Where compiled kernels are kept between runs: in a folder of the user, named by all that goes into them.

Numba would keep them beside the sources, which a user often cannot write, and would compile a kernel anew only when the
kernel's own file changes, not when a function does that is linked in from another file. A cache is never a reason to
fail: where nothing can be kept, kernels are compiled in every run.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import pickle
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from pathlib import Path

import numba
import numpy as np
from llvmlite import binding as llvm
from numba import config

COMPILED = "compiled"  # folder of machine code that a package carries
NAME = "kernels-"  # of a folder, before the fingerprint
UNUSED = 30 * 86_400  # seconds after which kernels of other sources or versions are removed
SOURCES = Path(__file__).parents[1]  # of all kernels
AROUND = ("compile/ahead.py", "compile/cache.py", "compile/worker.py")  # nothing to compile
ROOT = 0
UNMAPPED = 65_534  # in a container, the owner of what belongs to nobody there


def cache_folder() -> Path | None:
    """Return the folder that compiled kernels are kept in by this process, or None if they are kept nowhere."""
    return _place()[0]


def cache_note() -> str:
    """Return a sentence that says why compiled kernels do not outlast this process; empty if they do."""
    return _place()[1]


def carried_folder() -> Path | None:
    """Return the folder of machine code that came with the package, None if there is none that fits here."""
    return _carried()[0]


def carried_note() -> str:
    """Return a sentence that says why no machine code that came with the package is in use."""
    return _carried()[1]


@cache
def _carried() -> tuple[Path | None, str]:
    folder = SOURCES / COMPILED
    try:
        made_for = json.loads((folder / "made_for.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None, "The package carries no compiled kernels."
    here = environment()
    other = [name for name, text in here.items() if made_for.get(name) != text]
    if other:
        return None, (
            "The package carries compiled kernels, but not for this machine; "
            f"they were made for other {', '.join(other)}."
        )
    return folder, ""


def environment() -> dict[str, str]:
    """What machine code that a package carries must have been made for."""
    return {
        "sources": sources(),
        "python": sys.implementation.cache_tag,
        "platform": sysconfig.get_platform(),
        "numba": numba.__version__,
        "numpy": np.__version__.partition(".")[0],
    }


@cache
def _place() -> tuple[Path | None, str]:
    """The folder of this process, and a note if it does not outlast the process."""
    wanted = None
    try:
        wanted = _folder_of_user()
        return _private_folder(wanted, NAME + _fingerprint()), ""
    except (OSError, RuntimeError):
        place = f"cannot be kept in {wanted}" if wanted else "cannot be kept without a home folder"
        variable = "NUMBA_CACHE_DIR" if config.CACHE_DIR else "XDG_CACHE_HOME"
        note = (
            f"Compiled kernels {place}; every run compiles them anew: set {variable} to a folder "
            "that you can write and others cannot."
        )
        return _temporary_folder(), note


def _folder_of_user() -> Path:
    """Where this user's programs keep what they can make again."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR).absolute()
    named = os.environ.get("XDG_CACHE_HOME", "")
    if not Path(named).is_absolute() and sys.platform == "win32":
        named = os.environ.get("LOCALAPPDATA", "")
    if Path(named).is_absolute():
        return Path(named) / "shoal"
    home = Path.home()
    if not home.is_absolute() or not home.is_dir():
        raise FileNotFoundError("There is no home folder.")
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "shoal"


def _fingerprint() -> str:
    """A hash of all kernels' sources and of all else that machine code depends on."""
    text = hashlib.sha256(sources().encode())
    for name in (sys.version, numba.__version__, np.__version__, *_processor()):
        text.update(f"\n{name}".encode())
    return text.hexdigest()[:16]


def sources() -> str:
    """Return a hash of all kernels' sources."""
    text = hashlib.sha256()
    named = {file.relative_to(SOURCES).as_posix(): file for file in SOURCES.rglob("*.py")}
    for name in sorted(named.keys() - set(AROUND)):
        source = named[name].read_bytes().replace(b"\r\n", b"\n")
        text.update(f"{name} {len(source)}\n".encode() + source)
    return text.hexdigest()[:16]


def _processor() -> tuple[str, ...]:
    """What Numba compiles for: processor, its features, level of optimization, checks of bounds."""
    name = config.CPU_NAME or llvm.get_host_cpu_name()
    features = config.CPU_FEATURES
    if features is None:
        features = llvm.get_host_cpu_features().flatten()
    return name, features, str(config.OPT), str(config.BOUNDSCHECK)


def _private_folder(parent: Path, name: str) -> Path:
    """Make a folder that can be written and that only this user can change, and remove what it supersedes."""
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = parent.resolve() / name
    folder.mkdir(mode=0o700, exist_ok=True)
    if not _is_private(folder):
        raise PermissionError("Others could exchange the code in this folder.")
    tempfile.TemporaryFile(dir=folder).close()
    os.utime(folder)
    _remove_unused(folder)
    return folder


def _is_private(folder: Path) -> bool:
    """Whether no other user but root can write into a folder or put another in its place."""
    if not hasattr(os, "geteuid"):
        return True  # Windows: folders of a user's profile are private
    user = os.geteuid()
    own = folder.lstat()
    if folder.is_symlink() or own.st_uid != user or own.st_mode & 0o022:
        return False
    above = [place.stat() for place in folder.parents]
    return all(
        facts.st_uid in (user, ROOT, UNMAPPED)
        and (not facts.st_mode & 0o002 or facts.st_mode & 0o1000)  # sticky: only owners rename
        for facts in above
    )


def _remove_unused(folder: Path) -> None:
    for other in folder.parent.glob(f"{NAME}*"):
        try:
            if other != folder and other.stat().st_mtime < time.time() - UNUSED:
                shutil.rmtree(other, ignore_errors=True)
        except OSError:  # removed by another process
            continue


def _temporary_folder() -> Path | None:
    """A private folder that is removed when this process ends; None if there cannot be one."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="shoal-kernels-")).resolve()
    except OSError:
        return None
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # not in a fork, whose parent still uses the folder
        shutil.rmtree(folder, ignore_errors=True)


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
