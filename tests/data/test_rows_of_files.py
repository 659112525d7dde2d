"""Rows of a file that are no records: titles above the column names, and a total below the records."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.data.files.header import likely_header_row
from shoal.data.files.table_file import open_file, read_file_texts
from shoal.data.files.totals import total_sign
from shoal.data.open import open_large
from shoal.encoding.source import Input

Shell = Callable[..., tuple[int, str, str]]

NAMES = ["id", "name", "age", "city"]
ROWS = [[f"P{i:03d}", f"Ann{i}", str(20 + i % 30), ["Bonn", "Jena"][i % 2]] for i in range(60)]
TITLES = [["Report Q1/2024"], ["Made on 12.03.2024 by Smith"], []]
GROUPS = ["Person", "", "", "Place"]


def _file(path: Path, rows: list[list[str]], delimiter: str = ";", end: str = "\n") -> Path:
    if path.suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([int(c) if c.isdigit() else c or None for c in row])
        book.save(path)
    else:
        path.write_text("".join(delimiter.join(row) + end for row in rows), newline="")
    return path


# The row of the column names


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize(
    "above", [TITLES, [GROUPS], [*TITLES, GROUPS]], ids=["titles", "groups", "both"]
)
def test_a_file_with_rows_above_its_column_names_is_refused_with_the_row_to_say(
    above: list[list[str]], suffix: str, tmp_path: Path
) -> None:
    path = _file(tmp_path / f"t{suffix}", [*above, NAMES, *ROWS])
    row = len(above) + 1
    with pytest.raises(shoal.InputError) as refused:
        open_file(path)
    assert str(refused.value).startswith(f"Row {row} of '{path}' looks like the column names: ")
    assert f"Use --header-row {row} (header_row)." in str(refused.value)
    assert "Smith" not in str(refused.value)
    found = open_file(path, Input(header_row=row)).data
    assert (found.column_names, found.num_rows) == (NAMES, 60)
    assert found["id"][0].as_py() == "P000"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_rows_above_the_column_names_may_hold_anything(end: str, tmp_path: Path) -> None:
    above = [['"a title', 'of two lines"'], ['5" disk'], ["x"] * 9, []]
    path = _file(tmp_path / "t.csv", [*above, NAMES, *ROWS], end=end)
    text = path.read_text().replace("a title;of", f"a title{end}of")
    path.write_text(text, newline="")
    found = open_file(path, Input(header_row=5)).data
    assert (found.column_names, found.num_rows) == (NAMES, 60)
    assert read_file_texts(path, Input(header_row=5)).num_rows == 60


def test_a_row_beyond_the_file_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path / "t.csv", [NAMES, *ROWS])
    with pytest.raises(shoal.InputError):
        open_file(path, Input(header_row=900))


@pytest.mark.parametrize(
    "rows",
    [
        [NAMES, *ROWS],
        [["", "name", "age", "city"], *ROWS],  # the index of pandas
        [["name", "name", "age", "city"], *ROWS],
        [["a", "b"], ["x", "y"], ["v", "w"]],
        [["only"], ["one"], ["column"]],
        [],
    ],
)
def test_no_row_is_taken_for_column_names_where_the_first_row_has_them(rows: Any) -> None:
    assert likely_header_row(rows) is None


def test_init_finds_the_row_of_the_column_names_and_says_so(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _file(tmp_path / "t.csv", [*TITLES, NAMES, *ROWS])
    code, said, _ = shell("init", "t.csv")
    assert code == 0
    assert "The column names are in row 4" in said
    assert "header_row = 4" in (tmp_path / "t.toml").read_text()
    assert shell("anonymize", "t.csv", "--settings", "t.toml", "-o", "r.csv")[0] == 0
    assert (
        shell("audit", "r.csv", "--settings", "t.toml")[0] == 0
    )  # whose names are in the first row
    plain = ("anonymize", "t.csv", "-q", "age", "--others", "drop", "-k", 5, "--header-row", 4)
    assert shell(*plain, "-o", "s.csv")[0] == 0


def test_engines_read_column_names_from_the_same_row(engine: str, tmp_path: Path) -> None:
    path = _file(tmp_path / "t.csv", [*TITLES, NAMES, *ROWS])
    opened = open_large(path, Input(header_row=4), engine)
    try:
        assert opened.frame.collect_schema().names() == NAMES
    finally:
        opened.close()
    with pytest.raises(shoal.InputError, match="is read in blocks"):
        open_large(path, Input(header_row=4, skip_last=1), engine)


def test_rows_of_other_files_cannot_be_skipped(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(shoal.InputError, match="'header_row' is for CSV files and workbooks"):
        open_file(tmp_path / "t.jsonl", Input(header_row=2))


# A total below the records


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize(
    "total",
    [
        ["Summe", "", "", ""],
        ["Total:", "", "1234", ""],
        ["", "Gesamt", "", ""],
        ["GRAND TOTAL", "", "", ""],
        ["all people", "", "", ""],
        ["", "", str(sum(int(row[2]) for row in ROWS)), ""],
    ],
)
def test_a_total_below_the_records_is_refused_until_it_is_skipped(
    total: list[str], suffix: str, tmp_path: Path
) -> None:
    path = _file(tmp_path / f"t{suffix}", [NAMES, *ROWS, total])
    with pytest.raises(shoal.InputError, match="looks like a total") as refused:
        open_file(path)
    assert "--skip-last 1" in str(refused.value)
    assert "Summe" not in str(refused.value)
    assert open_file(path, Input(skip_last=1)).data.num_rows == 60
    assert open_file(path, Input(skip_last=0)).data.num_rows == 61


def test_a_total_of_fewer_fields_is_told_from_a_torn_row(tmp_path: Path) -> None:
    path = _file(tmp_path / "t.csv", [NAMES, *ROWS, ["Summe", "60"]])
    with pytest.raises(shoal.InputError, match="looks like a total"):
        open_file(path)
    assert open_file(path, Input(skip_last=1)).data.num_rows == 60
    torn = _file(tmp_path / "torn.csv", [NAMES, *ROWS, ["P060", "Ann"]])
    with pytest.raises(shoal.InputError, match="has 2 columns, but the heading has"):
        open_file(torn)


def test_a_total_below_numbers_is_told_from_mixed_types(tmp_path: Path) -> None:
    rows = [[str(i), "", row[2], row[3]] for i, row in enumerate(ROWS)]
    path = _file(tmp_path / "t.xlsx", [NAMES, *rows, ["Summe", "", "", ""]])
    with pytest.raises(shoal.InputError, match="looks like a total"):
        open_file(path)


@pytest.mark.parametrize(
    "last",
    [
        ["P060", "Total", "30", "Bonn"],
        ["P060", "", "", ""],
        ["P060", "Summe", "", "Bonn"],
        ["Q9-1", "", "", ""],
    ],
)
def test_a_sparse_record_is_no_total(last: list[str], tmp_path: Path) -> None:
    path = _file(tmp_path / "t.csv", [NAMES, *ROWS, last])
    assert open_file(path).data.num_rows == 61


def test_a_category_that_others_have_too_is_no_total() -> None:
    table = pa.table({"level": ["Total", "a", "b", "c", "Total"], "x": [None, 1, 2, 3, None]})
    assert total_sign(table, Input()) is None


def test_init_leaves_a_total_out_and_says_so(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _file(tmp_path / "t.csv", [NAMES, *ROWS, ["Summe", "", "", ""]])
    code, said, _ = shell("init", "t.csv")
    assert code == 0
    assert "The last row looks like a total; it is left out" in said
    code, said, _ = shell("anonymize", "t.csv", "--settings", "t.toml", "-o", "r.csv")
    assert code == 0
    assert "60 released" in said
    code, _, told = shell(
        "anonymize", "t.csv", "-q", "age", "--others", "drop", "-k", 5, "-o", "s.csv"
    )
    assert code == 2
    assert "looks like a total" in told
    assert not (tmp_path / "s.csv").exists()
