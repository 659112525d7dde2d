"""The same rules are found as by trying all of them, in table and release."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from examples import several
from hypothesis import given, settings
from reference.evaluation import compared, in_parts, original_cells, rules_of, spread_cells
from tables import partitioned_samples

import shoal
from shoal.assess.association_rules import RANGES, VALUES, compare_rules
from shoal.assess.distributions import compared_columns

SUPPORT, CONFIDENCE = 0.21, 0.55  # no share of up to nine records is near


@settings(max_examples=several(30))
@given(partitioned_samples(max_records=9, max_columns=3, sensitive=1))
def test_rules_are_those_of_trying_all_of_them(drawn: Any) -> None:
    comparison = compared(*drawn)
    columns = compared_columns(comparison)
    parts = [c.cut(VALUES if c.ordered is None else RANGES).tolist() for c in columns]
    before = rules_of(in_parts(original_cells(comparison), parts), SUPPORT, CONFIDENCE)
    after = rules_of(in_parts(spread_cells(comparison), parts), SUPPORT, CONFIDENCE)
    found = compare_rules(comparison, support=SUPPORT, confidence=CONFIDENCE)
    assert (found.all.in_table, found.all.in_release) == (len(before), len(after))
    assert found.all.in_both == len(before.keys() & after.keys())
    last = len(comparison.table.columns)
    assert found.sensitive.in_table == sum(item[0] == last for _, item in before)
    shared = before.keys() & after.keys()
    if len(shared) == len(before) and before:
        difference = sum(abs(before[rule] - after[rule]) for rule in before) / len(before)
        assert found.all.confidence_difference == pytest.approx(difference, abs=1e-9)


def test_agreement_of_a_small_release_is_that_found_by_hand() -> None:
    table = pd.DataFrame({"sex": list("ffmm"), "ill": list("aabb")})
    release = pd.DataFrame({"sex": ["f", "f", "*", "*"], "ill": list("aabb")})
    job = {"quasi_identifiers": {"sex": shoal.Suppression()}, "sensitive": ["ill"], "k": 2}
    found = shoal.evaluate(table, release, **job, queries=0).rules
    # The table has f → a, a → f, m → b and b → m, all certain. In the release each `*` is half an f and half
    # an m: f → a has confidence 2/3, a → f and m → b are certain, and b → m drops to 1/2, below 0.6.
    assert (found.all.in_table, found.all.in_release, found.all.in_both) == (4, 3, 3)
    assert (found.all.precision, found.all.recall, found.all.jaccard) == (1.0, 0.75, 0.75)
    assert found.all.confidence_difference == pytest.approx((1 / 3 + 0 + 0 + 1 / 2) / 4)
    assert (found.sensitive.in_table, found.sensitive.in_both) == (2, 2)


def test_nothing_lost_is_full_agreement() -> None:
    table = shoal.samples.adult().slice(0, 800)
    release = shoal.anonymize(table, settings=shoal.samples.adult_settings(), k=1)
    found = compare_rules(release.comparison)
    assert found.all.in_table > 100
    assert found.all.jaccard == found.sensitive.jaccard == 1.0
    assert found.all.confidence_difference == pytest.approx(0.0, abs=1e-12)


def test_many_columns_give_rules_of_two_items() -> None:
    many = pd.DataFrame({f"c{j:02}": ["x", "y"] for j in range(16)})
    job = {"quasi_identifiers": dict.fromkeys(many.columns, shoal.Suppression()), "k": 1}
    found = compare_rules(shoal.anonymize(many, **job, refine=False).comparison)
    assert found.longest == 2
    assert found.all.in_table == 16 * 15 * 2  # each value of a column tells that of every other
    few = compare_rules(
        shoal.anonymize(many.iloc[:, :3], quasi_identifiers=list(many.columns[:3]), k=1).comparison
    )
    assert few.longest == 3
    assert few.all.in_table == 3 * 2 * 2 + 3 * 2


def test_shares_that_cannot_be_are_refused_together() -> None:
    table = pd.DataFrame({"a": [1, 1]})
    comparison = shoal.anonymize(table, quasi_identifiers=["a"], k=2).comparison
    with pytest.raises(shoal.InputError) as caught:
        compare_rules(comparison, support=0, confidence=2)
    assert len(caught.value.problems) == 2
