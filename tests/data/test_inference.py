"""Texts are numbers or dates only when every one of them is."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

from shoal.encoding.source import Input
from shoal.encoding.type_inference import has_time, infer


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
        (["250.10", "250.1"], pa.float64()),
        (["1.0", "1e-7", "1.5E+20"], pa.float64()),
        (["1E50", "1E51"], pa.string()),
        (["007.5", "1.5"], pa.string()),
        (["1.5", "12345678901234567890"], pa.string()),
        (["1.5", "nan"], pa.string()),
        (["1.5", "inf"], pa.string()),
        (["1.5", "1e+999"], pa.string()),
        (["1.5", "1,5"], pa.string()),
        (["1.5", "-"], pa.string()),
        (["1.5", ""], pa.string()),
        (["true", "false"], pa.bool_()),
        (["TRUE", "TRUE"], pa.bool_()),
        (["True", "False"], pa.bool_()),
        (["True", "false"], pa.string()),
        (["true", "1"], pa.string()),
        (["2024-02-29", "1850-01-01"], pa.date32()),
        (["2023-02-29", "2024-01-01"], pa.string()),
        (["0000-01-01", "2024-01-01"], pa.string()),
        (["0000-01-01 10:00", "2024-01-01 10:00"], pa.string()),
        (["2024-1-1", "2024-01-01"], pa.string()),
        (["2024-01-01T10:00", "2024-01-01 10:00:00.5"], pa.timestamp("us")),
        (["2024-01-01T10:00:00.123456789", "2024-01-01T10:00"], pa.timestamp("ns")),
        (["2024-01-01T10:00:00Z", "2024-01-01T10:00:00+02:00"], pa.timestamp("us", "UTC")),
        (["2024-01-01T10:00:00Z", "2024-01-01T10:00:00"], pa.string()),
        (["2024-01-01", "2024-01-01T10:00:00"], pa.string()),
        (["2024-01-01T25:00", "2024-01-01T10:00"], pa.string()),
        (["x", "1"], pa.string()),
        ([], pa.string()),
    ],
)
@pytest.mark.parametrize("chunked", [False, True])
def test_the_type_fits_every_value(values, type_, chunked):
    texts = pa.array([*values, None], pa.string())
    found = infer(pa.chunked_array([texts]) if chunked else texts, Input())
    assert found.type == type_
    assert isinstance(found, pa.ChunkedArray) == chunked
    assert found.null_count == 1
    if type_ == pa.string():
        assert found.to_pylist() == [*values, None]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["2,5", "10", None], [2.5, 10.0, None]),
        (["2,50", "2,5"], [2.5, 2.5]),
        (["2", "3"], [2, 3]),
        (["2.5", "3"], ["2.5", "3"]),
        (["1.234,5"], ["1.234,5"]),
        (["02,5"], ["02,5"]),
    ],
)
def test_a_decimal_comma_is_read_when_told(values, found):
    assert infer(pa.array(values), Input(decimal=",")).to_pylist() == found


@pytest.mark.parametrize(
    ("date_format", "values", "type_", "first"),
    [
        ("%d.%m.%Y", ["31.12.1999", "1.2.2000", None], pa.date32(), date(1999, 12, 31)),
        ("%Y%m%d", ["19991231"], pa.date32(), date(1999, 12, 31)),
        (
            "%d/%m/%y %H:%M",
            ["31/12/99 23:59", None],
            pa.timestamp("us"),
            datetime(1999, 12, 31, 23, 59),
        ),
        (
            "%d.%m.%Y %H:%M%z",
            ["31.12.1999 23:00-0200"],
            pa.timestamp("us", "UTC"),
            datetime(2000, 1, 1, 1, tzinfo=UTC),
        ),
        ("%d.%m.%Y", ["31.12.1999", "x"], pa.string(), "31.12.1999"),
        ("%d.%m.%Y", ["1999-12-31"], pa.date32(), date(1999, 12, 31)),
        ("%d.%m.%Y", ["12", "13"], pa.int64(), 12),
        ("%d.%m.%Y", ["30.02.1999"], pa.string(), "30.02.1999"),
    ],
)
def test_a_date_format_comes_first(date_format, values, type_, first):
    found = infer(pa.array(values), Input(date_format=date_format))
    assert found.type == type_
    assert found[0].as_py() == first
    assert found.null_count == values.count(None)


def test_large_texts_are_typed_like_small_ones():
    for values in (["1", "2"], ["2.50"], ["true"], ["2024-01-01"]):
        texts = pa.array(values)
        assert infer(texts.cast(pa.large_string()), Input()).equals(infer(texts, Input()))


def test_a_format_has_a_time_when_it_says_hours_or_a_zone():
    assert has_time("%d.%m.%Y %H:%M")
    assert not has_time("%d.%m.%Y")
    assert not has_time("%Y %%H")
