"""Parquet: types and values as they are, and nothing of what is not written."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torn
from torn import SECRET, problem
from torn import torn as refused

from shoal.data.files.table_file import read_file_texts, write_file


@pytest.fixture
def people() -> pa.Table:
    return torn.people()


@pytest.mark.parametrize("cut", [3, 60, -1])
def test_a_truncated_parquet_file_is_refused(tmp_path, people, cut):
    write_file(people, tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()[:cut]
    assert "not a complete Parquet file" in refused(tmp_path, content, "people.parquet")


def test_a_flipped_byte_in_our_parquet_file_is_refused(tmp_path):
    write_file(pa.table({"a": list(range(1000))}), tmp_path / "people.parquet")
    content = bytearray((tmp_path / "people.parquet").read_bytes())
    content[500] ^= 255
    assert "not a complete Parquet file" in refused(tmp_path, bytes(content), "people.parquet")


def test_a_parquet_file_with_text_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "people.parquet"
    buffers = pa.array([b"\xff" + SECRET.encode()]).buffers()
    pq.write_table(pa.table({"a": pa.Array.from_buffers(pa.string(), 1, buffers)}), path)
    assert "not a complete Parquet file" in problem(path)


# Traces of records that are not written


def secrets_in(path: Path) -> bool:
    return SECRET.encode() in path.read_bytes()


CODES = pa.array(["a", "b", SECRET]).dictionary_encode()
OFFSETS = pa.array([0, 1, 2, 3], pa.int32())
RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), ["a", "b", SECRET])
NESTED = {
    "dictionary": CODES,
    "list": pa.ListArray.from_arrays(OFFSETS, CODES),
    "large list": pa.LargeListArray.from_arrays(OFFSETS.cast(pa.int64()), CODES),
    "fixed list": pa.FixedSizeListArray.from_arrays(CODES, 1),
    "struct": pa.StructArray.from_arrays([CODES], ["x"]),
    "map": pa.MapArray.from_arrays(OFFSETS, pa.array(["k", "l", "m"]), CODES),
    "struct in list": pa.ListArray.from_arrays(OFFSETS, pa.StructArray.from_arrays([CODES], ["x"])),
    "run ends": RUNS,
    "run ends in list": pa.ListArray.from_arrays(OFFSETS, RUNS),
    "view": pa.array(["a", "b", SECRET]).cast(pa.string_view()),
    "view in list": pa.ListArray.from_arrays(
        OFFSETS, pa.array(["a", "b", SECRET]).cast(pa.string_view())
    ),
}


@pytest.mark.parametrize("kind", NESTED)
def test_values_of_records_that_are_not_written_are_in_no_file(tmp_path, kind):
    values = NESTED[kind].slice(0, 2)
    write_file(pa.table({"a": values}), tmp_path / "t.parquet")
    assert not secrets_in(tmp_path / "t.parquet")
    found = pq.read_table(tmp_path / "t.parquet")
    assert found.schema.metadata is None
    assert found["a"].to_pylist() == values.to_pylist()
    assert "dictionary" not in str(found.schema)
    assert "run_end" not in str(found.schema)
    if not pa.types.is_nested(values.type):
        write_file(pa.table({"a": values}), tmp_path / "t.csv")
        assert read_file_texts(tmp_path / "t.csv").to_pydict() == {"a": ["a", "b"]}


def test_metadata_is_dropped_at_any_depth(tmp_path):
    inner = pa.field("x", pa.int64(), metadata={"was": SECRET})
    fields = [
        pa.field("s", pa.struct([inner]), metadata={"was": SECRET}),
        pa.field("l", pa.list_(inner)),
    ]
    schema = pa.schema(fields, metadata={"pandas": SECRET})
    write_file(pa.table([[{"x": 1}], [[1]]], schema=schema), tmp_path / "t.parquet")
    assert not secrets_in(tmp_path / "t.parquet")
    stored = pq.ParquetFile(tmp_path / "t.parquet").metadata.metadata[b"ARROW:schema"]
    assert SECRET.encode() not in base64.b64decode(stored)


def test_extension_types_become_what_they_store(tmp_path):
    cut = pd.cut(pd.Series([1, 2, 3, 4]), 2)
    frame = pd.DataFrame({"cut": cut, "month": pd.period_range("2020", periods=4, freq="M")})
    table = pa.Table.from_pandas(frame).append_column(
        "id", pa.array([bytes(16)] * 4, pa.binary(16)).cast(pa.uuid())
    )
    write_file(table, tmp_path / "t.parquet")
    stored = pq.read_schema(tmp_path / "t.parquet")
    assert stored.metadata is None
    assert stored.field("cut").type == pa.struct({"left": pa.float64(), "right": pa.float64()})
    assert stored.field("month").type == pa.int64()
    assert stored.field("id").type == pa.binary(16)


# Texts for the audit


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, 2]),
        pa.array([0.1, np.nextafter(0.1, 1)]),
        pa.array([0.0, -0.0]),
        pa.array(np.array([1.5, 2.5], np.float16)),
        pa.array([0, 1], pa.timestamp("ns", "Europe/Berlin")),
        pa.array([0, 1], pa.timestamp("us", "Nowhere/City")),
        pa.array([0, 1], pa.duration("s")),
        pa.array([0, 1], pa.time64("ns")),
        pa.array([b"\xff", b"\xfe"]),
        pa.array([[1], [2]]),
        pa.array(["a", "b"]).dictionary_encode(),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([1, 2], pa.decimal128(5, 2)),
    ],
    ids=lambda values: str(values.type),
)
def test_different_values_have_different_texts(tmp_path, values):
    table = pa.table({"a": pa.concat_arrays([values, values, pa.nulls(1, values.type)])})
    pq.write_table(table, tmp_path / "t.parquet")
    first, second, *again, missing = read_file_texts(tmp_path / "t.parquet")["a"].to_pylist()
    assert isinstance(first, str)
    assert first != second
    assert again == [first, second]
    assert missing is None
