"""What Windows lacks is not needed: a system without it, which refuses to move open files, is enough.

Windows itself is not run here. These tests take away what it does not have and forbid what it forbids.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torn
from torn import SUFFIXES, assert_same, names_in

import shoal
from shoal.data.files.table_file import read_file, read_file_texts, write_file, write_text
from shoal.errors import AuditFailed

ABSENT = ["chown", "fchmod", "fchown", "geteuid", "getuid", "lchown", "mkfifo"]
OPEN_FILES = Path("/proc/self/fd")
SOURCE = Path(__file__).parents[2] / "src"
PATIENTS = Path(__file__).parents[2] / "docs" / "example" / "patients.csv"


def refuse_if_open(*paths: Any) -> None:
    """Raise as Windows does for a file that this process has open."""
    names = {os.path.realpath(path) for path in paths}
    for handle in OPEN_FILES.iterdir():
        try:
            held = str(handle.readlink())
        except FileNotFoundError:  # the handle of this very listing
            continue
        if held in names:
            raise PermissionError(13, "The file is being used by another process")


@pytest.fixture(params=[True, False], ids=["links", "no_links"])
def windows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what Windows lacks; hard links depend on the disk."""
    if not OPEN_FILES.is_dir():
        pytest.skip("Only Linux lists the open files of a process.")
    for name in [*ABSENT, *([] if request.param else ["link"])]:
        monkeypatch.delattr(os, name, raising=False)
    replace, unlink = os.replace, os.unlink

    def replace_closed(source: Any, target: Any) -> None:
        refuse_if_open(source, target)
        replace(source, target)

    def unlink_closed(path: Any) -> None:
        refuse_if_open(path)
        unlink(path)

    monkeypatch.setattr(os, "replace", replace_closed)
    monkeypatch.setattr(os, "unlink", unlink_closed)


def test_an_open_file_is_refused_as_on_windows(tmp_path, windows):
    source = tmp_path / "open.txt"
    with source.open("w"), pytest.raises(PermissionError):
        source.replace(tmp_path / "other.txt")
    source.replace(tmp_path / "other.txt")
    assert names_in(tmp_path) == ["other.txt"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_are_written_checked_and_replaced(tmp_path, windows, suffix):
    target = tmp_path / f"release{suffix}"
    write_file(torn.people(), target, check=read_file_texts)
    target.write_bytes(b"before")
    write_file(torn.people(), target, overwrite=True, check=read_file_texts)
    assert_same(read_file(target), torn.people())
    assert names_in(tmp_path) == [target.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_fails_its_check_is_removed(tmp_path, windows, suffix):
    def fail(path: Path) -> None:
        read_file_texts(path)
        raise AuditFailed("no")

    with pytest.raises(AuditFailed):
        write_file(torn.people(), tmp_path / f"release{suffix}", check=fail)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".csv.gz", ".parquet", ".xlsx"])
def test_a_damaged_file_is_not_held_open(tmp_path, windows, suffix):
    path = tmp_path / f"table{suffix}"
    write_file(torn.people(), path)
    path.write_bytes(path.read_bytes()[:-10])
    torn.problem(path)
    path.unlink()
    assert names_in(tmp_path) == []


def test_texts_have_the_same_line_ends_everywhere(tmp_path, windows, monkeypatch):
    monkeypatch.setattr(os, "linesep", "\r\n")
    write_text("a\nb\n", tmp_path / "report.html")
    settings = shoal.anonymize(PATIENTS, **JOB).settings
    settings.save(tmp_path / "settings.toml")
    for path in tmp_path.iterdir():
        assert b"\r" not in path.read_bytes()
        assert b"\n" in path.read_bytes()


def test_a_hierarchy_on_another_drive_is_named_by_its_whole_path(tmp_path, monkeypatch):
    file = tmp_path / "town.csv"
    file.write_text("Graz,Styria,*\nWien,Vienna,*\n")

    def other_drive(*_: object) -> None:
        raise ValueError("path is on mount 'C:', start on mount 'D:'")

    monkeypatch.setattr(os.path, "relpath", other_drive)
    table = pa.table({"town": ["Graz", "Wien"] * 3})
    tree = shoal.Hierarchy.from_csv(file)
    release = shoal.anonymize(table, quasi_identifiers={"town": tree}, k=2)
    release.settings.save(tmp_path / "settings.toml")
    saved = shoal.Settings.load(tmp_path / "settings.toml").quasi_identifiers["town"]
    assert saved.source == str(file)


JOB: dict[str, Any] = {
    "quasi_identifiers": ["age", "sex", "town"],
    "sensitive": ["diagnosis"],
    "identifiers": ["name"],
    "k": 3,
}
END = "--- end ---"  # between what one command says and the next
COMMANDS = f"""
import json, os, signal, sys

for name in {ABSENT!r} + ["link", "fork", "sched_getaffinity"]:
    if hasattr(os, name):
        delattr(os, name)
os.process_cpu_count = os.cpu_count  # which asks `sched_getaffinity` elsewhere
for name in ["SIGHUP", "SIGKILL", "SIGALRM", "SIGPIPE", "SIGUSR1"]:
    delattr(signal, name)
for name in ["fcntl", "grp", "pwd", "resource", "termios"]:
    sys.modules[name] = None

from shoal.cli import main

codes = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["shoal", *arguments]
    try:
        main()
    except SystemExit as stopped:
        codes.append(stopped.code or 0)
    for stream in (sys.stdout, sys.stderr):
        print({END!r}, file=stream, flush=True)
print(json.dumps(codes))
"""


def test_the_command_line_runs_without_posix_and_in_an_old_code_page(tmp_path):
    arguments = ["anonymize", PATIENTS, "-q", "age", "-q", "sex", "-q", "town", "-s", "diagnosis"]
    arguments += ["-i", "name", "-k", "3", "-o", tmp_path / "release.csv"]
    arguments += ["--report", tmp_path / "report.html", "--save-settings", tmp_path / "job.toml"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(SOURCE),
        "PYTHONIOENCODING": "cp1252",
        "NUMBA_NUM_THREADS": "1",
    }

    audit = ["audit", tmp_path / "release.csv", "--settings", tmp_path / "job.toml", "--json"]
    given = json.dumps([[*map(str, line)] for line in (arguments, audit, arguments)])
    command = [sys.executable, "-c", COMMANDS, given]
    ran = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    summary, audited, _, codes = ran.stdout.decode("cp1252").split(END)
    refused = ran.stderr.decode("cp1252").split(END)[2]
    assert json.loads(codes) == [0, 0, 2]
    assert "smallest: 3 records" in summary
    assert sorted(names_in(tmp_path)) == ["job.toml", "release.csv", "report.html"]
    assert json.loads(audited)["k"] == 3
    assert "exists. Choose another name" in refused
