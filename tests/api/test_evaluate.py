"""Any table and release can be evaluated, from frames or files, and what does not fit is said in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from shoal.assess.singling_out import KeptColumns, singled_out
from shoal.cli.app import commands
from shoal.encoding.frames import open_frame

PEOPLE = pd.DataFrame(
    {
        "name": [f"n{i}" for i in range(12)],
        "age": [20, 21, 30, 31, 31, 32, 50, 50, 51, 60, 61, 62],
        "sex": list("ffmmffmmffmm"),
        "ill": list("aabcaabbcabc"),
    }
)
JOB: dict[str, Any] = {
    "quasi_identifiers": ["age", "sex"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "k": 3,
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Original, release and settings in a folder."""
    release = shoal.anonymize(PEOPLE, **JOB)
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    release.save(tmp_path / "release.csv")
    release.settings.save(tmp_path / "people.toml")
    return tmp_path


def run(folder: Path, *more: str) -> Any:
    files = [str(folder / name) for name in ("people.csv", "release.csv")]
    settings = ["--settings", str(folder / "people.toml")]
    return CliRunner().invoke(commands, ["evaluate", *files, *settings, *more])


def test_files_frames_and_the_release_itself_say_the_same(files: Path) -> None:
    release = shoal.anonymize(PEOPLE, **JOB)
    own = release.evaluate(queries=50)
    frames = shoal.evaluate(PEOPLE, release.data, settings=release.settings, queries=50)
    read = shoal.evaluate(
        files / "people.csv", files / "release.csv", settings=files / "people.toml", queries=50
    )
    assert own.risk == frames.risk == read.risk
    assert own.queries == frames.queries == read.queries
    assert own.rules == frames.rules == read.rules
    assert own.distributions.pairs == read.distributions.pairs
    assert own.distributions.histograms == read.distributions.histograms


def test_bounds_are_read_back_like_text() -> None:
    text = shoal.anonymize(PEOPLE, **JOB)
    bounds = shoal.anonymize(PEOPLE, **JOB, render="bounds")
    found = shoal.evaluate(PEOPLE, bounds.data, settings=bounds.settings, queries=20)
    assert found.risk == text.risk
    assert found.queries == text.evaluate(queries=20).queries


def test_texts_that_are_missing_values_are_read_back() -> None:
    table = PEOPLE.assign(ill=[*"aab?aab?cabc"])
    release = shoal.anonymize(table, **JOB, reading={"missing": ["?"]})
    found = shoal.evaluate(table, release.data, settings=release.settings, queries=20)
    assert found.risk == release.risk


def test_no_queries_are_answered_where_none_are_wanted() -> None:
    assert shoal.anonymize(PEOPLE, **JOB).evaluate(queries=0).queries is None


def test_the_command_prints_what_was_found(files: Path) -> None:
    done = run(files, "--queries", "20")
    assert done.exit_code == 0, done.output
    assert "smallest group" in done.output
    assert "COUNT on age" in done.output


def test_the_command_prints_json_for_programs(files: Path) -> None:
    done = run(files, "--queries", "20", "--json", "--report", str(files / "report.html"))
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert found["verdict"]["proved"] is True
    assert found["risk"]["after"]["sizes"]["smallest"] >= 3
    assert found["queries"]["count"]["queries"] == 20
    assert found["classification"] is None
    assert found["report"] == str(files / "report.html")


def test_quiet_prints_nothing(files: Path) -> None:
    done = run(files, "--quiet", "--queries", "0")
    assert (done.exit_code, done.output) == (0, "")


def test_a_hold_out_without_a_target_is_refused(files: Path) -> None:
    done = run(files, "--holdout", str(files / "people.csv"))
    assert "--target" in str(done.exception)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t, r: (t, r.drop(columns="age")),
            r"'age' is not in the release\. Columns: sex, ill",
        ),
        (lambda t, r: (t.drop(columns="ill"), r), "'ill' is not in the table"),
        (lambda t, r: (t, r.rename(columns={"sex": "sexx"})), "did you mean 'sexx'"),
        (lambda t, r: (t.head(5), r), r"The release has more records \(12\) than the table \(5\)"),
        (lambda t, r: (t, r.head(0)), "The release has no records"),
        (lambda t, r: (t, r.assign(age="young")), "interval model cannot read 1 released value"),
        (lambda t, r: (t, r.assign(ill="q")), "'ill', 1 released value is not in the table"),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(change: Any, message: str) -> None:
    release = shoal.anonymize(PEOPLE, **JOB)
    table, frame = change(PEOPLE, release.data)
    with pytest.raises(shoal.InputError, match=message) as caught:
        shoal.evaluate(table, frame, settings=release.settings)
    assert "young" not in str(caught.value)


def test_a_release_with_an_identifier_is_not_evaluated() -> None:
    release = shoal.anonymize(PEOPLE, **JOB)
    leaky = release.data.assign(name="x")
    with pytest.raises(shoal.AuditFailed, match="name"):
        shoal.evaluate(PEOPLE, leaky, settings=release.settings)


def test_all_problems_are_said_together() -> None:
    release = shoal.anonymize(PEOPLE, **JOB)
    with pytest.raises(shoal.InputError) as caught:
        shoal.evaluate(
            PEOPLE.drop(columns="sex"), release.data.drop(columns="age"), settings=release.settings
        )
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("kind", [pa.Table.to_pandas, pl.from_arrow, pa.Table.combine_chunks])
def test_records_are_singled_out_by_values_that_no_other_has(kind: Any) -> None:
    table = pa.table(
        {
            "ward": [1, 1, 2, 2, None],
            "bed": ["a", "b", "a", "b", "a"],
            "none": pa.array([None] * 5, pa.string()),
            "list": [[1], [1], [2], [2], [2]],
        }
    )
    frame = open_frame(kind(table))
    found = singled_out(frame, table.column_names)
    assert [item.alone for item in found] == [1, 0, 0, 0, 5]
    assert found[-1].columns == ("ward", "bed", "none", "list")
    assert singled_out(frame, ["ward"]) == [KeptColumns(("ward",), 1)]
    assert singled_out(frame, []) == []


def test_objects_and_mixed_values_are_compared_as_text() -> None:
    frame = open_frame(pd.DataFrame({"mixed": [1, "1", None, {2}], "sets": [{1}, {1}, {2}, {3}]}))
    assert [item.alone for item in singled_out(frame, ["mixed", "sets"])] == [4, 2, 4]
