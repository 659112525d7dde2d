"""A first run compiles what it needs, at once in several processes, says so, and can be stopped."""

from __future__ import annotations

import inspect
import json
import os
import queue
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numba
import pytest
from compiled import needs_jit

import shoal
from shoal.kernels.compile import ahead, cache
from shoal.kernels.compile import ahead as signatures
from shoal.kernels.compile import cache as machine_code
from shoal.kernels.compile.ahead import Signature, needed
from shoal.pipeline.estimate import parts_of
from shoal.progress import COMPILING
from shoal.settings.settings import make_settings
from shoal.solve.methods import METHODS
from tests.signatures import keeping_requirements, listed
from tools.make_wheel import BASELINE, add_kernels, platform

pytestmark = needs_jit

Shell = Callable[..., tuple[int, str, str]]
LIMITED = "exact, with requirements"
BY_PERSONS = ("exact by persons", "suppression by persons")
ROOT = Path(__file__).parents[2]
PACKAGE = Path(shoal.__file__).parent
CHEAP = [
    Signature("shared.groups.members", ("int32[1C]", "int64"), 0.3),
    Signature("shared.groups.count_classes", ("int32[1C]", "int64", "int64[1C]", "int64[1C]"), 0.1),
    Signature(
        "clustering.exact.cut_subsets", ("float64[1C]",) * 2 + ("int64[1C]", "int64", "int64"), 0.1
    ),
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


PARTS = [
    "choose",
    "carve",
    "persons",
    "certificate",
    "exact",
    "series",
    "mondrian by persons",
    "suppression",
]  # others need some of these


def test_the_kernels_of_a_run_are_those_on_the_list() -> None:
    for part, found in listed(PARTS, PYTHONPATH=f"{PACKAGE.parent}{os.pathsep}{ROOT}").items():
        used = {(kernel, tuple(types)) for kernel, types in found["kernels"]}
        expected = {(signature.kernel, signature.arguments) for signature in needed([part])}
        assert used == expected, f"run python -m tests.signatures '{part}'"


def test_kernels_on_the_list_have_as_many_parameters() -> None:
    for signature in needed(signatures.parts()):
        kernel = signatures.load(signature.kernel)
        assert len(inspect.signature(kernel.py_func).parameters) == len(signature.arguments)


def test_every_method_is_on_the_list() -> None:
    methods = {*METHODS} - {"auto"}
    with_limits = {f"{name}, with requirements" for name in keeping_requirements()}
    assert methods | with_limits <= {*signatures.parts()}


SERIES = {
    "person": "id",
    "sensitive": ["ill"],
    "requirements": [shoal.LDiversity(2)],
    "series": True,
}


ILL = {"sensitive": ["ill"]}
DISTINCT = shoal.LDiversity(2, kind="distinct")


def with_limits(*steps: str) -> tuple[str, ...]:
    parts = ("cover", "refine", *steps)
    return (*parts, *(f"{part}, with requirements" for part in parts))


@pytest.mark.parametrize(
    ("records", "job", "parts"),
    [
        (9, {}, ("exact",)),
        (1_000, {}, ("cover", "refine")),
        (1_001, {}, ("cover", "refine", "choose")),
        (1_001, {"objective": "entropy"}, ("cover", "refine", "carve")),
        (100_001, {}, ("cover", "refine", "choose")),
        (100_001, {"person": "id"}, ("cover", "refine", "carve", "persons")),
        (1_000, {"refine": False}, ("cover",)),
        (1_000, {"refine": 5}, ("cover", "refine", "choose", "refine longer")),
        (1_000, {"method": "mondrian"}, ("mondrian",)),
        (1_000, {"person": "id"}, ("cover", "refine", "persons")),
        (9, {"person": "id"}, ("exact by persons",)),
        (1_000, {"person": "id", "method": "mondrian"}, ("mondrian by persons",)),
        (9, {"suppression_limit": 0.1}, ("exact", "suppression")),
        (9, {"person": "id", "suppression_limit": 0.1}, BY_PERSONS),
        (1_000, SERIES, ("series", "series, with requirements")),
        (9, {"method": "exact"}, ("exact",)),
        (1_001, ILL | {"requirements": [DISTINCT]}, with_limits("choose")),
        (1_001, ILL | {"requirements": [shoal.TCloseness(0.2)]}, with_limits("choose", "carve")),
        (9, {"sensitive": ["ill"], "requirements": [shoal.LDiversity(2)]}, ("exact", LIMITED)),
    ],
)
def test_a_job_is_made_of_parts(records: int, job: dict, parts: tuple[str, ...]) -> None:
    settings = make_settings(None, quasi_identifiers=["age"], k=3, **job)
    assert parts_of(settings, records) == parts


def test_types_on_the_list_are_read_as_they_were_written() -> None:
    for signature in needed(signatures.parts()):
        assert tuple(map(signatures.text_of, signature.types())) == signature.arguments


# Several processes


def test_shares_are_stretches_of_about_the_same_time() -> None:
    wanted = [Signature(f"a.{number}", (), 1.0 + number % 3) for number in range(40)]
    for number in (1, 2, 3, 8):
        found = ahead.shares(wanted, number)
        assert list(chain(*found)) == wanted
        seconds = [sum(signature.seconds for signature in share) for share in found]
        assert len(found) == number
        assert max(seconds) - min(seconds) <= 2 * 3.0


def test_a_share_is_made_of_kernels_without_known_seconds() -> None:
    wanted = [Signature("a.b", ()), Signature("a.c", ())]
    assert list(chain(*ahead.shares(wanted, 2))) == wanted


def test_processes_compile_what_they_are_asked_for_and_tell(cold: Path) -> None:
    told: list[tuple[int, int]] = []
    assert ahead.compile_ahead(CHEAP, lambda *done: told.append(done), processes=2) == 3
    assert all(signature.is_kept() for signature in CHEAP)
    assert told == sorted(told)
    assert told[-1] == (3, 3)
    assert not [file for file in cold.rglob("*") if file.is_file() and file.suffix != ".code"]


def test_a_run_waits_for_the_kernel_that_it_needs_next(cold: Path) -> None:
    with ahead.Ahead(CHEAP, lambda done, total: None, processes=2) as work:
        assert work.wait_for(ahead.name_of(CHEAP[0]))
        assert CHEAP[0].is_kept()
        assert not work.wait_for("of nobody.code")


def test_a_run_does_not_wait_for_a_process_that_was_killed(cold: Path) -> None:
    with ahead.Ahead(CHEAP, lambda done, total: None, processes=1) as work:
        work._workers[0].process.kill()
        assert not work.wait_for(ahead.name_of(CHEAP[0]))
        work.finish()
    assert not CHEAP[0].is_kept()


def test_a_run_that_is_cancelled_leaves_no_process(cold: Path) -> None:
    def cancel(done: int, total: int) -> None:
        raise shoal.Cancelled("enough")

    work = ahead.Ahead(CHEAP, cancel, processes=2)
    with pytest.raises(shoal.Cancelled), work:
        work.finish()
    assert len(work._workers) == 2
    assert all(worker.process.poll() is not None for worker in work._workers)


def test_half_a_file_of_a_stopped_process_is_removed(cold: Path) -> None:
    folder = cache.cache_folder()
    assert folder is not None
    for process in (7, 77):
        (folder / f"groups.members-0123{machine_code.part_suffix(process)}").touch()
    ahead.clean_up(7)
    assert [file.name for file in folder.iterdir()] == ["groups.members-0123.77.part"]


def test_a_worker_ends_with_the_process_that_asked(cold: Path) -> None:
    worker = ahead._Worker(queue.Queue())
    worker.ask(CHEAP * 100)
    assert worker.process.stdin is not None
    worker.process.stdin.close()
    assert worker.process.wait() == 1
    worker.end()


@pytest.mark.parametrize("executable", ["", "/nonexistent/python3", "/bin/cat"])
def test_without_processes_the_run_itself_compiles(
    cold: Path, monkeypatch: pytest.MonkeyPatch, executable: str
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    assert ahead.compile_ahead(CHEAP, lambda done, total: None, processes=2) == 0


def test_processes_are_started_where_there_is_much_to_compile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dear = [Signature("a.b", (), 3.0)] * 10
    monkeypatch.setattr(ahead, "processors", lambda: 4)
    assert ahead.worthwhile(dear) == 4
    assert ahead.worthwhile(CHEAP) == ahead.worthwhile([]) == 0
    monkeypatch.setattr(ahead, "processors", lambda: 1)
    assert ahead.worthwhile(dear) == 0


def test_kernels_that_cannot_be_kept_start_no_process(cold: Path) -> None:
    cold.touch()  # a file in the way of the folder
    assert ahead.compile_ahead(CHEAP, lambda done, total: None, processes=2) == 0


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
BROKEN = "del numba.core.codegen.JITCodeLibrary\n"
NOT_KEPT = "import numba.core.compiler; del numba.core.compiler.CompileResult._reduce\n"
ASK = """
from shoal.kernels.compile.bundles import bundles_work
from shoal.kernels.compile.jit import ways
from shoal.kernels.compile.cache import cache_folder
print(bool(ways().part), bundles_work(), len(list(cache_folder().glob("*.code"))) > 0)
"""


@pytest.fixture(scope="module")
def usual() -> str:
    """What the job prints with this Numba."""
    return run(NINE)


def test_a_numba_that_nobody_tried_compiles_the_fast_way_if_it_can(
    tmp_path: Path, usual: str
) -> None:
    said = run(OTHER + ALONE + NINE + ASK, NUMBA_CACHE_DIR=str(tmp_path))
    assert said == usual + "True True True\n"


def test_a_numba_that_works_otherwise_compiles_the_plain_way(tmp_path: Path, usual: str) -> None:
    broken = OTHER + ALONE + BROKEN + NOT_KEPT + NINE + ASK
    assert run(broken, NUMBA_CACHE_DIR=str(tmp_path)) == usual + "False True False\n"


def test_without_bundles_kernels_take_named_tuples_by_value(tmp_path: Path, usual: str) -> None:
    code = (
        OTHER + ALONE + "import numba.extending; del numba.extending.lower_getattr_generic\n" + NINE
    )
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == usual


# The command line


def test_the_doctor_says_what_is_in_use(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said, _ = shell("doctor")
    assert code == 0
    assert f"numba {numba.__version__}" in said
    assert str(cache.cache_folder()) in said
    assert "Kernels are compiled the fast way." in said
    assert "The package carries no compiled kernels." in said
    code, said, _ = shell("doctor", "--json")
    facts = json.loads(said)
    assert facts["folder"] == str(cache.cache_folder())
    assert facts["libraries"]["numba"] == numba.__version__
    listed = len(needed(("cover", "refine", "choose")))
    assert facts["kernels"]["a default run"]["all"] == listed
    assert facts["kernels"]["a default run"]["ready"] <= listed


def test_the_doctor_says_what_the_next_run_will_compile(cold: Path, shell: Shell) -> None:
    seconds = sum(signature.seconds for signature in needed(("cover", "refine", "choose")))
    _, said, _ = shell("doctor", "--json")
    facts = json.loads(said)
    assert facts["kernels"]["a default run"]["ready"] == 0
    assert facts["seconds"] == pytest.approx(seconds / ahead.processors(), abs=0.1)
    assert "`shoal compile` does it beforehand" in facts["first_run"]


def test_kernels_can_be_compiled_before_the_first_run(
    cold: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "shoal.cli.first_run.missing",
        lambda parts: [signature for signature in CHEAP if not signature.is_kept()],
    )
    monkeypatch.setattr("shoal.cli.first_run.needed", lambda parts: CHEAP)
    code, said, _ = shell("compile", "--processes", 2)
    assert code == 0
    assert said.startswith("Compiled 3 of 3 kernels. ")
    assert all(signature.is_kept() for signature in CHEAP)


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
print(cache.carried_folder(), sum(members.stats.cache_hits.values()), numba.config.CPU_NAME)
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
    cache._carried.cache_clear()
    assert cache.carried_folder() == compiled
    (compiled / "made_for.json").write_text(json.dumps({**cache.environment(), other: "another"}))
    cache._carried.cache_clear()
    assert cache.carried_folder() is None
    assert f"made for other {other}." in cache.carried_note()
    monkeypatch.undo()
    cache._carried.cache_clear()


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
    compiling = f"from shoal.kernels.compile.ahead import Signature; {CHEAP[0]}.compile()"
    run(compiling, **BASELINE, NUMBA_CACHE_DIR=str(kernels))
    (found,) = kernels.iterdir()
    (found / "made_for.json").write_text(json.dumps(cache.environment()))
    return found
