"""The report on a finished table whose original is not known."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import shoal

GOOD = "age,town,ward,ill\n" + "".join(
    f"{age},{town},{ward},{ill}\n"
    for age, town in (("20–39", "France"), ("40–69", "*"))
    for ward, ill in (("north", "a"), ("north", "b"), ("south", "c"), ("south", "d"))
)
BAD = GOOD + "70–79,Lighthouse,attic,e\n70–79,Cottage,attic,f\n"


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "theirs.csv"
    path.write_text(BAD, encoding="utf-8")
    return path


def told(path: Path) -> str:
    """The text of a report without tags."""
    text = re.sub(r"<style>.*?</style>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_a_failing_release_gets_a_report_with_the_groups_that_fail(
    bad: Path, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    report = tmp_path / "check.html"
    given = ("audit", bad, "-q", "age", "-q", "town", "-s", "ill", "-k", "3", "--report", report)
    assert shell(*given)[0] == 3
    text = told(report)
    assert "✗ Not proved" in text
    assert "2 of 4 groups have fewer than k = 3 records" in text
    assert "Groups that are too small 2 with 2 records in all" in text
    assert "The original table was not needed" in text
    assert shell(*given)[0] == 2, "an existing report is not replaced"
    assert shell(*given, "--overwrite")[0] == 3


def test_the_report_shows_no_value_of_the_table(bad: Path, tmp_path: Path) -> None:
    report = tmp_path / "check.html"
    with pytest.raises(shoal.AuditFailed):
        shoal.audit(bad, quasi_identifiers=["age", "town"], sensitive=["ill"], k=3, report=report)
    page = report.read_text(encoding="utf-8")
    assert not any(value in page for value in ("Lighthouse", "Cottage", "attic", "70–79", "north"))


def test_a_good_release_is_reported_with_its_unprotected_columns(tmp_path: Path) -> None:
    report = tmp_path / "check.html"
    table, columns = tmp_path / "good.csv", ["age", "town"]
    table.write_text(GOOD, encoding="utf-8")
    found = shoal.audit(table, quasi_identifiers=columns, sensitive=["ill"], k=4, report=report)
    text = told(report)
    assert found.verdict is not None
    assert found.verdict.sentence in text.replace("&#39;", "'")
    assert "Unprotected ward" in text
    assert "Smallest group 4" in text
    assert "(25.0 %)" in text


def test_every_link_of_the_report_leads_somewhere(bad: Path, tmp_path: Path) -> None:
    report = tmp_path / "check.html"
    with pytest.raises(shoal.AuditFailed):
        shoal.audit(bad, quasi_identifiers=["age", "town"], k=3, report=report)
    page = report.read_text(encoding="utf-8")
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r'id="([^"]+)"', page))
