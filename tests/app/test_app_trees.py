"""Hierarchies in the app: built, edited in steps, brought up to date, downloaded."""

from __future__ import annotations

import re
from typing import Any

import pytest
from stewards import OWN, Steward

from shoal.app.projects import Project, Projects, read_toml_file
from tests.app.test_app_way import opened, people, project_of_400, steward

__all__ = ["opened", "project_of_400", "steward"]

OUTLINE = "*\n  France\n    Lyon\n    Lille\n  Porto\n"


def tree_file(steward: Steward) -> str:
    entries = read_toml_file(steward.folder / "settings.toml")["quasi_identifiers"]
    return str(entries["town"]["hierarchy"])


def edit(steward: Steward, outline: str, joins: str = "") -> Any:
    """What the tree editor sends after a change."""
    data = {"how": "outline", "outline": outline, "joins": joins}
    headers = {**OWN, "HX-Request": "true"}
    return steward.client.post(f"{steward.base}/tree/2", headers=headers, data=data)


@pytest.fixture
def towns(steward: Steward) -> Steward:
    """A steward whose towns are quasi-identifiers without a branch yet."""
    steward.post("columns", **{"role-2": "quasi-identifier"})
    assert steward.post("tree/2", how="values").status_code == 303
    return steward


def test_edits_in_one_go_are_one_step_and_leave_one_file(towns: Steward) -> None:
    flat = tree_file(towns)
    first = edit(towns, OUTLINE)
    assert "Level 1" in first.text
    assert first.headers["x-tree"] == tree_file(towns) != flat
    second = edit(towns, OUTLINE.replace("France", "FR"), first.headers["x-tree"])
    assert second.headers["x-tree"] == tree_file(towns)
    assert not (towns.folder / first.headers["x-tree"]).exists()
    assert (towns.folder / flat).exists(), "undo needs it"
    towns.post("undo")
    assert tree_file(towns) == flat
    towns.post("redo")
    assert "FR" in towns.page("part/tree/2")


@pytest.mark.parametrize("between", ["requirement", "run", "another file"])
def test_a_file_that_something_else_needs_stays(towns: Steward, between: str) -> None:
    first = edit(towns, OUTLINE).headers["x-tree"]
    joins = first
    if between == "requirement":
        towns.post("requirement", k="7")
    elif between == "run":
        Project(towns.folder).new_run()
    else:
        joins = "trees/2-00000000.csv"
    edit(towns, OUTLINE.replace("France", "FR"), joins)
    assert (towns.folder / first).exists()
    towns.post("undo")
    assert tree_file(towns) == first


def test_an_outline_that_is_no_tree_changes_nothing_and_is_said(towns: Steward) -> None:
    before = tree_file(towns)
    answer = edit(towns, OUTLINE.replace("Porto", "Lyon"))
    assert "x-tree" not in answer.headers
    assert "1 value has two parents. Keep one of each." in answer.text
    assert 'role="alert"' in answer.text
    assert tree_file(towns) == before
    assert len(list(towns.folder.glob("trees/*.csv"))) == 1


def test_a_file_that_lacks_values_is_taken_and_one_of_another_column_is_not(
    towns: Steward,
) -> None:
    def upload(content: bytes) -> Any:
        files = {"file": ("town.csv", content)}
        return towns.client.post(f"{towns.base}/tree/2/upload", headers=OWN, files=files)

    refused = upload(b"red,colour,*\nblue,colour,*\n")
    assert refused.status_code == 422
    assert "3 values of the column are not in the hierarchy" in refused.text
    assert upload(b"Lyon,France,*\nLille,France,*\n").status_code == 303
    page = towns.page("part/tree/2")
    assert "1 value of the column is not in the tree" in page
    assert "\n  Porto\n" in page


def test_the_tree_names_rare_values_only_where_it_is_edited(opened: Steward) -> None:
    opened.upload(people().replace("Lyon", "Faro", 3))
    opened.post("columns", **{"role-2": "quasi-identifier"})
    opened.post("tree/2", how="values")
    page = opened.page("part/tree/2")
    assert "\n  Faro\n" in page
    assert '"Faro": -1' in page, "the number of records is hidden"
    levels = page.partition('id="preview-2"')[2]
    assert "Porto" in levels
    assert "Faro" not in levels


def test_values_that_only_the_new_month_has_can_be_added(towns: Steward) -> None:
    edit(towns, OUTLINE)
    new = people().replace("Lyon", "Braga").encode()
    files = {"file": ("april.csv", new)}
    towns.client.post(f"{towns.base}/month/upload", headers=OWN, files=files)
    page = towns.page("part/month")
    assert f'href="{towns.client.base_url.path}p/{towns.folder.name}/generalization?open=2' in page
    page = towns.page("part/tree/2")
    assert "or of the new month" in page
    edit(towns, OUTLINE.replace("    Lille", "    Braga\n    Lille"), tree_file(towns))
    assert "Values that are not in a hierarchy" not in towns.page("part/month")
    towns.post("month/discard")


def test_a_tree_is_downloaded_as_the_file_that_a_hierarchy_uses(towns: Steward) -> None:
    edit(towns, OUTLINE)
    answer = towns.get("tree/2/download")
    assert answer.text == "Lyon,France,*\nLille,France,*\nPorto,Porto,*\n"
    assert 'filename="town.csv"' in answer.headers["content-disposition"]
    assert towns.get("tree/1/download").status_code == 404
    assert towns.get("tree/9/download").status_code == 404
    assert towns.get("part/tree/0").status_code == 404, "no quasi-identifier"


def test_a_ready_made_tree_is_edited(opened: Steward) -> None:
    lines = [f"{n % 9},{('FR', 'DE', 'JP', 'Atlantis')[n % 4]}" for n in range(80)]
    opened.upload("age,country\n" + "\n".join(lines) + "\n", "lands.csv")
    opened.post("columns", **{"role-0": "quasi-identifier", "role-1": "quasi-identifier"})
    assert opened.post("tree/1", how="countries").status_code == 303
    lines = opened.get("tree/1/download").text.splitlines()
    assert "FR,Western Europe,Europe,*" in lines
    assert "Atlantis,Atlantis,Atlantis,*" in lines
    refused = opened.post("tree/0", how="countries")
    assert refused.status_code == 422
    assert re.search("None of the values of column &#39;age&#39;", refused.text)


def test_a_change_in_the_same_step_is_undone_with_the_one_before(projects: Projects) -> None:
    project = projects.new(projects.root / "x.csv", "x")
    for k, is_same_step in ((5, False), (6, False), (7, True)):
        project.change({"requirement": {"k": k}}, is_same_step)
    project.undo()
    assert project.settings == {"requirement": {"k": 5}}


@pytest.fixture
def projects(tmp_path: Any) -> Projects:
    return Projects(tmp_path / "projects")
