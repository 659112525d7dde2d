"""Compiled kernels are kept where the user can write and nobody else can, and never stop a run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import util
from pathlib import Path
from types import ModuleType

import numba
import pytest
from compiled import needs_jit

import shoal
from shoal.kernels.compile import cache
from shoal.kernels.compile.cache import on_compile

pytestmark = needs_jit

PACKAGE = Path(shoal.__file__).parent
KERNEL = """
from shoal.kernels.compile.jit import inner, kernel

@inner
def double(number):
    return number + number

@kernel
def double_all(numbers):
    total = 0
    for number in numbers:
        total += double(number)
    return total
"""
RUN = """
import numpy as np
from tiny import double_all
from shoal.kernels.compile.cache import cache_folder, cache_note
print(double_all(np.array([1, 2, 3])), sum(double_all.stats.cache_hits.values()), cache_folder())
print(cache_note())
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A home folder of its own, and a process that has not chosen a folder for kernels yet."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(folder))
    cache._place.cache_clear()
    yield folder
    cache._place.cache_clear()


@pytest.fixture
def tiny(home: Path, tmp_path: Path) -> Callable[[], ModuleType]:
    """Load a small kernel as a new run would."""
    file = tmp_path / "tiny.py"
    file.write_text(KERNEL)

    def load() -> ModuleType:
        cache._place.cache_clear()
        spec = util.spec_from_file_location("tiny", file)
        assert spec is not None
        assert spec.loader is not None
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def chosen() -> Path:
    """The folder that a new process would choose."""
    cache._place.cache_clear()
    folder = cache.cache_folder()
    assert folder is not None
    return folder


def twelve(module: ModuleType) -> int:
    """Let the kernel add 2 + 4 + 6; return how much of it came from the cache."""
    assert module.double_all((1, 2, 3)) == 12
    return sum(module.double_all.stats.cache_hits.values())


def start(tmp_path: Path, *before: str, **changed: str) -> subprocess.Popen[str]:
    """Start a run of the small kernel in a process of its own."""
    (tmp_path / "tiny.py").write_text(KERNEL)
    environment = {**os.environ, "PYTHONPATH": f"{PACKAGE.parent}:{tmp_path}", **changed}
    command = [*before, sys.executable, "-c", RUN]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


# Where


@pytest.mark.parametrize(
    ("platform", "variable", "named", "place"),
    [
        ("linux", "XDG_CACHE_HOME", "named", "named/shoal"),
        ("darwin", "XDG_CACHE_HOME", "named", "named/shoal"),
        ("win32", "LOCALAPPDATA", "named", "named/shoal"),
        ("linux", "LOCALAPPDATA", "named", "home/.cache/shoal"),
        ("darwin", "LOCALAPPDATA", "named", "home/Library/Caches/shoal"),
        ("linux", "XDG_CACHE_HOME", "", "home/.cache/shoal"),  # a relative folder is not used
    ],
)
def test_variables_of_the_system_name_the_folder(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    variable: str,
    named: str,
    place: str,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path / named) if named else "relative")
    assert chosen().parent == tmp_path / place
    assert chosen().stat().st_mode & 0o777 == 0o700
    assert cache.cache_note() == ""


def test_a_folder_named_for_numba_is_used_as_it_is(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "numba"))
    assert chosen().parent == tmp_path / "numba"


# When kernels cannot be kept


@pytest.mark.parametrize("absent", ["/nonexistent/home", "relative", "~"])
def test_kernels_run_without_a_home_folder(
    tiny: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch, absent: str
) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: absent)
    assert twelve(tiny()) == 0
    assert cache.cache_folder() is None
    assert "without a home folder; every run compiles them anew" in cache.cache_note()
    assert not Path("/nonexistent").exists()


def test_a_file_in_the_way_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".cache").touch()
    assert f"cannot be kept in {home}/.cache/shoal;" in cache.cache_note()
    assert "set XDG_CACHE_HOME" in cache.cache_note()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(home / ".cache"))
    cache._place.cache_clear()
    assert "set NUMBA_CACHE_DIR" in cache.cache_note()


def test_kernels_run_when_their_folder_is_lost_on_the_way(tiny: Callable[[], ModuleType]) -> None:
    module, folder = tiny(), chosen()
    folder.rmdir()
    folder.touch()
    assert twelve(module) == 0


@pytest.mark.parametrize("left", [0, 10, 1_000])
def test_torn_files_are_compiled_anew(tiny: Callable[[], ModuleType], left: int) -> None:
    twelve(tiny())
    (file,) = chosen().glob("*.code")
    file.write_bytes(file.read_bytes()[:left])
    assert twelve(tiny()) == 0
    assert twelve(tiny()) == 1


def needs_root() -> pytest.MarkDecorator:
    able = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("setpriv")
    return pytest.mark.skipif(not able, reason="needs root and setpriv")


@needs_root()
def test_kernels_run_where_neither_package_nor_home_can_be_written(tmp_path: Path) -> None:
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "read-only" / "shoal", ignore=skipped)
    (tmp_path / "home").mkdir()
    files = sorted(file.relative_to(PACKAGE) for file in (PACKAGE / "kernels").rglob("*.py"))
    modules = [".".join(file.with_suffix("").parts) for file in files if file.stem != "__init__"]
    every = "\n".join(f"import shoal.{name}" for name in modules)
    (tmp_path / "every.py").write_text(
        f"{every}\nprint(shoal.kernels.shared.forms.__file__)\n{RUN}"
    )
    (tmp_path / "tiny.py").write_text(KERNEL)
    subprocess.run(["chmod", "-R", "a-w", tmp_path], check=True)
    environment = {
        "HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(tmp_path / "read-only"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    powerless = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    try:
        run = subprocess.run(
            [*powerless, sys.executable, str(tmp_path / "every.py")],
            env=environment,
            capture_output=True,
            text=True,
        )
    finally:
        subprocess.run(["chmod", "-R", "u+w", tmp_path], check=True)
    assert run.returncode == 0, run.stderr
    source, result, note = run.stdout.splitlines()
    assert source.startswith(str(tmp_path))
    assert result == "12 0 None"
    assert f"cannot be kept in {tmp_path}/home/.cache/shoal;" in note


# Whom to trust


def assert_not_trusted() -> None:
    cache._place.cache_clear()
    assert cache.cache_folder() is None
    assert "others cannot" in cache.cache_note()


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_folder_that_others_can_write_is_not_trusted(home: Path, mode: int) -> None:
    chosen().chmod(mode)
    assert_not_trusted()


def test_a_folder_that_others_can_exchange_is_not_trusted(home: Path) -> None:
    home.chmod(0o777)
    assert_not_trusted()
    home.chmod(0o1777)  # like /tmp: only its owner can rename what is in it
    assert chosen().is_dir()


@needs_root()
@pytest.mark.parametrize("owned", [".", "..", "../../.."])
def test_a_folder_of_another_user_is_not_trusted(home: Path, owned: str) -> None:
    os.chown(chosen() / owned, 1234, 1234)
    assert_not_trusted()


def test_a_link_in_place_of_the_folder_is_not_followed(home: Path, tmp_path: Path) -> None:
    folder = chosen()
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    assert_not_trusted()


# What is compiled anew


def test_other_types_of_arguments_are_kept_beside(tiny: Callable[[], ModuleType]) -> None:
    module = tiny()
    assert module.double_all((1, 2, 3)) == 12
    assert module.double_all((0.5, 1.5)) == 4.0
    again = tiny()
    assert again.double_all((0.5, 1.5)) == 4.0
    assert again.double_all((1, 2, 3)) == 12
    assert sum(again.double_all.stats.cache_hits.values()) == 2


def test_a_callback_hears_of_what_is_compiled_and_can_stop_it(
    tiny: Callable[[], ModuleType],
) -> None:
    heard: list[str] = []

    def stop(kernel: str, types: tuple) -> None:
        raise KeyboardInterrupt

    def listen(kernel: str, types: tuple) -> None:
        heard.append(kernel)

    module = tiny()
    with pytest.raises(KeyboardInterrupt), on_compile(stop):
        module.double_all((1, 2, 3))
    with on_compile(listen):
        assert twelve(module) == 0
        assert twelve(tiny()) == 1
    assert heard == ["tiny.double_all"]


def test_a_kernel_whose_file_appears_before_it_is_compiled_is_loaded(
    tiny: Callable[[], ModuleType], tmp_path: Path
) -> None:
    twelve(tiny())
    (file,) = chosen().glob("*.code")
    file.rename(tmp_path / file.name)
    with on_compile(lambda kernel, types: (tmp_path / file.name).rename(file)):
        assert twelve(tiny()) == 1


@pytest.mark.parametrize(
    ("changed", "expected"),
    [("bounding/ascent.py", True), ("new.py", True), ("compile/ahead.py", False)],
)
def test_kernels_are_compiled_anew_when_any_of_their_sources_changes(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str, expected: bool
) -> None:
    shutil.copytree(PACKAGE / "kernels", tmp_path / "kernels")
    monkeypatch.setattr(cache, "SOURCES", tmp_path / "kernels")
    before = chosen()
    with (tmp_path / "kernels" / changed).open("a") as file:
        file.write("# changed\n")
    assert (chosen() != before) is expected


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("CPU_NAME", "of another kind"),
        ("CPU_FEATURES", ""),
        ("OPT", 1),
        ("BOUNDSCHECK", 0 if numba.config.BOUNDSCHECK else 1),  # whatever this run does not do
    ],
)
def test_kernels_for_other_processors_are_kept_apart(
    home: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: object
) -> None:
    before = chosen()
    monkeypatch.setattr(numba.config, setting, value)
    assert chosen() != before


def test_kernels_that_nobody_used_for_a_month_are_removed(home: Path) -> None:
    shelf = home / ".cache" / "shoal"
    days = {"kernels-old": 31, "kernels-recent": 29, "of-somebody-else": 365}
    for name, age in days.items():
        (shelf / name).mkdir(parents=True)
        (shelf / name / "kernel.code").touch()
        os.utime(shelf / name, times=(time.time() - age * 86_400,) * 2)
    folder = chosen()
    assert {place.name for place in shelf.iterdir()} == {
        folder.name,
        "kernels-recent",
        "of-somebody-else",
    }


def test_two_first_runs_at_once_both_work(tmp_path: Path) -> None:
    folder = str(tmp_path / "cache")
    runs = [start(tmp_path, XDG_CACHE_HOME=folder, NUMBA_CACHE_DIR="") for _ in range(2)]
    said = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert all(text.startswith("12 ") for text in said)
    third = start(tmp_path, XDG_CACHE_HOME=folder, NUMBA_CACHE_DIR="")
    assert third.communicate()[0].startswith("12 1 ")
