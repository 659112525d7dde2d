"""JSON lines: one object per line, numbers by their tokens; what is torn is refused without showing cells."""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torn
from torn import SECRET, names_in
from torn import torn as refused

from shoal.data.files.table_file import open_file, read_file, read_file_texts, write_file
from shoal.encoding.source import Input
from shoal.errors import InputError


@pytest.fixture
def people() -> pa.Table:
    return torn.people()


def test_json_lines_hold_nulls_and_iso_dates(tmp_path):
    table = pa.table(
        {
            "a": [None, 1],
            "d": [date(2024, 1, 2), None],
            "t": pa.array([datetime(2024, 1, 2, 3), None], pa.timestamp("s")),
            "m": [Decimal("1.50"), None],
        }
    )
    write_file(table, tmp_path / "t.jsonl")
    assert (tmp_path / "t.jsonl").read_text() == (
        '{"a": null, "d": "2024-01-02", "t": "2024-01-02T03:00:00", "m": 1.50}\n'
        '{"a": 1, "d": null, "t": null, "m": null}\n'
    )


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
    assert "Line 3 of" in refused(tmp_path, f'{{"a": 1}}\n\n{line}\n', "t.jsonl")


def test_values_of_mixed_kinds_are_refused_with_their_counts(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"a": 1, "b": {{}}}}\n{{"a": "{SECRET}", "b": 2}}\n{{"a": 2.5}}\n')
    with pytest.raises(InputError) as caught:
        read_file(path)
    assert len(caught.value.problems) == 2
    assert "Column 'a' of" in caught.value.problems[0]
    assert "numbers (2) and texts (1)" in caught.value.problems[0]
    assert "lists or objects (1) and numbers (1)" in caught.value.problems[1]
    assert SECRET not in str(caught.value)


def test_json_text_beyond_unicode_is_refused(tmp_path):
    message = refused(tmp_path, f'{{"b": "{SECRET}\\ud800"}}\n', "t.jsonl")
    assert re.search("Column 'b' of .* Unicode", message)


def test_a_key_missing_in_a_json_line_is_null(tmp_path):
    path = tmp_path / "t.ndjson"
    path.write_text('{"a": 1}\n{"b": "02139", "a": 2.5}\n')
    assert read_file(path).to_pydict() == {"a": [1.0, 2.5], "b": [None, "02139"]}


def test_json_refuses_numbers_that_are_not_finite(tmp_path):
    with pytest.raises(InputError, match="Column 'a' contains NaN or infinity"):
        write_file(pa.table({"a": [1.0, np.inf]}), tmp_path / "t.jsonl")
    assert names_in(tmp_path) == []


def test_the_lines_of_a_json_file_are_read_back_by_json(tmp_path, people):
    write_file(people, tmp_path / "people.jsonl")
    lines = (tmp_path / "people.jsonl").read_text().splitlines()
    assert [list(json.loads(line)) for line in lines] == [people.column_names] * 3


@pytest.mark.parametrize(
    ("tokens", "type_"),
    [
        (["34", "-1", "0"], pa.int64()),
        (["34", "2.5"], pa.float64()),
        (["34", "34.0", "3.4e1"], pa.string()),
        (["250.10"], pa.string()),
        (["-0"], pa.string()),
        (["1" + "0" * 30], pa.string()),
        (["1E400"], pa.string()),
    ],
)
def test_numbers_keep_their_tokens(tmp_path, tokens, type_):
    path, again = tmp_path / "t.jsonl", tmp_path / "again.jsonl"
    path.write_text("".join(f'{{"a": {token}}}\n' for token in tokens) + '{"a": null}\n')
    source = open_file(path)
    field = source.data.schema.field("a")
    assert field.type == type_
    assert field.metadata == ({b"shoal": b"number"} if type_ == pa.string() else None)
    assert read_file_texts(path)["a"].to_pylist() == [*tokens, None]
    write_file(source.data, again)
    assert again.read_bytes() == path.read_bytes()


def test_the_mark_of_number_tokens_gets_into_no_parquet_file(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 250.10}\n')
    write_file(read_file(tmp_path / "t.jsonl"), tmp_path / "t.parquet")
    assert pq.read_schema(tmp_path / "t.parquet").field("a").metadata is None
    assert pq.read_schema(tmp_path / "t.parquet").metadata is None


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("2024-01-02", pa.date32()),
        ("2024-01-02T03:04:05", pa.timestamp("s")),
        ("2024-01-02 03:04:05", pa.string()),
        ("2024-01-02T03:04:05Z", pa.string()),
        ("34", pa.string()),
        ("true", pa.string()),
        ('é "x" \\ \n \u2028', pa.string()),
    ],
)
def test_texts_are_typed_only_where_nothing_is_lost(tmp_path, text, type_):
    path, again = tmp_path / "t.jsonl", tmp_path / "again.jsonl"
    path.write_text(json.dumps({"a": text, "b": True}, ensure_ascii=False) + "\n", "utf-8")
    assert read_file(path).schema.types == [type_, pa.bool_()]
    assert read_file_texts(path).to_pylist() == [{"a": text, "b": "true"}]
    write_file(read_file(path), again)
    assert again.read_bytes() == path.read_bytes()


def test_json_lines_in_another_encoding_are_read_when_told(tmp_path):
    (tmp_path / "t.jsonl").write_bytes('{"a": "é"}\n'.encode("cp1252"))
    assert read_file(tmp_path / "t.jsonl", Input(encoding="cp1252")).to_pydict() == {"a": ["é"]}
