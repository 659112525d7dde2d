"""The benchmark runner lists, measures, keeps the numbers and says plainly what it lacks; speed is not judged here."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import shoal
from shoal.assess.queries import answer_from_release, draw_workload

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "src" / "shoal" / "samples" / "hierarchies"
PAPERS = ("gt10", "git09", "tcm07", "he12", "xu06", "conjecture")
RECORDS = 300
OTHERS = {
    "cmc": (
        *("age", "Weducation", "Heducation", "children", "religion", "working", "occupation"),
        *("solindex", "exposure", "method"),
    ),
    "mgm": ("bi_rads_assessment", "age", "shape", "margin", "density", "severity"),
    "fars": ("iage", "isex", "ihispanic", "istatenum", "ideathmon"),
}


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
    assert {line[:18].strip() for line in run.stdout.splitlines()} == files | {
        f"papers {paper}" for paper in PAPERS
    }


def test_a_few_records_are_measured_and_the_numbers_kept(
    runner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("benchmarks.suite.methods"), "SIZES", (5,))
    monkeypatch.setattr(
        import_module("shoal.api.catalogue"), "METHODS", {"mondrian": shoal.Mondrian}
    )
    kept = tmp_path / "methods.json"
    assert runner.main(["methods", "--records", "200", "--json", str(kept)]) == 0
    report = json.loads(kept.read_text(encoding="utf-8"))
    assert report["benchmark"] == "methods"
    assert report["command"].startswith("python -m benchmarks methods --records 200")
    assert {"date", "commit", "changed", "seconds", "yardstick"} <= set(report)
    assert {"processor", "cores", "python", "numba"} <= set(report["machine"])
    (row,) = report["rows"]
    assert (row["method"], row["k"]) == ("mondrian", 5)
    assert 0 < row["lm"] < 1
    assert {"wall_s", "wall_x", "cpu_s", "cpu_x"} <= set(row)


def test_downcoding_is_measured_on_the_sample_where_there_is_no_other_table(
    runner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("benchmarks.suite.downcoding"), "SIZES", (5,))
    kept = tmp_path / "rows.json"
    given = ["--records", "600", "--data", str(tmp_path), "--json", str(kept)]
    assert runner.main(["downcoding", *given]) == 0
    tight, *_, loosest = json.loads(kept.read_text(encoding="utf-8"))["rows"]
    assert (tight["loosen"], loosest["loosen"]) == (0.0, 0.4)
    assert (tight["table"], tight["lm_ratio"]) == ("adult_sample", 1.0)
    assert loosest["right"] < tight["right"] <= 1
    assert loosest["groups_right"] < tight["groups_right"]
    assert 1 < loosest["lm_ratio"] < 2


def test_trees_from_data_are_measured_beside_hand_made_ones(
    runner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("benchmarks.suite.from_data")
    for name, few in (("SEEDS", (0,)), ("WORKLOADS", 2), ("QUERIES", 3)):
        monkeypatch.setattr(module, name, few)
    kept = tmp_path / "rows.json"
    assert runner.main(["from_data", "--records", "900", "--json", str(kept)]) == 0
    hand, *made, hidden = json.loads(kept.read_text(encoding="utf-8"))["rows"]
    assert (hand["models"], hidden["models"]) == ("hand-made", "suppression")
    assert len(made) == 2
    assert hand["lm"] < hidden["lm"]
    assert all({"within_10_percent", "below_suppression"} <= row.keys() for row in made)


def test_answers_of_the_benchmark_are_those_of_the_evaluation() -> None:
    module = import_module("benchmarks.suite.from_data")
    table = shoal.samples.adult().slice(0, 600)
    settings = shoal.Settings.load(shoal.samples.adult_settings())
    comparison = shoal.anonymize(table, settings=settings, refine=False).comparison
    rng = np.random.default_rng(1)
    columns = (0, 1, 4)
    workload = draw_workload(comparison, columns, 30, rng)
    forms = [comparison.table.columns[j].form for j in columns]
    meets = tuple(f.holds(c) for f, c in zip(forms, workload.conditions, strict=True))
    answers = answer_from_release(comparison, workload, comparison.sizes)
    some = answers > 0
    asked = module._Asked(columns, tuple(m[:, some] for m in meets), answers[some])
    assert module._errors(comparison, comparison, [asked]) == pytest.approx((0.0, 0.0), abs=1e-12)


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Benchmark data with the columns of the real tables and a few random records."""
    folder = tmp_path_factory.mktemp("data")
    shutil.copytree(SAMPLES, folder / "adult" / "hierarchies")
    rng = np.random.default_rng(3)
    adult = {}
    for name in (
        *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status"),
        *("occupation", "relationship", "race", "sex", "capital-gain", "capital-loss"),
        *("hours-per-week", "native-country", "income"),
    ):
        tree = SAMPLES / f"{name}.csv"
        lines = (
            tree.read_text(encoding="utf-8").splitlines() if tree.exists() else map(str, range(12))
        )
        leaves = [row[0] for row in csv.reader(lines)]
        adult[name] = rng.choice(["no", "yes"] if name == "income" else leaves, RECORDS)
    adult["part"] = ["train"] * RECORDS
    _write_csv(folder / "adult" / "adult_complete.csv.gz", adult)
    credit = ("LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", "PAY_0", "PAY_2")
    clients = {name: rng.integers(0, 5, RECORDS) for name in credit}
    clients["default-payment-next-month"] = rng.integers(0, 2, RECORDS)
    (folder / "creditcard").mkdir()
    _write_csv(folder / "creditcard" / "creditcard.csv.gz", clients)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        tables = import_module("benchmarks.tables")
    census: dict[str, Any] = {"age": rng.integers(0, 90, RECORDS)}
    for name in tables.CENSUS_CATEGORIES:
        values = tables.EDUCATION if name == "education" else tuple("abcde")
        census[name] = rng.choice(values, RECORDS)
    for name in (*import_module("benchmarks.labelled").CENSUS, "income"):
        census.setdefault(name, rng.choice(list("ab"), RECORDS))
    census["weeks_worked_in_year"] = np.full(RECORDS, 52)
    (folder / "census_income_kdd").mkdir()
    place = folder / "census_income_kdd" / "census_income_kdd.parquet"
    pa.parquet.write_table(pa.table(census), place)
    for name, columns in OTHERS.items():
        (folder / name).mkdir()
        records = {one: rng.integers(0, 4, RECORDS) for one in columns}
        if name == "fars":
            records["irace"] = rng.choice(["White", "Black", "Unknown"], RECORDS)
        _write_csv(folder / name / f"{name}.csv.gz", records)
    return folder


def _write_csv(path: Path, columns: dict[str, Any]) -> None:
    with pa.CompressedOutputStream(str(path), "gzip") as stream:
        pa.csv.write_csv(pa.table(columns), stream)


def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let learners grow three trees, not fifty: 442 of them are trained."""
    learners = import_module("benchmarks.papers.conjecture.learners")
    for name, option in (("boosting", "max_iter"), ("forest", "n_estimators")):
        make = learners.MAKERS[name]
        monkeypatch.setitem(
            learners.MAKERS,
            name,
            lambda seed, make=make, option=option: make(seed).set_params(**{option: 3}),
        )


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_and_figure_of_a_paper_is_measured_printed_and_drawn(
    runner: Any,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    paper: str,
) -> None:
    if paper == "conjecture":
        pytest.importorskip("sklearn")
        loaders = import_module("benchmarks.labelled").LOADERS
        for name in loaders.keys() - {"adult", "mgm"}:  # others only take longer
            monkeypatch.delitem(loaders, name)
        few_trees(monkeypatch)
    monkeypatch.setattr("benchmarks.timing.ENOUGH", 1e-9)  # speed is not judged: one run each
    monkeypatch.setattr("benchmarks.timing.WARM_UP", 1)
    kept = tmp_path / "rows.json"
    given = ["--quick", "--data", str(folder), "--plots", str(tmp_path), "--json", str(kept)]
    assert runner.main(["papers", paper, *given]) == 0
    names = [f"{paper}-{name}" for name in import_module(f"benchmarks.papers.{paper}").RESULTS]
    assert [row["name"] for row in json.loads(kept.read_text("utf-8"))["rows"]] == names
    assert {path.stem for path in tmp_path.glob("*.svg")} == set(names)
    shown = capsys.readouterr().out
    assert shown.startswith("Quick: smaller samples")
    assert all(f"({name}," in shown for name in names)


def test_every_table_with_a_target_is_text_with_few_values(runner: Any, folder: Path) -> None:
    pytest.importorskip("sklearn")
    tables = import_module("benchmarks.tables").Tables(folder)
    labelled = import_module("benchmarks.labelled")
    for name, load in labelled.LOADERS.items():
        table = load(tables)
        assert table.name == name
        assert table.sensitive == (labelled.TARGET,)
        assert set(table.data.column_names) == {*table.models, labelled.TARGET}
        for column in table.data.columns:
            assert column.type == pa.string()
            assert column.null_count == 0
            assert 2 <= len(column.unique()) <= 60


def test_every_published_figure_that_can_be_measured_has_a_command(runner: Any) -> None:
    results = {paper: set(import_module(f"benchmarks.papers.{paper}").RESULTS) for paper in PAPERS}
    figures = {f"figure-{number}" for number in range(1, 7)}
    assert results["gt10"] == figures | {"table-2", "table-3"}
    assert results["git09"] == {"experiment", "monotone-trees"}
    assert results["tcm07"] == {"figure-3", "figure-4"}
    assert results["he12"] == {f"figure-{number}" for number in range(6, 10)}
    assert results["xu06"] == {f"figure-{number}" for number in range(7, 23)}


def test_every_command_has_a_small_plot_in_the_documentation(runner: Any) -> None:
    page = (ROOT / "docs" / "explanation" / "papers.md").read_text(encoding="utf-8")
    plots = {path.stem: path for path in (ROOT / "docs" / "papers").glob("*.svg")}
    assert set(plots) == set(import_module("benchmarks.papers.run").names())
    assert all(f"](../papers/{name}.svg)" in page for name in plots)
    assert max(path.stat().st_size for path in plots.values()) < 30_000


def test_without_the_data_a_paper_says_so_in_one_sentence(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert runner.main(["papers", "he12-figure-6", "--data", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "--data FOLDER" in said


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["papers", "gt10-figure-99"], "gt10-figure-1"),
        (["papers", "--plots", "no-such-folder"], "--plots"),
        (["methods", "--quick"], "--quick"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_remedy(
    runner: Any, capsys: pytest.CaptureFixture[str], given: list[str], named: str
) -> None:
    assert runner.main(given) == 2
    assert named in capsys.readouterr().err


def test_a_missed_bar_counts_at_full_size_only(runner: Any) -> None:
    figure = import_module("benchmarks.papers.figure")
    run = import_module("benchmarks.papers.run")
    missed = figure.Figure("t", [], [figure.Claim("c", 0, 1, bar=True)], "s")
    scale = figure.Scale(import_module("benchmarks.tables").Tables())
    assert run._kept("n", missed, scale, 0.0)["met"] is False
    assert "met" not in run._kept("n", missed, figure.Scale(scale.tables, quick=True), 0.0)


def test_claims_count_the_cases_in_which_they_hold(runner: Any) -> None:
    figure = import_module("benchmarks.papers.figure")
    lower = figure.below("", {1: 1.0, 2: 3.0, 3: 0.0}, {1: 2.0, 2: 2.0})
    assert (lower.held, lower.cases, lower.holds) == (1, 2, False)
    assert figure.near("", {1: 0.9}, {1: 1.0}, 0.2).holds
    assert not figure.near("", {1: 0.7}, {1: 1.0}, 0.2).holds
    assert figure.rises("", {1: 1.0, 2: 2.0, 3: 1.5}).held == 1


def test_a_plot_puts_every_point_where_its_axes_say(runner: Any) -> None:
    figure = import_module("benchmarks.papers.figure")
    plot = import_module("benchmarks.papers.plot")
    line = figure.Line("ours & theirs", {1: 10.0, 10: 100.0, 100: 1000.0})
    panel = figure.Panel("t", "k", "loss", [line], log_x=True, log_y=True)
    drawn = plot.draw_figure(figure.Figure("t", [panel], [], ""))
    marks = [tuple(map(float, at)) for at in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    low, middle, high = marks[:3]
    assert low == (plot.LEFT, plot.TOP + plot.HEIGHT)
    assert high == (plot.LEFT + plot.WIDTH, plot.TOP)
    assert middle == (plot.LEFT + plot.WIDTH / 2, plot.TOP + plot.HEIGHT / 2)
    assert "ours &amp; theirs" in drawn
    assert "k (log)" in drawn


def test_bars_below_zero_hang_from_it_inside_the_plot(runner: Any) -> None:
    figure = import_module("benchmarks.papers.figure")
    plot = import_module("benchmarks.papers.plot")
    panel = figure.Panel("t", "learner", "y", [figure.Line("d", {"a": -0.5, "b": -1.0})])
    drawn = plot.draw_figure(figure.Figure("t", [panel], [], ""))
    bars = re.findall(r'<rect class="m" [^>]*y="([-\d.]+)" width="[\d.]+" height="([\d.]+)"', drawn)
    (top, half), (also_top, whole) = [tuple(map(float, bar)) for bar in bars[:2]]
    assert top == also_top == plot.TOP
    assert (half, whole) == (plot.HEIGHT / 2, plot.HEIGHT)


def test_an_axis_that_is_not_logarithmic_begins_at_zero(runner: Any) -> None:
    plot = import_module("benchmarks.papers.plot")
    axis = plot._Axis([0.31, 0.44], False, True, 100)
    assert (axis.low, axis.ticks[0]) == (0.0, 0.0)
    assert axis.high >= 0.44
    assert axis.at(axis.high) == 100
