"""Leaving out a few records: only within the limit, only where it pays, counted in every measure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import tables
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.methods.suppress import suppress

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
    assert set(release.data["n"]) == {"[0, 9]"}
    assert release.groups.tolist() == [0] * 10 + [-1]
    assert one_group(0.0).suppressed == 0
    assert one_group(0.05).suppressed == 0  # not even one record


def test_a_record_left_out_counts_as_fully_suppressed():
    release = one_group(0.1)
    assert release.loss("lm") == pytest.approx((10 * 9 / 10 + 1) / 11)
    assert release.loss("ncp") == pytest.approx(10 * 9 / 1000 + 1)
    assert release.loss("dm") == 10 * 10 + 11
    assert release.loss("c_avg") == pytest.approx(11 / 10)
    assert release.loss("cm") == pytest.approx(1 - 4 / 11)


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
    after = suppress(problem, before, limit)
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
