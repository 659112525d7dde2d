"""The pages More detail and Explore: measured by a job, taken over by a click, undone by name."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stewards import Steward, let_in

import shoal
from shoal.advice.changes import LEAVE_OUT, MODEL, OTHER_K, REQUIREMENT, SUPPRESSION, WEIGHT, Change
from shoal.app.advice import state_of, with_patch
from shoal.app.projects import Project, Projects, read_toml_file, write_toml_file
from shoal.app.worker.advice import Patches
from shoal.data.open import open_table
from shoal.settings.settings import Settings
from shoal.settings.toml import content_of

RARE = "Ulm"  # the town of one person


def people(records: int = 160) -> str:
    """A table whose years of birth are hidden by its settings, with an illness and a town that one person has."""
    chance = random.Random(3)
    lines = ["name,born,town,sex,ill"]
    for number in range(records):
        town = RARE if not number else chance.choice(["Lyon", "Lille", "Porto", "Turin", "Basel"])
        born = chance.randrange(1930, 2010)
        cells = [f"Person {number:04}", born, town, chance.choice("fm"), chance.choice("abc")]
        lines.append(",".join(map(str, cells)))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Steward]:
    with let_in(tmp_path_factory.mktemp("app") / "projects") as found:
        assert "160 records" in found.upload(people())
        roles = ("identifier", *["quasi-identifier"] * 3, "sensitive")
        found.post("columns", **{f"role-{place}": role for place, role in enumerate(roles)})
        found.post("model/1", model="suppression")
        found.post("model/2", model="suppression")
        found.post("requirement", k="5")
        found.post("way", refine="off")
        yield found


def measured(steward: Steward, kind: str) -> dict[str, Any]:
    """Measure, unless that has been done with the settings as they are; what was found."""
    path = steward.folder / f"{kind}.json"
    text = (steward.folder / "settings.toml").read_text(encoding="utf-8")
    if not path.exists() or json.loads(path.read_text(encoding="utf-8"))["asked"] != text:
        assert steward.post(f"{kind}/start").status_code == 303
        steward.wait(lambda: steward.get(f"{kind}/status").json()["status"] == "over")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.fixture
def steward(opened: Steward) -> Iterator[Steward]:
    """Somebody whose settings are the same again after every test."""
    path = opened.folder / "settings.toml"
    before = path.read_bytes()
    yield opened
    path.write_bytes(before)


def number_of(found: dict[str, Any], column: str, kind: str) -> str:
    """The number of the first suggestion of a kind for a column."""
    of_column = [own for own in found["suggestions"] if own["column"] == column]
    return str(next(own["number"] for own in of_column if own["kind"] == kind))


def test_the_pages_say_what_they_do_before_anything_was_measured(steward: Steward) -> None:
    (steward.folder / "advice.json").unlink(missing_ok=True)
    assert "Find what would keep more detail" in steward.page("advice")
    assert "Find more detail" in steward.page("run")
    assert "Measure other settings" in steward.page("explore")


def test_a_suggestion_is_used_by_a_click_and_undone_by_its_name(steward: Steward) -> None:
    found = measured(steward, "advice")
    number = number_of(found, "born", "model")
    page = steward.page("advice")
    assert "[quasi_identifiers.born]" in page
    assert "The release loses" in page
    assert steward.post("advice/use", choice=number).status_code == 303
    entry = read_toml_file(steward.folder / "settings.toml")["quasi_identifiers"]["born"]
    assert entry["model"] in ("interval", "hierarchy", "prefix", "subset")
    page = steward.page("advice")
    assert "✓ In your settings" in page
    assert "The settings have changed since this was measured" in page
    assert re.search(r"Undo: (<wbr>)?(model|tree) of ‘(<wbr>)?born", page)
    steward.post("undo")
    assert "✓ In your settings" not in steward.page("advice")


def test_used_suggestions_are_the_settings_that_were_measured(steward: Steward) -> None:
    """Also hierarchies made from the data, which become files of the project."""
    before = Settings.load(steward.folder / "settings.toml")
    found = measured(steward, "advice")
    for own in found["suggestions"]:
        start = (steward.folder / "settings.toml").read_bytes()
        steward.post("advice/use", choice=str(own["number"]))
        after = Settings.load(steward.folder / "settings.toml")
        assert after != before
        if own["kind"] == "leave out":
            assert own["column"] not in after.quasi_identifiers
        elif own["column"]:
            others = [name for name in before.quasi_identifiers if name != own["column"]]
            assert all(after.quasi_identifiers[n] == before.quasi_identifiers[n] for n in others)
        (steward.folder / "settings.toml").write_bytes(start)


def test_more_protection_for_the_same_loss_is_used_together_with_its_changes(
    steward: Steward,
) -> None:
    found = measured(steward, "advice")
    assert found["affordable"], "the years are all hidden, so much can be gained"
    steward.post("advice/use", choice="affordable-0")
    after = Settings.load(steward.folder / "settings.toml")
    assert after.k > 5
    assert f"k = {after.k}" in found["affordable"][0]


def test_explored_settings_are_taken_over_and_lead_to_the_run(steward: Steward) -> None:
    found = measured(steward, "explore")
    rows = found["rows"]
    assert {row["left_out"] for row in rows} == {None, "born", "town", "sex"}
    assert {row["requirement"] for row in rows} > {None, "distinct diversity with l = 2"}
    page = steward.page("explore")
    assert page.count("Take over k = ") >= len([row for row in rows if row["k"] != 5])
    place = next(n for n, row in enumerate(rows) if row["k"] == 20)
    answer = steward.post("explore/use", choice=str(place))
    assert answer.headers["location"].endswith("/run")
    assert Settings.load(steward.folder / "settings.toml").k == 20
    assert "Undo: k" in steward.page("run")


def test_a_requirement_that_was_explored_is_taken_over(steward: Steward) -> None:
    rows = measured(steward, "explore")["rows"]
    wanted = "distinct diversity with l = 3"
    place = next(n for n, row in enumerate(rows) if row["requirement"] == wanted)
    steward.post("explore/use", choice=str(place))
    required = Settings.load(steward.folder / "settings.toml").requirements
    assert [(own.name, own.l) for own in required] == [("diversity", 3)]
    assert 0 < rows[place]["guessed"] <= 1


def test_the_pages_show_no_value_that_few_people_have(steward: Steward) -> None:
    for kind in ("advice", "explore"):
        text = json.dumps(measured(steward, kind)) + steward.page(kind)
        assert RARE not in text
        assert "Person 0" not in text


def test_what_was_measured_is_old_once_the_settings_are_others(steward: Steward) -> None:
    measured(steward, "explore")
    steward.post("requirement", k="7")
    assert "The settings have changed since this was measured" in steward.page("explore")


def test_a_change_that_is_not_offered_is_refused(steward: Steward) -> None:
    measured(steward, "advice")
    before = (steward.folder / "settings.toml").read_bytes()
    answer = steward.post("advice/use", choice="99")
    assert answer.status_code == 422
    assert "no longer offered" in answer.text
    assert (steward.folder / "settings.toml").read_bytes() == before


def test_a_job_that_is_cancelled_leaves_nothing_and_pages_stay_there(steward: Steward) -> None:
    (steward.folder / "advice.json").unlink(missing_ok=True)
    steward.post("advice/start")
    assert "Other settings are being tried" in steward.page("advice")
    steward.page("columns")
    assert steward.get("advice/status").json()["status"] == "running"
    steward.post("advice/cancel")
    page = steward.page("advice")
    assert "Cancelled. Nothing was kept." in page
    assert not (steward.folder / "advice.json").exists()


def test_settings_without_a_release_say_why(steward: Steward) -> None:
    steward.post("requirement", k="500")
    steward.post("explore/start")
    steward.wait(lambda: steward.get("explore/status").json()["status"] == "over")
    page = steward.page("explore")
    assert "Nothing could be measured" in page
    assert "Choose k of at most" in page


def test_a_table_without_quasi_identifiers_is_refused_at_once(steward: Steward) -> None:
    (steward.folder / "settings.toml").write_text(
        "[requirement]\nk = 5\n[columns]\nothers = 'drop'\n", encoding="utf-8"
    )
    answer = steward.post("advice/start")
    assert answer.status_code == 422
    assert "No column is a quasi-identifier yet" in answer.text


def test_the_file_of_a_new_month_forgets_what_was_measured(
    steward: Steward, tmp_path: Path
) -> None:
    project = Project(steward.folder)
    before = {name: (project.folder / name) for name in ("project.toml", "look.json")}
    kept = {path: path.read_bytes() for path in before.values()}
    measured(steward, "explore")
    project.offer(project.table)
    project.use_waiting()
    assert not (project.folder / "explore.json").exists()
    for path, content in kept.items():
        path.write_bytes(content)


def test_patches_change_their_places_and_nothing_else() -> None:
    settings = {"quasi_identifiers": {"a": {}, "b": {"weight": 2}}, "requirement": {"k": 5}}
    weight = [{"at": ["quasi_identifiers", "a", "weight"], "value": 3}]
    removal = [{"at": ["quasi_identifiers", "b"], "value": None}]
    assert with_patch(settings, weight)["quasi_identifiers"]["a"] == {"weight": 3}
    assert with_patch(settings, removal)["quasi_identifiers"] == {"a": {}}
    assert with_patch(settings, [{"at": ["input", "types", "a"], "value": "text"}])["input"]
    assert settings["quasi_identifiers"] == {"a": {}, "b": {"weight": 2}}
    assert state_of(settings, weight) == "offered"
    assert state_of(with_patch(settings, weight), weight) == "used"
    without = with_patch(settings, removal)
    assert state_of(without, [{"at": ["quasi_identifiers", "b"], "value": {}}]) == "gone"


TREE = [["Lyon", "France", "*"], ["Porto", "Portugal", "*"]]
OWN = """[quasi_identifiers.born]
[quasi_identifiers.town]
model = "suppression"
weight = 2
[quasi_identifiers.sex]
model = "hierarchy"
hierarchy = "sex.csv"
[columns]
others = "{others}"
sensitive = ["ill"]
identifiers = ["name"]
[requirement]
k = 5
"""
READING = {"refuse": '[input]\nmissing = ["?"]\n', "drop": ""}  # one without a section for it
CHANGES = {
    "a model with options": Change(MODEL, "", "born", model=shoal.Interval(step=5)),
    "a date format": Change(
        MODEL, "", "born", model=shoal.Calendar(), date_format="%d/%m/%Y", missing=("00",)
    ),
    "a model that keeps its weight": Change(MODEL, "", "town", model=shoal.Prefix(finest=3)),
    "a new hierarchy": Change(MODEL, "", "town", model=shoal.Hierarchy.from_rows(TREE)),
    "an order": Change(MODEL, "", "sex", model=shoal.Order(("f", "m"))),
    "a weight of a default model": Change(WEIGHT, "", "born", weight=3.0),
    "a weight of a hierarchy": Change(WEIGHT, "", "sex", weight=3.0),
    "a column left out": Change(LEAVE_OUT, "", "town"),
    "records left out": Change(SUPPRESSION, "", suppression_limit=0.01),
    "another k": Change(OTHER_K, "", k=12),
    "a requirement": Change(REQUIREMENT, "", requirements=(shoal.TCloseness(0.3),)),
}


@pytest.mark.parametrize("others", ["refuse", "drop"])
@pytest.mark.parametrize("case", CHANGES)
def test_a_patch_of_the_settings_file_is_the_change_that_was_measured(
    case: str, others: str, tmp_path: Path
) -> None:
    table = tmp_path / "people.csv"
    table.write_text(people(20), encoding="utf-8")
    project = Projects(tmp_path / "projects").new(table, "people.csv")
    path = project.folder / "settings.toml"
    path.write_text(OWN.format(others=others) + READING[others], encoding="utf-8")
    (project.folder / "sex.csv").write_text("f,*\nm,*\n", encoding="utf-8")
    before = Settings.load(path)
    wanted = CHANGES[case].applied(before)
    patch = Patches(str(project.folder), open_table(table), before)(wanted)
    own = project.settings
    write_toml_file(path, with_patch(own, json.loads(json.dumps(patch))))
    assert content_of(Settings.load(path)) == content_of(wanted)
    assert state_of(own, patch) == "offered"
    assert state_of(project.settings, patch) == "used"
    same = [name for name in ("born", "sex", "town") if name != CHANGES[case].column]
    entries = project.settings["quasi_identifiers"]
    assert all(entries[name] == own["quasi_identifiers"][name] for name in same)
