"""The preview of a file's rows: column names, sheets and columns are set by pointing at them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import FormData

from shoal.app import reading
from shoal.app.projects import read_toml_file
from shoal.settings.declaration import READING
from tests.app.test_app_way import Steward, opened

__all__ = ["opened"]

TITLED = ["Clinic report", "", "name;age;town", *(f"P{n};{20 + n % 30};{n % 3}" for n in range(60))]


def read(steward: Steward) -> str:
    steward.wait(lambda: steward.get("part/looking").json()["status"] != "running")
    return steward.page("table")


def test_a_row_that_is_pressed_has_the_column_names(opened: Steward) -> None:
    page = opened.upload("\n".join([*TITLED, "all;;"]), "people.csv")
    assert "60 records" in page
    assert "Clinic report" not in page
    rows = opened.page("part/rows")
    assert "Clinic report" in rows, "rows above the names are shown, too"
    assert 'aria-label="5 is the row of the column names"' in rows
    assert 'aria-label="skip 2 rows at the end"' in rows
    answer = opened.post("rows", header_row="4")
    assert answer.status_code == 303
    assert "table?rows" in answer.headers["location"]
    assert "The table cannot be read" in read(opened), "a record is no heading"
    assert "Clinic report" in opened.page("part/rows"), "the rows of an unreadable table are shown"
    opened.post("rows", header_row="3", skip_last="2")
    assert "59 records" in read(opened)
    assert "Undo: row with the column names and rows to skip at the end" in opened.page(
        "part/history"
    )
    assert opened.post("rows", header_row="first").status_code == 422


def test_a_column_is_read_as_its_form_says_and_others_stay(opened: Steward) -> None:
    lines = [f"{n % 9},{46 + n % 30 if n % 10 else 45},a{n % 3}" for n in range(300)]
    opened.upload("region,age,ill\n" + "\n".join(lines), "regions.csv")
    part = opened.page("part/reading/1")
    assert 'name="missing"' in part
    assert 'name="date_format"' in part
    answer = opened.post("reading/1", types="", missing="45", date_format="")
    assert answer.status_code == 303
    read(opened)
    opened.post("reading/0", types="text", missing="", date_format="")
    read(opened)
    settings = read_toml_file(opened.folder / "settings.toml")["input"]
    assert settings["missing"]["age"] == ["45"]
    assert settings["types"] == {"region": "text"}
    assert 'value="45"' in opened.page("part/reading/1")
    assert 'value="45"' not in opened.page("part/reading/0")
    refused = opened.post("reading/2", types="number")
    assert refused.status_code == 422
    assert "is declared as number" in refused.text
    assert opened.get("part/reading/3").status_code == 404
    opened.post("reading/1", types="", missing="", date_format="")
    read(opened)
    assert "45" not in str(read_toml_file(opened.folder / "settings.toml")["input"])


def test_the_sheets_of_a_workbook_are_a_list_to_choose_from(
    opened: Steward, tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    workbook.active.title = "Cover"
    workbook.active.append(["Report"])
    sheet = workbook.create_sheet("People")
    sheet.append(["name", "age"])
    for n in range(50):
        sheet.append([f"P{n}", 20 + n % 9])
    visits = workbook.create_sheet("Visits")
    visits.append(["visit", "day"])
    for n in range(30):
        visits.append([f"V{n}", n])
    workbook.save(tmp_path / "people.xlsx")
    page = opened.upload((tmp_path / "people.xlsx").read_bytes(), "people.xlsx")
    for name in ("Cover", "People", "Visits"):
        assert f">{name}</option>" in page
    assert 'id="sheet"' not in page, "nobody has to type its name"
    opened.post("rows", sheet="People")
    assert "50 records" in read(opened)
    assert "P1</td>" in opened.page("part/rows")


def test_a_file_in_another_encoding_is_shown(opened: Steward) -> None:
    text = "größe;jahre\n" + "".join(f"{n % 7},5;{n % 9}\n" for n in range(60))
    opened.upload(text.encode("cp1252"), "menschen.csv")
    assert "größe" in opened.page("part/rows")


@pytest.mark.parametrize(
    ("key", "before", "given", "after"),
    [
        ("missing", ["?"], "99, 98", {"*": ["?"], "age": ["99", "98"]}),
        ("missing", {"*": ["?"], "age": ["99"]}, "", ["?"]),
        ("missing", {"age": ["99"], "zip": ["0"]}, "", {"zip": ["0"]}),
        ("date_format", "%d.%m.%Y", "%Y", {"*": "%d.%m.%Y", "age": "%Y"}),
        ("types", {"zip": "text"}, "date", {"zip": "text", "age": "date"}),
        ("types", {"age": "text"}, "", None),
    ],
)
def test_what_holds_for_one_column_leaves_the_others(
    key: str, before: Any, given: str, after: Any
) -> None:
    settings = {"input": {key: before}}
    found = reading.with_column(settings, FormData([(key, given)]), "age")
    assert found.get("input", {}).get(key) == after
    assert settings == {"input": {key: before}}, "the old settings stay as they were"


def test_every_setting_by_column_is_asked_for(opened: Steward) -> None:
    by_column = [own.name for own in READING.values() if "COLUMN" in (own.metavar or "")]
    asked = [own.name for own in reading.column_settings()]
    assert set(by_column) <= {*asked, "merge_spellings"}
