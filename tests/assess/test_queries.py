"""Queries are answered as a slow reading of every record would answer them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.evaluation import compared, estimated_answer, exact_answer
from tables import partitioned_samples

import shoal
from shoal.assess.queries import (
    OriginalRecords,
    Workload,
    amounts_of,
    answer_from_release,
    compare_answers,
    count_errors,
    draw_workload,
)


@given(partitioned_samples(max_columns=3), st.integers(0, 999))
def test_answers_are_those_of_reading_record_by_record(drawn: Any, seed: int) -> None:
    comparison = compared(*drawn)
    table, rng = comparison.table, np.random.default_rng(seed)
    columns = sorted(rng.permutation(len(table.columns))[: rng.integers(1, 4)].tolist())
    workload = draw_workload(comparison, columns, 8, rng)
    amounts = rng.normal(size=table.records)
    per_group = rng.normal(size=comparison.sizes.size)
    exact = OriginalRecords(comparison, columns, amounts).answer(workload)
    estimate = answer_from_release(comparison, workload, per_group)
    for q in range(workload.queries):
        query = {j: c[:, q] for j, c in zip(columns, workload.conditions, strict=True)}
        assert exact[q] == pytest.approx(exact_answer(comparison, query, amounts), abs=1e-9)
        slow = estimated_answer(comparison, query, per_group)
        assert estimate[q] == pytest.approx(slow, abs=1e-9)


def test_a_small_release_answers_as_found_by_hand() -> None:
    table = pd.DataFrame({"age": [20, 30, 40, 50], "pay": [1.0, 2.0, 3.0, 4.0]})
    job = {"quasi_identifiers": ["age"], "sensitive": ["pay"], "k": 2}
    release = shoal.anonymize(table, **job)
    comparison = release.comparison
    workload = Workload((0,), (np.array([[0, 1, 3], [0, 2, 3]], dtype=np.int32),))
    assert OriginalRecords(comparison, [0], np.ones(4)).answer(workload).tolist() == [1, 2, 1]
    assert answer_from_release(comparison, workload, comparison.sizes).tolist() == [1, 2, 1]
    per_record, per_group = amounts_of(comparison, "pay")
    assert OriginalRecords(comparison, [0], per_record).answer(workload).tolist() == [1, 5, 4]
    assert answer_from_release(comparison, workload, per_group).tolist() == [1.5, 5, 3.5]
    assert amounts_of(comparison, "age")[1].tolist() == [50, 90]  # 2 · 25 and 2 · 45


@pytest.fixture(scope="module")
def census() -> tuple[pa.Table, Any]:
    table = (
        shoal.samples.adult()
        .slice(0, 1500)
        .select(["age", "sex", "race", "hours-per-week", "income"])
    )
    job = {"quasi_identifiers": ["age", "sex", "race"], "sensitive": ["income"], "k": 5}
    job["others"] = "drop"
    return table, job


def test_a_release_without_loss_makes_no_error(census: tuple[pa.Table, Any]) -> None:
    table, job = census
    release = shoal.anonymize(table, **{**job, "k": 1})
    found = compare_answers(release.comparison, 50)
    assert found.count.mean == found.count.median == 0.0
    assert found.sum is not None
    assert found.sum.mean == pytest.approx(0.0, abs=1e-12)


def test_the_same_seed_asks_the_same_queries(census: tuple[pa.Table, Any]) -> None:
    table, job = census
    comparison = shoal.anonymize(table, **job).comparison
    first = compare_answers(comparison, 60, seed=3)
    assert first == compare_answers(comparison, 60, seed=3)
    assert first != compare_answers(comparison, 60, seed=4)
    assert first.count.queries == 60 <= first.count.drawn
    assert first.sum_column == "age"
    assert first.sum is not None
    assert first.sum.columns == ("sex", "race")


def test_only_queries_that_select_nothing_are_drawn_anew() -> None:
    table = pd.DataFrame({"a": [1, 1, 9, 9], "b": list("xxyy")})
    comparison = shoal.anonymize(table, quasi_identifiers=["a", "b"], k=2).comparison
    found = count_errors(comparison, ["a", "b"], 40)
    assert found.queries == 40 < found.drawn
    assert found.mean == 0.0
    assert count_errors(comparison, ["a"], 40).drawn == 40  # ranges between values hold some


def test_sums_of_unchanged_numbers_and_wrong_columns(census: tuple[pa.Table, Any]) -> None:
    table, job = census
    job = {**job, "sensitive": ["income", "hours-per-week"]}
    comparison = shoal.anonymize(table, **job).comparison
    found = compare_answers(comparison, 30, sum_column="hours-per-week")
    assert found.sum is not None
    assert found.sum.columns == ("age", "sex", "race")
    with pytest.raises(shoal.InputError, match=r"'sex' cannot be summed.*age, hours-per-week"):
        compare_answers(comparison, 30, sum_column="sex")


def test_weights_lower_the_error_on_the_columns_that_weigh_most() -> None:
    """XU06 Figure 19: uniform data, weights 8, 4, 2, 1."""
    rng = np.random.default_rng(19)
    names = ["a1", "a2", "a3", "a4"]
    table = pa.table({name: rng.integers(0, 1001, 1500) for name in names})
    job = {"quasi_identifiers": names, "k": 10, "objective": "ncp", "method": "top_down"}
    job["refine"] = False
    plain = shoal.anonymize(table, **job).comparison
    weighted = shoal.anonymize(
        table, **job, weights=dict(zip(names, (8, 4, 2, 1), strict=True))
    ).comparison
    for number in (1, 2):
        before, after = (
            count_errors(comparison, names[:number], 300, seed=1).mean
            for comparison in (plain, weighted)
        )
        assert before is not None
        assert after is not None
        assert after < 0.8 * before
