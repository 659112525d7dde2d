"""The folder in which compiled kernels are kept between runs, named by a hash of everything that goes into them.

Numba would keep kernels next to their sources, where a user often cannot write, and would compile a kernel again only
when its own file changes, not when a function from another file that is linked into it does. The cache never makes a
run fail: where nothing can be kept, kernels are compiled in every run.
"""

from __future__ import annotations

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
from numba.core.caching import NullCache

COMPILED = "compiled"  # folder of machine code that a package carries
NAME = "kernels-"  # of a folder, before the fingerprint
UNUSED = 30 * 86_400  # seconds after which kernels of other sources or versions are removed
SOURCES = Path(__file__).parents[1]  # of all kernels
AROUND = ("compile/ahead.py", "compile/cache.py")  # files that change no machine code
ROOT = 0
UNMAPPED = 65_534  # in a container, the owner of what belongs to nobody there


def cache_folder() -> Path | None:
    """Return the folder in which this user's compiled kernels are kept, None if there is none."""
    return _place()[0]


def cache_note() -> str:
    """Return a sentence that says why compiled kernels are not kept; empty if they are."""
    return _place()[1]


@cache
def carried_kernels() -> tuple[Path | None, str]:
    """Return the folder of machine code that came with the package; None and the reason if it cannot be used here."""
    folder = SOURCES / COMPILED
    try:
        made_for = json.loads((folder / "made_for.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None, "The package carries no compiled kernels."
    other = [name for name, text in environment().items() if made_for.get(name) != text]
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
    """The folder, or None and a note why there is none."""
    wanted = None
    try:
        wanted = _folder_of_user()
        return _private_folder(wanted, NAME + _fingerprint()), ""
    except (OSError, RuntimeError):
        place = f"cannot be kept in {wanted}" if wanted else "cannot be kept without a home folder"
        variable = "NUMBA_CACHE_DIR" if config.CACHE_DIR else "XDG_CACHE_HOME"
        return None, (
            f"Compiled kernels {place}; every run compiles them anew: set {variable} to a folder "
            "that you can write and others cannot."
        )


def _folder_of_user() -> Path:
    """The folder for caches of this user."""
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
    """Make a folder that only this user can write, and remove unused ones next to it."""
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


OnCompile = Callable[[str, tuple], None]
_on_compile: ContextVar[OnCompile | None] = ContextVar("on_compile", default=None)


@contextlib.contextmanager
def on_compile(call: OnCompile) -> Iterator[None]:
    """Call a function with a kernel's name and types before the kernel is compiled; it may raise an error to stop.

    If the machine code is in the folder after the call, the kernel is not compiled.
    """
    token = _on_compile.set(call)
    try:
        yield
    finally:
        _on_compile.reset(token)


def file_name(kernel: str, types: tuple) -> str:
    """Return the name of the file for a kernel and the types of its arguments."""
    text = "\n".join(map(str, types))
    return f"{kernel}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.code"


def part_suffix(process: int) -> str:
    """Return the suffix of a file that a process has not finished writing."""
    return f".{process}.part"


def kept_file(kernel: str, types: tuple) -> Path | None:
    """Return the file with a kernel's machine code, None if the kernel has to be compiled."""
    folders = filter(None, (carried_kernels()[0], cache_folder()))
    files = (folder / file_name(kernel, types) for folder in folders)
    return next(filter(Path.is_file, files), None)


class KernelCache(NullCache):
    """The machine code of one kernel, as Numba asks for it; the methods' names are Numba's."""

    def __init__(self, kernel: str) -> None:
        self._kernel = kernel

    def load_overload(self, sig, target_context):
        """Return what was compiled for these types, None if nothing was."""
        types = _arguments(sig)
        found, call = self._load(types, target_context), _on_compile.get()
        if found is None and call is not None:
            call(self._kernel, types)
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
        except Exception:  # an incomplete file or another Numba may raise anything
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
        except Exception:  # a full disk, a folder that is gone, another Numba
            with contextlib.suppress(OSError):
                part.unlink()


def _arguments(sig) -> tuple:
    """The types of a signature, or types as they are."""
    return tuple(getattr(sig, "args", sig))
