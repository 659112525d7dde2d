"""Risk is what plain counting says, agrees with pycanon, and does not depend on the order of records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.assess.comparison import read_comparison
from shoal.assess.risk import Risk, compare_risks, risk_of_groups
from shoal.encoding.frames import open_frame
from shoal.settings.settings import make_settings

PEOPLE = pd.DataFrame(
    {
        "age": [20, 21, 30, 31, 31, 32, 50, 50],
        "sex": list("ffmmffmm"),
        "ill": list("aabcaabb"),
    }
)


def risk_of(groups: Any, secret: Any, threshold: float = 0.2) -> Risk:
    codes = pd.factorize(pd.Series(secret))[0].astype(np.int32)
    size = int(codes.max()) + 1
    return risk_of_groups(np.array(groups, dtype=np.int32), {"s": (codes, size)}, threshold)


def test_risks_of_a_small_table_are_those_found_by_hand() -> None:
    risk = risk_of([0, 0, 0, 0, 1, 1, 2], list("aabbabc"), threshold=0.4)
    sizes, found, [secret] = risk.sizes, risk.reidentification, risk.attributes
    assert (sizes.records, sizes.groups, sizes.smallest, sizes.largest) == (7, 3, 1, 4)
    assert (sizes.mean, sizes.median, sizes.unique) == (7 / 3, 2.0, 1)
    assert [(b.smallest, b.largest, b.groups, b.records) for b in sizes.bins] == [
        (1, 1, 1, 1),
        (2, 2, 1, 2),
        (3, 4, 1, 4),
    ]
    assert found.prosecutor_highest == found.journalist_highest == 1.0
    assert found.prosecutor_average == pytest.approx(3 / 7)
    assert found.journalist_average == found.marketer == found.prosecutor_average
    assert found.at_risk == pytest.approx(3 / 7)  # groups of 2 and 1: risk 1/2 and 1
    assert secret.entropy_of_groups == pytest.approx((1 + 1 + 0) / 3)
    assert secret.entropy_of_records == pytest.approx(6 / 7)
    assert secret.lowest_entropy == 0.0
    assert (secret.largest_share, secret.disclosed) == (1.0, pytest.approx(1 / 7))
    assert secret.average_share == pytest.approx((4 * 0.5 + 2 * 0.5 + 1) / 7)
    assert secret.largest_gain == pytest.approx(1 - 1 / 7)
    assert secret.average_gain == pytest.approx((6 * (0.5 - 3 / 7) + 6 / 7) / 7)


def test_a_record_at_the_threshold_is_not_above_it() -> None:
    assert risk_of([0] * 5, "aabbc").reidentification.at_risk == 0.0
    assert risk_of([0] * 4, "aabb").reidentification.at_risk == 1.0


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc")), min_size=1, max_size=30))
def test_disclosure_is_what_pandas_counts(records: list[tuple[int, str]]) -> None:
    frame = pd.DataFrame(records, columns=["group", "s"])
    frame["group"] = pd.factorize(frame["group"])[0]
    [found] = risk_of(frame["group"], frame["s"]).attributes
    shares = frame.groupby("group")["s"].value_counts(normalize=True)
    entropies = shares.groupby("group").apply(lambda p: float(-(p * np.log2(p)).sum()))
    overall = frame["s"].value_counts(normalize=True)
    gain = shares - shares.index.get_level_values("s").map(overall)
    own = frame["group"]
    assert found.entropy_of_groups == pytest.approx(entropies.mean(), abs=1e-12)
    assert found.entropy_of_records == pytest.approx(own.map(entropies).mean(), abs=1e-12)
    assert found.largest_share == pytest.approx(shares.max())
    assert found.average_share == pytest.approx(own.map(shares.groupby("group").max()).mean())
    assert found.largest_gain == pytest.approx(gain.max(), abs=1e-12)
    assert found.average_gain == pytest.approx(
        own.map(gain.groupby("group").max()).mean(), abs=1e-12
    )
    assert found.table_entropy == pytest.approx(
        float(-(overall * np.log2(overall)).sum()), abs=1e-12
    )


def test_before_counts_original_groups_and_after_released_ones() -> None:
    release = shoal.anonymize(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["ill"], k=3)
    before, after = release.risk.before.sizes, release.risk.after.sizes
    counts = PEOPLE.groupby(["age", "sex"]).size()
    assert (before.groups, before.unique) == (len(counts), int((counts == 1).sum()))
    released = release.data.groupby(["age", "sex"]).size()
    assert (after.groups, after.smallest, after.largest) == (
        len(released),
        released.min(),
        released.max(),
    )
    assert after.smallest >= 3


def test_the_released_frame_alone_gives_the_same_risk_in_any_order() -> None:
    job = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"], "k": 2}
    release = shoal.anonymize(PEOPLE, **job)
    shuffled = release.data.sample(frac=1, random_state=1)
    read = read_comparison(open_frame(PEOPLE), open_frame(shuffled), make_settings(None, **job))
    assert compare_risks(read) == release.risk


def test_risk_agrees_with_pycanon_on_the_sample() -> None:
    anonymity = pytest.importorskip("pycanon.anonymity", reason="make installs it")
    table = shoal.samples.adult().slice(0, 2000)
    settings = shoal.Settings.load(shoal.samples.adult_settings())
    release = shoal.anonymize(table, settings=settings, method="mondrian", refine=False)
    frame = release.data.to_pandas().fillna("missing")
    public, after = list(settings.quasi_identifiers), release.risk.after
    [income] = after.attributes
    assert after.sizes.smallest == anonymity.k_anonymity(frame, public)
    alpha, _ = anonymity.alpha_k_anonymity(frame, public, ["income"])
    assert income.largest_share == pytest.approx(alpha)


def test_a_record_of_a_ring_hides_among_the_originals_that_it_may_be() -> None:
    table = pd.DataFrame({"n": range(12), "ill": list("abcabcabcabc")})
    job = {"quasi_identifiers": ["n"], "sensitive": ["ill"], "k": 3}
    release = shoal.anonymize(table, method="non_homogeneous", **job)
    closed = release.closed
    low, high = closed.of_column(0)[:, closed.groups]
    covered = [sum(a <= n <= b for n in range(12)) for a, b in zip(low, high, strict=True)]
    found = release.risk.after
    assert found.sizes.smallest == min(covered) >= 3
    assert found.reidentification.prosecutor_average == pytest.approx(
        np.mean(1 / np.array(covered))
    )
    assert found.attributes == ()


def test_records_left_out_are_not_counted() -> None:
    table = pd.DataFrame({"n": [1, 1, 1, 2, 2, 2, 900], "ill": list("abcabcd")})
    job = {"quasi_identifiers": ["n"], "sensitive": ["ill"], "k": 3, "suppression_limit": 0.2}
    release = shoal.anonymize(table, **job)
    assert release.suppressed == 1
    assert release.risk.before.sizes.records == 6
    assert release.risk.after.sizes.records == 6
    assert release.risk.after.sizes.groups == 2


def test_risks_turn_into_json() -> None:
    import json

    release = shoal.anonymize(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["ill"], k=3)
    facts = json.loads(json.dumps(release.risk.to_dict()))
    assert facts["after"]["sizes"]["records"] == 8
    assert facts["before"]["attributes"][0]["column"] == "ill"
