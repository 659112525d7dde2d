"""SPSS and Stata files in and out, SAS in: values as they were, and sentences for what such files cannot hold."""

from __future__ import annotations

from datetime import date, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal import InputError
from shoal.data.files.table_file import read_file, read_file_texts, write_file

pytest.importorskip("pyreadstat")

SUFFIXES = (".sav", ".dta")
TABLE = pa.table(
    {
        "age": pa.array([31, None, 52, 58], pa.int64()),
        "weight": [61.5, 70.25, None, 80.0],
        "sex": ["f", "m", None, "≥ 90–99"],
        "born": pa.array([date(1990, 1, 2), None, date(1931, 3, 4), date(2020, 2, 29)]),
        "seen": pa.array([datetime(2020, 1, 2, 3, 4, 5), None] * 2, pa.timestamp("us")),
    }
)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_values_come_back_as_they_were(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write_file(TABLE, path)
    assert read_file(path).to_pydict() == TABLE.to_pydict()
    assert read_file(path).schema.types == TABLE.schema.types
    assert read_file_texts(path)["age"].to_pylist() == ["31", None, "52", "58"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("unit", "year"),
    [*product(["s", "ms", "us"], [1582, 1990, 9999]), ("ns", 1990)],  # ns: 1677 to 2262
)
def test_times_of_any_unit_come_back(tmp_path: Path, suffix: str, unit: str, year: int) -> None:
    times = [datetime(2020, 1, 2, 3, 4, 5), None, datetime(year, 12, 31)]
    path = tmp_path / f"t{suffix}"
    write_file(pa.table({"seen": pa.array(times, pa.timestamp(unit))}), path)
    assert read_file(path)["seen"].to_pylist() == times


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_is_anonymized_from_file_to_file(tmp_path: Path, shell: Any, suffix: str) -> None:
    people = pa.table(
        {"age": [31, 33, 52, 58] * 5, "sex": list("ffmm") * 5, "ill": list("abca") * 5}
    )
    write_file(people, tmp_path / f"people{suffix}")
    flags = ("-q", "age", "-q", "sex", "-s", "ill", "-k", 4)
    made = ("anonymize", tmp_path / f"people{suffix}", *flags, "-o", tmp_path / f"release{suffix}")
    assert shell(*made)[0] == 0
    assert shell("audit", tmp_path / f"release{suffix}", *flags)[0] == 0
    found = shoal.audit(tmp_path / f"release{suffix}", quasi_identifiers=["age", "sex"], k=4)
    assert found.records == 20


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"a b": [1]}, ".sav", "cannot have a column named 'a b'"),
    ({"a b": [1]}, ".dta", "cannot have a column named 'a b'"),
    ({"x" * 33: [1]}, ".dta", "at most 32"),
    ({"1st": [1]}, ".sav", "a letter first"),
    ({"a": [1], "A": [2]}, ".sav", "differ only in case"),
    ({"a": [2**60]}, ".dta", "more than 53 bits"),
    ({"a": ["x" * 3000]}, ".dta", "more than 2,045 bytes"),
    ({"a": [[1, 2]]}, ".sav", "has type list"),
    ({"a": [1]}, ".sas7bdat", "SAS files can be read but not written"),
]


@pytest.mark.parametrize(("columns", "suffix", "says"), BAD)
def test_what_a_file_cannot_hold_gets_a_sentence(
    tmp_path: Path, columns: dict[str, Any], suffix: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        write_file(pa.table(columns), tmp_path / f"t{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".sas7bdat"])
@pytest.mark.parametrize("content", [b"CANARY", b"$FL2 and no more CANARY", b"\0" * 5000])
def test_damaged_files_get_a_sentence(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a complete") as caught:
        read_file(path)
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_cut_off_are_refused_or_whole(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write_file(pa.table({"a": list(range(1000)), "b": ["x"] * 1000}), path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError):
        read_file(path)
