"""Releases may generalize further than groups need: bounds know it, and closing makes use of it."""

from __future__ import annotations

import pandas as pd
import pytest
from reference.releases import COSTS, MODELS, least_loss, random_table, release_of

import shoal

SEEDS = 15  # tables for each objective; `python -m tests.fuzz.bounds` tries thousands


@pytest.mark.parametrize("objective", COSTS)
def test_no_bound_is_above_the_least_loss_of_all_releases(objective: str) -> None:
    for seed in range(SEEDS):
        table, k = random_table(seed)
        release = release_of(table, k, objective)
        least = least_loss(table, k, COSTS[objective])
        assert release.certificate is not None
        assert release.certificate.bound <= least + 1e-9, seed
        assert release.loss() == pytest.approx(least, abs=1e-9), seed  # so few records: `exact`


def test_a_larger_closure_is_released_where_it_loses_less() -> None:
    """GiT09 §6.1: of ten records (1, a) and two more, hiding all of the two loses less than what they share."""
    table = pd.DataFrame({"x": ["1"] * 10 + ["3", "4"], "y": ["a"] * 10 + ["b", "b"]})
    release = shoal.anonymize(table, quasi_identifiers=MODELS, k=2, objective="entropy")
    assert release.loss() == pytest.approx(0.0681, abs=1e-4)
    assert set(release.data["x"]) == {"1", "*"}
    assert str(release.certificate) == "the optimum"


def test_monotone_objectives_close_tightly() -> None:
    table = pd.DataFrame({"x": ["1"] * 10 + ["3", "4"], "y": ["a"] * 10 + ["b", "b"]})
    release = shoal.anonymize(table, quasi_identifiers=MODELS, k=2, objective="mi")
    assert set(release.data["x"]) == {"1", "34"}


def test_exact_releases_a_wider_range_where_it_loses_less() -> None:
    """Of twelve records the two that must share a range lose less bits under the range of all."""
    table = pd.DataFrame({"age": [1] * 10 + [3, 4]})
    models = {"age": shoal.Interval()}
    release = shoal.anonymize(
        table, quasi_identifiers=models, k=2, objective="entropy", method="exact", keep_order=True
    )
    assert release.data["age"].tolist() == ["1"] * 10 + ["1–4"] * 2
    tight = table.assign(age=["1"] * 10 + ["3–4"] * 2)
    assert release.loss() < shoal.loss(table, tight, "entropy", quasi_identifiers=models)


def test_exact_releases_a_larger_set_where_it_loses_less() -> None:
    table = pd.DataFrame({"job": ["a"] * 10 + ["b", "c"]})
    release = shoal.anonymize(
        table,
        quasi_identifiers={"job": shoal.Subset()},
        k=2,
        objective="entropy",
        method="exact",
        keep_order=True,
    )
    assert release.data["job"].tolist() == ["a"] * 10 + ["{a, b, c}"] * 2


def test_exact_by_persons_weighs_wider_closures() -> None:
    table = pd.DataFrame({"who": range(6), "q": list("baabaa"), "s": list("ppqppp")})
    release = shoal.anonymize(
        table,
        quasi_identifiers={"q": shoal.Suppression()},
        sensitive=["s"],
        allow=["s"],
        identifiers=["who"],
        person="who",
        k=2,
        objective="pmi",
        method="exact",
    )
    assert release.loss() == pytest.approx(0.49018, abs=1e-5)
