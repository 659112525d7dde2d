"""Other users of a machine can read releases, reports and settings at most: never original values or keys."""

from __future__ import annotations

import io
import os
import random
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal.atomic import make_private_folder, readable_by_others, write_atomically
from shoal.encoding.other_columns import read_key, write_key
from shoal.errors import InputError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs permissions of files")

Shell = Callable[..., tuple[int, str, str]]
FOR_OTHERS = {  # what a full run writes to be handed on
    *("release.csv", "release.parquet", "release.jsonl", "release.xlsx", "release.duckdb"),
    *("night.csv", "batch.csv", "large.csv", "settings.toml", "people.toml"),
    *("report.html", "audit.xml"),
}


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def people(path: Path, records: int, first: int = 0) -> Path:
    """A table that only its owner may read."""
    chance, lines = random.Random(first), ["id,name,age,town,ill"]
    for number in range(first, first + records):
        town = chance.choice(["Lyon", "Lille", "Porto"])
        person = f"id{number},Person {number:04}"
        lines.append(f"{person},{chance.randint(20, 69)},{town},{chance.choice('vwxyz')}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o600)
    return path


@pytest.fixture(params=[0o022, 0o000, 0o277], ids=["usual", "none", "odd"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


class Curious:
    """Another user who opens every new file at once where that is permitted, and reads it later."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: dict[str, int] = {}
        self._open = os.open
        monkeypatch.setattr(os, "open", self._watched(os.open))
        monkeypatch.setattr(io, "open", self._watched(io.open))

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(path: Any, *args: Any, **kwargs: Any) -> Any:
            found = function(path, *args, **kwargs)
            name = str(path)
            is_new = isinstance(path, str | os.PathLike) and name not in self.opened
            if is_new and Path(name).is_file() and Path(name).stat().st_mode & 0o044:
                self.opened[name] = self._open(name, os.O_RDONLY)
            return found

        return watched

    def seen(self, folder: Path) -> dict[str, bytes]:
        return {
            name: os.read(handle, 1 << 20)
            for name, handle in self.opened.items()
            if name.startswith(str(folder))
        }


@pytest.fixture
def full_run(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with everything that commands write."""
    before = os.umask(0o022)
    monkeypatch.chdir(tmp_path)
    people(tmp_path / "people.csv", 120)
    people(tmp_path / "more.csv", 31, first=500)
    roles = ("-q", "age", "-q", "town", "-s", "ill", "-k", 3, "--refine", "off", "--quiet")
    made = ("anonymize", "people.csv", *roles, "-i", "id")
    series = (*("--person", "id", "-i", "name"), "--require", "diversity:l=2", "--quiet")
    for arguments in (
        ("init", "people.csv"),
        ("key", "-o", "clinic.key"),
        ("hierarchy", "people.csv", "town", "--kind", "data", "-o", "town.csv"),
        (
            *(*made, "--pseudonym", "name", "--key-file", "clinic.key", "-o", "release.csv"),
            *("--save-settings", "settings.toml", "--save-mapping", "mapping.csv"),
            *("--save-recoding", "recoding.shoal", "--report", "report.html"),
        ),
        *((*made, "-i", "name", "-o", f"release.{kind}") for kind in ("parquet", "jsonl", "xlsx")),
        (*made, "-i", "name", "-o", "duckdb:///release.duckdb", "--output-table", "r"),
        (*made, "-i", "name", "-o", "large.csv", "--engine", "duckdb"),
        (
            *("anonymize", "people.csv", *roles, *series, "--suppression-limit", 0.9),
            *("-o", "night.csv", "--save-history", "history.shoal"),
        ),
        (
            *("apply", "more.csv", "--recoding", "recoding.shoal", "--batch-k", 500, "--hold"),
            *("-o", "batch.csv", "--save-held", "held.csv", "--save-recoding", "next.shoal"),
        ),
        (
            *("apply", "more.csv", "--recoding", "recoding.shoal", "-o", "batch.csv"),
            *("--save-held", "held-too.csv"),
        ),
        ("audit", "release.csv", "-q", "age", "-q", "town", "-k", 3, "--junit", "audit.xml"),
    ):
        code, _, said = shell(*arguments)
        assert code == 0, (arguments, said)
    os.umask(before)
    return tmp_path


def test_only_releases_reports_and_settings_are_readable_by_others(full_run: Path) -> None:
    modes = {path.name: mode_of(path) for path in full_run.rglob("*") if path.is_file()}
    assert {"held.csv", "mapping.csv", "recoding.shoal", "next.shoal", "history.shoal"} < set(modes)
    assert {"clinic.key", "town.csv"} < set(modes)
    assert {name for name, mode in modes.items() if mode & 0o077} == FOR_OTHERS
    assert {mode for name, mode in modes.items() if name in FOR_OTHERS} == {0o644}
    assert {mode for name, mode in modes.items() if name not in FOR_OTHERS} == {0o600}


def test_a_private_file_is_its_owners_whatever_the_umask_and_what_it_replaces(
    tmp_path: Path, umask: int
) -> None:
    for name, exists in (("new", False), ("old", True)):
        target, seen = tmp_path / name, []
        if exists:
            target.touch()
            target.chmod(0o666)

        def fill(file: Path, seen: list[int] = seen) -> None:
            seen.append(mode_of(file))
            file.write_text("secret", encoding="utf-8")

        write_atomically(target, exists, fill, private=True)
        assert (*seen, mode_of(target)) == (0o600, 0o600)
    write_key(tmp_path / "key")
    assert mode_of(tmp_path / "key") == 0o600


def test_nobody_can_hold_a_private_file_open_from_before_it_was_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    before = os.umask(0o000)
    try:
        people(tmp_path / "people.csv", 120)
        curious = Curious(monkeypatch)
        roles = ("-q", "age", "-s", "ill", "-i", "id", "-i", "name", "--others", "drop", "-k", 3)
        out = ("-o", tmp_path / "r.csv", "--save-mapping", tmp_path / "m.csv")
        more = ("--save-recoding", tmp_path / "r.shoal", "--refine", "off", "--quiet")
        assert shell("anonymize", tmp_path / "people.csv", *roles, *out, *more)[0] == 0
        assert shell("key", "-o", tmp_path / "clinic.key")[0] == 0
    finally:
        os.umask(before)
    held = curious.seen(tmp_path)
    assert not any(held.values()), held.keys()


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clinic.key"
    write_key(path)
    read_key(str(path))
    for mode in (0o640, 0o604, 0o644, 0o660):
        path.chmod(mode)
        with pytest.raises(InputError, match="chmod 600") as refused:
            read_key(str(path))
        assert str(path) not in str(refused.value)  # somebody may have given the key in its place
    path.chmod(0o400)
    read_key(str(path))


def test_a_key_of_an_administrator_may_be_readable_by_a_group() -> None:
    def found(mode: int, owner: int) -> os.stat_result:
        return os.stat_result((stat.S_IFREG | mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))

    own, other = os.geteuid(), os.geteuid() + 1
    assert readable_by_others(found(0o440, own))
    assert not readable_by_others(found(0o440, other))
    assert readable_by_others(found(0o444, other))


def test_a_folder_of_another_user_is_not_taken_for_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_private_folder(tmp_path / "own")
    assert mode_of(tmp_path / "own") == 0o700
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    with pytest.raises(PermissionError, match="another user"):
        make_private_folder(tmp_path / "own")
