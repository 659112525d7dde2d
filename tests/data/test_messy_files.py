"""Files that are no clean table: shoal asks once for everything, and opens them with what it proposes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.data.files.header import join_headings, likely_two_rows
from shoal.data.files.proposals import Proposal
from shoal.data.files.table_file import open_file, read_file_texts
from shoal.data.open import open_large, open_table
from shoal.encoding.source import Input, read_row_numbers

Shell = Callable[..., tuple[int, str, str]]

NAMES = ["id", "age", "zip", "town"]
ROWS = [[f"P{i:03d}", str(20 + i % 30), f"{i % 7}1234", ["Bonn", "Jena"][i % 2]] for i in range(60)]


def _csv(path: Path, rows: list[list[str]]) -> Path:
    path.write_text("".join(";".join(row) + "\n" for row in rows))
    return path


def _book(path: Path, **sheets: list[list[Any]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        own = book.create_sheet(title)
        for row in rows:
            own.append([int(c) if isinstance(c, str) and c.isdigit() else c or None for c in row])
    book.save(path)
    return path


COVER = [["Staff of the s3cret ward"], ["as of"], []]


def test_one_message_asks_for_sheet_heading_and_total_together(
    shell: Shell, tmp_path: Path
) -> None:
    staff = [["Person", "", "", "Place"], NAMES, *ROWS, ["Total", "", "", ""]]
    path = _book(tmp_path / "t.xlsx", Cover=COVER, Staff=staff)
    with pytest.raises(Proposal) as asked:
        open_file(path)
    assert asked.value.changes == {"sheet": "Staff", "header_row": 2, "skip_last": 1}
    assert asked.value.problems[-1] == "Together: --sheet Staff --header-row 2 --skip-last 1"
    assert "s3cret" not in str(asked.value)
    opened = open_file(path, Input(sheet="Staff", header_row=2, skip_last=1)).data
    assert (opened.column_names, opened.num_rows) == (NAMES, 60)


def test_init_opens_such_a_workbook_and_the_file_it_writes_runs(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    staff = [["Person", "", "", "Place"], NAMES, *ROWS, ["Total", "", "", ""]]
    _book(tmp_path / "t.xlsx", Cover=COVER, Staff=staff)
    code, said, _ = shell("init", "t.xlsx")
    assert code == 0
    assert "The table is in sheet 'Staff'" in said
    written = (tmp_path / "t.toml").read_text()
    assert 'sheet = "Staff"  # The table is in sheet' in written
    assert "header_row = 2  # " in written
    command = said.strip().splitlines()[-1].split()[1:]
    assert shell(*command)[0] == 0
    assert (tmp_path / "release.csv").exists()


def test_a_table_in_several_sheets_is_not_chosen_silently(tmp_path: Path) -> None:
    path = _book(tmp_path / "t.xlsx", Cover=COVER, A=[NAMES, *ROWS], B=[NAMES, *ROWS])
    with pytest.raises(shoal.InputError, match=r"in 2 others: 'A', 'B'\. Choose one") as asked:
        open_file(path)
    assert not isinstance(asked.value, Proposal)
    first = _book(tmp_path / "u.xlsx", A=[NAMES, *ROWS], B=[NAMES, *ROWS])
    assert open_file(first).data.num_rows == 60
    found = shoal.suggest(first)
    assert "The workbook has 2 sheets; the first is read (sheet)." in found.remarks
    assert found.reading.sheet == "A"


def test_a_workbook_with_many_sheets_names_few_of_them(tmp_path: Path) -> None:
    sheets = {f"S{number}": [NAMES, *ROWS] for number in range(30)}
    path = _book(tmp_path / "t.xlsx", Cover=COVER, **sheets)
    with pytest.raises(shoal.InputError) as asked:
        open_file(path)
    assert str(asked.value).count("'S") == 5


# Two rows of headings

UPPER = ["id", "home", "", "work"]
LOWER = ["", "zip", "town", "zip"]
HOMES = [[f"P{i}", f"{i % 7}1234", "Bonn", f"{i % 5}4321"] for i in range(40)]


@pytest.mark.parametrize("make", [_csv, lambda path, rows: _book(path, A=rows)])
@pytest.mark.parametrize("titles", [[], [["Report"], []]])
def test_two_rows_of_headings_are_joined(make: Any, titles: Any, tmp_path: Path) -> None:
    path = tmp_path / ("t.csv" if make is _csv else "t.xlsx")
    make(path, [*titles, UPPER, LOWER, *HOMES])
    row = len(titles) + 2
    with pytest.raises(Proposal) as asked:
        open_file(path)
    assert asked.value.changes == {"header_row": row, "header_rows": 2}
    opened = open_file(path, Input(**asked.value.changes)).data
    assert opened.column_names == ["id", "home zip", "home town", "work zip"]
    assert opened.num_rows == 40


def test_a_record_below_a_heading_is_no_second_row_of_names() -> None:
    for rows in (
        [["a", "b", "c"], ["x", "y", ""], *[["1", "2", "3"]] * 5],
        [["a", "", "c"], ["x", "1", "z"], *[["p", "2", "q"]] * 5],
        [["a", "", "c"], ["x", "y", "z"], *[["p", "q", "r"]] * 5],
    ):
        assert likely_two_rows(rows) is None
    assert join_headings([["a"], ["a"]]) == ["a"]


# Units below the names


def test_units_below_the_names_are_asked_about(tmp_path: Path) -> None:
    path = _csv(tmp_path / "t.csv", [NAMES, ["", "years", "code", ""], *ROWS])
    with pytest.raises(Proposal, match=r"Row 2 of .* looks like units") as asked:
        open_file(path)
    assert "years" not in str(asked.value)
    assert open_file(path, Input(skip_rows=(2,))).data["age"].type == pa.int64()
    assert open_file(path, Input(skip_rows=())).data.num_rows == 61
    book = _book(tmp_path / "t.xlsx", A=[NAMES, ["", "years", "code", ""], *ROWS])
    with pytest.raises(Proposal, match="Row 2 of"):
        open_file(book)
    assert open_file(book, Input(skip_rows=(2,))).data.num_rows == 60


def test_a_first_record_with_one_text_among_numbers_is_a_record(tmp_path: Path) -> None:
    path = _csv(tmp_path / "t.csv", [NAMES, ["P", "unknown", "51234", "Bonn"], *ROWS])
    assert open_file(path).data.num_rows == 61
    same = _csv(tmp_path / "u.csv", [NAMES, ["P", "NA", "NA", "Bonn"], *ROWS])
    assert open_file(same).data.num_rows == 61


def test_rows_are_skipped_by_their_numbers(tmp_path: Path) -> None:
    path = _csv(tmp_path / "t.csv", [["Report"], NAMES, *ROWS])
    opened = open_file(path, Input(header_row=2, skip_rows=(3, 5))).data
    assert opened["id"].to_pylist()[:3] == ["P001", "P003", "P004"]
    with pytest.raises(shoal.InputError, match="is for rows below the column names in row 2"):
        open_file(path, Input(header_row=2, skip_rows=(1,)))
    assert read_row_numbers("2,4-6") == (2, 4, 5, 6)
    assert read_row_numbers("6-4") is read_row_numbers("1-99999") is None


# Gaps in the heading


@pytest.mark.parametrize(
    ("names", "new"),
    [
        (["id", "", "zip", "town"], ["id", "column_2", "zip", "town"]),
        (["id", "zip", "zip", "town"], ["id", "zip", "zip_2", "town"]),
        (["zip_2", "zip", "zip", "town"], ["zip_2", "zip", "zip_3", "town"]),
    ],
)
def test_names_are_proposed_for_columns_without_one(
    names: list[str], new: list[str], tmp_path: Path
) -> None:
    path = _csv(tmp_path / "t.csv", [names, *ROWS])
    with pytest.raises(Proposal, match=r"--rename [23]:") as asked:
        open_file(path)
    assert open_file(path, Input(**asked.value.changes)).data.column_names == new
    assert read_file_texts(path, Input(**asked.value.changes)).column_names == new
    assert shoal.suggest(path).reading.rename == asked.value.changes["rename"]


def test_a_row_with_hardly_any_names_is_not_renamed(tmp_path: Path) -> None:
    path = _csv(tmp_path / "t.csv", [["id", "", "", ""], *[["a", "b", "c", "d"]] * 9])
    with pytest.raises(shoal.InputError) as refused:
        open_file(path)
    assert not isinstance(refused.value, Proposal)


def test_a_column_to_rename_must_exist(tmp_path: Path) -> None:
    path = _csv(tmp_path / "t.csv", [NAMES, *ROWS])
    with pytest.raises(shoal.InputError, match=r"cannot be renamed.*did you mean 'town'"):
        open_file(path, Input(rename={"towns": "place"}))
    with pytest.raises(shoal.InputError, match="cannot be renamed"):
        open_file(path, Input(rename={"9": "place"}))


# Values


MESSY = [
    [f"{i}", f"{i % 9 + 1}.{100 + i},50", ["Yes", "yes"][i % 3 == 0], ["Bonn ", "Bonn"][i % 2]]
    for i in range(60)
]
MESSY_NAMES = ["id", "paid", "answer", "town "]
CLEAN = {
    "decimal": ",",
    "trim": True,
    "thousands": {"paid": "."},
    "merge_spellings": ["answer"],
}


def test_values_are_cleaned_only_where_it_is_said(tmp_path: Path) -> None:
    path = _csv(tmp_path / "t.csv", [MESSY_NAMES, *MESSY])
    plain = open_file(path, Input()).data
    assert set(plain["answer"].to_pylist()) == {"Yes", "yes"}
    assert plain["paid"][0].as_py() == "1.100,50"
    how = shoal.Settings(reading=CLEAN)._normalized().reading
    clean = open_file(path, how).data
    assert clean.column_names == ["id", "paid", "answer", "town"]
    assert set(clean["answer"].to_pylist()) == {"Yes"}
    assert set(clean["town"].to_pylist()) == {"Bonn"}
    assert clean["paid"][0].as_py() == "1100,50"


@pytest.mark.parametrize("kind", ["pandas", "category", "polars", "arrow"])
def test_frames_are_cleaned_as_files_are(kind: str, tmp_path: Path) -> None:
    frame: Any = pd.DataFrame(MESSY, columns=MESSY_NAMES, index=range(7, 67))
    if kind == "category":
        frame = frame.astype("category")
    if kind == "polars":
        frame = pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
    if kind == "arrow":
        frame = pa.table(frame.to_dict("list"))
    how = shoal.Settings(reading=CLEAN)._normalized().reading
    clean = open_table(frame, how).data
    assert clean["answer"].to_list() == ["Yes"] * 60
    assert clean["town"].to_list() == ["Bonn"] * 60
    assert clean["paid"].to_list()[:2] == ["1100,50", "2101,50"]


def test_numbers_with_thousands_separators_become_ranges_and_bins(tmp_path: Path) -> None:
    path = _csv(tmp_path / "t.csv", [MESSY_NAMES, *MESSY])
    release = shoal.anonymize(
        path,
        quasi_identifiers={"paid": shoal.Interval(step=1000)},
        others="drop",
        k=6,
        reading=CLEAN,
    )
    assert all("–" in text for text in release.data["paid"].to_pylist())
    coarse = shoal.anonymize(
        path,
        quasi_identifiers=["town"],
        sensitive=["paid"],
        coarsen={"paid": shoal.Interval(step=5000)},
        others="drop",
        k=6,
        reading=CLEAN,
    )
    assert set(coarse.data["paid"].to_pylist()) == {"0–<5000", "5000–<10000"}


def test_a_run_says_how_to_read_thousands_separators() -> None:
    frame = pd.DataFrame({"paid": ["1,200", "950", "12,500", "1,000"] * 5})
    release = shoal.anonymize(frame, quasi_identifiers=["paid"], k=5)
    assert "--thousands paid:," in release.reading_notes[0]
    assert "1,200" not in release.reading_notes[0]


def test_an_sqlite_file_of_any_suffix_is_recognized(tmp_path: Path) -> None:
    (tmp_path / "hr.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(shoal.InputError, match="Give its address, sqlite:///"):
        open_file(tmp_path / "hr.db")


def test_init_says_what_it_cleans_and_the_file_it_writes_runs(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _csv(tmp_path / "t.csv", [MESSY_NAMES, *MESSY])
    code, said, _ = shell("init", "t.csv")
    assert code == 0
    written = (tmp_path / "t.toml").read_text()
    for line in (
        "trim = true  # Texts",
        'thousands = { paid = "." }  # Numbers',
        'answer"]  # Val',
    ):
        assert line in written
    assert "Numbers have thousands separators (paid)" in said
    assert shoal.Settings.load("t.toml").reading.decimal == ","
    command = said.strip().splitlines()[-1].split()[1:]
    assert shell(*command)[0] == 0
    release = (tmp_path / "release.csv").read_text()
    assert "Bonn " not in release
    assert shell("audit", "release.csv", "--settings", "t.toml")[0] == 0


def test_options_of_the_command_line_say_the_same(shell: Shell, tmp_path: Path) -> None:
    path = _csv(tmp_path / "t.csv", [MESSY_NAMES, *MESSY])
    code, _, told = shell(
        *("anonymize", path, "-q", "paid", "-q", "place", "--others", "drop", "-k", 5),
        *("--decimal", ",", "--thousands", "paid:.", "--trim", "--rename", "town:place"),
        *("--merge-spellings", "answer", "-o", tmp_path / "r.csv"),
    )
    assert code == 0, told
    assert (tmp_path / "r.csv").read_text().startswith("paid;place\n")


def test_a_zero_that_was_said_is_written(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _csv(tmp_path / "t.csv", [NAMES, *ROWS, ["Total", "", "", ""]])
    assert shell("init", "t.csv", "--skip-last", 0)[0] == 0
    assert "skip_last = 0" in (tmp_path / "t.toml").read_text()


@pytest.mark.parametrize(
    ("values", "sign"),
    [
        (["1,200", "950", "12,500"], ","),
        (["1.200.000", "950.000", "12.500"], "."),
        (["1'200", "950", "1'200'000"], "'"),
        (["1 200", "950", "12 500"], " "),
        (["555 123", "555 124", "555 125"], None),  # perhaps telephone numbers
        (["030.123", "030.124", "030.125"], None),
        (["10.0.0.1", "10.0.0.2", "10.0.0.3"], None),
    ],
)
def test_only_numbers_have_thousands_separators(values: list[str], sign: str | None) -> None:
    found = shoal.suggest(pd.DataFrame({"paid": values * 20, "sex": ["m", "f", "f"] * 20}))
    assert found.reading.thousands == ({"paid": sign} if sign else None)


@pytest.mark.parametrize(
    ("values", "is_merged"),
    [
        (["Yes", "yes", "No"], True),
        (["New York", "NewYork", "Rome"], True),
        (["m", "M", "f"], True),
        (["AA", "Aa", "aa"], False),  # genotypes
        (["a1", "a2", "a3"], False),
    ],
)
def test_spellings_are_merged_but_codes_of_two_letters_are_not(
    values: list[str], is_merged: bool
) -> None:
    found = shoal.suggest(pd.DataFrame({"answer": values * 20, "age": range(60)}))
    assert found.reading.merge_spellings == (("answer",) if is_merged else ())


def test_engines_clean_text_files_and_refuse_what_they_cannot(engine: str, tmp_path: Path) -> None:
    path = _csv(tmp_path / "t.csv", [MESSY_NAMES, *MESSY])
    how = Input(decimal=",", trim=True, thousands={"paid": "."}, rename={"town": "place"})
    opened = open_large(path, how, engine)
    try:
        assert opened.frame.collect_schema().names() == ["id", "paid", "answer", "place"]
    finally:
        opened.close()
    with pytest.raises(shoal.InputError, match="is read in blocks"):
        open_large(path, Input(merge_spellings=("answer",)), engine)
    pd.DataFrame({"a": ["x "]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(shoal.InputError, match="'trim' needs a table in memory"):
        open_large(tmp_path / "t.parquet", Input(trim=True), engine)


@pytest.mark.parametrize(
    ("reading", "problem"),
    [
        ({"skip_rows": "x"}, "'skip_rows' in \\[input\\] must be a list"),
        ({"skip_rows": [0]}, "'skip_rows' in \\[input\\] must be a list"),
        ({"header_rows": 0}, "'header_rows' in \\[input\\] must be a whole number of at least 1"),
        ({"rename": {"a": ""}}, "'rename' in \\[input\\] must give new names"),
        ({"thousands": "x"}, "'thousands' in \\[input\\] must be one of"),
        ({"trim": "yes"}, "'trim' in \\[input\\] must be true or false"),
        ({"merge_spellings": "a"}, "'merge_spellings' in \\[input\\] must be a list"),
        ({"thousands": "."}, "cannot separate both thousands and decimals"),
        ({"thousands": {"paid": ","}}, "Column 'paid' is not in the table"),
        ({"header_row": 2, "header_rows": 3}, "'header_rows' must not be larger"),
    ],
)
def test_wrong_answers_are_refused_in_plain_words(
    reading: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    path = _csv(tmp_path / "t.csv", [NAMES, *ROWS])
    with pytest.raises(shoal.InputError, match=problem):
        shoal.anonymize(path, quasi_identifiers=["age"], others="drop", k=5, reading=reading)
