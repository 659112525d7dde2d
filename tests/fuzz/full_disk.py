"""Fill the disk while shoal writes: one sentence, the old file as it was, nothing left over.

`python -m tests.fuzz.full_disk`; a limit on the size of files stands for the full disk, and where root may mount one, a
small disk is filled in earnest.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from .__main__ import say
from .runs import command, write_table

RECORDS = 3000
LIMIT = 2000  # bytes; whatever is written is larger, settings included
SUFFIXES = (".csv", ".csv.gz", ".parquet", ".jsonl", ".xlsx")
RESCUED = re.compile(r"finished release is in '([^']*)'")
PROGRESS = re.compile(r"shoal: \d+ s: ")  # on slow machines
REASON = re.compile("cannot be written|free space")
OLD = b"what was here before\n"


def limited_faults(folder: Path, suffix: str, records: int = RECORDS) -> list[str]:
    """Write a release, a report and settings where no file may grow beyond the limit."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))

    write_table(folder / "table.csv", records)
    return _run(folder, folder / "table.csv", suffix, records, limit)


def extra_faults(folder: Path, option: str, name: str, records: int = RECORDS) -> list[str]:
    """Write a report or settings, beside a release that fits, to a disk that is full."""
    write_table(folder / "table.csv", records)
    with small_disk(folder / "small", "64k") as disk:
        if disk is None:
            return []
        target = disk / name
        target.write_bytes(OLD)
        _fill(disk)
        more = (option, str(target), "--overwrite")
        scratch = folder / "scratch"
        ended = _start(command(folder / "table.csv", folder / "release.csv", *more), scratch)
        found = _message_faults(ended, name, records)
        return found + _place_faults(disk, target, scratch, {"filling"})


def mounted_faults(folder: Path, suffix: str, records: int = RECORDS) -> list[str]:
    """Write a release to a disk that is almost full."""
    write_table(folder / "table.csv", records)
    with small_disk(folder / "small", "8k") as disk:
        if disk is None:
            return []
        return _run(disk, folder / "table.csv", suffix, records, None)


def _run(
    folder: Path, table: Path, suffix: str, records: int, limit: Callable[[], None] | None
) -> list[str]:
    target = folder / f"release{suffix}"
    target.write_bytes(OLD)
    scratch = table.parent / "scratch"
    ended = _start(command(table, target, "--overwrite"), scratch, limit)
    found = _message_faults(ended, target.name, records)
    return found + _place_faults(folder, target, scratch, {table.name, scratch.name})


def _start(
    arguments: list[str], folder: Path, limit: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.run(
        arguments, capture_output=True, text=True, preexec_fn=limit, env=environment
    )


def _message_faults(ended: subprocess.CompletedProcess[str], name: str, records: int) -> list[str]:
    """What is wrong with what a command says; it may add where it has put the finished release."""
    lines = [line for line in ended.stderr.splitlines() if not PROGRESS.match(line)]
    saved = RESCUED.search(ended.stderr)
    found = _rescue_faults(Path(saved[1]), records) if saved else []
    plain = all(line.startswith("shoal: ") and line.endswith(".") for line in lines)
    if ended.returncode != 2 or not plain or not REASON.search(ended.stderr) or len(lines) > 2:
        found.append(f"{name}: exit code {ended.returncode}, {lines!r}")
    return found


def _rescue_faults(path: Path, records: int) -> list[str]:
    """What is wrong with a release that was saved elsewhere; it is removed."""
    import pyarrow.parquet as pq

    found = []
    try:
        if pq.read_table(path).num_rows != records:
            found.append(f"{path.name} is not the whole release")
        if path.parent.stat().st_mode & 0o077:
            found.append(f"{path.name} is where others can read it")
    except (OSError, ValueError) as error:
        found.append(f"{path.name} cannot be read ({type(error).__name__})")
    shutil.rmtree(path.parent, ignore_errors=True)
    return found


def _place_faults(folder: Path, target: Path, scratch: Path, others: set[str]) -> list[str]:
    """What is wrong with the files, once what was rescued is gone."""
    found = [f"{target.name}: a folder is left in the temporary one" for _ in scratch.iterdir()]
    if target.read_bytes() != OLD:
        found.append(f"{target.name}: the old file is lost")
    left = {path.name for path in folder.iterdir()} - {target.name} - others
    if left:
        found.append(f"{target.name}: {len(left)} unfinished files are left over")
    return found


def _fill(disk: Path) -> None:
    """Take all room that a disk has left."""
    with (disk / "filling").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 512)
        except OSError:
            return


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path | None]:
    """A disk of a few kilobytes, or None where this user cannot have one."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def main() -> int:
    """Fill the disk under every output; 1 if one of them suffers."""
    trials = [(limited_faults, (suffix,)) for suffix in SUFFIXES]
    trials += [(mounted_faults, (suffix,)) for suffix in SUFFIXES]
    extras = (("--report", "report.html"), ("--save-settings", "settings.toml"))
    trials += [(extra_faults, extra) for extra in extras]
    failures = 0
    for trial, arguments in trials:
        with TemporaryDirectory() as folder:
            for fault in trial(Path(folder), *arguments):
                failures += 1
                say(f"{trial.__name__}: {fault}")
    say(f"{len(trials)} trials, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
