"""A report on any release beside its table: a failed audit never looks like success, and no record is told."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tables
from allowed import allowing
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from pages import SECTIONS, Page, section
from typer.testing import CliRunner

import shoal
from shoal import Settings
from shoal.assess.comparison import comparison_of, pair_records
from shoal.cli.app import commands
from shoal.report.formats import rounded
from shoal.report.gather import MEASURED
from shoal.solve.measures import MEASURES, column_losses, compute_loss
from shoal.solve.measures.catalogue import measures_by_column

K = 3


def people(records: int = 60) -> pd.DataFrame:
    numbers = range(records)
    return pd.DataFrame(
        {
            "name": [f"Person-{i:04}" for i in numbers],
            "age": [20 + i * i % 47 for i in numbers],
            "town": [f"Town-{i % 7}" for i in numbers],
            "job": [None if i % 11 == 3 else f"Job-{i % 5}" for i in numbers],
            "ill": ["abcd"[i * i % 4] for i in numbers],
            "since": [2000 + i % 3 for i in numbers],
        }
    )


def anonymize(**given: Any) -> shoal.Release:
    options: dict[str, Any] = {
        "table": people(),
        "quasi_identifiers": {"age": shoal.Interval(), "town": None, "job": shoal.Subset()},
        "sensitive": ["ill", "since"],
        "identifiers": ["name"],
        "k": K,
        "refine": False,
    }
    options |= given
    unnamed = sorted({"ill", "since"} - {*options["sensitive"]})
    options["allow"] = allowing(*unnamed)
    return shoal.anonymize(options.pop("table"), **options, keep=unnamed)


def evaluate(release: Any, **given: Any) -> Any:
    options: dict[str, Any] = {
        "table": people(),
        "release": release,
        "quasi_identifiers": {"age": shoal.Interval(), "town": None, "job": shoal.Subset()},
        "sensitive": ["ill"],
        "k": K,
        "queries": 0,
    }
    options |= given
    return shoal.evaluate(options.pop("table"), **options)


def report_of(found: Any, folder: Path) -> str:
    found.save_report(folder / "report.html", overwrite=True)
    return (folder / "report.html").read_text(encoding="utf-8")


def raw() -> pd.DataFrame:
    """The table itself, given out as a release."""
    return people().drop(columns="name").astype({"age": str})


def words_of(text: str, name: str) -> list[str]:
    return section(text, name).words


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"render": "bounds"},
        {"objective": "ncp", "weights": {"age": 3.0}},
        {"objective": "wmi"},
        {"suppression_limit": 0.2, "k": 8},
        {"requirements": [shoal.LDiversity(2, columns=["ill"])]},
        {"sensitive": []},
        {"method": "non_homogeneous"},
    ],
    ids=str,
)
def test_a_release_by_itself_gets_the_figures_of_its_own_report(
    given: dict[str, Any], tmp_path: Path
) -> None:
    release = anonymize(**given)
    release.save_report(tmp_path / "own.html")
    own = (tmp_path / "own.html").read_text(encoding="utf-8")
    data = release.data.sample(frac=1, random_state=1)
    found = shoal.evaluate(people(), data, settings=release.settings, queries=0)
    text = report_of(found, tmp_path)
    assert words_of(text, "loss") == words_of(own, "loss")
    assert words_of(text, "done")[1:10] == words_of(own, "done")[1:10]  # tiles
    if not release.suppressed:  # else it is not known which
        for part in ("risk", "distributions"):
            assert words_of(text, part) == words_of(own, part)
        assert figures(text) == figures(own)
    assert section(text, "verdict").words.count("✓ proved") == 1 + len(release.audit.proofs)


def figures(text: str) -> list[str]:
    """What is folded for experts, without what only the maker knows."""
    words = words_of(text, "experts")
    start, stop = words.index("Loss by measures"), words.index("Risk by kind of attacker")
    return words[start:stop]


def test_originals_of_unknown_records_are_not_counted(tmp_path: Path) -> None:
    release = anonymize(suppression_limit=0.2, k=8)
    assert release.suppressed > 0
    found = shoal.evaluate(people(), release.data, settings=release.settings, queries=0)
    text = report_of(found, tmp_path)
    assert "Before" not in Page(text).words
    assert 'class="before"' not in text
    assert "It is not known which records of the table were left out" in section(text, "risk").text


@pytest.mark.parametrize("k", [3, 8])
def test_loss_that_depends_on_unknown_records_is_not_told(k: int, tmp_path: Path) -> None:
    release = anonymize(suppression_limit=0.2, k=k, objective="lm")
    assert (release.suppressed > 0) == (k == 8)
    found = shoal.evaluate(people(), release.data, settings=release.settings, queries=0)
    words = words_of(report_of(found, tmp_path), "experts")
    at = words.index("Loss of the whole release")
    told = words[at : words.index("Group sizes")]
    assert words[words.index("c_avg") + 2] == rounded(release.loss("c_avg"))
    for measure in MEASURED:
        assert (measure in told) == (not release.suppressed or measure == "c_avg")
    assert ("Loss by column, mean over records" in words) == (not release.suppressed)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"n": "*", "job": "*"},
        {"n": ["*"] * 6 + ["[7, 9]"] * 6, "job": ["*", "{a, b}"] * 6},
        {"n": ["[0, 5]"] * 6 + ["[5, 1000]"] * 6},
    ],
    ids=str,
)
def test_who_was_left_out_elsewhere_does_not_change_the_report(
    changed: dict[str, Any], tmp_path: Path
) -> None:
    usual = pd.DataFrame({"n": [1, 2, 3, 7, 8, 9] * 2, "job": [*"aabbab"] * 2, "ill": [*"uvw"] * 4})
    release = pd.DataFrame(
        {
            "n": ["[1, 3]"] * 6 + ["[7, 9]"] * 6,
            "job": ["{a, b}"] * 12,
            "ill": [*"uvw"] * 4,
        }
    )
    texts = []
    for name, text in changed.items():
        release[name] = text
    for lone in ([2, "a", "u"], [997, "z", "rare"]):
        table = pd.concat([usual, pd.DataFrame([lone], columns=usual.columns)], ignore_index=True)
        found = shoal.evaluate(
            table,
            release,
            quasi_identifiers={"n": shoal.Interval(), "job": shoal.Subset()},
            sensitive=["ill"],
            k=3,
            queries=0,
        )
        texts.append(report_of(found, tmp_path))
    for part in SECTIONS:
        assert words_of(texts[0], part) == words_of(texts[1], part)
    assert not re.search("997|rare|, z", Page(texts[1]).text)


def test_groups_that_read_differently_are_two_whatever_they_cover() -> None:
    table = pd.DataFrame({"n": [5, 6, 7, 8, 9, 5]})
    release = pd.DataFrame({"n": ["[0, 9]"] * 3 + ["[5, 9]"] * 3})
    found = shoal.evaluate(table, release, quasi_identifiers=["n"], k=3, queries=0)
    assert found.risk.after.sizes.largest == found.audit.k == 3


@pytest.mark.parametrize("style", ["text", "bounds"])
def test_bounds_that_no_record_has_are_not_made_narrower(style: str, tmp_path: Path) -> None:
    table = pd.DataFrame({"n": [21, 22, 28, 33, 34, 37]})
    release = pd.DataFrame({"n": ["[20, 29]"] * 3 + ["[30, 39]"] * 3})
    if style == "bounds":
        release = pd.DataFrame({"n_min": [20] * 3 + [30] * 3, "n_max": [29] * 3 + [39] * 3})
    found = shoal.evaluate(table, release, quasi_identifiers=["n"], k=3, queries=0)
    [n] = found.distributions.histograms
    labels = ("20–29", "30–39") if style == "bounds" else ("[20, 29]", "[30, 39]")
    assert (n.labels, n.before, n.after) == (labels, (), (3.0, 3.0))
    told = section(report_of(found, tmp_path), "loss").text
    assert ": 100.0 % are less precise." in told
    assert "range of at most" not in told


def test_any_pairing_of_records_gives_the_same_loss_in_every_measure() -> None:
    release = anonymize(k=8)
    data = release.data.sample(frac=1, random_state=5)
    found = shoal.evaluate(people(), data, settings=release.settings, queries=0)
    paired = pair_records(found.release.comparison)
    assert not np.array_equal(paired.groups, release.closed.groups)
    for measure in MEASURES:
        assert compute_loss(paired, measure, k=8) == pytest.approx(release.loss(measure))
    for measure in measures_by_column():
        assert column_losses(paired, measure) == pytest.approx(release.column_losses(measure))


@settings(max_examples=several(100))
@given(tables.partitioned_samples(min_records=2, sensitive=2), st.data())
def test_any_order_gives_the_loss_of_the_true_pairs(
    drawn: tuple[tables.Sample, list[int]], data: st.DataObject
) -> None:
    sample, partition = drawn
    true = sample.problem("lm").close(np.array(partition, np.int32))
    own = comparison_of(true, Settings(sensitive=tuple(true.table.sensitive), k=1))
    order = data.draw(st.permutations(range(own.records)))
    released = {name: codes[order] for name, codes in own.released.items()}
    paired = pair_records(replace(own, groups=own.groups[order], released=released))
    assert paired.left_out == 0
    for measure in MEASURES:
        assert compute_loss(paired, measure) == pytest.approx(compute_loss(true, measure), abs=1e-9)


@settings(max_examples=several(100))
@given(tables.partitioned_samples(min_records=2, sensitive=2), st.data())
def test_any_left_out_records_keep_sizes_and_sensitive_values_of_groups(
    drawn: tuple[tables.Sample, list[int]], data: st.DataObject
) -> None:
    sample, partition = drawn
    whole = sample.problem("lm").close(np.array(partition, np.int32))
    own = comparison_of(whole, Settings(sensitive=tuple(whole.table.sensitive), k=1))
    order = data.draw(st.permutations(range(own.records)))
    stay = order[: data.draw(st.integers(1, own.records))]
    released = {name: codes[stay] for name, codes in own.released.items()}
    paired = pair_records(replace(own, groups=own.groups[stay], released=released))
    assert paired.left_out == own.records - len(stay)
    assert paired.records == own.records
    pairs = [
        sorted(zip(groups.tolist(), *(codes.tolist() for codes in secrets), strict=True))
        for groups, secrets in (
            (own.groups[stay], released.values()),
            (paired.groups, [column.codes for column in paired.table.sensitive.values()]),
        )
    ]
    assert pairs[0] == pairs[1]


def test_sections_are_there_and_what_is_not_known_is_not(tmp_path: Path) -> None:
    text = report_of(evaluate(anonymize().data), tmp_path)
    page = Page(text)
    assert [part["id"] for part in page.all("section")] == [*SECTIONS]
    names = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert {link["href"][1:] for link in page.all("a")} <= names
    assert "Seconds" not in page.words
    assert "ertificate" not in page.text
    assert [line for line in page.words if line.startswith("not known: ")]
    assert not re.search(r"\[method\]|\[output\]|make this release again", text)


def test_a_failed_audit_has_a_verdict_of_its_own(tmp_path: Path) -> None:
    found = evaluate(raw(), requirements=[shoal.LDiversity(2), shoal.TCloseness(0.99)])
    assert not found.verdict.is_proved
    text = report_of(found, tmp_path)
    said = section(text, "verdict")
    assert "✗ Not proved." in said.words
    assert "This table does not meet its requirements. Do not release it." in said.words
    assert said.words.count("✗ not proved") == 2
    assert said.words.count("✓ proved") == 1  # closeness, which even this table keeps
    assert not re.search("is proved|are proved", said.text)
    assert 'class="verdict"' not in text
    for failure in found.verdict.failures:
        assert failure in said.words


def test_reasons_are_those_of_the_audit() -> None:
    found = evaluate(raw())
    with pytest.raises(shoal.AuditFailed) as raised:
        shoal.audit(raw(), quasi_identifiers=["age", "town", "job"], k=K)
    assert "\n".join(found.verdict.failures) == str(raised.value)
    assert found.to_dict()["verdict"]["failures"] == list(found.verdict.failures)
    assert found.to_dict()["verdict"]["proved"] is False


def test_a_level_without_bound_is_null_in_json() -> None:
    alone = [shoal.LDiversity(2, kind="recursive", c=2.0)]
    [proof] = evaluate(raw(), requirements=alone).to_dict()["audit"]["proofs"]
    assert (proof["required"], proof["reached"]) == (2.0, None)


def test_no_record_is_shown_where_nothing_is_proved(tmp_path: Path) -> None:
    table = people().assign(age=lambda frame: frame["age"] + 1_000_000 + frame.index * 131)
    leak = table.drop(columns="name").astype({"age": str})
    text = report_of(evaluate(leak, table=table), tmp_path)
    assert "No records are shown" in section(text, "sample").text
    assert not section(text, "sample").all("table")
    told = Page(text).text
    lone = table["age"].value_counts().loc[lambda counts: counts < K].index
    assert len(lone) == len(table)
    assert not [age for age in lone if re.search(rf"\b{age}\b", told)]
    assert "No charts are shown" in section(text, "distributions").text


def test_no_record_is_shown_where_k_hides_none(tmp_path: Path) -> None:
    found = evaluate(raw(), k=1)
    assert found.verdict.state == "not proved"
    assert not section(report_of(found, tmp_path), "sample").all("table")


def test_columns_without_a_role_are_named_but_their_cells_are_not_shown(tmp_path: Path) -> None:
    data = anonymize().data
    leaky = data.assign(note=[f"Secret-{i:04}" for i in range(len(data))])
    text = report_of(evaluate(leaky), tmp_path)
    assert "These columns are in the release although nobody gave them a role: since, note." in text
    assert section(text, "done").words.count("nobody gave it a role") == 2
    assert "Secret-" not in text
    assert section(text, "sample").all("table")
    assert "and 2 more columns" in section(text, "sample").text


def test_removed_columns_are_those_that_are_not_released(tmp_path: Path) -> None:
    words = words_of(report_of(evaluate(anonymize().data), tmp_path), "done")
    assert words[words.index("Removed") + 1] == "name"


def test_a_release_evaluated_by_itself_reports_like_itself(tmp_path: Path) -> None:
    release = anonymize()
    found = release.evaluate(queries=0)
    assert found.verdict.is_proved
    text = report_of(found, tmp_path)
    release.save_report(tmp_path / "own.html")
    times = re.compile(r"<time.*?</time>")
    own = (tmp_path / "own.html").read_text(encoding="utf-8")
    assert times.sub("", text) == times.sub("", own)


def test_sensitive_values_that_the_table_lacks_leave_no_report(tmp_path: Path) -> None:
    data = anonymize().data
    changed = data.assign(ill=[data["ill"].iloc[0]] * len(data))
    found = evaluate(changed)
    with pytest.raises(shoal.InputError, match="sensitive columns must be unchanged") as raised:
        found.save_report(tmp_path / "report.html")
    assert len(raised.value.problems) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_release_of_another_table_is_refused() -> None:
    data = anonymize().data.assign(town="Town-1")
    with pytest.raises(
        shoal.InputError, match=r"In column 'town', .* more often than the table allows"
    ) as raised:
        evaluate(data)
    assert len(raised.value.problems) == 1
    assert "Town-1" not in str(raised.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Table, settings, and two releases, one of them the table itself."""
    release = anonymize()
    people().to_csv(tmp_path / "people.csv", index=False)
    release.save(tmp_path / "good.csv")
    raw().to_csv(tmp_path / "bad.csv", index=False)
    release.settings.save(tmp_path / "people.toml")
    return tmp_path


def run(folder: Path, release: str, *more: str) -> Any:
    files = [str(folder / name) for name in ("people.csv", release)]
    settings = ["--settings", str(folder / "people.toml"), "--queries", "0"]
    return CliRunner().invoke(commands, ["evaluate", *files, *settings, *more])


def test_the_command_writes_the_report_and_names_it(folder: Path) -> None:
    done = run(folder, "good.csv", "--report", str(folder / "report.html"))
    assert done.exit_code == 0, done.output
    assert re.search(r"^verdict +✓ Protected\.", done.output, re.MULTILINE)
    assert re.search(r"^report +.*report\.html \(open it in a browser\)$", done.output, re.M)
    assert "✓ Protected." in (folder / "report.html").read_text(encoding="utf-8")


def test_the_command_writes_the_report_of_a_failed_audit_and_fails(folder: Path) -> None:
    done = run(folder, "bad.csv", "--report", str(folder / "report.html"))
    assert done.exit_code == 3
    assert "✗ Not proved" in done.stdout
    assert re.search(r"^  k +1 reached, 3 required, NOT MET$", done.stdout, re.MULTILINE)
    assert re.search(r"^shoal: .*k = 3", done.stderr, re.MULTILINE)
    assert "✗ Not proved" in (folder / "report.html").read_text(encoding="utf-8")


def test_requirements_can_be_added_on_the_command_line(folder: Path) -> None:
    done = run(folder, "good.csv", "--require", "diversity:l=4:kind=distinct:columns=ill", "--json")
    found = json.loads(done.stdout)
    facts = found["verdict"]
    assert done.exit_code == 3
    assert facts["proved"] is False
    assert found["audit"]["k"] >= K
    assert "distinct 4-diversity of 'ill'" in facts["failures"][0]
    assert "distinct 4-diversity of 'ill'" in done.stderr


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere/report.html", "does not exist"),
        (".", "is a folder"),
        ("bad.csv", "exists"),
        ("good.csv", "would be lost"),
    ],
)
def test_a_place_that_cannot_hold_the_report_is_refused_at_once(
    place: str, message: str, folder: Path
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = run(folder, "good.csv", "--report", str(folder / place))
    assert isinstance(done.exception, shoal.InputError)
    assert message in str(done.exception)
    assert done.output == ""
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_overwrite_replaces_a_report(folder: Path) -> None:
    (folder / "report.html").write_text("mine")
    run(folder, "good.csv", "--report", str(folder / "report.html"), "--overwrite")
    assert "Release report" in (folder / "report.html").read_text(encoding="utf-8")
