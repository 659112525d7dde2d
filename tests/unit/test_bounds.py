"""A certificate's bound is never above the optimum, and what it says of its strength is true."""

from __future__ import annotations

from itertools import combinations
from math import inf
from typing import Any

import pyarrow as pa
import pytest
import reference
import tables
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.bounds import records
from shoal.bounds.cells import Cells
from shoal.bounds.certificate import ratio
from shoal.bounds.records import NoBound, record_bound
from shoal.methods.exact import Exact
from shoal.problem import Problem
from shoal.progress import silent

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")


@st.composite
def drawn(draw: st.DrawFn, records: int) -> tuple[tables.Sample, str, int]:
    """A table, an objective and k."""
    sample = draw(tables.samples(min_records=2, max_records=records, sensitive=1))
    k = draw(st.integers(1, min(sample.records, 4)))
    return sample, draw(st.sampled_from(OBJECTIVES)), k


def optimum(problem: Problem) -> float:
    return problem.cost(Exact().partition(problem, 0, silent).groups)


def quick(problem: Problem) -> float | None:
    """The quick bound on the sum over all records, None where there is none."""
    cells = Cells(problem)
    try:
        least, _ = record_bound(cells)
    except NoBound:
        return None
    return float(least @ cells.points[1] + problem.objective.offset.sum())


def release(sample: tables.Sample, measure: str, k: int, **options: Any) -> shoal.Release:
    return shoal.anonymize(
        sample.frame,
        quasi_identifiers=sample.models,
        sensitive=sample.sensitive,
        k=k,
        objective=measure,
        weights=sample.weights,
        **options,
    )


def is_proper(sample: tables.Sample) -> bool:
    return all(model.proper for model in sample.models.values())


@given(drawn(records=12))
@settings(max_examples=600)
def test_no_release_costs_less_than_the_quick_bound(case):
    sample, measure, k = case
    problem = sample.problem(measure, k)
    bound = quick(problem)
    if bound is None:
        assert measure not in reference.MONOTONE
        assert not is_proper(sample)
    else:
        assert bound <= optimum(problem) + 1e-9


@given(drawn(records=8))
@settings(max_examples=300)
def test_over_trees_every_record_is_bounded_by_its_cheapest_possible_closure(case):
    sample, measure, k = case
    problem = sample.problem(measure, k)
    bound = quick(problem)
    objective = sample.objective(measure)
    everyone = range(sample.records)
    cheapest = [inf] * sample.records
    for size in range(k, sample.records + 1):
        for group in combinations(everyone, size):
            closures = reference.close(sample.twins, group)
            for i in group:
                cheapest[i] = min(cheapest[i], objective.record(closures, i))
    if is_proper(sample):
        assert bound == pytest.approx(sum(cheapest), abs=1e-9)
    elif bound is not None:
        assert bound <= sum(cheapest) + 1e-9


@given(drawn(records=10))
@settings(max_examples=200)
def test_records_cost_at_least_as_much_as_with_their_nearest_others(case):
    sample, measure, k = case
    if measure not in reference.MONOTONE:
        return
    problem, objective = sample.problem(measure, k), sample.objective(measure)
    cells = Cells(problem)
    least = records.nearest_bound(cells)
    assert least is not None
    everyone = range(sample.records)
    for_each = [
        sorted(objective.record(reference.close(sample.twins, [i, j]), i) for j in everyone)[k - 1]
        for i in everyone
    ]
    total = float(least @ cells.points[1] + problem.objective.offset.sum())
    assert total == pytest.approx(sum(for_each), abs=1e-9)


@given(drawn(records=12), st.sampled_from(["mondrian", "cover", "incognito"]))
@settings(max_examples=150)
def test_a_certificate_stands_between_optimum_and_release(case, method):
    sample, measure, k = case
    found = release(sample, measure, k, method=method)
    best = release(sample, measure, k, method="exact").loss()
    if found.certificate is None:
        assert "suppression or a hierarchy" in found.certificate_reason
        return
    assert found.certificate_reason == ""
    assert 0 <= found.certificate.bound <= best + 1e-9
    assert found.certificate.ratio >= 1
    if found.certificate.bound > 1e-9:
        assert found.certificate.ratio == pytest.approx(found.loss() / found.certificate.bound)
        assert found.loss() <= found.certificate.ratio * best + 1e-9


@given(drawn(records=12))
@settings(max_examples=60)
def test_the_bound_does_not_depend_on_the_release(case):
    sample, measure, k = case
    bounds = [
        release(sample, measure, k, method=m).certificate for m in ("mondrian", "cover", "exact")
    ]
    if bounds[0] is not None:
        assert [b.bound for b in bounds] == pytest.approx([bounds[0].bound] * 3)


PEOPLE = pa.table(
    {"zip": ["1", "1", "1", "2", "2", "2"], "sex": list("ffffmm"), "ill": list("abcabc")}
)
SUPPRESSED = {"zip": shoal.Suppression(), "sex": shoal.Suppression()}


def test_a_bound_is_worked_out_by_hand():
    # k = 3: the first three records are alike; of the others one is f, two are m: all lose the sex.
    found = shoal.anonymize(PEOPLE, quasi_identifiers=SUPPRESSED, k=3)
    assert found.certificate.bound == pytest.approx(3 / 12)
    assert found.certificate.ratio == 1.0
    assert found.certificate.how == "cheapest cell of k records"
    assert str(found.certificate) == "at most 1 times the optimum"


def test_a_sum_is_bounded_as_a_sum_and_weights_count():
    found = shoal.anonymize(
        PEOPLE, quasi_identifiers=SUPPRESSED, k=3, objective="suppressed", weights={"sex": 5.0}
    )
    assert found.certificate.bound == pytest.approx(11)  # the f of zip 2 could lose its zip instead
    assert found.loss() == pytest.approx(15)


def test_requirements_beyond_k_leave_the_bound_as_it_is():
    options = {"quasi_identifiers": SUPPRESSED, "sensitive": ["ill"], "k": 2}
    strict = shoal.anonymize(PEOPLE, **options, requirements=[shoal.LDiversity(3)])
    assert strict.certificate.bound == shoal.anonymize(PEOPLE, **options).certificate.bound
    assert strict.certificate.ratio > 1


def test_a_release_without_groups_has_no_certificate_and_says_why():
    found = shoal.anonymize(PEOPLE, quasi_identifiers=SUPPRESSED, k=2, method="non_homogeneous")
    assert found.certificate is None
    assert "non_homogeneous" in found.certificate_reason


def test_an_objective_that_may_fall_has_none_over_intervals():
    models = {"zip": shoal.Subset(), "sex": shoal.Suppression()}
    found = shoal.anonymize(PEOPLE, quasi_identifiers=models, k=2, objective="entropy")
    assert found.certificate is None
    assert "suppression or a hierarchy in every column" in found.certificate_reason


def test_too_large_a_table_has_none_or_a_weaker_one(monkeypatch):
    monkeypatch.setattr(records, "MOST_LOOKS", 1)
    found = shoal.anonymize(PEOPLE, quasi_identifiers=SUPPRESSED, k=3)
    assert found.certificate.how == "nearest k − 1 records"
    assert found.certificate.bound <= 3 / 12
    monkeypatch.setattr(records, "MOST_PAIRS", 1)
    found = shoal.anonymize(PEOPLE, quasi_identifiers=SUPPRESSED, k=3)
    assert found.certificate is None
    assert "too many distinct records" in found.certificate_reason


@pytest.mark.parametrize(
    ("loss", "bound", "expected"),
    [(2.0, 1.0, 2.0), (1.0, 1.0 - 1e-9, 1.0), (0.0, 0.0, 1.0), (1.0, 0.0, inf)],
)
def test_the_ratio_is_not_below_one_by_rounding(loss, bound, expected):
    assert ratio(loss, bound) == expected
