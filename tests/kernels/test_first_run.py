"""A first run compiles what it needs, at once in several processes, says so, and can be stopped."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import pytest
from compiled import needs_jit

import shoal
from shoal.kernels.compile import ahead, cache
from shoal.kernels.compile.ahead import ALL, DEFAULT, LARGER, Signature, needed, parse_type
from shoal.pipeline.plan import kernels_ahead
from shoal.progress import COMPILING
from shoal.settings.settings import make_settings
from tools.make_wheel import BASELINE, add_kernels, platform

pytestmark = needs_jit

Shell = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parents[2]
PACKAGE = Path(shoal.__file__).parent
CHEAP = [
    Signature(name, tuple(map(parse_type, texts)))
    for name, texts in (
        ("shared.groups.members", ("int32[1C]", "int64")),
        ("shared.groups.count_classes", ("int32[1C]", "int64", "int64[1C]", "int64[1C]")),
        ("shared.rules.count_groups", ("int32[2C]", "int32[1C]", "int32[2C]")),
    )
]
NINE = """
import shoal
with shoal.testing.fixed_order(1):
    release = shoal.anonymize(
        "docs/example/patients.csv",
        quasi_identifiers={
            "age": shoal.Interval(),
            "sex": shoal.Suppression(),
            "town": shoal.Hierarchy.from_csv("docs/example/town.csv"),
        },
        sensitive=["diagnosis"],
        identifiers=["name"],
        k=3,
        requirements=[shoal.LDiversity(2)],
        method="incognito",  # needs few kernels
        refine=False,
    )
print(release.data.rows() if hasattr(release.data, "rows") else release.data.to_pylist())
"""


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder for kernels that has none, for this process and those it starts."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cold"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cold"))
    cache._place.cache_clear()
    yield tmp_path / "cold"
    cache._place.cache_clear()


def run(code: str, **changed: str) -> str:
    """Run code in an interpreter of its own; return what it says."""
    paths = f"{PACKAGE.parent}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [sys.executable, "-c", f"import gc; gc.disable()\n{code}"],  # it ends soon
        env={**os.environ, "PYTHONPATH": paths, **changed},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# Which kernels a run needs

LISTED = """
from shoal.kernels.compile.ahead import ALL, Signature, needed
from shoal.kernels.compile.jit import KERNELS
from tests.signatures import make_runs, texts_of
for number, name in enumerate(ALL, 1):
    make_runs(name)
    called = {
        Signature(kernel, tuple(types))
        for kernel, own in KERNELS.items()
        for types in own.signatures
        if texts_of(types)
    }
    print(name, called <= {*needed(ALL[:number])})
print("all", called == {*needed(ALL)})
"""


def test_the_kernels_of_runs_are_those_on_the_lists() -> None:
    said = run(LISTED).splitlines()
    assert said == [f"{name} True" for name in (*ALL, "all")], "run python -m tests.signatures"


def test_kernels_on_the_lists_have_as_many_parameters() -> None:
    for signature in needed(ALL):
        kernel = ahead.load_kernel(signature.kernel)
        assert len(inspect.signature(kernel.py_func).parameters) == len(signature.types)


def test_types_on_the_lists_are_read_as_they_were_written() -> None:
    for lists in ahead.listed()["kernels"].values():
        for _, texts in lists:
            assert [ahead.text_of(parse_type(text)) for text in texts] == texts


@pytest.mark.parametrize(
    ("records", "job", "lists"),
    [
        (9, {}, ()),
        (1_000, {}, (DEFAULT, LARGER)),
        (1_000, {"objective": "entropy"}, (DEFAULT,)),
        (1_000, {"refine": False}, ()),
        (1_000, {"method": "mondrian"}, ()),
        (1_000, {"person": "id"}, (DEFAULT, LARGER, ahead.PERSON)),
        (
            1_000,
            {"sensitive": ["ill"], "requirements": [shoal.LDiversity(2, kind="distinct")]},
            (DEFAULT, LARGER, ahead.REQUIREMENTS),
        ),
        (
            1_000,
            {"sensitive": ["ill"], "requirements": [shoal.LDiversity(2)]},  # which limits shares
            (DEFAULT, LARGER, ahead.REQUIREMENTS, ahead.SOMETIMES),
        ),
    ],
)
def test_a_job_needs_the_lists_of_its_kind(
    cold: Path, records: int, job: dict, lists: tuple[str, ...]
) -> None:
    settings = make_settings(None, quasi_identifiers=["age"], k=3, **job)
    assert kernels_ahead(settings, records) == needed(lists)


# Several processes


def test_processes_compile_what_they_are_asked_for_and_tell(cold: Path) -> None:
    told: list[tuple[int, int]] = []
    ahead.compile_ahead(CHEAP, lambda *done: told.append(done), processes=2)
    assert all(signature.is_kept() for signature in CHEAP)
    assert told == sorted(told)
    assert told[-1] == (3, 3)
    assert not [file for file in cold.rglob("*") if file.is_file() and file.suffix != ".code"]


def test_a_run_waits_for_the_kernel_that_it_needs_next(cold: Path) -> None:
    with ahead.Ahead(CHEAP, lambda done, total: None, processes=2) as work:
        assert work.wait_for(CHEAP[0])
        assert CHEAP[0].is_kept()


def test_a_run_does_not_wait_for_a_kernel_that_no_process_has_begun(cold: Path) -> None:
    with ahead.Ahead(CHEAP[:2], lambda done, total: None, processes=1) as work:
        assert not work.wait_for(CHEAP[1])
        assert not work.wait_for(CHEAP[2])


def test_a_run_does_not_wait_for_a_process_that_was_killed(cold: Path) -> None:
    with ahead.Ahead(CHEAP, lambda done, total: None, processes=1) as work:
        work._workers[0].kill()
        work.finish()
    assert not any(signature.is_kept() for signature in CHEAP)


def test_a_run_that_is_cancelled_leaves_no_process_and_no_half_file(cold: Path) -> None:
    folder = cache.cache_folder()
    assert folder is not None

    def cancel(done: int, total: int) -> None:
        for worker in work._workers:
            (folder / f"kernel{cache.part_suffix(worker.pid)}").touch()
        raise shoal.Cancelled("enough")

    work = ahead.Ahead(CHEAP, cancel, processes=2)
    with pytest.raises(shoal.Cancelled), work:
        work.finish()
    assert len(work._workers) == 2
    assert all(worker.poll() is not None for worker in work._workers)
    assert not list(folder.glob("*.part"))


def test_a_worker_ends_with_the_process_that_asked() -> None:
    worker = ahead._start_worker()
    worker.communicate()  # closes its standard input
    assert worker.returncode == 0


@pytest.mark.parametrize("executable", ["", "/nonexistent/python3", "/bin/cat"])
def test_without_processes_the_run_itself_compiles(
    cold: Path, monkeypatch: pytest.MonkeyPatch, executable: str
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    ahead.compile_ahead(CHEAP, lambda done, total: None, processes=2)
    assert not any(signature.is_kept() for signature in CHEAP)


def test_processes_are_started_where_there_is_much_to_compile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for processors, expected in ((4, 4), (1, 0)):
        monkeypatch.setattr(ahead, "processors", lambda processors=processors: processors)
        assert ahead.worker_count(needed([DEFAULT])) == expected
        assert ahead.worker_count(CHEAP) == ahead.worker_count([]) == 0


def test_kernels_that_cannot_be_kept_start_no_process(cold: Path) -> None:
    cold.touch()  # a file in the way of the folder
    ahead.compile_ahead(CHEAP, lambda done, total: None, processes=2)
    assert not any(signature.is_kept() for signature in CHEAP)


# What a user sees


def test_kernels_compiled_on_the_way_are_announced_and_can_be_cancelled(tmp_path: Path) -> None:
    code = f"""
import shoal
from shoal import samples
told = []
def progress(stage, done, total):
    told.append(stage)
    if stage == {COMPILING!r}:
        raise shoal.Cancelled("enough")
try:
    shoal.anonymize(
        samples.adult()[:12], settings=samples.adult_settings(), k=3, progress=progress
    )
except shoal.Cancelled:
    print("cancelled in", told[-1])
"""
    said = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert said == f"cancelled in {COMPILING}\n"


def test_a_proved_optimum_is_not_refined() -> None:
    told: list[str] = []
    shoal.anonymize(
        shoal.samples.adult()[:12],
        settings=shoal.samples.adult_settings(),
        k=3,
        progress=lambda stage, done, total: told.append(stage),
    )
    assert "grouping" in told
    assert not [stage for stage in told if stage.startswith("refining")]


# Other versions of Numba

OTHER = """
import numba, numba.core.codegen
numba.version_info = numba.version_info._replace(major=0, minor=99, short=(0, 99), full=(0, 99, 0))
"""
ALONE = "import sys; sys.executable = ''\n"  # so that no process compiles that has the Numba of this test
BROKEN = (
    "del numba.core.codegen.JITCodeLibrary\n",
    "import numba.extending; del numba.extending.lower_getattr_generic\n",
)
NOT_KEPT = "import numba.core.compiler; del numba.core.compiler.CompileResult._reduce\n"
ASK = """
from shoal.kernels.compile.jit import compile_options
from shoal.kernels.compile.cache import cache_folder
print(bool(compile_options().part), len(list(cache_folder().glob("*.code"))) > 0)
"""


@pytest.fixture(scope="module")
def usual() -> str:
    """What the job prints with this Numba."""
    return run(NINE)


def test_shoals_pipeline_is_used_with_a_newer_numba_if_it_works(tmp_path: Path, usual: str) -> None:
    said = run(OTHER + ALONE + NINE + ASK, NUMBA_CACHE_DIR=str(tmp_path))
    assert said == usual + "True True\n"


@pytest.mark.parametrize("broken", BROKEN)
def test_numbas_own_pipeline_is_used_with_a_numba_that_works_otherwise(
    tmp_path: Path, usual: str, broken: str
) -> None:
    said = run(OTHER + ALONE + broken + NOT_KEPT + NINE + ASK, NUMBA_CACHE_DIR=str(tmp_path))
    assert said == usual + "False False\n"


# The command line


def test_the_doctor_says_what_is_in_use(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said, _ = shell("doctor")
    assert code == 0
    assert f"numba {numba.__version__}" in said
    assert str(cache.cache_folder()) in said
    assert "Kernels are compiled with shoal's fast compilation." in said
    assert "The package carries no compiled kernels." in said
    code, said, _ = shell("doctor", "--json")
    facts = json.loads(said)
    assert facts["folder"] == str(cache.cache_folder())
    assert facts["libraries"]["numba"] == numba.__version__
    usual = facts["kernels"]["a default run"]
    assert usual["ready"] <= usual["all"] == len(needed((DEFAULT, LARGER)))


def test_the_doctor_says_what_the_next_run_will_compile(cold: Path, shell: Shell) -> None:
    _, said, _ = shell("doctor", "--json")
    facts = json.loads(said)
    assert facts["kernels"]["a default run"]["ready"] == 0
    assert facts["seconds"] > 0
    assert "compiling. To do it now, run: shoal compile" in facts["first_run"]


def test_kernels_can_be_compiled_before_the_first_run(
    cold: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {name: [] for name in ALL} | {DEFAULT: ahead.listed()["kernels"][DEFAULT][:1]}
    monkeypatch.setitem(ahead.listed(), "kernels", few)
    code, said, _ = shell("compile", "--processes", 2)
    assert code == 0
    assert said.startswith("Compiled 1 of 1 kernel. ")
    assert needed([DEFAULT])[0].is_kept()


# A package that carries kernels


def test_a_wheel_carries_kernels_that_are_used(cold: Path, tmp_path: Path) -> None:
    pytest.importorskip(
        "pip", reason="pip is not installed here: `make` sets the oldest versions up without it"
    )
    wheel = add_kernels(plain_wheel(tmp_path), baseline(tmp_path), tmp_path / "dist")
    assert wheel.name.endswith(f"-none-{platform()}.whl")
    installed = tmp_path / "installed"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*command, "--target", installed, wheel], check=True)
    code = f"""
import sys; sys.path.insert(0, {str(installed)!r})
import numba, numpy as np
from shoal.kernels.compile import cache
from shoal.kernels.shared.groups import members
members(np.array([0, 1, 0], np.int32), 2)
print(cache.carried_kernels()[0], sum(members.stats.cache_hits.values()), numba.config.CPU_NAME)
"""
    said = run(code, PYTHONPATH="", NUMBA_CACHE_DIR=str(tmp_path / "unused"))
    assert said == f"{installed}/shoal/kernels/compiled 1 None\n"


@pytest.mark.parametrize("other", ["sources", "python", "platform", "numba", "numpy"])
def test_kernels_for_another_place_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    compiled = tmp_path / "compiled"
    compiled.mkdir()
    monkeypatch.setattr(cache, "SOURCES", tmp_path)
    (compiled / "made_for.json").write_text(json.dumps(cache.environment()))
    cache.carried_kernels.cache_clear()
    assert cache.carried_kernels() == (compiled, "")
    (compiled / "made_for.json").write_text(json.dumps({**cache.environment(), other: "another"}))
    cache.carried_kernels.cache_clear()
    folder, note = cache.carried_kernels()
    assert folder is None
    assert f"made for other {other}." in note
    monkeypatch.undo()
    cache.carried_kernels.cache_clear()


def plain_wheel(folder: Path) -> Path:
    """The package as a wheel without kernels."""
    wheel, about = folder / "shoal-0-py3-none-any.whl", "shoal-0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in sorted(PACKAGE.rglob("*")):
            if file.is_file() and file.suffix in (".py", ".json"):
                archive.write(file, Path("shoal") / file.relative_to(PACKAGE))
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: shoal\nVersion: 0\n")
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")
    return wheel


def baseline(folder: Path) -> Path:
    """A folder of one kernel, compiled for any processor."""
    kernels = folder / "baseline"
    kernels.mkdir(mode=0o700)
    compiling = """
import numpy as np
from shoal.kernels.shared.groups import members
members(np.array([0, 1, 0], np.int32), 2)
"""
    run(compiling, **BASELINE, NUMBA_CACHE_DIR=str(kernels))
    (found,) = kernels.iterdir()
    (found / "made_for.json").write_text(json.dumps(cache.environment()))
    return found
