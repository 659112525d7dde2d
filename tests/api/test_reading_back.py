"""`shoal.read_release` reads released texts back: what goes into a file as a closure comes out as its bounds."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import InputError
from shoal.encoding.forms import RangeForm
from shoal.encoding.frames import open_frame
from shoal.encoding.released_texts import (
    period_days,
    range_ends,
    read_periods,
    released_column,
    run_ends,
)

TREE = shoal.Hierarchy.from_dict({"*": {"France": ["Lille", "Lyon"], "Spain": ["Vigo", "Elx"]}})
GRADES = ["low", "mid", "high"]
KINDS = {"pandas": pa.Table.to_pandas, "polars": pl.from_arrow, "arrow": lambda table: table}


def people(records: int = 60, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    hidden = rng.random(records) < 0.1

    def drawn(values: list[Any]) -> pa.Array:
        return pa.array([None if no else v for v, no in zip(values, hidden, strict=True)])

    return pa.table(
        {
            "age": drawn(rng.integers(-5, 90, records).tolist()),
            "size": rng.normal(1.7, 0.1, records).round(3),
            "born": drawn(
                [date(1990, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 900, records)]
            ),
            "town": drawn(rng.choice(TREE.leaves, records).tolist()),
            "grade": drawn(rng.choice(GRADES, records).tolist()),
            "job": drawn(rng.choice(["a", "b, c", '"d"', "{e"], records).tolist()),
            "floor": drawn(rng.integers(0, 3, records).tolist()),
            "ill": rng.choice(["flu", "cold"], records),
        }
    )


MODELS = {
    "age": shoal.Interval(),
    "size": shoal.Interval(),
    "born": shoal.Interval(),
    "town": TREE,
    "grade": shoal.Order(GRADES),
    "job": shoal.Subset(),
    "floor": shoal.Suppression(),
}
JOB = {"quasi_identifiers": MODELS, "sensitive": ["ill"], "k": 4, "keep_order": True}


def column(table: Any, name: str) -> list[Any]:
    return open_frame(table)[name].to_arrow().to_pylist()


def expected(release: shoal.Release, name: str) -> list[tuple[Any, Any]]:
    """The bounds of each record, from the closures that the release was rendered from."""
    closed = release.closed
    j = closed.table.names.index(name)
    form = closed.table.columns[j].form
    assert isinstance(form, RangeForm)
    values = form.values.to_pylist()
    ends = []
    for low, high in closed.of_column(j).T.tolist():
        none = form.null in (low, high)
        ends.append((None, None) if none else (values[low], values[high]))
    return [ends[group] for group in closed.groups]


@settings(max_examples=8)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["csv", "parquet", "jsonl"]),
    st.sampled_from(["text", "bounds"]),
)
def test_what_is_released_comes_back_from_a_file(
    tmp_path_factory: pytest.TempPathFactory, seed: int, suffix: str, render: Any
) -> None:
    folder = tmp_path_factory.mktemp("release")
    release = shoal.anonymize(people(40, seed), **JOB, render=render, refine=False)
    path, toml = folder / f"release.{suffix}", folder / "release.toml"
    release.save(path)
    release.settings.save(toml)
    found = shoal.read_release(path, toml)
    for name in ("age", "size", "born", "grade"):
        bounds = found.bounds(name)
        assert list(zip(column(bounds, "low"), column(bounds, "high"), strict=True)) == expected(
            release, name
        )
    texts = dict(zip(TREE.leaves, [0] * 4, strict=True)) | {
        "France": 1,
        "Spain": 1,
        "*": 2,
        None: None,
    }
    assert column(found.data, "town") == column(release.data, "town")
    assert column(found.data, "town_level") == [texts[t] for t in column(release.data, "town")]
    assert column(found.data, "ill") == column(release.data, "ill")
    assert found.kinds == {name: model.name for name, model in MODELS.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_comes_back_as_a_frame_of_its_kind(kind: str) -> None:
    table = KINDS[kind](people())
    release = shoal.anonymize(table, **JOB)
    found = shoal.read_release(release.data, release.settings)
    assert type(found.data) is type(table)
    assert type(found.bounds("age")) is type(table)
    assert open_frame(found.data).columns == [
        *("age_min", "age_max", "size_min", "size_max", "born_min", "born_max"),
        *("town", "town_level", "grade_min", "grade_max", "job", "floor", "ill"),
    ]
    middle = [None if low is None else (low + high) / 2 for low, high in expected(release, "age")]
    series = found.midpoints("age")
    values = series.to_pylist() if kind == "arrow" else list(series)
    assert [None if v is None or v != v else v for v in values] == middle
    assert "age: interval" in repr(found)


def test_numbers_and_dates_are_typed_and_anything_is_told_from_missing() -> None:
    release = shoal.anonymize(people(), **JOB)
    found = shoal.read_release(release.data, release.settings)
    schema = found.data.schema
    assert pa.types.is_integer(schema.field("age_min").type)
    assert pa.types.is_floating(schema.field("size_max").type)
    assert pa.types.is_date(schema.field("born_min").type)
    assert pa.types.is_integer(schema.field("floor").type)
    assert pa.types.is_list(schema.field("job").type)
    for name in ("age", "town", "job", "floor"):
        texts = column(release.data, name)
        assert found.is_hidden(name).to_pylist() == [text == "*" for text in texts]
    sets = dict(zip(column(release.data, "job"), found.data["job"].to_pylist(), strict=True))
    for text, own in sets.items():
        assert own is None if text in (None, "*") else set(own) <= {"a", "b, c", '"d"', "{e"}
        if text not in (None, "*"):
            assert len(own) == 1 or text[0] == "{"


@pytest.mark.parametrize("render", ["midpoint", "mean"])
def test_single_numbers_have_middles_and_no_bounds(render: Any, tmp_path: Path) -> None:
    release = shoal.anonymize(people(), **JOB, render=render)
    release.save(tmp_path / "release.csv")
    found = shoal.read_release(tmp_path / "release.csv", release.settings)
    assert found.kinds["age"] == "number"
    assert found.midpoints("age").to_pylist() == release.data["age"].to_pylist()
    with pytest.raises(InputError, match="single numbers, which have no bounds"):
        found.bounds("age")
    assert found.kinds["born"] == ("number" if render == "midpoint" else "interval")


def test_without_models_what_a_column_holds_decides() -> None:
    frame = pd.DataFrame({"age": ["[1, 3]", "4", "*"], "sex": ["f", "*", "m"]})
    promised = shoal.Settings(quasi_identifiers={"age": None, "sex": None}, k=1)
    found = shoal.read_release(frame, promised)
    assert found.kinds == {"age": "interval", "sex": "suppression"}
    assert list(found.is_hidden("sex")) == [False, True, False]


def test_the_index_of_a_frame_does_not_matter() -> None:
    frame = pd.DataFrame({"age": ["[1, 3]", "4"], "ill": ["x", "y"]}, index=[7, 3])
    promised = shoal.Settings(quasi_identifiers={"age": shoal.Interval()}, sensitive=("ill",), k=1)
    found = shoal.read_release(frame, promised).data
    assert found.to_numpy().tolist() == [[1, 3, "x"], [4, 4, "y"]]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("[20, 29]", ("20", "29")),
        ("20–29", ("20", "29")),
        ("20–<30", ("20", "30")),
        ("[20, 30)", ("20", "30")),
        ("-5 – -3", ("-5", "-3")),
        ("1980-01-01 – 1980-12-31", ("1980-01-01", "1980-12-31")),
        ("≥ 90", ("90", None)),
        ("<= 17", (None, "17")),
        ("-3", ("-3", "-3")),
    ],
)
def test_ranges_are_read_in_every_spelling(text: str, ends: tuple[str | None, str | None]) -> None:
    assert range_ends(text) == ends


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1984-03-14", (date(1984, 3, 14), date(1984, 3, 14))),
        ("1984-02", (date(1984, 2, 1), date(1984, 2, 29))),
        ("1980–1989", (date(1980, 1, 1), date(1989, 12, 31))),
        ("≤ 1999", (None, date(1999, 12, 31))),
        ("1984-02 – 1984-Q2", (date(1984, 2, 1), date(1984, 6, 30))),
        ("SECRET", None),
        ("≥ SECRET", None),
    ],
)
def test_periods_are_read_as_days(text: str, days: Any) -> None:
    assert period_days(text) == days


def test_a_column_of_periods_has_first_and_last_days() -> None:
    texts = pa.chunked_array([["1984", "*", None, "1984-Q1"]], pa.large_string())
    found = read_periods(released_column(texts))
    assert found is not None
    low, high = (side.to_pylist() for side in found)
    assert low == [date(1984, 1, 1), None, None, date(1984, 1, 1)]
    assert high == [date(1984, 12, 31), None, None, date(1984, 3, 31)]
    assert (
        read_periods(released_column(pa.chunked_array([["1984", "x"]], pa.large_string()))) is None
    )


def test_runs_are_read() -> None:
    assert run_ends("low .. high") == ("low", "high")
    assert run_ends("low") == ("low", "low")


@pytest.mark.parametrize(
    ("frame", "models", "said"),
    [
        ({"age": ["SECRET", "[1, 2]"]}, {"age": shoal.Interval()}, "not intervals of numbers"),
        ({"town": ["SECRET"]}, {"town": TREE}, "1 of the 1 released value of column 'town'"),
        ({"agee": ["1"]}, {"age": shoal.Interval()}, "Column 'age' is not in the table"),
        (
            {"age": ["1"], "age_min": [1]},
            {"age": shoal.Interval()},
            "'age_min' has a name that is needed",
        ),
        (
            {"town": ["Lyon"], "town_level": [1]},
            {"town": TREE},
            "'town_level' has a name that is needed",
        ),
    ],
)
def test_what_cannot_be_read_is_said_without_a_value(frame: Any, models: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        shoal.read_release(pd.DataFrame(frame), shoal.Settings(quasi_identifiers=models, k=1))
    assert said in str(error.value)
    assert "SECRET" not in str(error.value)


def test_columns_that_cannot_be_asked_are_named() -> None:
    release = shoal.anonymize(people(), **JOB, render="bounds")
    found = shoal.read_release(release.data, release.settings)
    with pytest.raises(InputError, match=r"read as hierarchy\. Use one of age, size, born, grade"):
        found.bounds("town")
    with pytest.raises(InputError, match="Use one of age, size, born"):
        found.midpoints("grade")
    with pytest.raises(InputError, match="did you mean 'age'"):
        found.bounds("agee")
    with pytest.raises(InputError, match="does not distinguish"):
        found.is_hidden("age")
