"""The benchmark runner lists, measures, keeps the numbers and says plainly what it lacks; speed is not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import shoal

ROOT = Path(__file__).parents[2]


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT)
    return import_module("benchmarks.__main__")


@pytest.fixture
def fake(runner: Any, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Rows that a benchmark returns instead of measuring anything."""
    rows: list[dict[str, Any]] = []
    benchmark = SimpleNamespace(run=lambda tables: rows)
    monkeypatch.setattr(runner, "_benchmark", lambda name: benchmark)
    return rows


def test_without_a_name_all_benchmarks_are_listed() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks"], capture_output=True, text=True, cwd=ROOT
    )
    assert run.returncode == 0, run.stderr
    files = {path.stem for path in (ROOT / "benchmarks" / "suite").glob("[!_]*.py")}
    assert {line.split()[0] for line in run.stdout.splitlines()} == files


def test_a_few_records_are_measured_and_the_numbers_kept(
    runner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("benchmarks.suite.methods"), "SIZES", (5,))
    monkeypatch.setattr(import_module("shoal.listing"), "METHODS", {"mondrian": shoal.Mondrian})
    kept = tmp_path / "methods.json"
    assert runner.main(["methods", "--records", "200", "--json", str(kept)]) == 0
    report = json.loads(kept.read_text(encoding="utf-8"))
    assert report["benchmark"] == "methods"
    assert report["shoal"] == shoal.__version__
    assert report["command"].startswith("python -m benchmarks methods --records 200")
    assert {"python", "cpus", "yardstick"} <= set(report)
    (row,) = report["rows"]
    assert (row["method"], row["k"]) == ("mondrian", 5)
    assert 0 < row["lm"] < 1
    assert {"wall_s", "wall_x", "cpu_s", "cpu_x"} <= set(row)


def test_missing_data_is_one_clear_sentence(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert runner.main(["targets", "--data", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "--data FOLDER" in said


def test_targets_are_not_judged_on_part_of_a_table(
    runner: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert runner.main(["targets", "--records", "100"]) == 2
    assert "--records" in capsys.readouterr().err


@pytest.mark.parametrize(("met", "code"), [([True, None], 0), ([True, False], 1)])
def test_a_missed_bar_shows_in_the_exit_code(
    runner: Any, fake: list[dict[str, Any]], met: list[bool | None], code: int
) -> None:
    fake.extend({"met": one} for one in met)
    assert runner.main(["targets"]) == code


def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert runner.main(["methods", "--json", str(tmp_path / "no" / "rows.json")]) == 2
    assert "--json" in capsys.readouterr().err


def test_a_column_reads_with_equally_many_digits(
    runner: Any, fake: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    fake.extend([{"loss": 0.5, "records": 1234}, {"loss": 0.125, "note": "fine"}])
    assert runner.main(["methods"]) == 0
    shown = capsys.readouterr().out
    assert all(cell in shown for cell in ("0.500", "0.125", "1,234", "fine"))
