"""Files of every format: what is written comes back, what is no table is refused without showing cells."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torn
from torn import SECRET, SUFFIXES, TEXT_SUFFIXES, assert_same, names_in, problem, sheet
from torn import torn as refused

from shoal.data.files.formats import output_problems, path_problems, space_problems
from shoal.data.files.table_file import (
    file_content_problems,
    formula_columns,
    read_file,
    write_file,
)
from shoal.encoding.source import Input
from shoal.encoding.type_inference import infer
from shoal.errors import InputError


@pytest.fixture
def people() -> pa.Table:
    return torn.people()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_written_table_comes_back_the_same(tmp_path, people, suffix):
    write_file(people, tmp_path / f"people{suffix}")
    assert_same(read_file(str(tmp_path / f"people{suffix}")), people)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_only_the_output_is_left_in_the_folder(tmp_path, people, suffix):
    write_file(people, tmp_path / f"people{suffix}")
    assert names_in(tmp_path) == [f"people{suffix}"]


@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if s != ".xlsx"])
def test_null_and_empty_text_stay_apart(tmp_path, suffix):
    table = pa.table({"a": ["", None, "x"], "b": [None, "", None]})
    write_file(table, tmp_path / f"t{suffix}")
    assert_same(read_file(tmp_path / f"t{suffix}"), table)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_single_column_keeps_its_nulls(tmp_path, suffix):
    table = pa.table({"a": [None, 1, None, 2, None]})
    write_file(table, tmp_path / f"t{suffix}")
    assert_same(read_file(tmp_path / f"t{suffix}"), table)


def test_a_zoned_time_comes_back_as_the_same_instant(tmp_path):
    moments = pa.array([datetime(2024, 7, 1, 12)], pa.timestamp("us", "Europe/Berlin"))
    for suffix in (".csv", ".jsonl"):
        write_file(pa.table({"seen": moments}), tmp_path / f"t{suffix}")
        texts = read_file(tmp_path / f"t{suffix}")["seen"]
        assert infer(texts, Input()).to_pylist() == moments.to_pylist()


def test_a_written_file_holds_neither_unused_categories_nor_metadata(tmp_path):
    codes = pa.DictionaryArray.from_arrays([0, 0], ["*", SECRET])
    fields = [pa.field("zip", codes.type, metadata={"was": SECRET})]
    table = pa.Table.from_arrays([codes], schema=pa.schema(fields, metadata={"source": SECRET}))
    for suffix in SUFFIXES:
        write_file(table, tmp_path / f"t{suffix}")
        assert read_file(tmp_path / f"t{suffix}").to_pydict() == {"zip": ["*", "*"]}
    pq.write_table(table, tmp_path / "raw.parquet", compression="none")
    assert SECRET.encode() in (tmp_path / "raw.parquet").read_bytes()
    found = pq.read_table(tmp_path / "t.parquet")
    assert found.schema.equals(pa.schema({"zip": pa.string()}), check_metadata=True)


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
    message = refused(tmp_path, SECRET, name)
    assert all(suffix in message for suffix in (*TEXT_SUFFIXES, ".gz", ".parquet", ".xlsx"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_is_refused(tmp_path, suffix):
    assert "is empty" in refused(tmp_path, b"", f"people{suffix}")


@pytest.mark.parametrize("suffix", TEXT_SUFFIXES)
def test_a_file_of_blank_lines_is_empty(tmp_path, suffix):
    assert "is empty" in refused(tmp_path, "\n \n", f"people{suffix}")
    assert "is empty" in refused(tmp_path, gzip.compress(b"\n"), f"people{suffix}.gz")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_truncated_or_damaged_gzip_file_is_refused(tmp_path, suffix):
    content = gzip.compress(f"a,b\n{SECRET},1\n".encode() * 100, mtime=0)
    flipped = content[:-8] + bytes([content[-8] ^ 255]) + content[-7:]
    garbled = content[:10] + b"\xff" + content[11:]
    cut = [content[:-4], content[:20]]
    for damaged in (*cut, b"xx" + content, content + b"xx", flipped, garbled):
        assert "not a complete gzip file" in refused(tmp_path, damaged, f"people{suffix}.gz")


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
        read_file(make(tmp_path / name))
    message = str(caught.value)
    assert len(caught.value.problems) == 4
    assert "3 columns named 'a' (columns 1, 4, 7)" in message
    assert "2 columns named 'b' (columns 3, 6)" in message
    assert "Column 2 of" in message
    assert "Column 5 of" in message
    assert SECRET not in message


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
@pytest.mark.parametrize("value", [[1], {"a": 1}, b"x"], ids=["list", "struct", "binary"])
def test_a_column_only_parquet_can_hold_is_refused(tmp_path, suffix, value):
    table = pa.table({"a": [value]})
    with pytest.raises(InputError, match=r"Column 'a' has type .* Write \.parquet"):
        write_file(table, tmp_path / f"t{suffix}")
    assert names_in(tmp_path) == []
    write_file(table, tmp_path / "t.parquet")
    assert_same(read_file(tmp_path / "t.parquet"), table)


def test_a_table_with_duplicate_names_is_not_written(tmp_path):
    with pytest.raises(InputError, match="2 columns named 'a'"):
        write_file(pa.table([[1], [2]], ["a", "a"]), tmp_path / "t.jsonl")


# What is no file


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "people.csv")
    assert "is not a regular file" in problem(tmp_path / "people.csv")


def test_a_link_to_itself_is_one_sentence(tmp_path):
    (tmp_path / "people.csv").symlink_to("people.csv")
    assert "is a link that leads to itself" in problem(tmp_path / "people.csv")


@pytest.mark.parametrize("name", ["people\udcff.csv", "people\0.csv"])
def test_a_name_that_cannot_be_shown_is_one_sentence(tmp_path, name):
    with pytest.raises(
        InputError, match="The name of the input contains characters that are not UTF-8"
    ):
        read_file(tmp_path / name)
    for overwrite in (False, True):
        [sentence] = output_problems(tmp_path / name, overwrite)
        assert sentence.startswith("The name of the output contains characters that are not UTF-8")
        assert path_problems(tmp_path / name, overwrite) == [sentence]


# What can be known before


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
def test_what_a_format_cannot_hold_is_known_from_the_types(suffix):
    codes = pa.dictionary(pa.int8(), pa.string())
    schema = pa.schema({"tags": pa.list_(pa.string()), "raw": pa.binary(), "code": codes})
    tags, raw = file_content_problems(schema, f"t{suffix}")
    assert tags.startswith("Column 'tags' has type list")
    assert raw.startswith("Column 'raw' has type binary")
    assert file_content_problems(schema, "t.parquet") == []


def test_what_a_format_cannot_hold_is_known_from_the_values():
    table = pa.table({"n": [10**16, 1], "t": [SECRET + "\1", None], "f": [float("nan"), 1.0]})
    found = file_content_problems(table, "t.xlsx")
    assert len(found) == 3
    assert SECRET not in str(found)
    assert file_content_problems(table.schema, "t.xlsx") == []
    assert len(file_content_problems(table, "t.jsonl")) == 1
    assert file_content_problems(table, "t.csv") == []
    assert file_content_problems(table, "t.unknown") == []


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
def test_a_column_of_nulls_can_be_held_by_every_format(suffix):
    table = pa.table({"f": pa.nulls(2, pa.float64()), "g": ["a", "b"]})
    assert file_content_problems(table, f"t{suffix}") == []


def test_a_sheet_cannot_hold_records_that_are_empty_everywhere():
    table = pa.table({"f": [1, None, None], "g": ["a", "", None]})
    [sentence] = file_content_problems(table, "t.xlsx")
    assert sentence.startswith("2 records are empty in all columns")
    assert file_content_problems(table, "t.csv") == []


def test_a_disk_that_is_too_full_is_told(tmp_path):
    assert space_problems(1, tmp_path / "t.csv") == []
    [sentence] = space_problems(10**18, tmp_path / "t.csv")
    assert "needs about 1,000,000,000,000.0 MB" in sentence
    assert space_problems(10**18, tmp_path / "none" / "t.csv") == []


# Formulas


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "=HYPERLINK(1)",
        "@SUM(1)",
        "+cmd|' /C calc'!A0",
        "-2+3+cmd|' /C calc'!A0",
        "\t=A1",
        "=\n1",
    ],
)
def test_a_formula_is_noticed(text):
    assert formula_columns(pa.table({"a": ["x", text], "b": ["x", "y"]})) == ["a"]
    assert formula_columns(pa.table({"a": pa.array([text]).dictionary_encode()})) == ["a"]


@pytest.mark.parametrize(
    "text",
    ["-5", "+5", "-", "=", "--", "+49 (30) 1234-5", "a=b", "me@x.org", "-1.5e+3", "- none", ""],
)
def test_an_ordinary_text_is_no_formula(text):
    assert formula_columns(pa.table({"a": [text, None], "n": [-1, 2]})) == []
