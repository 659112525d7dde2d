"""Any frame in, the same kind out, with the same content; what is not generalized stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import in_order
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from allowed import allowing

import shoal
from shoal import Hierarchy, Interval, Subset, Suppression
from shoal.encoding.models import Model

Frames = Callable[[pa.Table], Any]
KINDS: dict[str, tuple[type, Frames]] = {
    "pandas": (pd.DataFrame, lambda table: table.to_pandas()),
    "pandas-arrow": (pd.DataFrame, lambda table: table.to_pandas(types_mapper=pd.ArrowDtype)),
    "polars": (pl.DataFrame, pl.from_arrow),
    "arrow": (pa.Table, lambda table: table),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> tuple[type, Frames]:
    return KINDS[request.param]


def content(frame: Any) -> dict[str, list[Any]]:
    """The cells of any frame, by column."""
    return nw.from_native(frame, eager_only=True).to_arrow().to_pydict()


def released(frame: Any, model: Model | None = None, column: str = "value") -> list[Any]:
    """What a column becomes when all records form one group."""
    n = len(content(frame)[column])
    release = shoal.anonymize(frame, quasi_identifiers={column: model}, k=n, keep_order=True)
    return content(release.data)[column]


PEOPLE = pa.table(
    {
        "row": range(40),
        "age": [20 + i % 10 for i in range(40)],
        "sex": ["f" if i % 4 < 2 else "m" for i in range(40)],
        "born": [date(1990 + i % 5, 1, 31) for i in range(40)],
        "name": [f"p{i}" for i in range(40)],
    }
)


def anonymized(frame: Any, **more: Any) -> Any:
    given = {
        "quasi_identifiers": ["age", "sex", "born"],
        "identifiers": ["name"],
        "keep": ["row"],
        "allow": allowing("row"),
        "k": 4,
    }
    return in_order.anonymize(frame, **{**given, **more}).data


def test_the_release_is_of_the_same_kind_and_content(kind: tuple[type, Frames]) -> None:
    frame_type, make = kind
    data = anonymized(make(PEOPLE), order_seed=1)
    assert type(data) is frame_type
    assert content(data) == content(anonymized(PEOPLE, order_seed=1))


def test_columns_keep_their_order_and_identifiers_are_gone(kind: tuple[type, Frames]) -> None:
    assert list(content(anonymized(kind[1](PEOPLE)))) == ["row", "age", "sex", "born"]


def test_the_input_is_left_as_it_was(kind: tuple[type, Frames]) -> None:
    frame = kind[1](PEOPLE)
    anonymized(frame)
    assert content(frame) == PEOPLE.to_pydict()


def test_a_path_gives_arrow(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, path)
    for source in (path, str(path)):
        assert anonymized(source, order_seed=1).equals(anonymized(PEOPLE, order_seed=1))


def test_keep_order_keeps_it(kind: tuple[type, Frames]) -> None:
    assert content(anonymized(kind[1](PEOPLE), keep_order=True))["row"] == list(range(40))


def test_the_order_is_shuffled_anew_in_every_run(kind: tuple[type, Frames]) -> None:
    first, second = (content(anonymized(kind[1](PEOPLE)))["row"] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(40))
    assert len({*map(tuple, (first, second, range(40)))}) == 3


def test_the_order_seed_alone_decides_the_order() -> None:
    order = anonymized(PEOPLE, order_seed=1)["row"]
    assert anonymized(PEOPLE, order_seed=1, seed=1)["row"].equals(order)
    assert not anonymized(PEOPLE, order_seed=2)["row"].equals(order)


def test_the_index_of_pandas_is_not_released() -> None:
    frame = PEOPLE.to_pandas().set_index("name")
    frame.index.name = None
    for keep_order in (False, True):
        data = anonymized(frame, identifiers=[], keep_order=keep_order)
        assert data.index.equals(pd.RangeIndex(40))
        assert "p7" not in data.to_csv()


def test_metadata_of_arrow_is_not_released() -> None:
    data = anonymized(PEOPLE.replace_schema_metadata({"patients": "Ann"}))
    assert data.schema.metadata is None


# Values of each type as Arrow holds them, the text of the first alone, and of all together.
VALUES: dict[str, tuple[pa.Array, str, str]] = {
    "string": (pa.array(["b", "a"]), "b", "*"),
    "large-string": (pa.array(["b", "a"], pa.large_string()), "b", "*"),
    "boolean": (pa.array([True, False]), "true", "*"),
    "int8": (pa.array([-3, 7], pa.int8()), "-3", "-3 – 7"),
    "int64": (pa.array([2**60 + 1, 2**60]), f"{2**60 + 1}", f"{2**60}–{2**60 + 1}"),
    "uint64": (pa.array([2**64 - 1, 0], pa.uint64()), f"{2**64 - 1}", f"0–{2**64 - 1}"),
    "float32": (pa.array([0.5, 2.0], pa.float32()), "0.5", "0.5–2"),
    "float64": (pa.array([0.1, 1e20]), "0.1", "0.1 – 1e+20"),
    "zeros": (pa.array([-0.0, 0.0]), "0", "0"),
    "decimal": (pa.array([Decimal("1.50"), Decimal("2.25")]), "1.50", "1.50–2.25"),
    "date": (pa.array([date(2020, 2, 29), date(1969, 1, 1)]), "2020-02-29", "1969-01-01 – 2020-02-29"),
    "timestamp": (
        pa.array([datetime(2020, 2, 29, 7), datetime(1969, 1, 1)], pa.timestamp("us")),
        "2020-02-29 07:00:00",
        "1969-01-01 00:00:00 – 2020-02-29 07:00:00",
    ),
    "timestamp-zone": (
        pa.array([datetime(2020, 2, 29, tzinfo=UTC)] * 2, pa.timestamp("us", "UTC")),
        "2020-02-29 00:00:00+00:00",
        "2020-02-29 00:00:00+00:00",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_of_every_type_are_released_as_text(kind: tuple[type, Frames], name: str) -> None:
    values, alone, together = VALUES[name]
    assert released(kind[1](pa.table({"value": values}))) == [together] * 2
    assert released(kind[1](pa.table({"value": values[:1]}))) == [alone]


@pytest.mark.parametrize("name", VALUES)
def test_kept_columns_keep_their_type(kind: tuple[type, Frames], name: str) -> None:
    values = VALUES[name][0]
    frame = kind[1](
        pa.table(
            {"age": [1, 2, 3], "other": [*values.to_pylist(), None]},
            schema=pa.schema({"age": pa.int64(), "other": values.type}),
        )
    )
    roles = {"quasi_identifiers": ["age"], "keep": ["other"], "allow": allowing("other")}
    data = shoal.anonymize(frame, **roles, k=3, keep_order=True).data
    before, after = frame["other"], data["other"]
    assert content(data)["other"] == content(frame)["other"]
    assert (before.type if isinstance(frame, pa.Table) else before.dtype) == (
        after.type if isinstance(frame, pa.Table) else after.dtype
    )


NATIVE: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "pandas category": (lambda: pd.Categorical(["x", "y", None]), ["*"] * 3),
    "pandas category of numbers": (lambda: pd.Categorical([3, 1, 1]), ["1–3"] * 3),
    "pandas ordered category": (
        lambda: pd.Categorical(["lo", "hi", "hi"], categories=["lo", "hi", "top"], ordered=True),
        ["*"] * 3,
    ),
    "pandas nullable integer": (lambda: pd.array([3, 1, 2], dtype="Int8"), ["1–3"] * 3),
    "pandas nullable boolean": (lambda: pd.array([True, None, True], dtype="boolean"), ["*"] * 3),
    "pandas object text": (lambda: pd.Series(["x", "x", "x"], dtype=object), ["x"] * 3),
    "pandas object numbers": (lambda: pd.Series([1, 2.5, 2], dtype=object), ["1–2.5"] * 3),
    "pandas object dates": (
        lambda: pd.Series([date(2020, 1, 1), date(2020, 1, 2), None], dtype=object)[:2],
        ["2020-01-01 – 2020-01-02"] * 2,
    ),
    "pandas object decimals": (
        lambda: pd.Series([Decimal("1.5"), Decimal("2.25")], dtype=object),
        ["1.50–2.25"] * 2,
    ),
    "polars Enum": (lambda: pl.Series(["y", "x"], dtype=pl.Enum(["y", "x", "z"])), ["*"] * 2),
    "polars Categorical": (lambda: pl.Series(["x", "x"], dtype=pl.Categorical), ["x"] * 2),
    "polars Decimal": (lambda: pl.Series(["1.5", "2"]).cast(pl.Decimal(9, 2)), ["1.50–2.00"] * 2),
    "Arrow dictionary": (lambda: pa.array(["x", "y", "x"]).dictionary_encode(), ["*"] * 3),
    "Arrow dictionary of numbers": (lambda: pa.array([1, 7]).dictionary_encode(), ["1–7"] * 2),
    "Arrow string view": (lambda: pa.array(["x", "x"], pa.string_view()), ["x"] * 2),
    "Arrow chunks": (lambda: pa.chunked_array([[1], [2, 3]]), ["1–3"] * 3),
    "Arrow half float": (lambda: pa.array([1.0, 1.5]).cast(pa.float16()), ["1–1.5"] * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", NATIVE)
def test_types_that_one_library_has_are_read(name: str) -> None:
    make, expected = NATIVE[name]
    library = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table}
    frame = library[name.split()[0]]({"value": make()})
    assert released(frame) == expected


MODELS = {
    "suppression": Suppression(),
    "hierarchy": Hierarchy.from_dict({"*": {"low": ["1", "2"], "high": ["8", "9"]}}),
    "interval": Interval(),
    "subset": Subset(),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("values", [[None, 1, 1], [1, 2, None], [None, None, 9]])
def test_null_mixed_with_anything_closes_to_a_star(
    kind: tuple[type, Frames], model: Model, values: list[int | None]
) -> None:
    assert released(kind[1](pa.table({"value": values})), model) == ["*"] * 3


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_group_of_nulls_stays_null(kind: tuple[type, Frames], model: Model) -> None:
    table = pa.table({"sex": ["f", "f", "m", "m"], "value": [None, None, 8, 8]})
    models = {"sex": None, "value": model}
    frame = kind[1](table)
    data = shoal.anonymize(frame, quasi_identifiers=models, k=2, keep_order=True).data
    assert content(data) == {"sex": ["f", "f", "m", "m"], "value": [None, None, "8", "8"]}


def test_nan_is_missing_in_pandas() -> None:
    frame = pd.DataFrame({"sex": list("ffmm"), "value": [float("nan"), float("nan"), 1.0, 2.0]})
    data = shoal.anonymize(frame, quasi_identifiers=["sex", "value"], k=2, keep_order=True).data
    assert content(data)["value"] == [None, None, "1–2", "1–2"]


def test_bounds_are_columns_of_the_original_type(kind: tuple[type, Frames]) -> None:
    table = pa.table(
        {
            "sex": ["f", "f", "m", "m", "x", "x"],
            "age": pa.array([31, 33, 52, 52, None, None]),
            "born": [date(1990, 1, 1), date(1988, 1, 1), date(1969, 1, 1), None, None, None],
            "ill": list("abcdef"),
        }
    )
    data = shoal.anonymize(
        kind[1](table),
        quasi_identifiers=["sex", "age", "born"],
        sensitive=["ill"],
        weights={"sex": 1000.0},
        k=2,
        render="bounds",
        keep_order=True,
    ).data
    first, last = date(1988, 1, 1), date(1990, 1, 1)
    expected = {
        "sex": ["f", "f", "m", "m", "x", "x"],
        "age_min": [31, 31, 52, 52, None, None],
        "age_max": [33, 33, 52, 52, None, None],
        "born_min": [first, first, None, None, None, None],  # null with a value: no bound is known
        "born_max": [last, last, None, None, None, None],
        "ill": list("abcdef"),
    }
    found = {name: [as_date(v) for v in values] for name, values in content(data).items()}
    assert list(found) == list(expected)
    assert found == expected


@pytest.mark.parametrize(
    ("given", "released", "large"), [("Int8", "Int64", 127), ("UInt64", "UInt64", 2**64 - 1)]
)
def test_whole_numbers_stay_whole_in_pandas_where_bounds_are_missing(
    given: str, released: str, large: int
) -> None:
    ages = pd.array([large - 1, large, 5, None], dtype=given)
    data = shoal.anonymize(
        pd.DataFrame({"sex": list("ffmm"), "age": ages}),
        quasi_identifiers=["sex", "age"],
        weights={"sex": 1000.0},
        k=2,
        render="bounds",
        keep_order=True,
    ).data
    assert [str(data[name].dtype) for name in ("age_min", "age_max")] == [released] * 2
    assert data["age_min"].tolist() == [large - 1, large - 1, pd.NA, pd.NA]
    assert data["age_max"].tolist() == [large, large, pd.NA, pd.NA]


def as_date(value: Any) -> Any:
    return value.date() if isinstance(value, datetime) else value
