"""No column leaves a table without a role."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import shoal

PEOPLE = pd.DataFrame(
    {
        "name": list("abcdef"),
        "ssn": range(6),
        "age": [31, 32, 33, 51, 52, 53],
        "ward": ["x", "y", "x", "y", "x", "y"],
        "ill": ["flu", "hiv"] * 3,
    }
)
NAMED = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 3}


def test_columns_without_a_role_are_refused_all_named_with_the_remedy() -> None:
    with pytest.raises(shoal.InputError) as raised:
        shoal.anonymize(PEOPLE, **NAMED)
    for word in ("'name'", "'ssn'", "'ward'", "-i", "keep=", "--others"):
        assert word in str(raised.value)


def test_kept_columns_are_released_as_they_are() -> None:
    release = shoal.anonymize(
        PEOPLE,
        identifiers=["name", "ssn"],
        keep=["ward"],
        allow=["ward"],
        keep_order=True,
        **NAMED,
    )
    assert list(release.data.columns) == ["age", "ward", "ill"]
    assert release.data["ward"].tolist() == PEOPLE["ward"].tolist()
    assert release.settings.keep == ("ward",)


def test_others_are_dropped_if_so_decided() -> None:
    release = shoal.anonymize(PEOPLE, others="drop", **NAMED)
    assert list(release.data.columns) == ["age", "ill"]
    assert release.removed == ("name", "ssn", "ward")
    assert release.settings.others == "drop"


def test_others_are_kept_if_so_decided_and_named_in_the_settings() -> None:
    release = shoal.anonymize(
        PEOPLE[["age", "ward", "ill"]], others="keep", allow=["ward"], **NAMED
    )
    assert list(release.data.columns) == ["age", "ward", "ill"]
    assert release.settings.keep == ("ward",)
    assert release.settings.others == "refuse"


def test_a_new_column_stops_the_nightly_run(tmp_path: Path) -> None:
    tonight = PEOPLE[["age", "ward", "ill"]]
    release = shoal.anonymize(tonight, others="keep", allow=["ward"], **NAMED)
    release.settings.save(tmp_path / "settings.toml")
    shoal.anonymize(tonight, settings=tmp_path / "settings.toml")
    tomorrow = PEOPLE[["age", "ward", "ill", "ssn"]]
    with pytest.raises(shoal.InputError, match="'ssn' has no role"):
        shoal.anonymize(tomorrow, settings=tmp_path / "settings.toml")


@pytest.mark.parametrize("others", ["all", 1])
def test_what_becomes_of_others_is_one_of_three_words(others: object) -> None:
    with pytest.raises(shoal.InputError, match="'refuse', 'drop' or 'keep'"):
        shoal.anonymize(PEOPLE, others=others, **NAMED)


def test_a_kept_column_must_be_there() -> None:
    with pytest.raises(shoal.InputError, match=r"'wrad' is not in the table; did you mean 'ward'"):
        shoal.anonymize(PEOPLE, others="drop", keep=["wrad"], **NAMED)


def test_a_column_has_one_role() -> None:
    with pytest.raises(shoal.InputError, match="both sensitive and kept"):
        shoal.anonymize(PEOPLE, others="drop", keep=["ill"], **NAMED)


def test_kept_columns_and_what_they_single_out_are_told() -> None:
    release = shoal.anonymize(PEOPLE, others="drop", keep=["ward"], allow=["ward"], **NAMED)
    assert [(item.columns, item.alone) for item in release.singled_out] == [(("ward",), 0)]


VISITS = pd.DataFrame(
    {
        "patient": ["mayor"] * 5 + [f"p{i}" for i in range(20)],
        "age": [61] * 5 + [30, 31, 32, 33] * 5,
        "ill": ["hiv", "depression", "hiv", "syphilis", "hiv"] + ["flu", "cold"] * 10,
    }
)


def visits(**options: object) -> shoal.Release:
    """Five visits of one patient, and twenty patients with one."""
    named = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "identifiers": ["patient"]}
    return shoal.anonymize(VISITS, k=5, **named, **options)


def test_a_group_of_one_person_is_refused_unless_allowed() -> None:
    with pytest.raises(shoal.Refused, match=r"'patient' occurs in several records") as raised:
        visits()
    assert [(own.column, own.reason) for own in raised.value.refusals] == [("patient", "person")]
    release = visits(allow={"patient": "person"})
    (found,) = release.audit.persons
    assert (found.identifier, found.persons, found.smallest) == ("patient", 21, 1)
    assert release.verdict.state == "proved for some columns only"
    assert "'patient' occurs in several records" in release.verdict.sentence


def test_where_persons_are_counted_other_identifiers_raise_no_alarm() -> None:
    table = VISITS.assign(name=VISITS["patient"].str[:3])
    named = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "identifiers": ["name"]}
    release = shoal.anonymize(table, k=5, person="patient", **named)
    assert release.audit.persons == ()
    assert release.verdict.state == "protected"


def test_of_several_identifiers_the_person_is_the_one_whose_records_agree() -> None:
    rng = np.random.default_rng(3)
    person = rng.permutation(np.repeat(np.arange(60), 4))
    table = pd.DataFrame(
        {
            "born": 1940 + person * 7 % 60,
            "town": rng.choice(list("abcdef"), 240),
            "number": [f"P{own}" for own in person],
            "doctor": [f"D{own}" for own in rng.integers(0, 12, 240)],
            "visit": [f"V{i}" for i in range(240)],
        }
    )
    release = shoal.anonymize(
        table,
        quasi_identifiers=["born", "town"],
        identifiers=["doctor", "visit", "number"],
        allow={"number": "person", "doctor": "person"},
        k=4,
    )
    assert [found.identifier for found in release.audit.persons] == ["number"]


def test_a_doctor_of_whom_a_group_has_few_by_chance_raises_no_alarm() -> None:
    rng = np.random.default_rng(5)
    doctors = [f"D{own}" for own in rng.integers(0, 12, 300)]
    table = pd.DataFrame({"doctor": doctors, "age": rng.integers(20, 80, 300)})
    release = shoal.anonymize(table, quasi_identifiers=["age"], identifiers=["doctor"], k=3)
    assert release.verdict.is_protected


def test_a_log_whose_groups_are_single_devices_is_refused() -> None:
    device = np.repeat(np.arange(40), 10)
    moment = device * 1000 + np.tile(np.arange(10), 40) * 7  # each device was on for a short while
    table = pd.DataFrame({"device": [f"d{own}" for own in device], "seconds": moment})
    with pytest.raises(shoal.Refused, match="'device' occurs in several records"):
        shoal.anonymize(table, quasi_identifiers=["seconds"], identifiers=["device"], k=5)


def test_namesakes_are_not_taken_for_persons_with_several_records() -> None:
    rng = np.random.default_rng(4)
    names = [f"n{i}" for i in range(290)] + [f"n{i}" for i in range(10)]
    table = pd.DataFrame({"name": names, "age": rng.integers(20, 80, 300)})
    release = shoal.anonymize(table, quasi_identifiers=["age"], identifiers=["name"], k=5)
    assert release.audit.persons == ()


def test_a_column_of_few_values_tells_no_persons_apart() -> None:
    table = pd.DataFrame({"group": ["a", "b"] * 100, "age": [30] * 200})
    release = shoal.anonymize(table, quasi_identifiers=["age"], identifiers=["group"], k=5)
    assert release.audit.persons == ()


def test_persons_in_every_group_are_enough() -> None:
    table = pd.DataFrame({"who": [*range(10), *range(10)], "age": [30] * 20})
    release = shoal.anonymize(table, quasi_identifiers=["age"], identifiers=["who"], k=5)
    assert release.audit.persons == ()
