"""Outputs appear whole or not at all, in the right place, and only for those who may read them."""

from __future__ import annotations

import os
import random
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import torn
from torn import SECRET, SUFFIXES, assert_same, names_in

from shoal.data.files.formats import output_problems, path_problems
from shoal.data.files.table_file import read_file, read_file_texts, write_file, write_text
from shoal.errors import AuditFailed, InputError


@pytest.fixture
def people() -> pa.Table:
    return torn.people()


def test_a_usable_output_has_no_problems(tmp_path):
    assert output_problems(tmp_path / "release.csv", False) == []
    (tmp_path / "release.csv").touch()
    assert output_problems(str(tmp_path / "release.csv"), True) == []


def test_output_problems_are_told_together(tmp_path, monkeypatch):
    (tmp_path / "release.doc").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    suffix, writable, exists = output_problems(tmp_path / "release.doc", False)
    assert "'.doc' is not supported" in suffix
    assert "is not writable" in writable
    assert exists.endswith("exists. Choose another name or pass --overwrite (overwrite=True).")


def test_a_folder_or_a_missing_folder_is_no_output(tmp_path, people):
    (tmp_path / "release.csv").mkdir()
    for overwrite in (False, True):
        assert "is a folder" in output_problems(tmp_path / "release.csv", overwrite)[0]
        assert "does not exist" in output_problems(tmp_path / "no" / "release.csv", overwrite)[0]
    with pytest.raises(InputError, match="does not exist"):
        write_file(people, tmp_path / "no" / "release.csv")


def test_an_existing_file_is_replaced_only_when_told(tmp_path, people):
    target = tmp_path / "release.parquet"
    write_file(people, target)
    before = target.read_bytes()
    with pytest.raises(InputError, match="overwrite=True"):
        write_file(people.slice(1), target)
    assert target.read_bytes() == before
    write_file(people.slice(1), target, overwrite=True)
    assert_same(read_file(target), people.slice(1))
    assert names_in(tmp_path) == ["release.parquet"]


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_appears_during_the_write_is_not_replaced(
    tmp_path, people, monkeypatch, has_links
):
    target = tmp_path / "release.csv"

    def no_link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not has_links:
        monkeypatch.setattr(os, "link", no_link)
    monkeypatch.setattr(os, "fsync", lambda _: target.write_text("theirs"))
    with pytest.raises(InputError, match=r"exists\. Choose another name"):
        write_file(people, target)
    assert target.read_text() == "theirs"
    assert names_in(tmp_path) == ["release.csv"]


def test_without_hard_links_a_new_file_is_written_all_the_same(tmp_path, people, monkeypatch):
    def no_link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    write_file(people, tmp_path / "release.csv")
    assert_same(read_file(tmp_path / "release.csv"), people)
    assert names_in(tmp_path) == ["release.csv"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
def test_a_failed_write_leaves_nothing_behind(tmp_path, people, monkeypatch, suffix, failure):
    seen: list[list[str]] = []

    def fail(_: int) -> None:
        seen.append(names_in(tmp_path))
        raise failure

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(failure):
        write_file(people, tmp_path / f"release{suffix}")
    [[temporary]] = seen
    ending = re.escape(suffix)
    assert re.fullmatch(rf"\.release{ending}\.\w+\.tmp{ending}", temporary)
    assert names_in(tmp_path) == []


def test_a_full_disk_is_one_sentence(tmp_path, people, monkeypatch):
    def fail(_: int) -> None:
        raise OSError(28, SECRET)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match="cannot be written: No space left on device") as caught:
        write_file(people, tmp_path / "release.csv")
    assert SECRET not in str(caught.value)
    assert names_in(tmp_path) == []


def test_a_name_too_long_is_one_sentence(tmp_path, people):
    write_file(people, tmp_path / f"{'x' * 251}.csv")
    write_file(people, tmp_path / f"{'é' * 125}.csv")
    with pytest.raises(
        InputError, match="The output's name has 256 bytes, but only 255 are allowed"
    ):
        write_file(people, tmp_path / f"{'x' * 252}.csv")
    folders = Path(*["x" * 250] * 20)
    [sentence] = path_problems(tmp_path / folders / "t.csv", False)
    assert "cannot be used: File name too long" in sentence


# Checked before it has its name


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_is_checked_under_a_name_by_which_it_can_be_read(tmp_path, people, suffix):
    target, seen = tmp_path / f"release{suffix}", []

    def check(path: Path) -> None:
        assert not target.exists()
        seen.append(read_file_texts(path))

    write_file(people, target, check=check)
    [texts] = seen
    assert_same(texts, read_file_texts(target))
    assert names_in(tmp_path) == [target.name]


@pytest.mark.parametrize("exists", [False, True])
def test_a_file_that_fails_its_check_is_not_written(tmp_path, people, exists):
    target = tmp_path / "release.csv"
    if exists:
        target.write_text("before")

    def check(_: Path) -> None:
        raise AuditFailed("no")

    with pytest.raises(AuditFailed):
        write_file(people, target, overwrite=exists, check=check)
    assert names_in(tmp_path) == (["release.csv"] if exists else [])
    assert not exists or target.read_text() == "before"


# Permissions and links


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o440])
def test_a_replaced_file_keeps_its_permissions(tmp_path, people, suffix, mode):
    target = tmp_path / f"release{suffix}"
    target.touch()
    target.chmod(mode)
    write_file(people, target, overwrite=True)
    assert mode_of(target) == mode


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("exists", [False, True])
def test_a_new_file_follows_the_umask_and_is_private_until_it_is_whole(
    tmp_path, people, suffix, exists
):
    target, seen = tmp_path / f"release{suffix}", []
    if exists:
        target.touch()
    write_file(people, target, overwrite=exists, check=lambda path: seen.append(mode_of(path)))
    assert seen == [0o600]
    assert mode_of(target) == 0o640
    write_text("x", tmp_path / "report.html")
    assert mode_of(tmp_path / "report.html") == 0o640


def test_a_replaced_file_keeps_its_owner(tmp_path, people, monkeypatch):
    target, given = tmp_path / "release.csv", []
    target.touch()
    target.chmod(0o664)
    owned = target.stat()
    real = os.stat

    class Other:
        st_uid, st_gid, st_mode = owned.st_uid + 1, owned.st_gid + 1, owned.st_mode

    def stat_of(path: Path, **kwargs: bool) -> object:
        return Other if path == target else real(path, **kwargs)

    monkeypatch.setattr(Path, "stat", stat_of)
    monkeypatch.setattr(os, "chown", lambda _, *owner: given.append(owner))
    write_file(people, target, overwrite=True)
    assert given == [(Other.st_uid, Other.st_gid)]
    assert stat.S_IMODE(real(target).st_mode) == 0o664

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    write_file(people, target, overwrite=True)
    assert stat.S_IMODE(real(target).st_mode) == 0o644


def test_a_link_stays_and_its_file_is_replaced(tmp_path, people):
    (tmp_path / "share").mkdir()
    latest, link = tmp_path / "share" / "latest.csv", tmp_path / "release.csv"
    latest.touch()
    link.symlink_to("share/latest.csv")
    with pytest.raises(InputError, match=r"exists\. Choose another name"):
        write_file(people, link)
    write_file(people, link, overwrite=True)
    assert link.is_symlink()
    assert_same(read_file(latest), people)
    assert names_in(tmp_path / "share") == ["latest.csv"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_links_that_lead_nowhere_pipes_and_devices_are_no_outputs(tmp_path, overwrite):
    (tmp_path / "dangling.csv").symlink_to("none.csv")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "device.csv").symlink_to("/dev/null")
    for name, why in [
        ("dangling.csv", "is a broken link"),
        ("loop.csv", "cannot be used: Too many levels of symbolic links"),
        ("pipe.csv", "is not a regular file"),
        ("device.csv", "is not a regular file"),
    ]:
        [sentence] = output_problems(tmp_path / name, overwrite)
        assert why in sentence


# Sudden death. The child announces each write; it is killed while at work.

RECORDS = 100_000


CHILD = f"""
import sys, time
import pyarrow as pa
import shoal.data.files.json_lines
from shoal.data.files.table_file import write_file

path, stall = sys.argv[1], sys.argv[2] == "stall"
lines, seen = shoal.data.files.json_lines._lines, 0

def stalling(batch):
    global seen
    seen += 1
    if stall and seen == 2:
        print("stalled", flush=True)
        time.sleep(600)
    return lines(batch)

shoal.data.files.json_lines._lines = stalling
for generation in range(1, 1000):
    table = pa.table({{"a": [generation] * {RECORDS}}})
    print("writing", flush=True)
    write_file(table, path, overwrite=True)
"""


def start_child(path: Path, mode: str) -> subprocess.Popen[str]:
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source}
    command = [sys.executable, "-c", CHILD, str(path), mode]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def kill(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert child.returncode == -signal.SIGKILL


@pytest.mark.parametrize("exists", [False, True])
def test_a_writer_killed_halfway_leaves_the_name_as_it_was(tmp_path, exists):
    target = tmp_path / "release.jsonl"
    if exists:
        target.write_text('{"a": 0}\n')
    child = start_child(target, "stall")
    assert child.stdout is not None
    assert [child.stdout.readline() for _ in range(2)] == ["writing\n", "stalled\n"]
    kill(child)
    [half] = tmp_path.glob(".release.jsonl.*.tmp.jsonl")
    assert half.stat().st_size > 0
    assert target.exists() == exists
    assert not exists or target.read_text() == '{"a": 0}\n'


@pytest.mark.parametrize("suffix", [".csv", ".jsonl.gz", ".parquet"])
def test_a_writer_killed_at_any_moment_leaves_a_whole_file_or_none(tmp_path, suffix):
    target = tmp_path / f"release{suffix}"
    for _ in range(2):
        child = start_child(target, "run")
        assert child.stdout is not None
        assert child.stdout.readline() == "writing\n"
        time.sleep(random.uniform(0, 0.1))
        kill(child)
        if target.exists():
            generations = read_file(target)["a"]
            assert len(generations) == RECORDS
            assert len(generations.unique()) == 1
