"""Paths: why a file cannot be read from one, or written to one, said before the work begins."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

from shoal.io.formats import suffix_problems
from shoal.whole import exists_already, real_target, reason

_LONGEST_NAME = 255  # bytes, on every file system in use


def input_problems(path: Path) -> list[str]:
    """Say in sentences why no table could be read from this path."""
    if _is_unwritable_name(path):
        return [_bad_name("input")]
    try:
        status = path.stat()
    except OSError as error:
        return _missing(path, error)
    if stat.S_ISDIR(status.st_mode):
        return [f"'{path}' is a folder; name a file in it."]
    if not stat.S_ISREG(status.st_mode):
        return [f"'{path}' is not a regular file; copy its content to one."]
    if status.st_size == 0:
        return [f"'{path}' is empty; a table needs at least a header.", *suffix_problems(path)]
    return suffix_problems(path)


def output_problems(path: str | os.PathLike[str], overwrite: bool) -> list[str]:
    """Say in sentences why a table could not be written to this path; nothing when it could."""
    target = Path(path)
    if _is_unwritable_name(target):
        return [_bad_name("output")]
    return [*suffix_problems(target), *place_problems(path, overwrite)]


def place_problems(path: str | os.PathLike[str], overwrite: bool) -> list[str]:
    """Say in sentences why no file could be written to this path, whatever its format."""
    target = Path(path)
    if _is_unwritable_name(target):
        return [_bad_name("output")]
    if len(os.fsencode(target.name)) > _LONGEST_NAME:
        return [
            f"The output's name has {len(os.fsencode(target.name))} bytes, and {_LONGEST_NAME} are "
            "allowed; choose a shorter one."
        ]
    try:
        return _target_problems(target, overwrite)
    except OSError as error:
        return [f"The output '{target}' cannot be used: {reason(error)}; choose another."]


def space_problems(bytes_needed: int, path: str | os.PathLike[str]) -> list[str]:
    """Say that the disk of an output has too little free space for so many bytes."""
    folder = real_target(Path(path)).parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError:  # place_problems says why
        return []
    if bytes_needed <= free:
        return []
    return [
        f"The folder '{folder}' has {free / 1e6:,.1f} MB of free space, and the output needs about "
        f"{bytes_needed / 1e6:,.1f} MB; make room or choose another."
    ]


def _target_problems(target: Path, overwrite: bool) -> list[str]:
    mode = _mode(target)
    if mode is None and target.is_symlink():
        return [f"The output '{target}' is a link to nothing; remove it or choose another name."]
    if mode is not None and stat.S_ISDIR(mode):
        return [f"The output '{target}' is a folder; name a file in it."]
    if mode is not None and not stat.S_ISREG(mode):
        return [f"The output '{target}' is not a regular file; choose another name."]
    folder = real_target(target).parent
    if not folder.is_dir():
        return [f"The folder '{folder}' does not exist; create it or choose another."]
    found = []
    if not os.access(folder, os.W_OK | os.X_OK):
        found.append(f"The folder '{folder}' is not writable; choose another.")
    if mode is not None and not overwrite:
        found.append(exists_already(target))
    return found


def _mode(path: Path) -> int | None:
    """Kind and permissions of the file that a path leads to, None where there is none."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # told by the folder
        return None


def _missing(path: Path, error: OSError) -> list[str]:
    if error.errno == errno.ELOOP:
        return [f"'{path}' is a link that leads to itself; name the file."]
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return [f"'{path}' does not exist; check the path.", *suffix_problems(path)]
    return [f"'{path}' cannot be read: {reason(error)}; check its permissions and its disk."]


def _is_unwritable_name(path: Path) -> bool:
    """Whether a name cannot be shown or passed to the system: bytes that are not UTF-8, or NUL."""
    try:
        return b"\0" in str(path).encode()
    except UnicodeEncodeError:
        return True


def _bad_name(what: str) -> str:
    return f"The name of the {what} is not UTF-8 text without NUL characters; choose another name."
