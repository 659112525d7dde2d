"""Excel: sheets come back with their types; what a sheet cannot hold or is no table is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from datetime import datetime
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
import torn
from torn import SECRET, names_in, problem, sheet
from torn import torn as refused

from shoal.data.files.formats import output_problems
from shoal.data.files.table_file import read_file, read_file_texts, write_file
from shoal.encoding.source import Input
from shoal.errors import InputError


@pytest.fixture
def people() -> pa.Table:
    return torn.people()


@pytest.mark.parametrize("cut", [100, -30])
def test_a_truncated_workbook_is_refused(tmp_path, people, cut):
    write_file(people, tmp_path / "whole.xlsx")
    content = (tmp_path / "whole.xlsx").read_bytes()[:cut]
    assert "not a complete Excel workbook" in refused(tmp_path, content, "people.xlsx")


def test_excel_cells_have_their_stored_type(tmp_path):
    rows = [
        ["whole", "part", "flag", "day", "moment", "text", "void"],
        [1.0, 1, True, datetime(2024, 1, 2), datetime(2024, 1, 2, 3), "02139", None],
        [2, 2.5, None, datetime(2024, 1, 3), datetime(2024, 1, 3), "5", None],
        [None, None, None, None, None, None, None],
        [3.0, 3.0, False, None, None, "x", None],
        [None, None, None, None, None, None, None],
    ]
    table = read_file(sheet(tmp_path / "t.xlsx", rows))
    day, moment = pa.date32(), pa.timestamp("us")
    types = [pa.int64(), pa.float64(), pa.bool_(), day, moment, pa.string(), pa.string()]
    assert table.schema.types == types
    assert table.num_rows == 4
    assert table["whole"].to_pylist() == [1, 2, None, 3]
    assert table["text"].to_pylist() == ["02139", "5", None, "x"]
    assert table.column_names[-1] == "void"


def far_apart(path: Path, rows: str, dimension: str = "A1:XFD1048576") -> Path:
    """A workbook with these rows of XML below a header of two columns."""
    whole = zipfile.ZipFile(sheet(path.with_name("near.xlsx"), [["age", "ill"]]))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as changed:
        for name in whole.namelist():
            content = whole.read(name).replace(b'ref="A1:B1"', f'ref="{dimension}"'.encode())
            changed.writestr(name, content.replace(b"</sheetData>", f"{rows}</sheetData>".encode()))
    return path


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>',
        '<row r="99999999999"><c r="A99999999999"><v>2</v></c></row>',
        "".join(f'<row r="{i}"><c r="XFD{i}"><v>2</v></c></row>' for i in range(2, 800)),
    ],
    ids=["last cell", "beyond the last row", "last column"],
)
def test_a_small_workbook_with_far_cells_is_refused_before_they_are_built(tmp_path, rows):
    assert "so far apart" in problem(far_apart(tmp_path / "t.xlsx", rows))


def test_far_cells_without_a_value_are_no_part_of_the_table(tmp_path):
    rows = '<row r="2"><c r="A2"><v>1</v></c><c r="XFD2" s="0"/></row><row r="900000"><c r="XFD900000" s="0"/></row>'
    table = read_file(far_apart(tmp_path / "t.xlsx", rows))
    assert table.to_pydict() == {"age": [1], "ill": [None]}


def test_a_sheet_with_many_empty_cells_is_read(tmp_path):
    rows = [["a", *(f"c{i}" for i in range(49))], *([i] + [None] * 49 for i in range(300))]
    rows[-1][-1] = 7
    table = read_file(sheet(tmp_path / "t.xlsx", rows))
    assert (table.num_rows, table.num_columns) == (300, 50)
    assert table["c48"].to_pylist() == [None] * 299 + [7]


def test_a_workbook_that_unpacks_to_far_more_than_sheets_do_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.data.files.excel._FEW_BYTES", 1_000_000)
    path = far_apart(tmp_path / "t.xlsx", " " * 50_000_000)
    assert "would unpack to 50 MB" in problem(path)


def test_a_sheet_is_read_whole_when_its_stored_size_is_wrong(tmp_path):
    whole = zipfile.ZipFile(sheet(tmp_path / "whole.xlsx", [["a", "b"], [1, 2], [3, 4]]))
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as changed:
        for name in whole.namelist():
            changed.writestr(name, whole.read(name).replace(b'ref="A1:B3"', b'ref="A1"'))
    assert read_file(tmp_path / "t.xlsx").to_pydict() == {"a": [1, 3], "b": [2, 4]}


def test_an_excel_column_of_mixed_kinds_is_refused_with_counts(tmp_path):
    rows = [["a", "b", "c"], [1, SECRET, "=1/0"], [2.5, True, "x"], [SECRET, None, "y"]]
    path = sheet(tmp_path / "t.xlsx", rows)
    workbook = openpyxl.load_workbook(path)
    workbook.active["C2"].value = "#DIV/0!"
    workbook.save(path)
    with pytest.raises(InputError) as caught:
        read_file(path)
    counts = ["numbers (2) and texts (1)", "texts (1) and true/false values (1)"]
    for sentence, count in zip(
        caught.value.problems, [*counts, "spreadsheet errors (1) and texts (2)"], strict=True
    ):
        assert count in sentence
    assert SECRET not in str(caught.value)


def test_without_openpyxl_the_extra_is_named(tmp_path, people, monkeypatch):
    write_file(people, tmp_path / "people.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "pip install 'shoal[excel]'" in problem(tmp_path / "people.xlsx")
    assert "pip install 'shoal[excel]'" in output_problems(tmp_path / "release.xlsx", False)[0]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([10**15, None], "more than 15 digits"),
        (["a\x01" + SECRET], "control characters"),
        ([SECRET + "x" * 32_767], "32,767 characters"),
        ([float("nan")], "NaN or infinity"),
        (pa.nulls(1 << 20), "1,048,576 records"),
    ],
    ids=["digits", "control", "long", "nan", "rows"],
)
def test_what_excel_cannot_keep_is_refused_before_writing(tmp_path, values, reason):
    with pytest.raises(InputError, match=reason) as caught:
        write_file(pa.table({"a": values}), tmp_path / "t.xlsx")
    assert SECRET not in str(caught.value)
    assert names_in(tmp_path) == []


def workbook(path: Path, **sheets: list[list[object]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet_ = made.create_sheet(name)
        for row in rows:
            sheet_.append(row)
    made.save(path)
    return path


def test_a_sheet_is_found_by_its_name(tmp_path):
    path = workbook(tmp_path / "t.xlsx", Cover=[["a"], [1]], Data=[["age"], [31]])
    assert read_file(path).to_pydict() == {"a": [1]}
    assert read_file(path, Input(sheet="Data")).to_pydict() == {"age": [31]}


def test_an_unknown_sheet_is_told_with_the_near_miss(tmp_path):
    path = workbook(tmp_path / "t.xlsx", Cover=[["a"], [1]], Data=[["age"], [31]])
    message = problem(path, Input(sheet="Daten"))
    assert message.endswith("has no sheet 'Daten' among its 2; did you mean 'Data'?")
    assert problem(path, Input(sheet="x")).endswith("has no sheet 'x' among its 2.")


@pytest.mark.parametrize(
    "cover", [[["Export 2026"]], [], [["Report"], [], ["x", SECRET]], [[2026], [SECRET]]]
)
def test_a_cover_sheet_makes_the_message_mention_the_others(tmp_path, cover):
    path = workbook(tmp_path / "t.xlsx", Cover=cover, Data=[["age"], [31]])
    with pytest.raises(InputError, match=r"has 2 sheets\. .* --sheet \(sheet=\)") as caught:
        read_file(path)
    assert SECRET not in str(caught.value)
    assert len(caught.value.problems) >= 2


def test_a_single_sheet_without_records_is_a_table(tmp_path):
    assert read_file(workbook(tmp_path / "t.xlsx", Data=[["age"]])).to_pydict() == {"age": []}


@pytest.mark.parametrize("header", [[SECRET, 34], [SECRET, datetime(1999, 12, 31)], ["x", SECRET]])
def test_a_sheet_without_a_header_is_refused_without_showing_it(tmp_path, header):
    path = sheet(tmp_path / "t.xlsx", [header, ["a", SECRET]])
    assert "seems to have no row of column names" in problem(path)


def test_cells_are_texts_for_the_audit(tmp_path):
    rows = [["n", "f", "d", "b"], [1.0, 2.5, datetime(2024, 1, 2), True], [2, None, None, None]]
    assert read_file_texts(sheet(tmp_path / "t.xlsx", rows)).to_pylist() == [
        {"n": "1", "f": "2.5", "d": "2024-01-02", "b": "true"},
        {"n": "2", "f": None, "d": None, "b": None},
    ]


FULL_DISK = """
import resource, sys
import pyarrow as pa
from shoal.errors import InputError
from shoal.data.files.table_file import write_file

resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
for records in (10, 100_000):
    try:
        write_file(pa.table({"a": list(range(records)), "b": ["text"] * records}), sys.argv[1])
    except InputError as error:
        print(error)
"""


def test_a_full_disk_is_one_sentence_without_a_traceback(tmp_path):
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path / "t.xlsx"],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert done.stdout.count("cannot be written: File too large. Choose another place.") == 2
    assert names_in(tmp_path) == []
