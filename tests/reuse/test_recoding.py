"""New records under old closures: what is taken, grouped anew or held back, and bad input."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal import AuditFailed, InputError, LDiversity, Recoding

TREE = shoal.Hierarchy.from_dict({"*": {"north": ["a", "b"], "south": ["c", "d"]}})
MODELS = {"age": shoal.Interval(), "sex": shoal.Suppression(), "town": TREE}
QI = list(MODELS)


def people(seed: int, records: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"p{seed}-{i}" for i in range(records)],
            "age": rng.integers(18, 90, records),
            "sex": rng.choice(list("fm"), records),
            "town": rng.choice(list("abcd"), records),
            "ill": rng.choice(list("xyz"), records),
        }
    )


def release_of(table: Any, **options: Any) -> shoal.Release[Any]:
    given: dict[str, Any] = {
        "quasi_identifiers": MODELS,
        "sensitive": ["ill"],
        "identifiers": ["name"],
        "k": 3,
        "method": "mondrian",
    }
    return shoal.anonymize(table, **{**given, **options})


def applied(recoding: Recoding, table: Any) -> Any:
    with shoal.testing.fixed_order(0):
        return recoding.apply(table)


def covers(text: str, value: Any, column: str) -> bool:
    """Whether a released text may stand for a value, read plainly."""
    if text in ("*", str(value)):
        return True
    if column == "age" and "–" in text:
        low, high = map(int, text.split("–"))
        return low <= value <= high
    return column == "town" and value in {"north": "ab", "south": "cd"}.get(text, "")


def test_every_new_record_is_released_under_a_closure_that_covers_it() -> None:
    new = people(1)
    batch = release_of(people(0), keep_order=True).recoding.apply(new)
    assert batch.taken
    assert batch.data is not None
    kept = new[batch.is_released]
    for released, original in zip(
        batch.data.to_dict("records"), kept.to_dict("records"), strict=True
    ):
        assert all(covers(released[name], original[name], name) for name in QI)
        assert released["ill"] == original["ill"]
        assert "name" not in released


def test_taken_records_read_as_closures_of_the_release() -> None:
    release = release_of(people(0))
    known = set(map(tuple, release.data[QI].to_numpy()))
    batch = release.recoding.apply(people(1), regroup=False)
    assert batch.regrouped == 0
    assert set(map(tuple, batch.data[QI].to_numpy())) <= known


@pytest.mark.parametrize("batch_k", [3, 5, 8])
def test_a_closure_takes_batch_k_new_records_or_none(batch_k: int) -> None:
    batch = release_of(people(0)).recoding.apply(people(1), batch_k=batch_k)
    counts = Counter(map(tuple, batch.data[QI].to_numpy()))
    assert min(counts.values()) >= batch_k
    assert batch.audit.k == min(counts.values())


def test_the_least_general_usable_closure_is_taken() -> None:
    """A record is never under a closure if a used one lies strictly inside it and covers the record."""
    old = people(0, 400)
    new = people(1, 300)
    batch = release_of(old, keep_order=True).recoding.apply(new, regroup=False)
    used = set(map(tuple, batch.data[QI].to_numpy()))
    kept = new[batch.is_released].to_dict("records")
    for text, record in zip(map(tuple, batch.data[QI].to_numpy()), kept, strict=True):
        for other in used - {text}:
            inside = all(_inside(a, b, name) for a, b, name in zip(other, text, QI, strict=True))
            assert not (
                inside and all(covers(a, record[n], n) for a, n in zip(other, QI, strict=True))
            )


def _inside(small: str, large: str, column: str) -> bool:
    if small == large or large == "*":
        return True
    if column == "age" and "–" in large and small != "*":
        ends = small.split("–") if "–" in small else [small, small]
        return all(covers(large, int(end), "age") for end in ends)
    return column == "town" and small in "abcd" and covers(large, small, "town")


def test_requirements_hold_for_the_batch_and_for_all_together() -> None:
    asked = [LDiversity(2)]
    batch = release_of(people(0), requirements=asked).recoding.apply(people(1))
    assert batch.audit.proofs[0].reached >= 2
    assert batch.together.proofs[0].reached >= 2
    assert batch.together.records == 120 + len(batch.data)
    shoal.audit(batch.data, quasi_identifiers=QI, sensitive=["ill"], k=3, requirements=asked)


def test_what_no_closure_takes_is_held_back_and_can_come_again() -> None:
    recoding = release_of(people(0)).recoding
    far = people(1, 2).assign(age=[140, 150])
    first = recoding.apply(far)
    assert (first.data, first.held_back, first.audit) == (None, 2, None)
    assert first.recoding.batches == 0
    again = first.recoding.apply(people(2, 1).assign(age=[145]), held=first.held)
    assert (again.taken, again.regrouped, again.held_back) == (0, 3, 0)
    assert len(again.data) == 3


def test_a_group_that_misses_a_requirement_is_held_back() -> None:
    recoding = release_of(people(0), requirements=[LDiversity(2)]).recoding
    far = people(1, 5).assign(age=[140, 141, 142, 143, 144], ill="x")
    assert recoding.apply(far).held_back == 5


def test_a_recoding_holds_nothing_but_what_was_released(tmp_path: Path) -> None:
    table = people(0).assign(age=lambda t: t["age"] * 1000 + 7)
    release = release_of(table)
    release.recoding.save(tmp_path / "r.shoal")
    text = (tmp_path / "r.shoal").read_text(encoding="utf-8")
    shown = "\n".join(release.data.astype(str).to_numpy().ravel())
    hidden = [str(age) for age in table["age"].unique() if str(age) not in shown]
    assert len(hidden) > 10
    assert not [age for age in hidden if age in text]
    assert not [name for name in table["name"] if name in text]


def test_a_recoding_is_read_back_as_it_was(tmp_path: Path) -> None:
    recoding = release_of(people(0), requirements=[LDiversity(2)]).recoding
    recoding.save(tmp_path / "r.shoal")
    read = Recoding.load(tmp_path / "r.shoal")
    assert read.settings == recoding.settings
    assert read.rows.equals(recoding.rows)
    assert list(read.counts) == list(recoding.counts)
    one, other = (applied(own, people(1)) for own in (recoding, read))
    pd.testing.assert_frame_equal(one.data, other.data)


@pytest.mark.parametrize("kind", [pl.from_pandas, pa.Table.from_pandas])
def test_a_batch_is_of_the_kind_that_was_given(kind: Any) -> None:
    recoding = release_of(people(0)).recoding
    batch = applied(recoding, kind(people(1)))
    assert type(batch.data) is type(kind(people(1)))
    expected = applied(recoding, people(1)).data
    assert batch.data.to_pandas().astype(str).equals(expected.astype(str))


MODELS_OF_ALL_KINDS = [
    shoal.Interval(step=5),
    shoal.Interval(step=10, high=80),
    shoal.Suppression(),
    shoal.Subset(),
    shoal.Subset(high=70),
]


@pytest.mark.parametrize("model", MODELS_OF_ALL_KINDS, ids=str)
def test_closures_of_every_model_take_new_records(model: shoal.encoding.models.Model) -> None:
    options = {"quasi_identifiers": {"age": model, "sex": None}, "others": "drop"}
    recoding = release_of(people(0, 300), **options).recoding
    batch = recoding.apply(people(1, 300))
    assert batch.taken > 200


def test_dates_codes_and_orders_take_new_records() -> None:
    rng = np.random.default_rng(0)

    def table(records: int) -> pd.DataFrame:
        days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, records), "D")
        return pd.DataFrame(
            {
                "born": days.date,
                "zip": [f"{i:05}" for i in rng.integers(0, 300, records)],
                "school": rng.choice(["none", "primary", "degree"], records),
            }
        )

    models = {
        "born": shoal.Calendar(),
        "zip": shoal.Prefix(),
        "school": shoal.Order(["none", "primary", "degree"]),
    }
    release = shoal.anonymize(table(400), quasi_identifiers=models, k=4, method="mondrian")
    batch = release.recoding.apply(table(300))
    assert batch.taken > 200
    assert batch.audit.k >= 4


BAD: list[tuple[dict[str, Any], str]] = [
    ({"batch_k": 2}, "The 'batch_k' parameter must be a whole number of at least k = 3. Got 2"),
    ({"batch_k": "5"}, "The 'batch_k' parameter must be a whole number"),
    ({"regroup": "no"}, "The 'regroup' parameter must be true or false"),
    ({"reading": 7}, "The 'reading' parameter must be a dict"),
    ({"held": pd.DataFrame({"age": [1]})}, "have other columns or types than the new ones"),
    ({"held": "nowhere.csv"}, "'nowhere.csv' does not exist"),
]


@pytest.mark.parametrize(("options", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_options_get_a_sentence(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        release_of(people(0)).recoding.apply(people(1), **options)


BAD_TABLES: list[tuple[Any, str]] = [
    (people(1).drop(columns="age"), "Column 'age' is not in the table"),
    (people(1).assign(town="SECRET"), "column 'town'"),
    (people(1).assign(more=1), "Column 'more' has no role"),
    (people(1)[:0], "The table has no records"),
    (people(1).assign(age="SECRET"), "'age'"),
    (7, "cannot be read"),
]


@pytest.mark.parametrize(("table", "says"), BAD_TABLES, ids=[says for _, says in BAD_TABLES])
def test_tables_unlike_the_first_get_a_sentence(table: Any, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        release_of(people(0)).recoding.apply(table)
    assert "SECRET" not in str(caught.value)


BAD_RELEASES: list[tuple[dict[str, Any], str]] = [
    ({"render": "bounds"}, "Set render to 'text'"),
    ({"method": "non_homogeneous"}, "Choose another method"),
    ({"person": "name"}, "previous="),
]


@pytest.mark.parametrize(("options", "says"), BAD_RELEASES, ids=[says for _, says in BAD_RELEASES])
def test_releases_that_cannot_take_new_records_say_so(options: dict[str, Any], says: str) -> None:
    release = release_of(people(0), **options)
    with pytest.raises(InputError, match=says):
        _ = release.recoding


def spoilt(content: dict[str, Any], **changes: Any) -> str:
    return json.dumps({**content, **changes})


def test_damaged_files_get_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "r.shoal"
    release_of(people(0)).recoding.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    cases = {
        "": "not a recoding",
        "[]": "not a recoding",
        path.read_text(encoding="utf-8")[:-50]: "not a recoding",
        "[" * 100_000: "not a recoding",
        spoilt(content, version=99): "another version",
        spoilt(content, counts=[0] * len(content["counts"])): "is damaged",
        spoilt(content, counts=content["counts"][1:]): "is damaged",
        spoilt(content, rows=[[1]] * len(content["rows"])): "is damaged",
        spoilt(content, rows=7): "is damaged",
        spoilt(content, counts=[10**30] * len(content["counts"])): "is damaged",
        spoilt(content, counts=[True] * len(content["counts"])): "is damaged",
        spoilt(content, settings={"x": "\ud800"}): "not a recoding",
        spoilt(content, columns=["x"]): "is damaged",
        spoilt(content, settings=[]): "is damaged",
        spoilt(content, settings={}): "There are no quasi-identifiers",
    }
    for text, says in cases.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=says):
            Recoding.load(path)
    path.write_text(spoilt(content, rows=content["rows"][:1], counts=[1]), encoding="utf-8")
    with pytest.raises(AuditFailed):
        Recoding.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        Recoding.load(tmp_path / "none.shoal")


def test_the_commands_do_the_same(shell: Any, tmp_path: Path) -> None:
    people(0).to_csv(tmp_path / "old.csv", index=False)
    people(1).to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "s.toml").write_text(
        '[columns]\nidentifiers = ["name"]\nsensitive = ["ill"]\n'
        "[quasi_identifiers.age]\n[quasi_identifiers.sex]\n[quasi_identifiers.town]\n"
        '[requirement]\nk = 3\n[method]\nname = "mondrian"\n'
    )
    made = shell(
        "anonymize",
        tmp_path / "old.csv",
        "--settings",
        tmp_path / "s.toml",
        "-o",
        tmp_path / "release.csv",
        "--save-recoding",
        tmp_path / "r.shoal",
    )
    assert made[0] == 0, made
    applied = ("apply", tmp_path / "new.csv", "--recoding", tmp_path / "r.shoal", "--json")
    code, out, _ = shell(
        *applied, "-o", tmp_path / "batch.csv", "--save-recoding", tmp_path / "next.shoal"
    )
    assert code == 0
    told = json.loads(out)
    assert told["taken"] + told["regrouped"] == 120
    assert told["held"] == 0
    shoal.audit(tmp_path / "batch.csv", quasi_identifiers=QI, k=3)
    assert Recoding.load(tmp_path / "next.shoal").records == 240
    code, _, error = shell(*applied, "-o", tmp_path / "b2.csv", "--batch-k", 500)
    assert (code, "--save-held" in error) == (2, True)
    assert not (tmp_path / "b2.csv").exists()
    code, out, _ = shell(
        *applied, "-o", tmp_path / "b2.csv", "--batch-k", 500, "--save-held", tmp_path / "held.csv"
    )
    assert (code, json.loads(out)["held"]) == (0, 120)
    assert not (tmp_path / "b2.csv").exists()
    assert len(pd.read_csv(tmp_path / "held.csv")) == 120
    again = shell(*applied, "-o", tmp_path / "b3.csv", "--held", tmp_path / "held.csv")
    assert again[0] == 0
    assert len(pd.read_csv(tmp_path / "b3.csv")) == 240


COMMANDS = {
    ("new.csv",): ("No output is named. Name a file with --output (-o).", "No recoding is named"),
    ("new.csv", "--recoding", "none.shoal", "-o", "b.csv"): (
        "Recoding 'none.shoal' cannot be read",
    ),
    ("new.csv", "--recoding", "new.csv", "-o", "b.csv"): ("'new.csv' is not a recoding",),
    ("new.csv", "--recoding", "new.csv", "-o", "new.csv"): ("would be lost",),
    ("new.csv", "--recoding", "r", "-o", "b.csv", "--save-held", "b.csv"): ("two outputs",),
}


@pytest.mark.parametrize("flags", COMMANDS, ids=" ".join)
def test_bad_commands_get_their_sentences(
    flags: tuple[str, ...], shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    people(1).to_csv("new.csv", index=False)
    code, _, error = shell("apply", *flags)
    assert code == 2
    assert all(says in error for says in COMMANDS[flags])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv"]
