"""The page Release in every state, and the rows it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

import pytest
from stewards import Steward, let_in
from test_app_month import month

from shoal.app.projects import Project
from shoal.app.worker import run as estimating
from shoal.report.formats import percent


@pytest.fixture(scope="module")
def steward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Steward]:
    """Somebody with a table of 300 people and one run of k = 4."""
    with let_in(tmp_path_factory.mktemp("app") / "projects") as found:
        found.upload(month(0), "march.csv")
        roles = ("identifier", "quasi-identifier", "quasi-identifier", "drop", "sensitive")
        found.post("columns", **{f"role-{place}": role for place, role in enumerate(roles)})
        assert "There is no release yet" in found.page("release")
        found.run(k="4")
        yield found


def cells(page: str) -> list[list[str]]:
    """The rows of the table in a part of a page."""
    rows = re.findall(r"<tr.*?</tr>", page.partition("<tbody>")[2], flags=re.DOTALL)
    return [
        [unescape(text) for text in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in rows
    ]


def test_the_page_shows_the_first_rows_of_the_release(steward: Steward) -> None:
    page = steward.page("part/preview/1")
    written = steward.get("runs/1/download/csv").text.replace("\r", "").splitlines()
    assert [",".join(row) for row in cells(page)] == written[1:11]
    assert "original record" not in page.partition("<button")[0]


def test_originals_are_shown_only_when_asked_for_and_fit_their_rows(steward: Steward) -> None:
    assert "original</th>" not in steward.page("release")
    assert "original</th>" not in steward.page("release?rows=released")
    found = cells(steward.page("part/preview/1?originals"))
    assert found == cells(steward.page("release?rows=originals"))
    records = [line.split(",") for line in month(0).splitlines()[1:]]
    assert len(found) == 20
    for released, original in zip(found[::2], found[1::2], strict=True):
        _, age, town, ill, fits = released
        assert int(fits) >= 4
        assert [original[1], original[2], original[3]] in [
            [own[1], own[2], own[4]] for own in records
        ]
        low, _, high = age.partition("–")
        assert age == "*" or int(low) <= int(original[1]) <= int(high or low)
        assert town in ("*", original[2])
        assert ill == original[3]
    assert "Person" not in steward.page("part/preview/1?originals")


def test_originals_are_kept_in_no_file(steward: Steward) -> None:
    before = {path: path.stat().st_mtime_ns for path in steward.folder.rglob("*")}
    steward.page("part/preview/1?originals")
    assert {path: path.stat().st_mtime_ns for path in steward.folder.rglob("*")} == before


def test_the_page_says_what_to_hand_over_and_what_to_keep(steward: Steward) -> None:
    page = steward.page("release")
    over = page.partition("<h2>Hand over")[2].partition("<h2>")[0]
    assert "Download CSV" in over
    assert "settings (TOML)" in over
    assert "The original table" in page.partition("<h2>Keep to yourself")[2]
    assert "made from" in page


def test_the_page_asks_for_the_excel_file_until_it_is_there(steward: Steward) -> None:
    path = steward.folder / "runs/1/run.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    office = steward.client.app.app.state.office  # type: ignore[attr-defined]
    job = office.jobs._runs[steward.folder.name, "1"]
    steward.wait(lambda: job.status == "done")
    try:
        job.status = "running"
        path.write_text(json.dumps({**facts, "excel": "writing"}), encoding="utf-8")
        assert 'hx-trigger="every 1s"' in steward.page("part/excel/1")
    finally:
        job.status = "done"
        path.write_text(json.dumps(facts), encoding="utf-8")
    page = steward.page("part/excel/1")
    assert "Download Excel" in page
    assert "hx-get" not in page, "it is there, so nothing asks any more"


def test_rows_of_an_unprotected_release_are_shown_only_on_purpose(steward: Steward) -> None:
    steward.run(k="1")
    page = steward.page("release")
    assert "Show the first rows although nothing is protected" in page
    assert 'hx-trigger="load"' not in page.partition('id="preview"')[2]
    steward.post("runs/2/delete")


def test_a_failed_run_is_told_on_the_page_with_what_to_do(steward: Steward) -> None:
    kept = steward.folder / "runs"
    kept.rename(steward.folder / "kept")
    try:
        steward.run(k="301")
        page = steward.page("release")
        assert "The last run made no release" in page
        assert "Go to Run and compare" in page
        project = Project(steward.folder)
        project.delete_run("1")
        assert "Start a run" in steward.page("release")
    finally:
        for left in Path(steward.folder / "runs").glob("*"):
            left.rename(steward.folder / left.name)
        kept.parent.joinpath("runs").rmdir()
        (steward.folder / "kept").rename(kept)


def test_the_estimate_of_a_small_table_is_a_real_run_which_the_report_confirms(
    steward: Steward, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = steward.folder
    steward.post("requirement", k="4")
    loss = json.loads((folder / "runs/1/run.json").read_text(encoding="utf-8"))["figures"]["loss"]
    found = estimating.estimate(None, str(folder))
    if not found["is_real"]:
        pytest.skip("kernels are not compiled yet on this machine, so the estimate is a dry run")
    assert found["loss"] == loss
    assert not (folder / "runs/2").exists()
    monkeypatch.setattr(estimating, "REAL_RECORDS", 299)
    assert not estimating.estimate(None, str(folder))["is_real"]


def test_the_report_names_the_table_and_shows_the_same_loss_as_the_page(steward: Steward) -> None:
    report = steward.page("runs/1/report")
    assert "<h1>march.csv</h1>" in report
    figures = json.loads((steward.folder / "runs/1/run.json").read_text(encoding="utf-8"))
    said = percent(figures["figures"]["loss"])
    assert f"Detail lost: <strong>{escape(said)}</strong>" in report
    assert f"<dd>{escape(said)}<small>0 %" in steward.page("release?run=1")
