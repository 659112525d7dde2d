"""What the app keeps: projects, settings that can be taken back, forms put into settings."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import FormData

from shoal.app import forms, reading, words
from shoal.app.context import command_line
from shoal.app.history import change_in_words
from shoal.app.projects import Project, Projects, safe_name, write_toml_file
from shoal.app.worker.trees import outline_of, read_outline
from shoal.audits.requirements import REQUIREMENTS
from shoal.encoding.models import MODELS, Hierarchy
from shoal.errors import InputError

LOOK: dict[str, Any] = {
    "columns": [
        {"name": "age", "model": "interval", "options": {"step": 5}},
        {"name": "town", "model": "suppression", "options": {}},
        {"name": "ill", "model": None, "options": {}},
    ]
}


@pytest.fixture
def projects(tmp_path: Path) -> Projects:
    return Projects(tmp_path / "projects")


@pytest.fixture
def project(projects: Projects) -> Project:
    made = projects.new(Path("/people.csv"), "people.csv")
    write_toml_file(made.folder / "settings.toml", {"requirement": {"k": 5}})
    return made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_may_look_into_projects(projects: Projects, project: Project) -> None:
    assert mode(projects.root) == mode(project.folder) == 0o700
    assert mode(project.folder / "project.toml") == 0o600
    assert mode(projects.incoming()) == 0o700


def test_changes_are_taken_back_one_by_one(project: Project) -> None:
    for k in (6, 7, 8):
        assert project.change({"requirement": {"k": k}})
    assert not project.change({"requirement": {"k": 8}}), "nothing new"
    assert project.changes == 3
    for k in (7, 6, 5):
        assert project.undo()
        assert project.settings["requirement"]["k"] == k
    assert not project.undo()


def test_what_was_undone_is_redone_until_something_else_changes(project: Project) -> None:
    for k in (6, 7):
        project.change({"requirement": {"k": k}})
    assert not project.redo()
    project.undo()
    project.undo()
    for k in (6, 7):
        assert project.redo()
        assert project.settings["requirement"]["k"] == k
    assert not project.redo()
    project.undo()
    project.change({"requirement": {"k": 30}})
    assert not project.redo()
    project.undo()
    assert project.settings["requirement"]["k"] == 6


ROLES = {"quasi_identifiers": {"age": {}, "zip": {}}, "columns": {"keep": ["a", "b"]}}


@pytest.mark.parametrize(
    ("after", "name"),
    [
        (
            {"quasi_identifiers": {"age": {}}, "columns": {"keep": ["a", "b", "zip"]}},
            "role of ‘zip’",
        ),
        ({"quasi_identifiers": {}, "columns": {}}, "role of 4 columns"),
        (
            ROLES | {"quasi_identifiers": {"age": {"model": "interval"}, "zip": {}}},
            "model of ‘age’",
        ),
        (
            ROLES
            | {"quasi_identifiers": {"age": {}, "zip": {"model": "hierarchy", "hierarchy": "t"}}},
            "tree of ‘zip’",
        ),
        (
            ROLES | {"columns": {"keep": ["a", "b"], "coarsen": {"a": {"model": "prefix"}}}},
            "precision of ‘a’",
        ),
        (ROLES | {"requirement": {"k": 5}}, "k"),
        (ROLES | {"requirement": {"k": 5, "diversity": [{"l": 2}]}}, "k and diversity"),
        (ROLES | {"input": {"types": {"zip": "text"}}}, "type of ‘zip’"),
        (ROLES | {"input": {"missing": {"age": ["99"]}}}, "missing values of ‘age’"),
        (ROLES | {"input": {"header_row": 3}}, "row with the column names"),
        (ROLES | {"method": {"refine": {"steps": 30}}}, "refine"),
        (
            ROLES | {"requirement": {"k": 2}, "method": {"seed": 1}, "output": {"title": "x"}},
            "k and 2 other changes",
        ),
        (ROLES, ""),
    ],
)
def test_a_change_is_named(after: dict[str, Any], name: str) -> None:
    assert change_in_words(ROLES, after) == name
    assert change_in_words(after, ROLES) == name


def test_undo_and_redo_say_what_they_change(project: Project) -> None:
    assert project.undo_name == project.redo_name == ""
    project.change({"requirement": {"k": 6}})
    assert (project.undo_name, project.redo_name) == ("k", "")
    project.undo()
    assert (project.undo_name, project.redo_name) == ("", "k")


def test_no_more_than_fifty_changes_are_kept(project: Project) -> None:
    for k in range(10, 75):
        project.change({"requirement": {"k": k}})
    assert project.changes == 50


def test_an_upload_goes_with_its_project(projects: Projects) -> None:
    folder = projects.incoming()
    (folder / "people.csv").write_text("age\n1\n", encoding="utf-8")
    project = projects.adopt(folder / "people.csv")
    assert project.table.read_text(encoding="utf-8") == "age\n1\n"
    assert project.table.is_relative_to(project.folder)
    project.delete()
    assert list(projects.root.iterdir()) == []


def test_a_file_that_lies_elsewhere_stays_when_its_project_goes(
    projects: Projects, tmp_path: Path
) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age\n1\n", encoding="utf-8")
    projects.new(table, "people.csv").delete()
    assert table.exists()


def test_uploads_that_a_crash_cut_off_are_removed(projects: Projects) -> None:
    left = projects.incoming()
    (left / "half.csv").write_text("a", encoding="utf-8")
    Projects(projects.root)
    assert not left.exists()


def test_projects_survive_a_restart(projects: Projects, project: Project) -> None:
    found = Projects(projects.root).all()
    assert [other.id for other in found] == [project.id]
    assert found[0].settings == {"requirement": {"k": 5}}


def test_a_run_keeps_its_settings_and_gives_them_back(project: Project) -> None:
    tree = {"model": "hierarchy", "hierarchy": "trees/1-a.csv"}
    project.change({"requirement": {"k": 5}, "quasi_identifiers": {"town": tree}})
    run = project.new_run()
    kept = project.runs()[0]["settings"]["quasi_identifiers"]["town"]["hierarchy"]
    assert kept == "../../trees/1-a.csv"
    project.change({"requirement": {"k": 9}})
    project.copy_run(run)
    assert project.settings["quasi_identifiers"]["town"] == tree


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("people.csv", "people.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\me\\x.csv", "x.csv"),
        ("..", "table"),
        ("a\x00b\n.csv", "a_b_.csv"),
        (".hidden", "hidden"),
    ],
)
def test_the_name_of_an_upload_leads_nowhere(given: str, safe: str) -> None:
    assert safe_name(given) == safe


def test_roles_of_a_form_become_settings() -> None:
    form = FormData([("role-0", "quasi-identifier"), ("role-1", "drop"), ("role-2", "sensitive")])
    found = forms.with_roles({}, form, LOOK)
    assert found["quasi_identifiers"] == {"age": {"model": "interval", "step": 5}}
    assert found["columns"] == {
        "sensitive": ["ill"],
        "identifiers": [],
        "keep": [],
        "others": "drop",
    }
    assert forms.roles_by_column(found, ["age", "town", "ill"]) == {
        "age": "quasi-identifier",
        "town": "drop",
        "ill": "sensitive",
    }


def test_several_columns_get_a_role_at_once() -> None:
    form = FormData([("all", "keep"), ("column", "0"), ("column", "2"), ("column", "99")])
    assert forms.with_roles({}, form, LOOK)["columns"]["keep"] == ["age", "ill"]


def test_a_model_that_was_chosen_is_not_replaced_by_the_suggested_one() -> None:
    settings = {"quasi_identifiers": {"age": {}}}
    form = FormData([("role-0", "quasi-identifier")])
    assert forms.with_roles(settings, form, LOOK)["quasi_identifiers"] == {"age": {}}


TYPED: dict[str, Any] = {
    "columns": [
        {"name": "pay", "type": "whole numbers", "role": "sensitive", "model": None},
        {"name": "day", "type": "dates", "role": "keep", "model": "calendar", "options": {"finest": "month"}},
        {"name": "zip", "type": "text", "role": "keep", "model": None},
    ]
}  # fmt: skip


def test_how_coarse_columns_are_becomes_entries_by_what_they_hold() -> None:
    roles = [("role-0", "sensitive"), ("role-1", "keep"), ("role-2", "keep")]
    entries = [("coarse-0", "1000"), ("low-0", ""), ("high-0", "9000"), ("coarse-1", "week")]
    form = FormData([*roles, *entries, ("coarse-2", "3")])
    found = forms.with_roles({}, form, TYPED)
    assert found["columns"]["coarsen"] == {
        "pay": {"model": "interval", "step": 1000, "high": 9000},
        "day": {"model": "interval", "step": "week"},
        "zip": {"model": "prefix", "finest": 3},
    }
    other = forms.with_roles(found, FormData([("role-0", "quasi-identifier")]), TYPED)
    assert list(other["columns"]["coarsen"]) == ["day", "zip"], "a protected column has a model"
    empty = FormData([(f"coarse-{n}", "") for n in range(3)] + [("high-0", "")])
    assert "coarsen" not in forms.with_roles(found, empty, TYPED)["columns"]


def test_a_column_that_gets_its_suggested_role_is_coarsened_as_suggested() -> None:
    found = forms.with_roles({}, FormData([("role-1", "keep")]), TYPED)
    assert found["columns"]["coarsen"] == {"day": {"model": "calendar", "finest": "month"}}
    shown = FormData([("coarse-1", "month"), ("low-1", ""), ("high-1", "")])
    assert forms.with_roles(found, shown, TYPED) == found, "what is shown unchanged stays"


def test_an_order_or_hierarchy_that_coarsens_stays() -> None:
    own = {"zip": {"model": "hierarchy", "hierarchy": "zip.csv", "finest": 1}}
    settings = {"columns": {"keep": ["zip"], "coarsen": own}}
    assert (
        forms.with_roles(settings, FormData([("roles", "1")]), TYPED)["columns"]["coarsen"] == own
    )


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({"coarse-0": "many"}, "The width of ranges of 'pay' must be a number above 0, like 1000."),
        ({"coarse-0": "-5"}, "The width of ranges of 'pay' must be a number above 0, like 1000."),
        ({"coarse-1": "fortnight"}, "The width of ranges of 'day' must be one of day, week, month"),
        (
            {"coarse-2": "0"},
            "The number of first characters of 'zip' to keep must be a whole number from 1 to 999, like 3.",
        ),
    ],
)
def test_how_coarse_a_column_cannot_be_is_said(entries: dict[str, str], says: str) -> None:
    roles = {"role-0": "keep", "role-1": "keep", "role-2": "keep"}
    with pytest.raises(forms.InvalidEntry, match=says):
        forms.with_roles({}, FormData(list({**roles, **entries}.items())), TYPED)


def test_a_model_and_its_options_become_an_entry() -> None:
    settings = {"quasi_identifiers": {"age": {}}}
    form = FormData([("model", "interval"), ("step", "5"), ("high", "90"), ("weight", "2")])
    found = forms.with_model(settings, "age", form)["quasi_identifiers"]["age"]
    assert found == {"model": "interval", "step": 5, "high": 90, "weight": 2.0}


@pytest.mark.parametrize(
    ("entry", "given", "expected"),
    [
        ({"model": "calendar", "finest": "month"}, {"finest": "month"}, {"finest": "month"}),
        ({"model": "calendar", "finest": "month"}, {"finest": ""}, {}),
        ({"model": "prefix", "separator": "."}, {"finest": "3"}, {"separator": ".", "finest": 3}),
        ({"model": "hierarchy", "hierarchy": "t.csv"}, {"finest": "1"}, {"finest": 1}),
        (
            {"model": "ready", "which": "countries", "unlisted": "keep"},
            {"which": "us-zip", "finest": "state", "unlisted": "refuse"},
            {"which": "us-zip", "finest": "state", "unlisted": "refuse"},
        ),
        ({"model": "order", "low": 2}, {"weight": "1"}, {"low": 2}),
        (
            {"model": "order", "low": 2},
            {"low": "3", "values": "a\nb"},
            {"low": 3, "values": ["a", "b"]},
        ),
        ({"model": "order", "values": "names"}, {"values": "names"}, {"values": "names"}),
        ({"model": "interval", "domain": [0, 9], "step": 5}, {"step": ""}, {"domain": [0, 9]}),
    ],
)
def test_options_of_a_model_stay_unless_the_form_changes_them(
    entry: dict[str, Any], given: dict[str, str], expected: dict[str, Any]
) -> None:
    settings = {"quasi_identifiers": {"age": entry}}
    form = FormData({"model": entry["model"], **given})
    found = forms.with_model(settings, "age", form)["quasi_identifiers"]["age"]
    kept = {key: entry[key] for key in ("model", "hierarchy") if key in entry}
    assert found == {**kept, **expected}


def test_a_ready_made_hierarchy_must_be_chosen() -> None:
    form = FormData([("model", "ready"), ("which", "")])
    with pytest.raises(forms.InvalidEntry, match=r"Choose one of the ready-made hierarchies\."):
        forms.with_model({"quasi_identifiers": {"town": {}}}, "town", form)


def test_a_tree_that_is_edited_keeps_its_finest_level() -> None:
    entry = {"model": "hierarchy", "hierarchy": "old.csv", "finest": 1, "weight": 2}
    found = forms.with_tree({"quasi_identifiers": {"town": entry}}, "town", "new.csv")
    assert found["quasi_identifiers"]["town"] == {**entry, "hierarchy": "new.csv"}


def test_requirements_of_a_form_become_settings() -> None:
    form = FormData(
        {
            "k": "7",
            "suppression_limit": "5",
            "use_diversity": "on",
            "diversity_l": "3",
            "use_alpha": "on",
            "alpha_alpha": "80",
        }
    )
    assert forms.with_requirement({}, form)["requirement"] == {
        "k": 7,
        "suppression_limit": 0.05,
        "diversity": [{"l": 3, "kind": "frequency"}],
        "alpha": [{"alpha": 0.8}],
    }


SECRETS: dict[str, Any] = {
    "columns": {"sensitive": ["ill", "pay"]},
    "requirement": {"diversity": [{"l": 2, "kind": "entropy"}]},
}


def test_each_sensitive_column_can_have_a_requirement_of_its_own() -> None:
    stronger = {"column": "ill", "name": "diversity", "diversity_l": "4"}
    found = forms.with_own_requirement(SECRETS, FormData(stronger))
    other = {"column": "pay", "name": "alpha", "alpha_alpha": "60"}
    found = forms.with_own_requirement(found, FormData(other))
    own = {"l": 4, "kind": "frequency", "columns": ["ill"]}
    general = {"l": 2, "kind": "entropy"}
    share = {"alpha": 0.6, "columns": ["pay"]}
    assert found["requirement"] == {"diversity": [general, own], "alpha": [share]}
    again = forms.with_own_requirement(found, FormData({**stronger, "diversity_l": "5"}))
    assert again["requirement"]["diversity"] == [general, {**own, "l": 5}], "replaced, not added"
    asked = {"k": "5", "use_diversity": "on", "diversity_l": "3", "diversity_kind": "entropy"}
    saved = forms.with_requirement(found, FormData(asked))["requirement"]
    assert saved["diversity"] == [{"l": 3, "kind": "entropy"}, own]
    assert saved["alpha"] == [share], "the form for all columns leaves those of one"
    assert forms.general_requirement(found, "alpha") == {}
    left = forms.without_own_requirement(found, "pay", "alpha")
    assert left["requirement"] == {"diversity": [general, own]}
    assert forms.options_in_words("alpha", share) == "at most 60 %"
    assert forms.options_in_words("diversity", own) == "l = 4, frequency"


def test_a_requirement_for_two_columns_is_taken_from_one() -> None:
    both = {"requirement": {"closeness": [{"t": 0.2, "columns": ["ill", "pay"]}]}}
    left = forms.without_own_requirement(both, "pay")
    assert left["requirement"]["closeness"] == [{"t": 0.2, "columns": ["ill"]}]


def test_a_column_that_is_no_longer_sensitive_loses_its_requirement() -> None:
    own = {"l": 2, "columns": ["ill"]}
    settings = {"columns": {"sensitive": ["ill"]}, "requirement": {"k": 5, "diversity": [own]}}
    found = forms.with_roles(settings, FormData([("role-2", "drop")]), LOOK)
    assert found["requirement"] == {"k": 5}
    same = forms.with_roles(settings, FormData([("role-0", "drop")]), LOOK)
    assert same["requirement"] == settings["requirement"]


@pytest.mark.parametrize(
    ("make", "entries"),
    [
        (forms.with_requirement, {"k": "0"}),
        (forms.with_requirement, {"k": "ten"}),
        (forms.with_requirement, {"k": "5", "suppression_limit": "100"}),
        (forms.with_requirement, {"k": "5", "use_closeness": "on", "closeness_t": "nan"}),
        (forms.with_run, {"refine": "soon"}),
        (forms.with_own_requirement, {"column": "ill", "name": "diversity"}),
        (reading.with_rows, {"header_row": "-1"}),
    ],
)
def test_a_wrong_entry_is_said_in_a_sentence(make: Any, entries: dict[str, str]) -> None:
    with pytest.raises(forms.InvalidEntry, match=r"^[A-Zk].*\.$"):
        make({}, FormData(entries))


def test_the_words_of_the_pages_cover_what_there_is() -> None:
    assert set(words.MODELS) == {"", *MODELS}
    assert set(words.REQUIRED) == set(REQUIREMENTS)


def test_a_command_line_is_quoted() -> None:
    said = command_line(Path("/a b/x.csv"), Path("/s.toml"))
    assert said.startswith("shoal anonymize '/a b/x.csv' --settings /s.toml --output release.csv")


def test_an_outline_reads_back_as_the_same_tree() -> None:
    tree = Hierarchy.from_dict({"*": {"Europe": {"France": ["Lyon", "Lille"]}, "Asia": ["Japan"]}})
    again = Hierarchy.from_dict(read_outline(outline_of(tree)))
    assert sorted(again.rows()) == sorted(tree.rows())


@pytest.mark.parametrize("outline", ["", "a\nb\n", "*\n  a\n  a\n"])
def test_an_outline_that_is_no_tree_is_refused(outline: str) -> None:
    with pytest.raises(InputError):
        read_outline(outline)
