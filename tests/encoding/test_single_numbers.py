"""`render="midpoint"` and `"mean"`: a number per interval, in a numeric column, that the audit proves as it stands."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import InputError
from shoal.encoding.forms import RangeForm
from shoal.encoding.released_texts import middles, rounded_means

RNG = np.random.default_rng(5)
PEOPLE = pa.table(
    {
        "age": RNG.integers(18, 90, 120),
        "size": np.round(RNG.normal(170, 9, 120), 1),
        "born": [date(1950, 1, 1) + timedelta(days=int(d)) for d in RNG.integers(0, 20_000, 120)],
        "school": RNG.choice(["low", "mid", "high"], 120),
        "town": RNG.choice(["Ulm", "Bonn"], 120),
        "ill": RNG.choice(["flu", "cold", "none"], 120),
    }
)
JOB = {
    "quasi_identifiers": {
        "age": shoal.Interval(),
        "size": shoal.Interval(),
        "born": shoal.Interval(),
        "school": shoal.Order(["low", "mid", "high"]),
        "town": shoal.Suppression(),
    },
    "sensitive": ["ill"],
    "k": 6,
    "requirements": [shoal.LDiversity(2, kind="distinct")],
    "keep_order": True,
    "refine": False,
}
ARROW = {"pandas": pa.Table.from_pandas, "polars": pl.DataFrame.to_arrow, "arrow": lambda t: t}
KINDS = {"pandas": pa.Table.to_pandas, "polars": pl.from_arrow, "arrow": lambda table: table}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("render", ["midpoint", "mean"])
def test_a_column_of_ranges_becomes_a_column_of_numbers(kind: str, render: str) -> None:
    release = shoal.anonymize(KINDS[kind](PEOPLE), **JOB, render=render)
    bounds = shoal.anonymize(PEOPLE, **JOB, render="bounds").data
    data = ARROW[kind](release.data)
    assert data.column_names == PEOPLE.column_names
    assert data["age"].type == data["size"].type == pa.float64()
    for name in ("age", "size"):
        numbers = np.asarray(data[name])
        assert (np.asarray(bounds[f"{name}_min"]) <= numbers).all()
        assert (numbers <= np.asarray(bounds[f"{name}_max"])).all()
    if render == "midpoint":
        middle = (np.asarray(bounds["age_min"]) + np.asarray(bounds["age_max"])) / 2
        assert np.asarray(data["age"]).tolist() == middle.tolist()
        assert pa.types.is_date(data["born"].type) or pa.types.is_timestamp(data["born"].type)
    else:
        assert any("[" in text or "–" in text for text in data["born"].to_pylist())
    assert any(".." in text for text in data["school"].to_pylist())


@pytest.mark.parametrize("render", ["midpoint", "mean"])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "xlsx"])
def test_a_saved_release_passes_its_audit(render: str, suffix: str, tmp_path: Path) -> None:
    release = shoal.anonymize(PEOPLE, **JOB, render=render)
    assert release.k >= 6
    path, settings = tmp_path / f"release.{suffix}", tmp_path / "release.toml"
    release.save(path)
    release.settings.save(settings)
    assert shoal.Settings.load(settings).render == render
    assert shoal.audit(path, settings=settings).k == release.k


def test_losses_and_evaluation_of_the_release_are_those_of_its_ranges() -> None:
    text = shoal.anonymize(PEOPLE, **JOB)
    for render in ("midpoint", "mean"):
        release = shoal.anonymize(PEOPLE, **JOB, render=render)
        assert release.loss() == text.loss()
        assert release.evaluate(queries=20) == text.evaluate(queries=20)


@pytest.mark.parametrize("render", ["midpoint", "mean"])
def test_what_cannot_be_read_back_is_said_in_a_sentence(render: str, tmp_path: Path) -> None:
    release = shoal.anonymize(PEOPLE, **JOB, render=render)
    sentence = f"render = '{render}' shows single numbers, so its ranges cannot be read back"
    with pytest.raises(InputError, match=sentence):
        shoal.evaluate(PEOPLE, release.data, settings=release.settings)
    with pytest.raises(InputError, match=sentence):
        shoal.loss(PEOPLE, release.data, "lm", settings=release.settings)
    models = {"age": shoal.Interval(), "size": shoal.Interval()}
    with pytest.raises(InputError, match="as ranges and not as single numbers"):
        shoal.evaluate(PEOPLE, release.data, quasi_identifiers=models, k=6)


def test_missing_values_and_anything_are_both_empty() -> None:
    table = pa.table({"x": pa.array([1, 2, 3, 4, None, None, None, 9, None], pa.int64())})
    options = {"quasi_identifiers": {"x": shoal.Interval()}, "k": 3, "keep_order": True}
    text = shoal.anonymize(table, **options).data["x"].to_pylist()
    for render in ("midpoint", "mean"):
        numbers = shoal.anonymize(table, **options, render=render).data["x"]
        assert numbers.type == pa.float64()
        assert [n is None for n in numbers.to_pylist()] == [t in (None, "*") for t in text]


NUMBERS = st.lists(st.floats(-1e308, 1e308), min_size=2, max_size=20, unique=True).map(sorted)


@given(NUMBERS, st.data())
def test_equal_closures_have_equal_middles_inside_them(numbers, data) -> None:
    form = form_of(pa.array(numbers))
    last = len(numbers) - 1
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, last)] * 2).map(sorted), min_size=1))
    closures = np.array(pairs, dtype=np.int32).T
    found = middles(*form.bounds(closures)).to_pylist()
    for (low, high), middle in zip(pairs, found, strict=True):
        assert numbers[low] <= middle <= numbers[high]
        assert low != high or middle == numbers[low]
    assert len(set(zip(map(tuple, pairs), found, strict=True))) == len(set(map(tuple, pairs)))


@pytest.mark.parametrize(
    ("low", "high", "middle"),
    [
        (date(2020, 1, 1), date(2020, 1, 4), date(2020, 1, 2)),
        (date(1960, 1, 1), date(1960, 1, 2), date(1960, 1, 1)),
        (date(1969, 12, 31), date(1970, 1, 2), date(1970, 1, 1)),
        (datetime(2020, 1, 1), datetime(2020, 1, 2), datetime(2020, 1, 1, 12)),
    ],
)
def test_the_middle_of_dates_is_a_date(low: date, high: date, middle: date) -> None:
    form = form_of(pa.array([low, high]))
    assert middles(*form.bounds(np.array([[0], [1]], np.int32))).to_pylist() == [middle]


def test_means_are_written_with_few_digits() -> None:
    form = form_of(pa.array(np.arange(0, 100) / 0.7))
    codes = np.arange(100, dtype=np.int32)
    closure, groups = np.array([[0], [99]], np.int32), np.zeros(100, np.int32)
    [mean] = rounded_means(form, closure, codes, groups).to_pylist()
    assert mean == round(mean, 2)
    assert abs(mean - 99 / 1.4) < 99 / 7


def form_of(values: pa.Array) -> RangeForm:
    form, _ = shoal.Interval().compile("x", values, has_null=False)
    assert isinstance(form, RangeForm)
    return form
