"""Files that appear whole or not at all and are no more readable than the files they replace.

Files with original values or secrets are private: only the user who runs shoal may read them, whatever the umask.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from shoal.errors import InputError

_LONGEST_NAME = 255
PRIVATE_FILE = 0o600


def write_atomically(
    target: Path,
    overwrite: bool,
    fill: Callable[[Path], object],
    check: Callable[[Path], None] | None = None,
    suffix: str = "",
    folder: Path | None = None,
    private: bool = False,
) -> None:
    """Let a file appear under its name once it is filled, on disk and checked.

    Until then it has a hidden name next to the target, or in a `folder` on the same disk, with the same suffix, and
    only its owner may read it. The new file gets the permissions and, if possible, the owner of the file it replaces;
    of a link, the target is replaced. A `private` file stays readable by its owner only, whatever it replaces.
    Windows has no such permissions: there, files get those of their folder.
    """
    real = real_target(target)
    temporary = _temporary(real, suffix)
    if folder is not None:
        temporary = folder / temporary.name
    try:
        mode = None if private else _mode(temporary, real)
        os.close(create_private(temporary))
        fill(temporary)
        with temporary.open("r+b") as written:
            os.fsync(written.fileno())
        if check is not None:
            check(temporary)
        if mode is not None:
            _hand_on(temporary, real, mode)
        _give_name(temporary, real, overwrite)
        return
    except OSError as error:
        why = system_reason(error)
    finally:
        with suppress(OSError):
            temporary.unlink()
    raise InputError(f"'{target}' cannot be written: {why}. Choose another place.")


def _temporary(real: Path, suffix: str) -> Path:
    """A hidden name that contains the target's name, as far as there is room, and ends in the suffix."""
    ending = f".{secrets.token_hex(4)}.tmp{suffix}"
    room = _LONGEST_NAME - len(ending.encode()) - 1
    name = real.name.encode()[:room].decode(errors="ignore")
    return real.with_name(f".{name}{ending}")


def create_private(path: Path) -> int:
    """Create a file that only its owner may read or write and return its descriptor, which writes to it."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE)
    if has_owners():
        os.fchmod(descriptor, PRIVATE_FILE)  # a umask may have taken the owner's own rights, too
    return descriptor


def make_private_folder(path: Path) -> None:
    """Make a folder that only its owner may enter, or close an existing one to all others.

    Raises
    ------
    PermissionError
        If the folder belongs to another user, who could open it again.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if has_owners() and path.stat().st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to another user")
    path.chmod(0o700)


def readable_by_others(found: os.stat_result) -> bool:
    """Whether other users may read a file: its group, too, unless someone else, like an administrator, chose that
    group.
    """
    if not has_owners():
        return False
    others = 0o077 if found.st_uid == os.geteuid() else 0o007
    return bool(found.st_mode & others)


def _mode(temporary: Path, real: Path) -> int:
    """The permissions that a file gets in the end: those of the file it replaces, or of any new one."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(real.stat().st_mode) & 0o777
    # The system applies the umask to an empty file that is never filled, so a process that opened it reads nothing.
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        return stat.S_IMODE(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
        temporary.unlink()


def _hand_on(temporary: Path, real: Path, mode: int) -> None:
    """Give the finished file its owner and permissions."""
    if not has_owners():
        return
    with suppress(FileNotFoundError):
        before, now = real.stat(), temporary.stat()
        if (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
            try:
                os.chown(temporary, before.st_uid, before.st_gid)
            except PermissionError:  # another group may read only what everybody may
                mode = mode & 0o707 | (mode & 0o007) << 3
    temporary.chmod(mode)


def has_owners() -> bool:
    """Whether files have an owner, a group and permissions for each, as they do everywhere but on Windows."""
    return hasattr(os, "chown")


def _give_name(temporary: Path, target: Path, overwrite: bool) -> None:
    """Give the finished file its name, in one step."""
    if not overwrite:
        try:
            os.link(
                temporary, target
            )  # unlike a rename, this refuses a target that appeared meanwhile
            return
        except (OSError, AttributeError):  # the target exists, or there are no hard links here
            if os.path.lexists(target):
                raise InputError(output_exists_problem(target)) from None
    temporary.replace(target)


def real_target(target: Path) -> Path:
    """The file that is written: what a link points to, else the path itself."""
    return Path(os.path.realpath(target)) if target.is_symlink() else target


def output_exists_problem(target: Path) -> str:
    """Report that an output exists."""
    return (
        f"The output '{target}' exists. Choose another name or pass --overwrite (overwrite=True)."
    )


def system_reason(error: OSError) -> str:
    """The system's words for an error, without a path or content."""
    return os.strerror(error.errno) if error.errno else type(error).__name__
