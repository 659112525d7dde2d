"""A finished release is checked without its original, and settings come from a file."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from stewards import OWN, Steward, let_in
from test_app_month import month

from shoal.app.projects import Project

GOOD = "name,age,town,ill\n" + "".join(
    f"{number},{age},{town},{'ab'[number % 2]}\n"
    for number, (age, town) in enumerate(
        4 * [("20–39", "France"), ("40–69", "Porto"), ("40–69", "Lyon")]
    )
)
BAD = GOOD + "90,70–79,Lighthouse,a\n91,70–79,Cottage,b\n92,20–29,Cottage,b\n93,20–29,Cottage,b\n"
ROLES = {"role-0": "keep", "role-1": "quasi-identifier", "role-2": "quasi-identifier"}


@pytest.fixture(scope="module")
def steward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Steward]:
    with let_in(tmp_path_factory.mktemp("app") / "projects") as found:
        yield found


def bring(steward: Steward, content: str) -> str:
    """Open a release; the page that asks what to check."""
    sent = {"file": ("theirs.csv", content.encode())}
    answer = steward.client.post("/checks/upload", headers=OWN, files=sent)
    steward.base = "/p/" + answer.headers["location"].split("/")[-2]
    steward.wait(lambda: steward.get("part/looking").json()["status"] != "running")
    return steward.page("check")


def test_a_failing_release_shows_which_groups_fail_and_gives_a_report(steward: Steward) -> None:
    assert "Say below what to check" in bring(steward, BAD)
    assert steward.post("check", k="3", **ROLES, **{"role-3": "sensitive"}).status_code == 303
    part = unescape(steward.page("part/check"))
    assert "✗ Not proved" in part
    assert "3 of 6 groups have fewer than k = 3 records (the smallest has 1)" in part
    assert "3 groups with 4 records in all" in part
    cells = ['<td class="number">1</td><td class="number">2</td><td class="number">2</td>']
    cells += ['<td class="number">2</td><td class="number">1</td><td class="number">2</td>']
    assert all(cell in part for cell in cells)
    assert "<b>name</b>: 16 records with a value that no other record has" in part
    assert part == unescape(steward.page("part/check")), "the result is kept"
    report = steward.get("check/report")
    assert "unsafe-inline" in report.headers["content-security-policy"]
    assert "The original table was not needed" in report.text
    saved = steward.get("check/report?download")
    assert saved.headers["content-disposition"].startswith("attachment")


def test_failing_records_are_shown_to_their_owner_and_kept_nowhere(steward: Steward) -> None:
    bring(steward, BAD)
    steward.post("check", k="3", **ROLES, **{"role-3": "sensitive"})
    steward.page("part/check")
    rows = steward.page("part/failing")
    assert rows.count("<tr>") == 5
    assert (
        '<td class="number">13</td><td class="number">1</td><td>70–79</td><td>Lighthouse</td>'
        in rows
    )
    assert (
        '<td class="number">15</td><td class="number">2</td><td>20–29</td><td>Cottage</td>' in rows
    )
    kept = [path for path in steward.folder.rglob("*") if path.is_file()]
    kept = [path for path in kept if path.name not in ("theirs.csv", "look.json")]
    assert {"check.json", "report.html"} <= {path.name for path in kept}
    assert len(kept) >= 4
    texts = [path.read_text(encoding="utf-8") for path in kept]
    assert not any(value in text for text in texts for value in ("Lighthouse", "Cottage"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}


def test_a_good_release_passes_with_its_sensitive_column(steward: Steward) -> None:
    bring(steward, GOOD)
    roles = {**ROLES, "role-0": "keep", "role-3": "sensitive"}
    steward.post("check", k="4", distinct="2", share="75", **roles)
    page = unescape(steward.page("check?now"))
    assert "Also proved: distinct 2-diversity of 'ill'" in page
    assert "Groups that are too small" not in page


def test_a_column_with_names_is_refused_at_once(steward: Steward) -> None:
    bring(steward, GOOD)
    steward.post("check", k="4", **{**ROLES, "role-0": "identifier", "role-3": "keep"})
    assert "Identifier name is still in the release" in steward.page("part/check")
    assert steward.get("check/report").status_code == 404


def test_an_entry_that_makes_no_sense_is_said_and_changes_nothing(steward: Steward) -> None:
    bring(steward, GOOD)
    before = (steward.folder / "settings.toml").read_bytes()
    for form, said in (
        ({"k": "1", **ROLES}, "k must be a whole number of at least 2"),
        ({"k": "3"}, "Choose at least one column that others may know"),
        ({"k": "3", "distinct": "2", **ROLES}, "needs a sensitive column"),
    ):
        answer = steward.post("check", **form)
        assert answer.status_code == 422
        assert said in answer.text
    assert (steward.folder / "settings.toml").read_bytes() == before


def test_a_new_question_gets_a_new_answer(steward: Steward) -> None:
    bring(steward, BAD)
    steward.post("check", k="3", **ROLES)
    assert "k = 3 required" in steward.page("part/check")
    steward.post("check", k="2", **ROLES)
    assert "k = 2 required" in steward.page("part/check")


def send_settings(steward: Steward, content: bytes, name: str = "release.toml") -> int:
    sent = {"file": (name, content)}
    answer = steward.client.post(f"{steward.base}/settings/upload", headers=OWN, files=sent)
    return int(answer.status_code)


def test_a_release_is_checked_and_made_again_with_the_settings_that_came_with_it(
    steward: Steward,
) -> None:
    steward.upload(month(0), "march.csv")
    roles = ("identifier", "quasi-identifier", "quasi-identifier", "drop", "sensitive")
    steward.post("columns", **{f"role-{place}": role for place, role in enumerate(roles)})
    outline = "*\n  France\n    Lyon\n    Lille\n  Portugal\n    Porto\n"
    steward.post("tree/2", how="outline", outline=outline)
    steward.run(k="7")
    release, settings = (steward.get(f"runs/1/download/{own}").content for own in ("csv", "toml"))

    bring(steward, release.decode())
    assert send_settings(steward, settings) == 303
    assert "✓ Protected" in steward.page("part/check")
    assert "k = 7 required" in steward.page("part/check")

    steward.upload(month(0), "again.csv")
    assert "k = 7" not in steward.page("part/state")
    assert send_settings(steward, settings) == 303
    assert "k = 7" in steward.page("part/state")
    steward.run(k="7")
    again = steward.get("runs/1/download/csv").text
    assert sorted(again.splitlines()) == sorted(release.decode().splitlines())


def test_all_problems_of_a_settings_file_are_listed_and_nothing_changes(
    steward: Steward, tmp_path: Path
) -> None:
    steward.upload(month(0), "march.csv")
    before = Project(steward.folder).settings
    path = tmp_path / "wrong.toml"
    path.write_text(
        '[columns]\nsensitive = ["illness"]\nothers = "drop"\n[quasi_identifiers.agee]\n'
        "[quasi_identifiers.towns]\n[requirement]\nk = 5\n",
        encoding="utf-8",
    )
    answer = steward.post("settings/open", path=str(path))
    assert answer.status_code == 422
    said = unescape(answer.text)
    assert all(f"'{name}'" in said for name in ("illness", "agee", "towns"))
    assert Project(steward.folder).settings == before
    for content in (b"not = [toml", b"\xff\xfe", b"[quasi_identifiers]\nage = 3\n"):
        assert send_settings(steward, content) == 422
    assert steward.post("settings/open", path="/nowhere.toml").status_code == 422
    tree = b'[quasi_identifiers.town]\nmodel = "hierarchy"\nhierarchy = "town.csv"\n'
    assert send_settings(steward, tree) == 422
    assert Project(steward.folder).settings == before


def test_settings_from_a_file_are_taken_back_and_run_no_code(
    steward: Steward, tmp_path: Path
) -> None:
    steward.upload(month(0), "march.csv")
    before = Project(steward.folder).settings
    good = b'[columns]\nothers = "drop"\n[quasi_identifiers.age]\n[requirement]\nk = 6\n'
    assert send_settings(steward, good) == 303
    assert Project(steward.folder).settings["requirement"]["k"] == 6
    steward.post("undo", step="columns")
    assert Project(steward.folder).settings == before
    marker = tmp_path / "ran"
    code = tmp_path / "evil.py"
    code.write_text(f"open({str(marker)!r}, 'w')\n", encoding="utf-8")
    assert send_settings(steward, good + b'[method]\nname = "evil:Method"\n') == 422
    assert not marker.exists()
