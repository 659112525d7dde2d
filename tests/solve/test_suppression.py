"""Leaving out a few records: only within the limit, only where it pays, counted in every measure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import tables
from hypothesis import given
from hypothesis import strategies as st
from reference import clustering as twins

import shoal
from shoal.audits.requirements.alpha import AlphaK
from shoal.audits.requirements.diversity import LDiversity
from shoal.audits.requirements.sensitivity import PSensitive
from shoal.kernels.shared.rules import keeps_limits
from shoal.solve.leaving_out import remove_dearest
from shoal.solve.problem import Problem

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
