"""Leaving out a few records: only within the limit, only where it pays, counted in every measure."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
import tables
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import clustering as twins

import shoal
from shoal.audits.requirements.alpha import AlphaK
from shoal.audits.requirements.diversity import LDiversity
from shoal.audits.requirements.sensitivity import PSensitive
from shoal.kernels.refining.leaving_out import leave_records_out
from shoal.kernels.shared.rules import keeps_limits
from shoal.kernels.shared.state import offending
from shoal.progress import silent
from shoal.solve.counted.assignment import pick_rows
from shoal.solve.leaving_out import Leaving, leave_out, remove_dearest
from shoal.solve.local_search.budget import Refine
from shoal.solve.local_search.schedule import refine
from shoal.solve.methods import Cover, Exact, Mondrian
from shoal.solve.methods.base import state_of
from shoal.solve.methods.completion import suppressed_costs
from shoal.solve.problem import Problem

pytestmark = pytest.mark.usefixtures("briefly")

FAR = pd.DataFrame({"n": [*range(10), 1000], "s": list("abcabcabcab")})


def one_group(limit, **options):
    return shoal.anonymize(
        FAR,
        quasi_identifiers=["n"],
        sensitive=["s"],
        k=10,
        suppression_limit=limit,
        objective="ncp",
        **options,
    )


def test_a_record_that_costs_the_others_more_than_itself_is_left_out():
    release = one_group(0.1)
    assert release.suppressed == 1
    assert set(release.data["n"]) == {"0–9"}
    assert release.groups.tolist() == [0] * 10 + [-1]
    assert one_group(0.0).suppressed == 0
    assert one_group(0.05).suppressed == 0  # not even one record


def test_a_record_left_out_counts_as_hidden_among_those_released():
    # Two groups are released: of n 5 values each, of 10 in a range of 10, and of sex one value of 2.
    table = pd.DataFrame(
        {
            "n": [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 1000],
            "sex": list("fffffmmmmmm"),
            "s": list("aabbbccdddz"),
        }
    )
    release = shoal.anonymize(
        table,
        quasi_identifiers=["n", "sex"],
        sensitive=["s"],
        k=5,
        suppression_limit=0.1,
        objective="ncp",
    )
    assert set(release.data["n"]) == {"0–4", "6–10"}
    assert release.suppressed == 1
    shares = np.array([2, 3, 2, 3]) / 10  # of the sensitive values that are released
    hidden = -(shares * np.log2(shares)).sum()
    expected = {
        "suppressed": 10 + 2,
        "lm": (10 * 4 / 9 + 2) / 22,
        "ncp": 10 * 4 / 10 + 2,
        "mi": (10 * np.log2(5) + np.log2(10) + np.log2(2)) / 22,
        "pmi": (4 * np.log2(5 / 2) + 6 * np.log2(5 / 3) + hidden) / 11,
        "am": (10 * 5 + 10 * 2) / 11,
        "dm": 2 * 5**2 + 11,
        "c_avg": 11 / (2 * 5),
        "cm": 1 - 2 * 3 / 11,
        "kl": np.log2(1 / 10) - np.log2(5 / 11 / 5 + 1 / 11 / 20),
    }
    assert {name: release.loss(name) for name in expected} == pytest.approx(expected, abs=1e-12)


def test_groups_that_hide_all_that_is_released_count_as_suppressed():
    release = one_group(0.1)
    assert release.loss("lm") == 1
    assert release.loss("ncp") == 11
    assert release.loss("dm") == 11 * 11
    assert release.loss("cm") == 1


def test_a_group_of_exactly_k_need_not_keep_its_outlier():
    ages = pd.DataFrame({"age": [30] * 10 + [40] * 10 + [50] * 10 + [107]})
    release = shoal.anonymize(
        ages, quasi_identifiers=["age"], k=5, suppression_limit=0.05, objective="ncp"
    )
    assert release.suppressed == 1
    assert release.loss("ncp") == 1.0


def test_two_equal_records_unlike_all_others_are_left_out_together():
    table = pd.DataFrame({"town": ["Aa"] * 60 + ["Bo"] * 60 + ["Xu"] * 2})
    release = shoal.anonymize(table, quasi_identifiers=["town"], k=3, suppression_limit=0.1)
    assert sorted(release.data["town"]) == ["Aa"] * 60 + ["Bo"] * 60


def test_nothing_is_known_of_a_record_left_out_but_that_it_was():
    closed = one_group(0.1).closed
    assert (closed.records, closed.left_out, closed.table.records) == (11, 1, 10)
    assert closed.table.columns[0].form.size == 10
    assert closed.groups.tolist() == [0] * 10


@pytest.mark.parametrize("keep_order", [True, False])
def test_the_record_left_out_is_not_in_the_release(keep_order):
    release = one_group(0.1, keep_order=keep_order)
    assert sorted(release.data["s"]) == sorted("abcabcabca")
    assert release.audit.records == 10


def test_a_record_that_a_requirement_needs_is_not_left_out(monkeypatch):
    monkeypatch.setitem(FAR, "s", ["a"] * 10 + ["b"])
    assert set(one_group(0.1).data["s"]) == {"a"}
    assert "b" in set(one_group(0.5, requirements=[shoal.PSensitive(2)]).data["s"])


def test_bad_limits_are_refused():
    for limit in (-0.1, 1.0, "some", float("nan")):
        with pytest.raises(shoal.InputError, match="suppression_limit"):
            one_group(limit)
    with pytest.raises(shoal.InputError, match="closeness"):
        one_group(0.1, requirements=[shoal.TCloseness(0.5)])
    with pytest.raises(shoal.InputError, match="non_homogeneous"):
        one_group(0.1, method="non_homogeneous")


def test_the_limit_survives_a_settings_file(tmp_path):
    one_group(0.1).settings.save(tmp_path / "a.toml")
    assert shoal.Settings.load(tmp_path / "a.toml").suppression_limit == 0.1


@given(
    tables.partitioned_samples(min_records=4, max_records=14),
    st.sampled_from(["lm", "tree", "mi", "entropy"]),
    st.floats(0, 0.9),
)
def test_leaving_out_never_costs_and_never_breaks_k(drawn, measure, limit):
    sample, groups = drawn
    k = int(np.bincount(groups).min())
    problem = sample.problem(measure, k)
    before = np.array(groups, dtype=np.int32)
    after = remove_dearest(problem, before, int(limit * sample.records))
    kept = after >= 0
    assert np.count_nonzero(~kept) <= limit * sample.records
    assert (after[kept] == before[kept]).all()
    assert np.bincount(after[kept]).min() >= k
    objective = sample.objective(measure)
    whole = [column.whole for column in sample.twins]
    left = sum(objective.record(whole, i) for i in np.flatnonzero(~kept))
    for own in tables.members(groups):
        left += objective.group([i for i in own if kept[i]])
    assert left <= sum(objective.group(own) for own in tables.members(groups)) + 1e-6


@given(
    tables.partitioned_samples(min_records=4, max_records=20, sensitive=1),
    st.sampled_from(["lm", "gcp", "entropy", "mi", "pmi"]),
    st.sampled_from(["k", "distinct", "frequency", "entropy", "alpha", "recursive"]),
    st.integers(1, 3),
    st.floats(0, 0.9),
)
def test_those_are_left_out_whom_weighing_every_record_anew_would_choose(
    drawn, measure, kind, k, limit
):
    sample, groups = drawn
    asked = {
        "k": [],
        "distinct": [PSensitive(2)],
        "frequency": [LDiversity(1.5)],
        "entropy": [LDiversity(1.5, kind="entropy")],
        "alpha": [AlphaK(0.75)],
        "recursive": [LDiversity(2, kind="recursive", c=2.0)],
    }[kind]
    table, objective = sample.encoded(), sample.objective(measure)
    problem = Problem.of(table, measure, k, sample.weights, tables.SHARE, asked)
    after = remove_dearest(problem, np.array(groups, dtype=np.int32), int(limit * sample.records))

    def lack(group):
        tally = np.zeros(problem.tallied, dtype=np.int32)
        np.add.at(tally, problem.values[group].reshape(-1), 1)
        return float(not keeps_limits(problem.rules, tally, len(group)))

    whole = [column.whole for column in sample.twins]
    left_out = twins.leaving_out(
        objective.group,
        lambda one: objective.record(whole, one[0]),
        tables.members(groups),
        k,
        int(limit * sample.records),
        lack,
    )
    assert set(np.flatnonzero(after < 0).tolist()) == left_out


REQUIRED = {
    "k": [],
    "distinct": [PSensitive(2)],
    "entropy": [LDiversity(1.5, kind="entropy")],
    "alpha": [AlphaK(0.75)],
}


@st.composite
def refined_groups(draw, max_records):
    """A problem of which records may be left out, and refined groups that meet its requirement."""
    sample = draw(tables.samples(min_records=6, max_records=max_records, sensitive=1))
    measure = draw(st.sampled_from(["lm", "tree", "mi"]))
    asked, k = REQUIRED[draw(st.sampled_from(sorted(REQUIRED)))], draw(st.integers(1, 4))
    problem = Problem.of(sample.encoded(), measure, k, sample.weights, tables.SHARE, asked)
    everything = state_of(problem, np.zeros(sample.records, dtype=np.int32))
    assume(not offending(problem.rules, everything).any())
    most = draw(st.integers(1, sample.records - 1))
    groups = Cover().partition(problem, 0, silent).groups
    groups = refine(problem, groups, 0, silent, Refine()).groups
    return sample.objective(measure), replace(problem, most_left_out=most), groups


def cost_of(problem, groups):
    left = suppressed_costs(problem)[problem.classes[groups < 0]]
    return problem.cost(groups) + left.sum()


def complies(problem, members):
    tally = np.zeros(problem.tallied, dtype=np.int32)
    np.add.at(tally, problem.values[members].reshape(-1), 1)
    return len(members) >= problem.k and keeps_limits(problem.rules, tally, len(members))


def refined(problem):
    def improve(rest, groups):
        return refine(pick_rows(problem, rest), groups, 0, silent, Refine()).groups

    return improve


@settings(max_examples=several(60))
@given(refined_groups(max_records=24))
def test_leaving_out_in_the_search_is_never_worse_than_afterwards_or_than_mondrian(drawn):
    _, problem, groups = drawn
    most = problem.most_left_out
    found = leave_out(problem, groups, most, refined(problem), silent)
    assert np.count_nonzero(found < 0) <= most
    assert not offending(problem.rules, state_of(problem, found)).any()
    split = Mondrian().partition(problem, 0, silent).groups
    for others in (groups, split):
        assert (
            cost_of(problem, found)
            <= cost_of(problem, remove_dearest(problem, others, most)) + 1e-6
        )


@settings(max_examples=several(25))
@given(refined_groups(max_records=9))
def test_exact_finds_the_best_of_all_choices_of_records_to_leave_out(drawn):
    _, problem, groups = drawn
    n, most = problem.table.records, min(2, problem.most_left_out)
    exact = Exact().partition(replace(problem, most_left_out=most), 0, silent).groups
    assert np.count_nonzero(exact < 0) <= most
    best = np.inf
    for out in chain.from_iterable(combinations(range(n), m) for m in range(most + 1)):
        rest = np.setdiff1d(np.arange(n), out)
        part = replace(pick_rows(problem, rest), most_left_out=0)
        if offending(part.rules, state_of(part, np.zeros(rest.size, np.int32))).any():
            continue
        tried = np.full(n, -1, dtype=np.int32)
        tried[rest] = Exact().partition(part, 0, silent).groups
        best = min(best, cost_of(problem, tried))
    assert cost_of(problem, exact) == pytest.approx(best, abs=1e-6)
    assert (
        cost_of(problem, leave_out(problem, groups, most, refined(problem), silent)) >= best - 1e-6
    )


@settings(max_examples=several(60))
@given(refined_groups(max_records=14), st.floats(0, 2))
def test_groups_lose_their_outliers_as_by_the_twin(drawn, more):
    objective, problem, groups = drawn
    price = suppressed_costs(problem) + more
    whole = [column.whole for column in objective.columns]
    leaving = Leaving(problem, problem.most_left_out, None)
    x, crowd, out = leaving.search(groups)
    expected = twins.without_outliers(
        objective.group,
        lambda i: objective.record(whole, i) + more,
        tables.members(groups),
        lambda members: complies(problem, members),
        problem.most_left_out,
    )
    leave_records_out(x, crowd, out, price, problem.most_left_out, np.arange(out))
    found = [np.flatnonzero(x.s.group == g).tolist() for g in range(out + 1)]
    assert found == [sorted(group) for group in expected]
