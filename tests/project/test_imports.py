"""What a user does not use is not loaded: `import shoal` and `shoal --help` answer at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"adbc_driver_manager", "duckdb", "numba", "pandas", "polars", "pyspark", "sklearn"}
NEEDED_LATER = {"narwhals", "pyarrow", "rich", "typer"}

RUN_HELP = """
import runpy, sys
sys.argv = ["shoal", "--help"]
try:
    runpy.run_module("shoal", run_name="__main__", alter_sys=True)
except SystemExit as stop:
    assert not stop.code, stop.code
else:
    raise AssertionError("--help did not exit")
"""


def loaded_by(code: str) -> set[str]:
    """Run code in a fresh interpreter and return the top-level modules it left loaded."""
    report = "\nimport sys; print(*sys.modules, sep='\\n', file=sys.stderr)"
    run = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    return {name.partition(".")[0] for name in run.stderr.split()}


def test_import_shoal_loads_no_dependency() -> None:
    loaded = loaded_by("import shoal")
    assert "shoal" in loaded
    assert not loaded & (HEAVY | NEEDED_LATER)


@pytest.mark.parametrize("code", ["import shoal.cli", RUN_HELP], ids=["import", "help"])
def test_the_command_line_loads_nothing_heavy_before_there_is_work(code: str) -> None:
    loaded = loaded_by(code)
    assert "shoal" in loaded
    assert not loaded & HEAVY


def test_a_loaded_module_is_seen() -> None:
    assert "tomllib" in loaded_by("import tomllib")
