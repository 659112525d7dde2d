"""No column leaves a table without a role."""

from __future__ import annotations

from pathlib import Path

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
        PEOPLE, identifiers=["name", "ssn"], keep=["ward"], keep_order=True, **NAMED
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
    release = shoal.anonymize(PEOPLE[["age", "ward", "ill"]], others="keep", **NAMED)
    assert list(release.data.columns) == ["age", "ward", "ill"]
    assert release.settings.keep == ("ward",)
    assert release.settings.others == "refuse"


def test_a_new_column_stops_the_nightly_run(tmp_path: Path) -> None:
    tonight = PEOPLE[["age", "ward", "ill"]]
    release = shoal.anonymize(tonight, others="keep", **NAMED)
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
    release = shoal.anonymize(PEOPLE, others="drop", keep=["ward"], **NAMED)
    assert [(item.columns, item.alone) for item in release.singled_out] == [(("ward",), 0)]


def visits(**options: object) -> shoal.Release:
    """Five visits of one patient, and twenty patients with one."""
    table = pd.DataFrame(
        {
            "patient": ["mayor"] * 5 + [f"p{i}" for i in range(20)],
            "age": [61] * 5 + [30, 31, 32, 33] * 5,
            "ill": ["hiv", "depression", "hiv", "syphilis", "hiv"] + ["flu", "cold"] * 10,
        }
    )
    named = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "identifiers": ["patient"]}
    return shoal.anonymize(table, k=5, **named, **options)


def test_a_group_of_one_person_is_not_called_proved() -> None:
    (found,) = visits().audit.persons
    assert (found.identifier, found.persons, found.smallest) == ("patient", 21, 1)


def test_an_identifier_that_tells_no_persons_apart_can_be_allowed() -> None:
    assert visits(allow=["patient"]).audit.persons == ()


def test_a_column_of_few_values_tells_no_persons_apart() -> None:
    table = pd.DataFrame({"group": ["a", "b"] * 100, "age": [30] * 200})
    release = shoal.anonymize(table, quasi_identifiers=["age"], identifiers=["group"], k=5)
    assert release.audit.persons == ()


def test_persons_in_every_group_are_enough() -> None:
    table = pd.DataFrame({"who": [*range(10), *range(10)], "age": [30] * 20})
    release = shoal.anonymize(table, quasi_identifiers=["age"], identifiers=["who"], k=5)
    assert release.audit.persons == ()
