"""Folders for large outputs in progress: private to their owner, and removed when the work ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path

from shoal.atomic import real_target

try:
    import fcntl
except ImportError:  # Windows, where open files cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

MARK, MAKING = ".shoal-staging-", ".shoal-making-"
LOCK = "lock"


_KEPT: set[Staging] = set()  # whose frames may be in use, whoever holds them


class Staging:
    """A folder that is removed when it is closed, at the end of the process or, if that is killed, by the next run."""

    def __init__(self, beside: Path | None = None) -> None:
        """Make a folder next to an output, or in the folder for temporary files."""
        self.parent = Path(tempfile.gettempdir()) if beside is None else beside
        remove_leftovers(self.parent)
        name = f"{os.getpid()}-{secrets.token_hex(6)}"
        made, self.folder = self.parent / f"{MAKING}{name}", self.parent / f"{MARK}{name}"
        locks: list[int] = []
        self._finalizer = weakref.finalize(self, _remove, (made, self.folder), locks)
        try:
            made.mkdir(mode=0o700)
            locks.append(os.open(made / LOCK, os.O_CREAT | os.O_RDWR, 0o600))
            if fcntl is not None:
                fcntl.flock(locks[0], fcntl.LOCK_EX)
            made.rename(self.folder)  # only now, with its lock, may others look at it
        except BaseException:  # also an interrupt, which may come at any of these steps
            self.close()
            raise

    def place(self, name: str) -> Path:
        """The path of a file or folder in it."""
        return self.folder / name

    def keep(self, *names: str) -> None:
        """Remove all but these files, which then stay as long as the process unless the folder is closed."""
        for path in self.folder.iterdir():
            if path.name not in (*names, LOCK):
                _forget(path)
        _KEPT.add(self)

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        _KEPT.discard(self)
        self._finalizer()


@contextlib.contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """A folder next to an output that is being made; if the process is killed, the next run removes it."""
    staging = Staging(real_target(target).absolute().parent)
    try:
        yield staging.folder
    finally:
        staging.close()


def remove_leftovers(parent: Path) -> None:
    """Remove the folders that killed runs left behind."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for folder in parent.glob(f"{MARK}*"):
            if _is_left_behind(folder):
                shutil.rmtree(folder, ignore_errors=True)
        for folder in parent.glob(f"{MAKING}*"):
            if _is_orphaned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_left_behind(folder: Path) -> bool:
    """Whether no running process works in a folder of ours."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR)
    except FileNotFoundError:  # half removed
        return _is_orphaned(folder)
    except OSError:
        return False
    if not _is_ours(folder):
        os.close(lock)
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(lock)


def _is_orphaned(folder: Path) -> bool:
    """Whether a folder is ours, and the process whose number its name begins with has ended."""
    process = folder.name.removeprefix(MARK).removeprefix(MAKING).partition("-")[0]
    return _is_ours(folder) and not process_runs(process)


def _is_ours(folder: Path) -> bool:
    try:
        return not folder.is_symlink() and folder.stat().st_uid == os.getuid()
    except OSError:
        return False


def process_runs(process: str) -> bool:
    """Whether a process with this number runs on this computer; assumed if unknown."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        pass
    return True


def _forget(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _remove(folders: tuple[Path, ...], locks: list[int]) -> None:
    """Remove folders and release their locks; an interrupt meanwhile takes effect when they are gone."""
    try:
        _remove_now(folders, locks)
    except KeyboardInterrupt:
        _remove_now(folders, locks)
        raise


def _remove_now(folders: tuple[Path, ...], locks: list[int]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    while locks:
        with contextlib.suppress(OSError):
            os.close(locks.pop())
