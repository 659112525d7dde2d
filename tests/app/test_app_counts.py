"""Counts on pages of the app, in words: none, one and several."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import pytest

from shoal.app.context import page_templates
from shoal.errors import counted
from shoal.report.formats import sentence

PLURALS = {
    "record": "records",
    "person": "people",
    "quasi-identifier": "quasi-identifiers",
    "different value": "different values",
}
IRREGULAR = {"person": "people"}


@pytest.mark.parametrize("noun", PLURALS)
def test_a_noun_is_singular_for_one_only(noun: str) -> None:
    several = PLURALS[noun]
    found = [counted(number, noun, IRREGULAR.get(noun, "")) for number in (0, 1, 2, 1000)]
    assert found == [f"0 {several}", f"1 {noun}", f"2 {several}", f"1,000 {several}"]


def test_a_sentence_begins_and_ends_as_one() -> None:
    assert [sentence(text) for text in ("", "a b", "A b.", "Why?")] == [".", "A b.", "A b.", "Why?"]


class FakeProject:
    """What pages show of a project, with so many runs."""

    id, name, note, is_check = "a", "people.csv", "", False
    undo_name = redo_name = ""
    waiting: ClassVar[dict[str, Any]] = {}
    sheets = ()
    table, created, changed = Path("people.csv"), 0.0, 0.0

    def __init__(self, runs: int) -> None:
        self.number = runs
        self.own_key = self

    def runs(self) -> list[int]:
        return list(range(self.number))

    def exists(self) -> bool:
        return False


def column(number: int) -> dict[str, Any]:
    reason = "its name says age"
    return {"name": "age", "holds": "numbers", "values": number, "missing": number, "type": "text"} | {
        "is_sure": True, "role": "keep", "reason": reason, "doubts": [], "bars": [], "model_reason": "",
        "model": {"model": "interval"},
    }  # fmt: skip


def pages(number: int) -> dict[str, str]:
    """The texts of parts and pages on which everything is counted to a number."""
    templates = page_templates("")
    settings = {"quasi_identifiers": {"age": {}}} if number else {}
    run = {"status": "done", "number": "1", "settings": settings, "job": None}
    figures = dict.fromkeys(
        ("released", "groups", "left_out", "unique_before", "unique_after", "loss"), number
    )
    figures |= dict.fromkeys(("highest", "highest_before", "average", "seconds"), number)
    unprotected = {"columns": ["ward"], "identified": number, "of": number}
    verdict = {"state": "protected", "title": "", "sentence": "", "reasons": [], "proved": True}
    figures |= {"verdict": {**verdict, "unprotected": unprotected}, "proofs": [], "problems": []}
    figures |= {"method": "cover", "columns": {"age": 0.5}}
    look = {"records": number, "columns": [column(number)] * number, "lists": {}, "persons": []}
    look |= {"encoding": None, "remarks": [], "methods": {}, "hierarchies": {}, "objectives": {}}
    project = FakeProject(number)
    state: dict[str, Any] = {
        "look": look, "settings": settings, "roles": dict.fromkeys("abc"[:number], "quasi-identifier"),
        "runs": [{**run, "figures": figures}] * number, "project": project, "problems": [], "job": None,
        "estimate": None, "ask": False, "coarse": {}, "request_open": "", "is_previewed": False,
        "toml": "", "step": "run",
        "command": "", "run_command": "", "search": "", "under_way": None,
        "files": ["csv"], "done": [run], "projects": [project],
    }  # fmt: skip
    if number:
        state["roles"] = {"age": "quasi-identifier"}
    single = {"records": number, "steps": [{"column": "age", "unique": 1.0}]}
    rows = {"rows": [["x"]] * number, "last": [["x"]] * number, "header_row": 1, "skip_last": 0}
    measured: dict[str, Any] = {"sampled": number, "records": number + 1, "together": []}
    measured |= {"column_losses": {"age": 0.5}, "loss": 0.5, "suggestions": [], "affordable": []}
    row = {"k": 2, "left_out": None, "requirement": None, "loss": 0.5, "highest_risk": 0.5}
    rows_tried = [{**row, "guessed": None, "groups": number}] * number
    measured |= {"rows": rows_tried, "k": 2, "quasi_identifiers": number}
    study = {"found": measured, "states": {"0": "offered"}, "study": None, "is_old": False}
    parts = {
        "home.html": {},
        "part_state.html": {},
        "part_single.html": {"single": single},
        "part_rows.html": {"rows": rows},
        "table.html": {"step": "table"},
        "columns.html": {"step": "columns"},
        "generalization.html": {"step": "generalization"},
        "run.html": {},
        "release.html": {"step": "release", "run": {**run, "figures": figures}},
        "advice.html": {"step": "advice", **study},
        "explore.html": {"step": "explore", **study},
    }
    found = {}
    for name, own in parts.items():
        text = templates.get_template(name).render(**{**state, **own})
        found[name] = " ".join(re.sub(r"<[^>]+>", "", text).split())
    return found


@pytest.mark.parametrize("number", [0, 1, 2])
def test_pages_count_in_singular_and_plural(number: int) -> None:
    shown = pages(number)
    for name, text in shown.items():
        wrong = re.findall(r"(?<![\w.,])1 (?:[a-z]+ )?[a-z-]{2,}s\b(?! one)", text)
        wrong += re.findall(r"(?<![\w.,])(?:0|2) (?:record|column|row|run|person|group)\b", text)
        assert not wrong, (name, wrong)
    assert counted(number, "record") in shown["table.html"]
    assert counted(number, "column") in shown["part_state.html"]
    assert counted(number, "run") in shown["home.html"]
    assert counted(number, "group") in shown["release.html"]
    assert counted(number, "person", "people") in shown["release.html"]
    assert counted(min(number, 1), "quasi-identifier") in shown["part_state.html"]
