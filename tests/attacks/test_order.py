"""An attacker who knows code, settings and seed looks at the order of released records."""

from __future__ import annotations

from math import sqrt

import in_order
import numpy as np
import pandas as pd
import pytest
from allowed import allowing

import shoal

K, RUNS = 5, 30


def people(n: int = 60) -> pd.DataFrame:
    """A table in which the sensitive value tells the record, so that guesses can be checked."""
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {"age": rng.integers(20, 60, n), "zip": rng.choice(list("ABC"), n), "salary": np.arange(n)}
    )


def released(table: pd.DataFrame, **options: object) -> shoal.Release:
    return in_order.anonymize(
        table,
        quasi_identifiers=["age", "zip"],
        sensitive=["salary"],
        allow=allowing("salary"),
        k=K,
        **options,
    )


def right_guesses(release: shoal.Release, guessed: np.ndarray) -> int:
    """How many records an attacker finds who takes the records of a group in the order of the input."""
    found = 0
    rows = release.data["salary"].to_numpy()
    group_of_row = release.groups[rows]
    for group in np.unique(release.groups):
        members = guessed[release.groups[guessed] == group]
        found += int((rows[group_of_row == group] == members).sum())
    return found


@pytest.mark.parametrize("method", ["mondrian", "cover"])
def test_the_order_of_the_input_cannot_be_told_from_the_release(method: str) -> None:
    table = people()
    found, expected, variance = 0, 0.0, 0.0
    for _ in range(RUNS):
        release = released(table, method=method, refine=False)
        found += right_guesses(release, np.arange(len(table)))
        groups = np.unique(release.groups).size
        expected += groups  # a blind guess finds one record of each group on average
        variance += groups
    assert found <= expected + 4 * sqrt(variance)
    assert expected / (RUNS * len(table)) <= 1 / K


def test_the_same_seed_gives_the_same_records_in_another_order() -> None:
    table = people()
    first, second = (released(table, seed=3, method="mondrian", refine=False) for _ in range(2))
    assert not first.data.equals(second.data)
    names = list(first.data.columns)
    assert sorted(map(tuple, first.data[names].to_numpy())) == sorted(
        map(tuple, second.data[names].to_numpy())
    )


def test_saved_settings_do_not_repeat_the_order(tmp_path) -> None:
    table = people()
    first = released(table, method="mondrian", refine=False, order_seed=1)
    first.settings.save(tmp_path / "settings.toml")
    second = shoal.anonymize(table, settings=tmp_path / "settings.toml")
    assert not first.data.equals(second.data)


def test_the_order_says_nothing_about_a_record_that_was_left_out() -> None:
    """With the seed of the order known, it must not depend on what the left-out record holds."""
    orders = []
    for salary in (1, 54_321):
        table = people()
        table.loc[len(table)] = [107, "Z", salary]
        release = released(
            table,
            suppression_limit=0.02,
            objective="ncp",
            method="mondrian",
            refine=False,
            order_seed=1,
        )
        assert release.suppressed == 1
        orders.append(release.data)
    pd.testing.assert_frame_equal(*orders)


def test_copies_do_not_stand_together() -> None:
    table = pd.DataFrame({"age": [i % 5 for i in range(1000)]})
    data = shoal.anonymize(table, quasi_identifiers=["age"], k=5, method="mondrian").data
    assert data["age"].head(300).value_counts().min() > 20


def test_non_homogeneous_draws_cannot_be_repeated() -> None:
    """Whoever knows all quasi-identifiers runs shoal again and joins on the released values."""
    rng = np.random.default_rng(3)
    n, k = 300, 10
    table = pd.DataFrame(
        {"age": rng.integers(18, 90, n), "zip": rng.integers(0, 300, n), "ill": np.arange(n)}
    )
    options = {"quasi_identifiers": ["age", "zip"], "k": k, "method": "non_homogeneous"}
    release = shoal.anonymize(table, sensitive=["ill"], allow=allowing("ill"), **options)
    own = shoal.anonymize(table[["age", "zip"]], keep_order=True, **options).data
    own["who"] = np.arange(n)
    joined = own.merge(release.data, on=["age", "zip"])
    joined["right"] = joined["who"] == joined["ill"]
    found = joined.groupby("who")["right"].mean().sum()  # of a guess among the records that fit
    assert found <= n / k + 4 * sqrt(n / k)
