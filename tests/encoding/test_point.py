"""Latitude and longitude as one value: joined when a table is opened, released as cells, read back by the audit."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from engines import as_arrow
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.audits.coarsened import prove_coarsened
from shoal.audits.points import PointLine
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.settings.settings import make_settings

ASKED: dict[str, Any] = {"k": 5, "method": "mondrian", "refine": False}
POINT = {"place": shoal.Point("lat", "lon", finest=0.1)}


def people(records: int = 120) -> pa.Table:
    """People around Munich and Madrid, of whom some have no latitude or no longitude."""
    rng = np.random.default_rng(3)
    is_far = np.arange(records) % 3 == 0
    lat = np.where(is_far, 40.4, 48.1) + rng.normal(0, 0.2, records).round(4)
    lon = np.where(is_far, -3.7, 11.5) + rng.normal(0, 0.2, records).round(4)
    return pa.table(
        {
            "lat": pa.array(lat.round(4), mask=np.arange(records) % 20 == 7),
            "lon": pa.array(lon.round(4), mask=np.arange(records) % 30 == 9),
            "age": rng.integers(20, 60, records),
        }
    )


def joined(table: pa.Table) -> list[str | None]:
    """The places of a table as texts."""
    pairs = zip(table["lat"].to_pylist(), table["lon"].to_pylist(), strict=True)
    return [None if None in pair else f"{pair[0]}, {pair[1]}" for pair in pairs]


def test_worked_example() -> None:
    """Four finest cells: the first two are neighbours below one parent, the others meet in larger cells."""
    texts = ["48.131, 11.561", "48.139, 11.579", "52.52, 13.4", "-33.9, 151.2", None]
    table = encode(open_frame(pa.table({"x": texts})), {"x": shoal.Point()})
    form = table.columns[0].form
    assert list(form.labels) == [
        "-33.90..-33.89, 151.20..151.21",
        "48.13..48.14, 11.56..11.57",
        "48.13..48.14, 11.57..11.58",
        "52.52..52.53, 13.40..13.41",
    ]
    assert list(form.inner) == ["48.12..48.14, 11.56..11.58", "43.12..53.36, 4.32..14.56", "*"]
    assert form.parent.tolist() == [7, 5, 5, 6, 7, 6, 7, 7]  # the fifth is a missing value
    assert table.codes[:, 0].tolist() == [1, 2, 3, 0, 4]
    assert form.levels.tolist() == [0, 0, 0, 0, 0, 1, 10, 16, 16]


@given(st.lists(st.tuples(st.integers(-900, 900), st.integers(-1800, 1800)), min_size=1))
def test_the_audit_reads_every_cell_as_the_places_that_the_model_puts_there(
    places: list[tuple[int, int]],
) -> None:
    known = list(dict.fromkeys(f"{Decimal(a) / 10}, {Decimal(b) / 10}" for a, b in places))
    column = encode(open_frame(pa.table({"x": known})), {"x": shoal.Point(finest=0.7)})
    form, line = column.columns[0].form, PointLine(known)
    above = form.parent.tolist()
    for node, label in enumerate((*form.labels, *form.inner)):
        inside = set()
        for at, leaf in enumerate(column.codes[:, 0].tolist()):
            path = [leaf]
            while path[-1] != above[path[-1]]:
                path.append(above[path[-1]])
            inside |= {at} if node in path else set()
        covered = {at for first, after in line.covered(label) for at in range(first, after)}
        assert covered == inside


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_of_every_kind_get_one_column_where_latitude_was(kind: str) -> None:
    table = people()
    frame = {"pandas": table.to_pandas, "polars": lambda: pl.from_arrow(table)}.get(
        kind, lambda: table
    )()
    release = shoal.anonymize(
        frame, quasi_identifiers={**POINT, "age": None}, keep_order=True, **ASKED
    )
    assert type(release.data) is type(frame)
    found = pa.Table.from_pandas(release.data) if kind == "pandas" else as_arrow(release.data)
    assert found.column_names == ["place", "age"]
    expected = shoal.anonymize(
        table, quasi_identifiers={**POINT, "age": None}, keep_order=True, **ASKED
    )
    assert found["place"].to_pylist() == expected.data["place"].to_pylist()


def test_every_engine_releases_the_same_groups(on: Any) -> None:
    table = people()
    asked = {"quasi_identifiers": {**POINT, "age": None}, **ASKED}
    expected = shoal.anonymize(table, **asked)
    release = shoal.anonymize(on(table), **asked)
    assert release.loss("lm") == pytest.approx(expected.loss("lm"))
    found = as_arrow(release.data)
    assert sorted(map(str, found.to_pylist())) == sorted(map(str, expected.data.to_pylist()))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_are_joined_alike_in_memory_and_on_engines(
    carrier: str, suffix: str, tmp_path: Path
) -> None:
    table, path = people(), tmp_path / f"t.{suffix}"
    frame, both = table.to_pandas(), {**POINT, "age": None}
    if suffix == "csv":
        frame.to_csv(path, sep=";", decimal=",", index=False, na_rep="?")
    else:
        frame.to_parquet(path)
    reading = {"decimal": ",", "missing": {"lat": ["?"], "*": ["?"]}} if suffix == "csv" else {}
    release = shoal.anonymize(
        path, quasi_identifiers=both, reading=reading, engine=shoal.Engine(carrier), **ASKED
    )
    expected = shoal.anonymize(table, quasi_identifiers=both, **ASKED)
    texts = as_arrow(release.data)["place"].to_pylist()
    assert sorted(map(str, texts)) == sorted(map(str, expected.data["place"].to_pylist()))
    out = tmp_path / f"out.{suffix}"
    release.save(out)
    assert shoal.audit(out, settings=release.settings).k == release.audit.k >= 5


def test_a_place_without_latitude_or_longitude_is_missing() -> None:
    table = people()
    release = shoal.anonymize(
        table, quasi_identifiers=POINT, others="drop", keep_order=True, **{**ASKED, "k": 1}
    )
    is_missing = [text is None for text in release.data["place"].to_pylist()]
    assert is_missing == [text is None for text in joined(table)]
    assert any(is_missing)


def test_no_exact_place_is_released_even_to_people_who_share_one(tmp_path: Path) -> None:
    table = pa.table({"lat": [48.13713] * 6, "lon": [11.57549] * 6})
    release = shoal.anonymize(table, quasi_identifiers={"home": shoal.Point("lat", "lon")}, k=3)
    assert set(release.data["home"].to_pylist()) == {"48.13..48.14, 11.57..11.58"}
    release.save_report(tmp_path / "r.html")
    assert not re.search(r"48\.137|11\.575", (tmp_path / "r.html").read_text())


@pytest.mark.parametrize("finest", [0.07, 0.1, 45, 90])
def test_the_last_cells_contain_the_poles_and_the_date_line(finest: float) -> None:
    texts = ["90, 180", "-90, -180", "89.99, 179.99"]
    table = pa.table({"x": texts * 2})
    release = shoal.anonymize(
        table,
        quasi_identifiers={"x": shoal.Point(finest=finest)},
        keep_order=True,
        **{**ASKED, "k": 2},
    )
    north, south, _ = release.data["x"].to_pylist()[:3]
    assert "..90" in north
    assert "..180" in north
    assert south.startswith("-90")
    assert release.audit.k == 2


IMPOSSIBLE = ["90.1, 0", "0, 180.5", "north, south", "48.1", "1, 2, 3", "nan, 0", "48,1, 11,5"]


@pytest.mark.parametrize("text", IMPOSSIBLE)
def test_impossible_places_are_refused_without_showing_them(text: str) -> None:
    table = pa.table({"x": ["48.1, 11.5"] * 5 + [text]})
    with pytest.raises(shoal.InputError) as caught:
        shoal.anonymize(table, quasi_identifiers={"x": shoal.Point()}, k=2)
    assert caught.value.problems == (
        "1 of the 2 distinct values of column 'x' is no place on Earth. A place is a latitude from -90 to 90, then a "
        "longitude from -180 to 180, in degrees. Check the order of the two, and correct such values or list them as "
        '"missing" (--missing).',
    )


WRONG = [
    ({"latitude": "lat"}, "Point: give the names of both columns, 'latitude' and 'longitude'."),
    ({"finest": 0}, "Point: 'finest' must be a number of degrees from 0.000001 to 90."),
    ({"finest": "1"}, "Point: 'finest' must be a number of degrees from 0.000001 to 90."),
    ({"finest": 91}, "Point: 'finest' must be a number of degrees from 0.000001 to 90."),
]


@pytest.mark.parametrize(("options", "sentence"), WRONG)
def test_models_that_cannot_be_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(shoal.InputError) as caught:
        shoal.Point(**options)
    assert caught.value.problems == (sentence,)


UNJOINED = [
    ({"place": ("lat", "long")}, "Column 'long' is not in the table; did you mean 'lon'?"),
    (
        {"age": ("lat", "lon")},
        "The table already has a column 'age'. Give the places another name.",
    ),
]


@pytest.mark.parametrize(("points", "sentence"), UNJOINED)
def test_columns_that_cannot_be_joined_are_refused(
    points: dict[str, Any], sentence: str, on: Any
) -> None:
    for table in (people(), on(people())):
        with pytest.raises(shoal.InputError) as caught:
            shoal.anonymize(table, quasi_identifiers=list(points), reading={"points": points}, k=2)
        assert caught.value.problems == (sentence,)


@pytest.mark.parametrize("points", [["lat", "lon"], {"place": ["lat"]}, {"place": ["lat", "lat"]}])
def test_points_must_be_two_columns(points: Any) -> None:
    with pytest.raises(shoal.InputError, match="must be two columns by the name of a new one"):
        shoal.anonymize(people(), quasi_identifiers=["place"], k=2, reading={"points": points})


def test_settings_name_the_columns_once_and_come_back(tmp_path: Path) -> None:
    settings = make_settings(None, quasi_identifiers=POINT, others="drop", k=5)
    assert settings.reading.points == {"place": ("lat", "lon")}
    assert settings.quasi_identifiers == {"place": shoal.Point(finest=0.1)}
    settings.save(tmp_path / "s.toml")
    assert shoal.Settings.load(tmp_path / "s.toml") == settings
    assert (
        shoal.Settings(quasi_identifiers=POINT, others="drop", k=5).to_dict() == settings.to_dict()
    )
    text = '[quasi_identifiers.place]\nmodel = "point"\nlatitude = "lat"\nlongitude = "lon"\nfinest = 0.1\n'
    (tmp_path / "t.toml").write_text(f'{text}[columns]\nothers = "drop"\n[requirement]\nk = 5\n')
    assert make_settings(tmp_path / "t.toml") == settings


def test_the_command_line_joins_and_suggests(shell: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    people().to_pandas().to_csv("people.csv", index=False)
    flags = ["-q", "place:point:finest=0.1", "--point", "place:lat,lon", "-q", "age", "-k", "5"]
    code, _, said = shell("anonymize", "people.csv", "-o", "a.csv", *flags, "--refine", "off")
    assert code == 0, said
    one = "place:point:latitude=lat:longitude=lon:finest=0.1"
    code, _, said = shell(
        "anonymize", "people.csv", "-o", "b.csv", "-q", one, *flags[4:], "--refine", "off"
    )
    assert code == 0, said
    assert sorted(Path("a.csv").read_text().splitlines()) == sorted(
        Path("b.csv").read_text().splitlines()
    )
    code, _, said = shell("init", "people.csv", "-o", "s.toml")
    assert code == 0, said
    assert shoal.Settings.load("s.toml").reading.points == {"place": ("lat", "lon")}
    code, _, said = shell(
        "anonymize", "people.csv", "--settings", "s.toml", "-o", "c.csv", "--refine", "off"
    )
    assert code == 0, said


def test_new_records_join_the_cells_of_a_release() -> None:
    release = shoal.anonymize(people(), quasi_identifiers=POINT, others="drop", **ASKED)
    batch = release.recoding.apply(people(90))
    assert batch.taken > 60
    assert batch.audit.k >= 5


def test_evaluation_and_mapping_read_cells_back(tmp_path: Path) -> None:
    table = people()
    release = shoal.anonymize(
        table, quasi_identifiers={**POINT, "age": None}, keep_order=True, **ASKED
    )
    roles = {"quasi_identifiers": {**POINT, "age": None}}
    assert shoal.loss(table, release.data, "lm", **roles) == pytest.approx(release.loss("lm"))
    found = shoal.evaluate(table, release.data, k=5, **roles)
    assert found.audit.k >= 5
    assert "place" in release.mapping.columns


def test_cells_coarsen_kept_columns() -> None:
    table = people()
    release = shoal.anonymize(
        table,
        quasi_identifiers=["age"],
        keep=["place"],
        coarsen={"place": shoal.Point("lat", "lon", finest=5)},
        allow={"place": "unique"},
        keep_order=True,
        **ASKED,
    )
    texts = release.data["place"].to_pylist()
    assert set(texts) == {"45..50, 10..15", "40..45, -5..0", "35..40, -5..0", None}
    frame = open_frame(release.data)
    prove_coarsened(frame, {"place": shoal.Point(finest=5)})
    for finest in (2.5, 10):
        with pytest.raises(shoal.AuditFailed):
            prove_coarsened(frame, {"place": shoal.Point(finest=finest)})


NAMES = [
    ("lat", "lon", "place"),
    ("Latitude", "Longitude", "place"),
    ("home_lat", "home_lng", "home_place"),
    ("Breite", "Länge", "place"),
    ("GeoBreite", "GeoLänge", "geo_place"),
    ("y_coord", "x_coord", "coord_place"),
]


@pytest.mark.parametrize(("latitude", "longitude", "place"), NAMES)
def test_pairs_that_look_like_places_are_suggested_as_one(
    latitude: str, longitude: str, place: str
) -> None:
    table = people().rename_columns([latitude, longitude, "age"])
    found = shoal.suggest(table)
    assert found.reading.points == {place: (latitude, longitude)}
    assert found.models[place] == shoal.Point()
    assert [column.name for column in found.columns] == [place, "age"]
    release = shoal.anonymize(table, settings=found.settings(), method="mondrian", refine=False)
    assert release.audit.k == 10


APART = [
    {"lat": [1.25] * 30, "age": list(range(30))},
    {"lat": [95.25] * 30, "lon": [11.25] * 30},
    {"lat": [48] * 30, "lon": [11] * 30},
    {"home_lat": [48.25] * 30, "work_lon": [11.25] * 30},
    {"x": [1.25] * 30, "y": [11.25] * 30},
    {"lat": ["48.25 N"] * 30, "lon": ["11.25 E"] * 30},
]


@pytest.mark.parametrize("columns", APART, ids=lambda columns: "-".join(columns))
def test_other_pairs_stay_apart(columns: dict[str, Any]) -> None:
    assert shoal.suggest(pa.table(columns)).reading.points == {}


def test_texts_of_places_and_marks_of_missing_ones_are_understood(tmp_path: Path) -> None:
    table = people()
    texts = pa.table({"where": joined(table), "age": table["age"]})
    found = shoal.suggest(texts)
    assert found.models["where"] == shoal.Point()
    frame = table.to_pandas().astype({"lat": str, "lon": str}).replace("nan", "?")
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = shoal.suggest(tmp_path / "t.csv")
    release = shoal.anonymize(
        tmp_path / "t.csv", settings=found.settings(), method="mondrian", refine=False
    )
    assert release.audit.k == 10
