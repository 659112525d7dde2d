"""Columns of unusual types go all the way or get a sentence, never an error of a library."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from allowed import allowing

import shoal
from shoal.data.files import table_file

BESIDE: dict[str, Any] = {
    "string view": pa.table(
        {"x": [1, 1, 2, 2], "b": pa.array(list("aabb")).cast(pa.string_view())}
    ),
    "run ends": pa.table(
        {
            "x": [1, 1, 2, 2],
            "b": pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], pa.int32()), ["a", "b"]),
        }
    ),
    "intervals of pandas": pd.DataFrame(
        {"x": [1, 1, 2, 2], "b": pd.cut(pd.Series([1, 1, 3, 3]), 2)}
    ),
    "lists": pa.table({"x": [1, 1, 2, 2], "b": [["a"], ["a"], [], None]}),
    "structures": pa.table({"x": [1, 1, 2, 2], "b": [{"a": 1}] * 2 + [{"a": None}] * 2}),
    "durations": pd.DataFrame({"x": [1, 1, 2, 2], "b": pd.to_timedelta([1, 1, 2, 2], "D")}),
    "bytes": pa.table({"x": [1, 1, 2, 2], "b": [b"\xff", b"\xff", b"b", b"b"]}),
}


def test_bounds_of_a_column_of_which_no_value_is_left_are_two_columns() -> None:
    table = pa.table({"q": [7, None, None], "town": ["a", "b", "b"]})
    release = shoal.anonymize(
        table,
        quasi_identifiers={"q": shoal.Interval(), "town": None},
        weights={"town": 100},
        method="exact",
        suppression_limit=0.9,
        render="bounds",
        k=2,
    )
    assert release.suppressed == 1
    assert release.data.column_names == ["q_min", "q_max", "town"]


@pytest.mark.parametrize("kind", BESIDE)
def test_odd_columns_are_kept_and_saved(kind: str, tmp_path: Path) -> None:
    release = shoal.anonymize(
        BESIDE[kind], quasi_identifiers=["x"], keep=["b"], allow=allowing("b"), k=2, keep_order=True
    )
    kept, original = (pa.table({"b": data["b"]}) for data in (release.data, BESIDE[kind]))
    assert list(map(str, kept["b"].to_pylist())) == list(map(str, original["b"].to_pylist()))
    release.save_report(tmp_path / "report.html")
    release.save(tmp_path / "release.parquet")
    assert table_file.read_file(tmp_path / "release.parquet").num_rows == 4


QUASI_IDENTIFIERS: dict[str, Any] = {
    "years beyond 9999": pa.array([2**55] * 4, pa.int64()).view(pa.timestamp("s")),
    "an unknown time zone": pa.array([1, 1, 2, 2], pa.int64()).view(
        pa.timestamp("us", "Nowhere/City")
    ),
    "text that is not UTF-8": pa.Array.from_buffers(
        pa.string(), 4, pa.array([b"\xff"] * 4).buffers()
    ),
}


@pytest.mark.parametrize("kind", QUASI_IDENTIFIERS)
def test_what_cannot_be_read_gets_a_sentence(kind: str) -> None:
    table = pa.table({"x": QUASI_IDENTIFIERS[kind]})
    with pytest.raises(shoal.InputError, match="Column 'x' contains"):
        shoal.anonymize(table, quasi_identifiers=["x"], k=2)


def test_a_date_of_the_year_0_is_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n" + "0000-01-01\n" * 4)
    release = shoal.anonymize(tmp_path / "t.csv", quasi_identifiers=["x"], k=2)
    assert set(release.data["x"].to_pylist()) == {"0000-01-01"}


def test_a_domain_may_have_more_digits_than_the_column() -> None:
    table = pd.DataFrame({"x": [Decimal("1.5"), Decimal("2.5")] * 2})
    domain = [Decimal("1.5"), Decimal("2.5"), Decimal("10.5")]
    release = shoal.anonymize(table, quasi_identifiers={"x": shoal.Interval(domain)}, k=2)
    assert release.loss("ncp") == 0


def test_numbers_that_floats_cannot_hold_are_bounds_as_they_are() -> None:
    table = pd.DataFrame({"x": pd.array([None] * 3 + [9007199254740993] * 3, "Int64")})
    options = {"quasi_identifiers": ["x"], "k": 3, "render": "bounds", "keep_order": True}
    data = shoal.anonymize(table, **options).data
    assert data["x_min"].dtype == "Int64"
    assert data["x_max"].iloc[-1] == 9007199254740993
