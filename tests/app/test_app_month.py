"""A new month: the same settings for a new file, after a page has shown what is new in it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stewards import OWN, Steward, let_in

from shoal.app import forms
from shoal.app.projects import Project, write_toml_file

TREE = b"Lyon,France,*\nLille,France,*\nPorto,Portugal,*\n"


def month(start: int, seed: int = 0, town: str = "", ward: str = "", more: str = "") -> str:
    """A month's table of 300 people, numbered from `start`; one may be in another town or ward."""
    chance = random.Random(seed)
    lines = ["name,age,town,ward,ill" + (f",{more}" if more else "")]
    for number in range(start, start + 300):
        where = chance.choice(["Lyon", "Lille", "Porto"])
        which = chance.choice(["north", "south"])
        if number == start + 7:
            where, which = town or where, ward or which
        line = f"Person {number:04},{chance.randint(20, 69)},{where},{which},{chance.choice('abc')}"
        lines.append(line + (",x" if more else ""))
    return "\n".join(lines) + "\n"


@pytest.fixture
def steward(tmp_path: Path) -> Iterator[Steward]:
    """Somebody with a project of March, whose towns have a hierarchy and whose wards are kept."""
    with let_in(tmp_path / "projects") as found:
        assert "300 records" in found.upload(month(0), "march.csv")
        roles = ("identifier", "quasi-identifier", "quasi-identifier", "keep", "sensitive")
        found.post("columns", **{f"role-{place}": role for place, role in enumerate(roles)})
        sent = {"file": ("town.csv", TREE)}
        found.client.post(f"{found.base}/tree/2/upload", headers=OWN, files=sent)
        found.post("requirement", k="4")
        yield found


def bring(steward: Steward, content: str, name: str = "april.csv") -> str:
    """Bring the next file; what the page says of it."""
    sent = {"file": (name, content.encode())}
    answer = steward.client.post(f"{steward.base}/month/upload", headers=OWN, files=sent)
    assert answer.status_code == 303, answer.text
    return steward.page("part/month")


def test_next_months_file_is_released_with_the_same_settings(steward: Steward) -> None:
    steward.run(k="4")
    before = steward.get("runs/1/download/csv").content
    page = bring(steward, month(200, seed=1))
    assert "Nothing unusual" in page
    assert ">100<small>of 300 people, by name" in page
    assert steward.post("month/use").headers["location"].endswith("/run")
    steward.finish()
    release = steward.get("runs/2/download/csv").text
    assert release.count("\n") == 301
    assert "Person" not in release
    assert "april.csv" in steward.page("release"), "the command names the new file"
    assert "march.csv" in steward.page("release?run=1"), "and that of an earlier run the old one"
    assert steward.get("runs/1/download/csv").content == before


def test_what_is_new_in_a_file_is_listed_before_anything_is_released(steward: Steward) -> None:
    changed = month(0, ward="Lighthouse", more="shoe").replace(",ill", ",illness")
    page = bring(steward, changed.replace("Person 0003,", "Person 0003,about "))
    assert "shoe" in page.partition("Added columns")[2]
    assert "They are not released until" in page
    assert "(sensitive so far)" in page.partition("Missing columns")[2]
    assert "<b>age</b>: whole numbers before, text now" in page
    assert '<b>ward</b> <span class="quiet">(kept)</span>: 1 new value in 1 record' in page
    assert "&#39;ill&#39;" in page.partition("do not fit this file yet")[2]
    answer = steward.post("month/use")
    assert answer.status_code == 422
    assert not list(steward.folder.glob("runs/*")), "no run was started"


def test_no_value_of_few_people_is_shown_or_kept_of_the_new_file(steward: Steward) -> None:
    page = bring(steward, month(0, town="Hogsmeade", ward="Lighthouse"))
    assert "<b>town</b>: 1 value in 1 record" in page
    assert "1 new value in 1 record" in page
    kept = (steward.folder / "month.json").read_text(encoding="utf-8")
    for told in (page, kept, steward.page("month"), steward.page("month?now")):
        assert not any(value in told for value in ("Hogsmeade", "Lighthouse", "Person"))


def test_a_new_category_that_ten_records_share_is_named(steward: Steward) -> None:
    page = bring(steward, month(0).replace("north", "Lighthouse"))
    assert "1 new value in" in page
    assert "among them Lighthouse" in page


def test_an_added_column_is_not_released_even_if_all_others_were_kept(steward: Steward) -> None:
    settings = Project(steward.folder).settings
    settings["columns"] |= {"others": "keep", "keep": []}
    write_toml_file(steward.folder / "settings.toml", settings)
    assert "They are not released until" in bring(steward, month(200, seed=1, more="shoe"))
    steward.post("month/use")
    steward.finish()
    header = steward.get("runs/1/download/csv").text.partition("\n")[0].strip()
    assert sorted(header.split(",")) == ["age", "ill", "town", "ward"]


def test_a_file_that_waits_can_be_given_up(steward: Steward) -> None:
    bring(steward, month(5))
    assert len(list(steward.folder.glob("months/*/april.csv"))) == 1
    steward.post("month/discard")
    assert not list(steward.folder.glob("months/*"))
    assert "Choose the new file" in steward.page("month")
    assert Project(steward.folder).table.name == "march.csv"


def test_another_file_takes_the_place_of_one_that_waits(steward: Steward) -> None:
    bring(steward, month(5), "april.csv")
    bring(steward, month(6), "may.csv")
    assert [path.name for path in steward.folder.glob("months/*/*")] == ["may.csv"]


def test_a_file_that_cannot_be_read_says_so_and_changes_nothing(
    steward: Steward, tmp_path: Path
) -> None:
    assert "The file cannot be compared" in bring(steward, "a,b\n1\n")
    assert steward.post("month/use").status_code == 422
    assert steward.post("month/open", path=str(tmp_path / "nowhere.csv")).status_code == 422
    empty = {"file": ("x.csv", b"")}
    answer = steward.client.post(f"{steward.base}/month/upload", headers=OWN, files=empty)
    assert answer.status_code == 422
    assert Project(steward.folder).table.name == "march.csv"


def test_a_file_in_place_is_compared_and_stays(steward: Steward, tmp_path: Path) -> None:
    table = tmp_path / "april.csv"
    table.write_text(month(0, seed=3), encoding="utf-8")
    assert steward.post("month/open", path=str(table)).status_code == 303
    assert "Nothing unusual" in steward.page("month?now")
    found = json.loads((steward.folder / "month.json").read_text(encoding="utf-8"))["found"]
    assert found["people"] == [{"column": "name", "people": 300, "again": 300}]
    steward.post("month/discard")
    assert table.exists()


@pytest.mark.parametrize("others", ["refuse", "drop", "keep"])
def test_settings_for_a_new_file_never_release_what_it_adds(others: str) -> None:
    columns: dict[str, Any] = {"others": others, "sensitive": ["ill"]}
    settings = {"columns": columns, "quasi_identifiers": {"age": {}}}
    new = forms.with_month(settings, ["age", "ill", "ward"], ["shoe"])
    assert new["columns"]["others"] == "drop"
    assert new["columns"].get("keep", []) == (["ward"] if others == "keep" else [])
    assert forms.with_month(settings, ["age", "ill", "ward"], []) == settings


def test_a_project_has_a_name_a_note_and_a_date_and_is_found_by_them(steward: Steward) -> None:
    home = str(steward.client.get("/").text)
    assert "Made " in home
    assert ", last changed " in home
    answer = steward.post("name", name="Wards <1>", note="for the ministry\nby Friday")
    assert answer.status_code == 303
    home = str(steward.client.get("/").text)
    assert "Wards &lt;1&gt;" in home
    assert "for the ministry" in home
    for text, found in (("MINISTRY", True), ("march", True), ("wards", True), ("clinic", False)):
        page = str(steward.client.get("/", params={"search": text}).text)
        assert ("Wards &lt;1&gt;" in page) is found
    assert "No project has “clinic”" in page
    assert steward.post("name", name=" ").status_code == 422
