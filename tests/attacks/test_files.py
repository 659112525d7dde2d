"""An attacker takes released frames and files apart, looking for what was left out or removed."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal

SECRET = "RARE-ILLNESS"
NAME = "Secret-Person"
VALUES = {
    "who": [f"{NAME}-{i}" for i in range(21)],
    "age": [30] * 5 + [31] * 5 + [40] * 5 + [50] * 5 + [107],
    "ill": ["flu", "cold"] * 10 + [SECRET],
    "ward": ["a", "b"] * 10 + [SECRET],
}
OPTIONS: dict[str, Any] = {
    "quasi_identifiers": ["age"],
    "sensitive": ["ill"],
    "identifiers": ["who"],
    "keep": ["ward"],
    "allow": {"ward": "unique"},
    "k": 5,
    "suppression_limit": 0.05,
    "objective": "ncp",
    "method": "mondrian",
    "refine": False,
}


def pandas_frame() -> pd.DataFrame:
    frame = pd.DataFrame(VALUES, index=VALUES["who"])
    frame["ill"] = frame["ill"].astype("category")
    frame["ward"] = pd.Categorical(frame["ward"], [SECRET, "b", "a"], ordered=True)
    frame.attrs["source"] = SECRET
    frame.columns.name = SECRET
    return frame


def polars_frame() -> pl.DataFrame:
    kind = pl.Enum(["flu", "cold", SECRET])
    columns = [pl.col("ill").cast(kind), pl.col("ward").cast(pl.Categorical)]
    return pl.DataFrame(VALUES).with_columns(columns)


def arrow_table() -> pa.Table:
    table = pa.table(VALUES).set_column(2, "ill", pa.array(VALUES["ill"]).dictionary_encode())
    nested = pa.ListArray.from_arrays(
        pa.array(range(22), pa.int32()), pa.array(VALUES["ward"]).dictionary_encode()
    )
    table = table.set_column(3, "ward", nested)
    return table.replace_schema_metadata({"pandas": SECRET, "note": NAME})


FRAMES = {"pandas": pandas_frame, "polars": polars_frame, "arrow": arrow_table}


def bytes_of(data: Any) -> bytes:
    """A frame as its own library writes it."""
    sink = io.BytesIO()
    if isinstance(data, pd.DataFrame):
        data.to_parquet(sink)
        return sink.getvalue() + data.to_json().encode() + repr(data.attrs).encode()
    if isinstance(data, pl.DataFrame):
        data.write_parquet(sink)
        ipc = io.BytesIO()
        data.write_ipc(ipc)
        return sink.getvalue() + ipc.getvalue()
    pq.write_table(data, sink)
    ipc = pa.BufferOutputStream()
    with pa.ipc.new_stream(ipc, data.schema) as writer:
        writer.write_table(data)
    return sink.getvalue() + ipc.getvalue().to_pybytes()


@pytest.mark.parametrize("kind", FRAMES)
def test_a_released_frame_holds_nothing_of_records_left_out(kind: str) -> None:
    release = shoal.anonymize(FRAMES[kind](), **OPTIONS)
    assert release.suppressed == 1
    content = bytes_of(release.data)
    assert SECRET.encode() not in content
    assert NAME.encode() not in content
    assert b"107" not in content


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".csv.gz", ".jsonl", ".xlsx"])
def test_a_saved_release_holds_nothing_of_records_left_out(
    kind: str, suffix: str, tmp_path: Path
) -> None:
    table = FRAMES[kind]()
    options = dict(OPTIONS)
    if kind == "arrow" and suffix != ".parquet":  # only Parquet holds lists
        table = table.set_column(3, "ward", pa.array(VALUES["ward"]).dictionary_encode())
    release = shoal.anonymize(table, **options)
    path = tmp_path / f"release{suffix}"
    release.save(path)
    release.save_report(tmp_path / "report.html")
    release.settings.save(tmp_path / "settings.toml")
    content = path.read_bytes() + (tmp_path / "report.html").read_bytes()
    content += (tmp_path / "settings.toml").read_bytes()
    if suffix == ".xlsx":
        with zipfile.ZipFile(path) as archive:
            content += b"".join(archive.read(name) for name in archive.namelist())
    elif suffix.endswith(".gz"):
        import gzip

        content += gzip.decompress(path.read_bytes())
    assert SECRET.encode() not in content
    assert NAME.encode() not in content
    assert b">107<" not in content


def test_categories_do_not_tell_the_order_of_the_input() -> None:
    table = pd.DataFrame({"age": [30] * 6, "ward": pd.Categorical(list("cabcab"), list("cab"))})
    release = shoal.anonymize(table, quasi_identifiers=["age"], keep=["ward"], k=2)
    assert list(release.data["ward"].cat.categories) == ["a", "b", "c"]


def test_ordered_categories_keep_their_order() -> None:
    kind = pd.CategoricalDtype(["low", "middle", "high"], ordered=True)
    table = pd.DataFrame({"age": [30] * 6, "ward": pd.Series(["low", "high"] * 3, dtype=kind)})
    release = shoal.anonymize(table, quasi_identifiers=["age"], keep=["ward"], k=2)
    assert list(release.data["ward"].cat.categories) == ["low", "high"]
    assert release.data["ward"].cat.ordered


def test_bounds_show_no_value_that_no_released_record_has() -> None:
    kids = [0] * 20 + [1] * 20 + [2] * 20 + [3] * 10 + [11] + [None, 2, 2, None, 2]
    zips = ["A"] * 70 + ["Z"] + ["B"] * 5
    table = pd.DataFrame({"kids": pd.array(kids, "Int64"), "zip": zips})
    release = shoal.anonymize(
        table,
        quasi_identifiers=["kids", "zip"],
        k=5,
        suppression_limit=0.02,
        objective="ncp",
        render="bounds",
    )
    assert release.suppressed == 1
    assert release.data["kids_max"].max() == 3
    assert (
        release.data.loc[release.data["zip"] == "B", ["kids_min", "kids_max"]].isna().all(axis=None)
    )


def test_losses_say_nothing_about_a_record_that_was_left_out() -> None:
    """By ncp, a loss tells the range of a column: it must be that of the released records."""
    losses = []
    for age in (100, 117):
        table = pd.DataFrame(
            {"age": [30, 31] * 5 + [40, 45] * 5 + [age], "zip": ["A"] * 20 + ["Z"]}
        )
        release = shoal.anonymize(
            table,
            quasi_identifiers=["age", "zip"],
            k=5,
            suppression_limit=0.05,
            objective="ncp",
            method="mondrian",
            refine=False,
        )
        assert release.suppressed == 1
        losses.append(
            [
                release.loss(name)
                for name in shoal.list_measures()
                if "pmi" not in name and name not in ("wmi", "cm")
            ]
        )
    assert losses[0] == losses[1]
