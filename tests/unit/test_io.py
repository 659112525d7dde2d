"""Files: what is written comes back, what is torn is refused without showing cells."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.errors import InputError
from shoal.io import output_problems, read, write

TEXT_SUFFIXES = [".csv", ".tsv", ".txt", ".jsonl", ".ndjson"]
SUFFIXES = [*TEXT_SUFFIXES, *(f"{suffix}.gz" for suffix in TEXT_SUFFIXES), ".parquet", ".xlsx"]
SECRET = "s3cret"


@pytest.fixture
def people() -> pa.Table:
    return pa.table(
        {
            "age": pa.array([34, None, -7]),
            "income, €": [1.5, 1e20, None],
            "zip": ["02139", None, "00501"],
            "alive": [True, None, False],
            "born": [date(1989, 2, 28), date(2000, 2, 29), None],
            "seen": pa.array(
                [datetime(2024, 1, 2, 3, 4, 5, 678000), None, None], pa.timestamp("us")
            ),
            'no"te': ['a "b", c;\td|\ne', "=1+1", None],
            "code": ["#N/A", "Ωmega ", " 5"],
            "void": pa.nulls(3, pa.string()),
        }
    )


def assert_same(left: pa.Table, right: pa.Table) -> None:
    assert left.schema == right.schema
    assert left.to_pylist() == right.to_pylist()


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def problem(path: Path) -> str:
    """The one sentence about a bad file: it names the file and shows no cell."""
    with pytest.raises(InputError) as caught:
        read(path)
    assert len(caught.value.problems) == 1
    message = str(caught.value)
    assert str(path) in message
    assert SECRET not in message
    assert "\n" not in message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


def torn(folder: Path, content: bytes | str, name: str = "people.csv") -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return problem(path)


def sheet(path: Path, rows: list[list[object]]) -> Path:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    workbook.save(path)
    return path


# Round trips


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_written_table_comes_back_the_same(tmp_path, people, suffix):
    write(people, tmp_path / f"people{suffix}")
    assert_same(read(str(tmp_path / f"people{suffix}")), people)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_only_the_output_is_left_in_the_folder(tmp_path, people, suffix):
    write(people, tmp_path / f"people{suffix}")
    assert names_in(tmp_path) == [f"people{suffix}"]


@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if s != ".xlsx"])
def test_null_and_empty_text_stay_apart(tmp_path, suffix):
    table = pa.table({"a": ["", None, "x"], "b": [None, "", None]})
    write(table, tmp_path / f"t{suffix}")
    assert_same(read(tmp_path / f"t{suffix}"), table)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_single_column_keeps_its_nulls(tmp_path, suffix):
    table = pa.table({"a": [None, 1, None, 2, None]})
    write(table, tmp_path / f"t{suffix}")
    assert_same(read(tmp_path / f"t{suffix}"), table)


def test_a_zoned_time_comes_back_as_the_same_instant(tmp_path):
    moments = pa.array([datetime(2024, 7, 1, 12)], pa.timestamp("us", "Europe/Berlin"))
    for suffix in (".csv", ".jsonl"):
        write(pa.table({"seen": moments}), tmp_path / f"t{suffix}")
        assert read(tmp_path / f"t{suffix}")["seen"].to_pylist() == moments.to_pylist()


def test_json_lines_hold_nulls_and_iso_dates(tmp_path):
    table = pa.table(
        {
            "a": [None, 1],
            "d": [date(2024, 1, 2), None],
            "t": pa.array([datetime(2024, 1, 2, 3), None], pa.timestamp("s")),
            "m": [Decimal("1.50"), None],
        }
    )
    write(table, tmp_path / "t.jsonl")
    assert (tmp_path / "t.jsonl").read_text() == (
        '{"a": null, "d": "2024-01-02", "t": "2024-01-02T03:00:00", "m": 1.5}\n'
        '{"a": 1, "d": null, "t": null, "m": null}\n'
    )


def test_a_written_file_holds_neither_unused_categories_nor_metadata(tmp_path):
    codes = pa.DictionaryArray.from_arrays([0, 0], ["*", SECRET])
    fields = [pa.field("zip", codes.type, metadata={"was": SECRET})]
    table = pa.Table.from_arrays([codes], schema=pa.schema(fields, metadata={"source": SECRET}))
    for suffix in SUFFIXES:
        write(table, tmp_path / f"t{suffix}")
        assert read(tmp_path / f"t{suffix}").to_pydict() == {"zip": ["*", "*"]}
    pq.write_table(table, tmp_path / "raw.parquet", compression="none")
    assert SECRET.encode() in (tmp_path / "raw.parquet").read_bytes()
    found = pq.read_table(tmp_path / "t.parquet")
    assert found.schema.equals(pa.schema({"zip": pa.string()}), check_metadata=True)


# CSV


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1", "-20", "0"], pa.int64()),
        (["1", "9223372036854775807"], pa.int64()),
        (["1", "9223372036854775808"], pa.string()),
        (["02139", "10001"], pa.string()),
        (["+1", "2"], pa.string()),
        (["0x1F", "2"], pa.string()),
        ([" 1", "2"], pa.string()),
        (["1", "2.5", "-.5", "0.0"], pa.float64()),
        (["1.0", "1e-7", "1.5E+20"], pa.float64()),
        (["1E50", "1E51"], pa.string()),
        (["007.5", "1.5"], pa.string()),
        (["1.5", "12345678901234567890"], pa.string()),
        (["1.5", "nan"], pa.string()),
        (["1.5", "inf"], pa.string()),
        (["1.5", "1e+999"], pa.string()),
        (["1.5", "1,5"], pa.string()),
        (["1.5", "-"], pa.string()),
        (["true", "false"], pa.bool_()),
        (["TRUE", "TRUE"], pa.bool_()),
        (["True", "False"], pa.bool_()),
        (["True", "false"], pa.string()),
        (["true", "1"], pa.string()),
        (["2024-02-29", "1850-01-01"], pa.date32()),
        (["2023-02-29", "2024-01-01"], pa.string()),
        (["2024-1-1", "2024-01-01"], pa.string()),
        (["2024-01-01T10:00", "2024-01-01 10:00:00.5"], pa.timestamp("us")),
        (["2024-01-01T10:00:00.123456789", "2024-01-01T10:00"], pa.timestamp("ns")),
        (["2024-01-01T10:00:00Z", "2024-01-01T10:00:00+02:00"], pa.timestamp("us", "UTC")),
        (["2024-01-01T10:00:00Z", "2024-01-01T10:00:00"], pa.string()),
        (["2024-01-01", "2024-01-01T10:00:00"], pa.string()),
        (["2024-01-01T25:00", "2024-01-01T10:00"], pa.string()),
        (["x", "1"], pa.string()),
        ([""], pa.string()),
    ],
)
def test_a_csv_column_has_the_type_that_fits_every_value(tmp_path, values, type_):
    path = tmp_path / "t.csv"
    path.write_text("id,a,b\n" + "".join(f'x,"{value}",\n' for value in values) + "x,,\n")
    table = read(path)
    assert table.schema.types == [pa.string(), type_, pa.string()]
    assert table["a"].null_count == 1
    if type_ == pa.string():
        assert table["a"].to_pylist() == [*values, None]


def test_one_late_value_decides_the_type(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 300_000 + "x\n")
    assert read(path)["a"].type == pa.string()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header(tmp_path, delimiter):
    path = tmp_path / "t.csv"
    rows = [['"a,b;c\t|,;\t|"', "d", "e"], ["1", "x", "y"]]
    path.write_text("\n".join(delimiter.join(row) for row in rows))
    assert read(path).to_pydict() == {"a,b;c\t|,;\t|": [1], "d": ["x"], "e": ["y"]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_line_ends_and_blank_lines_around_rows_do_not_matter(tmp_path, end):
    path = tmp_path / "t.CSV"
    path.write_bytes(b"\xef\xbb\xbf" + end.join(["", "a,b", "1,x", "", "2,y", "", ""]).encode())
    assert read(path).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("block", range(64, 80))
def test_a_line_break_in_a_value_may_fall_anywhere(tmp_path, monkeypatch, block):
    monkeypatch.setattr("shoal.io.delimited._BLOCK_BYTES", block)
    table = pa.table({"a": ["x\r\n" * i for i in range(15)], "b": ["y\n,\r"] * 15})
    write(table, tmp_path / "t.csv")
    assert_same(read(tmp_path / "t.csv"), table)


def test_a_row_beyond_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.io.delimited._BLOCK_BYTES", 64)
    assert "cannot be read as CSV" in torn(tmp_path, "a,b\n1," + SECRET * 100 + "\n1,2\n" * 9)


def test_a_header_alone_is_a_table_without_records(tmp_path):
    path = tmp_path / "t.csv"
    for content in ("a,b", "a,b\n", "a,b\n\n"):
        path.write_text(content)
        assert read(path).to_pydict() == {"a": [], "b": []}


def test_column_names_are_kept_exactly(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a ""b""\nc", D,é\n1,2,3\n')
    assert read(path).column_names == ['a "b"\nc', " D", "é"]


# Torn and unusable input


def test_a_missing_file_is_named(tmp_path):
    assert "does not exist" in problem(tmp_path / "people.csv")


def test_a_folder_is_not_a_table(tmp_path):
    (tmp_path / "people.csv").mkdir()
    assert "is a folder" in problem(tmp_path / "people.csv")


def test_a_file_without_permission_is_named(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "people.csv"
    path.write_text("a\n1\n")
    monkeypatch.setattr(Path, "open", refuse)
    assert "Permission denied" in problem(path)


@pytest.mark.parametrize("name", ["people.xls", "people", "people.parquet.gz", "people.csv.zip"])
def test_an_unknown_suffix_lists_the_known_ones(tmp_path, name):
    message = torn(tmp_path, SECRET, name)
    assert all(suffix in message for suffix in (*TEXT_SUFFIXES, ".gz", ".parquet", ".xlsx"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_is_refused(tmp_path, suffix):
    assert "is empty" in torn(tmp_path, b"", f"people{suffix}")


@pytest.mark.parametrize("suffix", TEXT_SUFFIXES)
def test_a_file_of_blank_lines_is_empty(tmp_path, suffix):
    assert "is empty" in torn(tmp_path, "\n \n", f"people{suffix}")
    assert "is empty" in torn(tmp_path, gzip.compress(b"\n"), f"people{suffix}.gz")


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        (
            ["", "1,2", "", SECRET, "3,4"],
            "row 3 (counting the header, not blank lines) has 1 fields instead of 2;",
        ),
        (["1,2", f"3,4,{SECRET}"], "has 3 fields instead of 2;"),
        (["1,2"] * 5_000_000 + [SECRET], "row 5000002 ("),
        ([SECRET, "1,2", SECRET, SECRET], "row 2 ("),
        ([SECRET, "1,2", SECRET, SECRET], "and 2 more rows are ragged"),
    ],
    ids=["short", "long", "late", "first", "several"],
)
def test_a_ragged_row_is_refused_with_its_number(tmp_path, rows, where):
    assert where in torn(tmp_path, "\n".join(["a,b", *rows]) + "\n")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (f'a,b\n1,2\n1,"{SECRET}\n2,x\n', 3),
        (f'a,b\n1,2\n1,"{SECRET}', 3),
        (f'a,b\n"1",{SECRET}\n"', 3),
        (f'a,"b\n1,{SECRET}\n', 1),
        (f'a,b\r1,"{SECRET}\r', 2),
    ],
)
def test_an_unterminated_quote_is_refused_with_its_line(tmp_path, content, line):
    assert f"the quote opened in line {line} is never closed" in torn(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (f'a,b\n1,"{SECRET}\n2,x\n3,"y"\n', 4),
        (f'a,b\n1,"{SECRET}"x\n', 2),
        (f'a,b\n1,2\n1,{SECRET} 5" pipe\n', 3),
    ],
)
def test_a_quote_inside_a_value_is_refused_with_its_line(tmp_path, content, line):
    assert f"line {line} has a quotation mark" in torn(tmp_path, content)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_truncated_or_damaged_gzip_file_is_refused(tmp_path, suffix):
    content = gzip.compress(f"a,b\n{SECRET},1\n".encode() * 100, mtime=0)
    flipped = content[:-8] + bytes([content[-8] ^ 255]) + content[-7:]
    garbled = content[:10] + b"\xff" + content[11:]
    cut = [content[:-4], content[:20]]
    for damaged in (*cut, b"xx" + content, content + b"xx", flipped, garbled):
        assert "not a whole gzip file" in torn(tmp_path, damaged, f"people{suffix}.gz")


@pytest.mark.parametrize("cut", [3, 60, -1])
def test_a_truncated_parquet_file_is_refused(tmp_path, people, cut):
    write(people, tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()[:cut]
    assert "not a whole Parquet file" in torn(tmp_path, content, "people.parquet")


def test_a_flipped_byte_in_our_parquet_file_is_refused(tmp_path):
    write(pa.table({"a": list(range(1000))}), tmp_path / "people.parquet")
    content = bytearray((tmp_path / "people.parquet").read_bytes())
    content[500] ^= 255
    assert "not a whole Parquet file" in torn(tmp_path, bytes(content), "people.parquet")


def test_a_parquet_file_with_text_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "people.parquet"
    buffers = pa.array([b"\xff" + SECRET.encode()]).buffers()
    pq.write_table(pa.table({"a": pa.Array.from_buffers(pa.string(), 1, buffers)}), path)
    assert "not a whole Parquet file" in problem(path)


@pytest.mark.parametrize("cut", [100, -30])
def test_a_truncated_workbook_is_refused(tmp_path, people, cut):
    write(people, tmp_path / "whole.xlsx")
    content = (tmp_path / "whole.xlsx").read_bytes()[:cut]
    assert "not a whole Excel workbook" in torn(tmp_path, content, "people.xlsx")


@pytest.mark.parametrize(
    "line",
    [
        f'{{"a": "{SECRET}"',
        f'["{SECRET}"]',
        f'"{SECRET}"',
        f'{{"a": NaN, "b": "{SECRET}"}}',
        f'{{"a": 1, "a": "{SECRET}"}}',
        f'{{"a": "{SECRET}"}} {{}}',
        "[" * 100_000,
        "null",
    ],
    ids=["cut", "list", "text", "nan", "duplicate key", "two objects", "deep", "null"],
)
def test_a_malformed_json_line_is_refused_with_its_number(tmp_path, line):
    assert "line 3 is not one JSON object" in torn(tmp_path, f'{{"a": 1}}\n\n{line}\n', "t.jsonl")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le"])
def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path, encoding):
    rows = f"a,b\n1,{SECRET}\n2,é\n".encode(encoding)
    line = 3 if encoding == "latin-1" else 1
    assert f"not UTF-8 text (line {line})" in torn(tmp_path, rows)
    lines = f'{{"a": "{SECRET}"}}\n{{"a": 2}}\n{{"a": "é"}}\n'.encode(encoding)
    assert f"not UTF-8 text (line {line})" in torn(tmp_path, lines, "people.jsonl")


def test_a_header_that_is_not_utf8_is_refused(tmp_path):
    assert "not UTF-8 text (line 1)" in torn(tmp_path, "é,b\n1,2\n".encode("latin-1"))


def bad_names_csv(path: Path) -> Path:
    path.write_text(f"a,,b,a, ,b,a\n1,2,3,4,5,6,{SECRET}\n")
    return path


def bad_names_parquet(path: Path) -> Path:
    names = ["a", "", "b", "a", " ", "b", "a"]
    pq.write_table(pa.table([[SECRET]] * 7, names), path)
    return path


def bad_names_excel(path: Path) -> Path:
    return sheet(path, [["a", None, "b", "a", " ", "b", "a"], [1, 2, 3, 4, 5, 6, SECRET]])


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("t.csv", bad_names_csv),
        ("t.parquet", bad_names_parquet),
        ("t.xlsx", bad_names_excel),
    ],
)
def test_duplicate_and_empty_names_are_refused_together(
    tmp_path: Path, name: str, make: Callable[[Path], Path]
):
    with pytest.raises(InputError) as caught:
        read(make(tmp_path / name))
    message = str(caught.value)
    assert len(caught.value.problems) == 4
    assert "3 columns named 'a' (number 1, 4, 7)" in message
    assert "2 columns named 'b' (number 3, 6)" in message
    assert "without a name (number 2)" in message
    assert "without a name (number 5)" in message
    assert SECRET not in message


def test_values_of_mixed_kinds_are_refused_with_their_counts(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"a": 1, "b": {{}}}}\n{{"a": "{SECRET}", "b": 2}}\n{{"a": 2.5}}\n')
    with pytest.raises(InputError) as caught:
        read(path)
    assert len(caught.value.problems) == 2
    assert "Column 'a' of" in caught.value.problems[0]
    assert "2 numbers and 1 texts" in caught.value.problems[0]
    assert "1 lists or objects and 1 numbers" in caught.value.problems[1]
    assert SECRET not in str(caught.value)


def test_json_numbers_and_text_beyond_arrow_are_refused(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"a": 1{"0" * 30}, "b": "{SECRET}\\ud800"}}\n')
    with pytest.raises(InputError) as caught:
        read(path)
    number, text = caught.value.problems
    assert re.search("Column 'a' of .* 64 bits", number)
    assert re.search("Column 'b' of .* Unicode", text)
    assert SECRET not in str(caught.value)


def test_a_key_missing_in_a_json_line_is_null(tmp_path):
    path = tmp_path / "t.ndjson"
    path.write_text('{"a": 1}\n{"b": "02139", "a": 2.5}\n')
    assert read(path).to_pydict() == {"a": [1.0, 2.5], "b": [None, "02139"]}


# Excel


def test_excel_cells_have_their_stored_type(tmp_path):
    rows = [
        ["whole", "part", "flag", "day", "moment", "text", 2024],
        [1.0, 1, True, datetime(2024, 1, 2), datetime(2024, 1, 2, 3), "02139", None],
        [2, 2.5, None, datetime(2024, 1, 3), datetime(2024, 1, 3), "5", None],
        [None, None, None, None, None, None, None],
        [3.0, 3.0, False, None, None, "x", None],
        [None, None, None, None, None, None, None],
    ]
    table = read(sheet(tmp_path / "t.xlsx", rows))
    day, moment = pa.date32(), pa.timestamp("us")
    types = [pa.int64(), pa.float64(), pa.bool_(), day, moment, pa.string(), pa.string()]
    assert table.schema.types == types
    assert table.num_rows == 4
    assert table["whole"].to_pylist() == [1, 2, None, 3]
    assert table["text"].to_pylist() == ["02139", "5", None, "x"]
    assert table.column_names[-1] == "2024"


def test_a_sheet_is_read_whole_when_its_stored_size_is_wrong(tmp_path):
    whole = zipfile.ZipFile(sheet(tmp_path / "whole.xlsx", [["a", "b"], [1, 2], [3, 4]]))
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as changed:
        for name in whole.namelist():
            changed.writestr(name, whole.read(name).replace(b'ref="A1:B3"', b'ref="A1"'))
    assert read(tmp_path / "t.xlsx").to_pydict() == {"a": [1, 3], "b": [2, 4]}


def test_an_excel_column_of_mixed_kinds_is_refused_with_counts(tmp_path):
    rows = [["a", "b", "c"], [1, SECRET, "=1/0"], [2.5, True, "x"], [SECRET, None, "y"]]
    path = sheet(tmp_path / "t.xlsx", rows)
    workbook = openpyxl.load_workbook(path)
    workbook.active["C2"].value = "#DIV/0!"
    workbook.save(path)
    with pytest.raises(InputError) as caught:
        read(path)
    counts = ["2 numbers and 1 texts", "1 texts and 1 true/false values"]
    for sentence, count in zip(
        caught.value.problems, [*counts, "1 spreadsheet errors and 2 texts"], strict=True
    ):
        assert count in sentence
    assert SECRET not in str(caught.value)


def test_without_openpyxl_the_extra_is_named(tmp_path, people, monkeypatch):
    write(people, tmp_path / "people.xlsx")
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
        write(pa.table({"a": values}), tmp_path / "t.xlsx")
    assert SECRET not in str(caught.value)
    assert names_in(tmp_path) == []


# Output


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
@pytest.mark.parametrize("value", [[1], {"a": 1}, b"x"], ids=["list", "struct", "binary"])
def test_a_column_only_parquet_can_hold_is_refused(tmp_path, suffix, value):
    table = pa.table({"a": [value]})
    with pytest.raises(InputError, match=r"Column 'a' has type .* write \.parquet"):
        write(table, tmp_path / f"t{suffix}")
    assert names_in(tmp_path) == []
    write(table, tmp_path / "t.parquet")
    assert_same(read(tmp_path / "t.parquet"), table)


def test_json_refuses_numbers_that_are_not_finite(tmp_path):
    with pytest.raises(InputError, match="Column 'a' holds NaN or infinity"):
        write(pa.table({"a": [1.0, np.inf]}), tmp_path / "t.jsonl")
    assert names_in(tmp_path) == []


def test_a_table_with_duplicate_names_is_not_written(tmp_path):
    with pytest.raises(InputError, match="2 columns named 'a'"):
        write(pa.table([[1], [2]], ["a", "a"]), tmp_path / "t.jsonl")


def test_a_usable_output_has_no_problems(tmp_path):
    assert output_problems(tmp_path / "release.csv", False) == []
    (tmp_path / "release.csv").touch()
    assert output_problems(str(tmp_path / "release.csv"), True) == []


def test_output_problems_are_told_together(tmp_path, monkeypatch):
    (tmp_path / "release.doc").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    suffix, writable, exists = output_problems(tmp_path / "release.doc", False)
    assert "'.doc' is not supported" in suffix
    assert "is not writable" in writable
    assert exists.endswith("exists; choose another name or pass --overwrite (overwrite=True).")


def test_a_folder_or_a_missing_folder_is_no_output(tmp_path, people):
    (tmp_path / "release.csv").mkdir()
    for overwrite in (False, True):
        assert "is a folder" in output_problems(tmp_path / "release.csv", overwrite)[0]
        assert "does not exist" in output_problems(tmp_path / "no" / "release.csv", overwrite)[0]
    with pytest.raises(InputError, match="does not exist"):
        write(people, tmp_path / "no" / "release.csv")


def test_an_existing_file_is_replaced_only_when_told(tmp_path, people):
    target = tmp_path / "release.parquet"
    write(people, target)
    before = target.read_bytes()
    with pytest.raises(InputError, match="overwrite=True"):
        write(people.slice(1), target)
    assert target.read_bytes() == before
    write(people.slice(1), target, overwrite=True)
    assert_same(read(target), people.slice(1))
    assert names_in(tmp_path) == ["release.parquet"]


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_appears_during_the_write_is_not_replaced(
    tmp_path, people, monkeypatch, has_links
):
    target = tmp_path / "release.csv"

    def no_link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not has_links:
        monkeypatch.setattr(os, "link", no_link)
    monkeypatch.setattr(os, "fsync", lambda _: target.write_text("theirs"))
    with pytest.raises(InputError, match="exists; choose another name"):
        write(people, target)
    assert target.read_text() == "theirs"
    assert names_in(tmp_path) == ["release.csv"]


def test_without_hard_links_a_new_file_is_written_all_the_same(tmp_path, people, monkeypatch):
    def no_link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    write(people, tmp_path / "release.csv")
    assert_same(read(tmp_path / "release.csv"), people)
    assert names_in(tmp_path) == ["release.csv"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
def test_a_failed_write_leaves_nothing_behind(tmp_path, people, monkeypatch, suffix, failure):
    seen: list[list[str]] = []

    def fail(_: int) -> None:
        seen.append(names_in(tmp_path))
        raise failure

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(failure):
        write(people, tmp_path / f"release{suffix}")
    [[temporary]] = seen
    assert re.fullmatch(rf"\.release{re.escape(suffix)}\.\w+\.tmp", temporary)
    assert names_in(tmp_path) == []


def test_a_full_disk_is_one_sentence(tmp_path, people, monkeypatch):
    def fail(_: int) -> None:
        raise OSError(28, SECRET)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match="cannot be written: No space left on device") as caught:
        write(people, tmp_path / "release.csv")
    assert SECRET not in str(caught.value)
    assert names_in(tmp_path) == []


def test_a_name_too_long_is_one_sentence(tmp_path, people):
    for length in (250, 300):
        with pytest.raises(InputError, match="cannot be written: File name too long"):
            write(people, tmp_path / f"{'x' * (length - 4)}.csv")


# Sudden death. The child announces each write; it is killed while at work.

RECORDS = 100_000
CHILD = f"""
import json, sys, time
import pyarrow as pa
from shoal.io import write

path, stall = sys.argv[1], sys.argv[2] == "stall"
encode, seen = json.JSONEncoder.encode, 0

def stalling(self, record):
    global seen
    seen += 1
    if stall and seen == {RECORDS} - 1:
        print("stalled", flush=True)
        time.sleep(600)
    return encode(self, record)

json.JSONEncoder.encode = stalling
for generation in range(1, 1000):
    table = pa.table({{"a": [generation] * {RECORDS}}})
    print("writing", flush=True)
    write(table, path, overwrite=True)
"""


def start_child(path: Path, mode: str) -> subprocess.Popen[str]:
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source}
    command = [sys.executable, "-c", CHILD, str(path), mode]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def kill(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert child.returncode == -signal.SIGKILL


@pytest.mark.parametrize("exists", [False, True])
def test_a_writer_killed_halfway_leaves_the_name_as_it_was(tmp_path, exists):
    target = tmp_path / "release.jsonl"
    if exists:
        target.write_text('{"a": 0}\n')
    child = start_child(target, "stall")
    assert child.stdout is not None
    assert [child.stdout.readline() for _ in range(2)] == ["writing\n", "stalled\n"]
    kill(child)
    [half] = tmp_path.glob(".release.jsonl.*.tmp")
    assert half.stat().st_size > 0
    assert target.exists() == exists
    assert not exists or target.read_text() == '{"a": 0}\n'


@pytest.mark.parametrize("suffix", [".csv", ".jsonl.gz", ".parquet"])
def test_a_writer_killed_at_any_moment_leaves_a_whole_file_or_none(tmp_path, suffix):
    target = tmp_path / f"release{suffix}"
    for _ in range(4):
        child = start_child(target, "run")
        assert child.stdout is not None
        assert child.stdout.readline() == "writing\n"
        time.sleep(random.uniform(0, 0.1))
        kill(child)
        if target.exists():
            generations = read(target)["a"]
            assert len(generations) == RECORDS
            assert len(generations.unique()) == 1


def test_the_lines_of_a_json_file_are_read_back_by_json(tmp_path, people):
    write(people, tmp_path / "people.jsonl")
    lines = (tmp_path / "people.jsonl").read_text().splitlines()
    assert [list(json.loads(line)) for line in lines] == [people.column_names] * 3
