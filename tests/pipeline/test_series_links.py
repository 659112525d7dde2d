"""Nothing that a series releases tells which records of two nights are one person's, or whom a night leaves out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import in_order
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal import AuditFailed, History, InputError, LDiversity
from shoal.encoding.frames import open_frame
from shoal.pipeline.prove import audit_release

JOB: dict[str, Any] = {
    "quasi_identifiers": ["age"],
    "sensitive": ["ill"],
    "person": "name",
    "k": 4,
    "requirements": [LDiversity(2)],
}
NAMES = list("ABCDEFGH")
AGES = [20, 21, 22, 23, 60, 61, 62, 63]
ILL = ["Flu", "flu", "asthma", "asthma", "flu", "flu", "asthma", "asthma"]
LATER = [60, 21, 22, 23, 20, 61, 62, 63]  # A and E have changed places


def table(ages: list[int] = AGES, ill: Any = ILL) -> pd.DataFrame:
    return pd.DataFrame({"name": NAMES, "age": ages, "ill": ill})


def made(data: Any, *previous: Any, **options: Any) -> shoal.Release[Any]:
    return in_order.anonymize(data, previous=list(previous), **{**JOB, **options})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"pseudonyms": ["name"]}, "Pseudonyms link the releases of a series"),
        (
            {"quasi_identifiers": ["ill"], "sensitive": ["age"], "keep": ["ill"]},
            "Kept columns link",
        ),
        ({"keep": ["blood"]}, "reveals sensitive values. Make each a quasi-identifier"),
        ({"others": "keep"}, "Set others to 'drop' or 'refuse'"),
        ({"keep_order": True}, "The order of records links the releases"),
        ({"render": "mean"}, "they may show the same number. Set render to 'text'"),
        ({"render": "midpoint"}, "they may show the same number. Set render to 'text'"),
    ],
)
def test_whatever_links_releases_is_refused_before_the_table_is_read(
    options: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        made("there is no such file.csv", **options)


def test_whoever_spells_a_value_in_another_way_cannot_be_followed() -> None:
    one = made(table())
    two = made(table(LATER), one)
    for night in (one, two):
        assert sorted(set(night.data["ill"])) == ["asthma", "flu"]


def test_a_value_keeps_its_first_spelling_however_it_is_spelled_later() -> None:
    one = made(table(ill=["FLU", "FLU", "asthma", "asthma", "FLU", "flu", "asthma", "Asthma "]))
    assert set(one.data["ill"]) == {"FLU", "asthma"}
    two = made(table(LATER, [text.lower() for text in ILL]), one)
    assert set(two.data["ill"]) == {"FLU", "asthma"}


def test_a_spelling_comes_from_nobody_who_is_left_out() -> None:
    ill = ["flu", "flu", "asthma", "asthma", "flu", "flu", "asthma", "asthma", "FLU", "FLU", "FLU"]
    data = pd.DataFrame({"name": list("ABCDEFGHIJK"), "age": [*AGES, 64, 65, 66], "ill": ill})
    release = made(data, suppression_limit=0.5)
    spelled = data["ill"][release.is_released]
    most = spelled[spelled.str.lower() == "flu"].mode()[0]
    assert set(release.data["ill"]) == {most, "asthma"}


def indexed(data: pd.DataFrame) -> pd.DataFrame:
    return data.set_index(pd.Index([7, 7, 3, 1, 1, 0, 9, 2]))


def categories(data: pd.DataFrame) -> pd.DataFrame:
    return data.assign(ill=data["ill"].astype("category"))


FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda data: data,
    "pandas with an index": indexed,
    "pandas categories": categories,
    "pandas string": lambda data: data.assign(ill=data["ill"].astype("string")),
    "polars": pl.from_pandas,
    "polars categories": lambda data: pl.from_pandas(data).cast({"ill": pl.Categorical}),
    "arrow": pa.Table.from_pandas,
    "arrow dictionary": lambda data: pa.Table.from_pandas(categories(data)),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_gets_one_spelling_and_one_missing_value(kind: str) -> None:
    ill = ["Flu", "flu ", None, "?", "flu", "FLU", "n/a", " "]
    data = FRAMES[kind](table(ill=ill))
    release = made(data, reading={"missing": ["?", "n/a"]})
    released = open_frame(release.data).get_column("ill")
    assert type(release.data) is type(data)
    values = released.to_list()
    known = [value for value in values if isinstance(value, str)]
    assert len(values) == 8
    assert set(known) == {"flu"}
    assert len(known) == 4
    assert released.is_null().sum() == 4
    assert len({type(value) for value in values}) == 2
    assert released.dtype in (open_frame(data).get_column("ill").dtype, "String")


@pytest.mark.parametrize(
    "values",
    [
        [0.0, -0.0, 1.0, 1.0, 0.0, -0.0, 1.0, 1.0],
        [Decimal(text) for text in ("1.0", "1.00", "2", "2.0", "1", "1", "2", "2.00")],
    ],
    ids=["zero and minus zero", "decimals of other scales"],
)
def test_numbers_are_written_in_one_way(values: list[Any], tmp_path: Path) -> None:
    release = made(table(ill=pd.Series(values)))
    release.save(tmp_path / "night.csv")
    texts = pd.read_csv(tmp_path / "night.csv", dtype=str)["ill"]
    assert texts.nunique() == 2


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01", "2020-01-02 12:30"] * 4, format="ISO8601"),
        pd.to_datetime(["2020-01-01", "2020-01-02"] * 4, utc=True),
        [1.5, None] * 4,
        [1e20, 1e-7] * 4,
        [True, False] * 4,
    ],
    ids=["times", "times of a zone", "missing numbers", "large and small numbers", "yes and no"],
)
def test_values_of_every_type_are_proved_in_every_file(values: Any, tmp_path: Path) -> None:
    release = made(table(ill=values))
    for ending in ("csv", "parquet", "jsonl", "xlsx"):
        path = tmp_path / f"night.{ending}"
        release.save(path)
        found = shoal.audit(path, settings=release.settings, previous=release.history)
        assert found.proofs[-1].reached == 2


def test_a_file_of_numbers_stays_one(tmp_path: Path) -> None:
    table(ill=[3, 4, 3, 4, 3, 4, 4, 3]).to_csv(tmp_path / "t.csv", index=False)
    release = made(tmp_path / "t.csv")
    release.save(tmp_path / "night.parquet")
    assert pa.types.is_integer(pa.parquet.read_schema(tmp_path / "night.parquet").field("ill").type)


def test_the_audit_finds_other_spellings(tmp_path: Path) -> None:
    release = made(table())
    spelled = release.data["ill"].tolist()
    spelled[spelled.index("flu")] = "Flu"
    for wrong in (spelled, [text.title() for text in release.data["ill"]]):
        verdict = audit_release(
            open_frame(release.data.assign(ill=wrong)), release.released.known, release.settings
        )
        assert any("not spelled as in all releases" in miss for miss in verdict.misses)
        path = tmp_path / "wrong.csv"
        release.data.assign(ill=wrong).to_csv(path, index=False)
        with pytest.raises(AuditFailed, match="not spelled as in all releases"):
            shoal.audit(path, settings=release.settings, previous=release.history)
    release.save(tmp_path / "right.csv")
    shoal.audit(tmp_path / "right.csv", settings=release.settings, previous=release.history)


def test_spellings_and_sets_are_read_back(tmp_path: Path) -> None:
    history = made(table()).history
    history.save(tmp_path / "h.shoal")
    assert History.load(tmp_path / "h.shoal") == history
    assert history.spellings == {"flu": "flu", "asthma": "asthma"}
    content = json.loads((tmp_path / "h.shoal").read_text(encoding="utf-8"))
    for wrong in ({"sets": {}}, {"sets": 3}, {"spellings": {"flu": 1}}, {"spellings": None}):
        (tmp_path / "h.shoal").write_text(json.dumps({**content, **wrong}), encoding="utf-8")
        with pytest.raises(InputError, match="is damaged"):
            History.load(tmp_path / "h.shoal")


def told_of_second(tables: list[pd.DataFrame], folder: Path) -> list[Any]:
    """All that is said of the second of two nights, which leaves somebody out: JSON, notes and report."""
    one = made(tables[0], suppression_limit=0.5, k=2, order_seed=0)
    two = made(tables[1], one, suppression_limit=0.5, k=2, order_seed=0)
    assert two.suppressed == 1
    said = two.to_dict()
    said.pop("seconds")
    two.save_report(folder / "r.html", overwrite=True)
    page = (folder / "r.html").read_text(encoding="utf-8")
    page = re.sub(r"<time[^>]*>.*?</time>|[0-9.]+ (s|seconds)\b", "", page)
    return [said, list(two.notes), page]


def test_nobody_is_told_whether_the_value_of_somebody_left_out_has_changed(tmp_path: Path) -> None:
    """H's value changes in one world, and a newcomer takes H's place; in the other the newcomer is left out."""
    first = table(ill=["flu", "asthma"] * 4)
    comer = pd.DataFrame({"name": ["new"], "age": [63], "ill": ["asthma"]})
    changed = pd.concat([first.assign(ill=[*first["ill"][:7], "HIV"]), comer], ignore_index=True)
    stays = pd.concat([first, comer.assign(ill=["gout"])], ignore_index=True)
    told = told_of_second([first, changed], tmp_path)
    assert "has changed" not in str(told)
    assert "HIV" not in str(told)
    assert told == told_of_second([first, stays], tmp_path)


def test_a_refused_night_does_not_tell_whose_value_has_changed() -> None:
    first = table(ill=["flu", "asthma"] * 4)
    one = made(first, k=2)
    with pytest.raises(shoal.Infeasible) as caught:
        made(first.assign(ill=[*first["ill"][:7], "HIV"]), one, k=2)
    assert "2 of 8 records must be left out" in str(caught.value)
    assert "because" not in str(caught.value)


def test_a_release_of_a_series_has_a_report(tmp_path: Path) -> None:
    one = made(table())
    for release in (one, made(table(LATER), one)):
        release.save_report(tmp_path / "r.html", overwrite=True)
        text = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert "2-invariance of" in text
        assert "Over all releases of the series" in text


def test_the_partners_of_somebody_who_leaves_are_left_out_and_nobody_else() -> None:
    """Whom a night leaves out is known from the nights before: nothing new is told about their values."""
    data = table(ill=["flu", "asthma"] * 4)
    one = made(data, k=2, suppression_limit=0.5)
    pair = [name for name, group in zip(NAMES, one.groups, strict=True) if group == one.groups[0]]
    assert len(pair) == 2
    two = made(data[data["name"] != pair[0]], one, k=2, suppression_limit=0.5)
    rest = [name for name in NAMES if name != pair[0]]
    gone = [name for name, there in zip(rest, two.is_released, strict=True) if not there]
    assert gone == [pair[1]]


def test_a_skewed_night_leaves_people_out_instead_of_refusing_diversity_by_frequency() -> None:
    ill = ["flu"] * 6 + ["asthma"] * 2
    with pytest.raises(shoal.Infeasible, match="4 of 8 records must be left out"):
        made(table(ill=ill))
    release = made(table(ill=ill), suppression_limit=0.5)
    assert release.audit.records == 4


def test_a_series_of_people_with_several_records_is_refused_without_a_detour(
    shell: Any, tmp_path: Path
) -> None:
    data = pd.concat([table(), table(LATER)], ignore_index=True)
    data.to_csv(tmp_path / "t.csv", index=False)
    flags = ("-q", "age", "-s", "ill", "--person", "name", "-k", 2, "-o", tmp_path / "r.csv")
    diverse = ("--require", "diversity:l=2")
    run = ("anonymize", tmp_path / "t.csv", *flags)
    code, _, error = shell(*run, *diverse, "--save-history", tmp_path / "h.shoal")
    assert code == 2
    assert "aggregate the table to one record per person" in error
    assert "previous" not in error
    code, _, error = shell(*run, *diverse, "--save-recoding", tmp_path / "r.shoal")
    assert code == 2
    assert "Aggregate the table to one record per person" in error
    code, _, error = shell(*run, *diverse, "--suppression-limit", 0.1)
    assert code == 2
    assert "leaving records out cannot be combined with this kind of diversity" in error
    assert not list(tmp_path.glob("[rh].*"))
    distinct = ("--require", "diversity:l=2:kind=distinct")
    assert shell(*run, *distinct, "--suppression-limit", 0.1)[0] == 0


def test_aggregated_to_one_record_per_person_both_ways_work(tmp_path: Path) -> None:
    """What the errors recommend can be done."""
    made(table())
    options = {key: value for key, value in JOB.items() if key != "person"}
    release = shoal.anonymize(table(), identifiers=["name"], **options)
    release.recoding.save(tmp_path / "r.shoal")
