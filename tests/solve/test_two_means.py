"""Two-means splits as its slow twin does, and finds the groups that HE12 prints."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from compiled import callable_here
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import splitting as twins

from shoal import Cancelled, Interval, Suppression
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels.splitting import two_means as kernels
from shoal.progress import silent
from shoal.solve.methods.papers.two_means import TwoMeans
from shoal.solve.problem import Problem

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")
varied = st.integers(0, 2**32).map(twins.varied_sample)


# Twins


@settings(max_examples=several(150))
@given(
    tables.samples(sensitive=1) | varied,
    st.sampled_from(OBJECTIVES),
    st.integers(1, 6),
    st.integers(1, 7),
)
def test_two_means_makes_the_groups_of_its_twin(sample, measure, rounds, k):
    k = min(k, sample.records)
    problem = sample.problem(measure, k)
    groups = TwoMeans(rounds).partition(problem, 5, silent).groups
    assert np.bincount(groups).min() >= k
    rng = np.random.default_rng(5)
    order = rng.permutation(sample.records).tolist()
    expected = twins.two_means(sample.objective(measure), order, k, rounds, rng)
    assert tables.partition_of(groups) == sorted(map(sorted, expected))


@given(
    st.lists(st.none() | st.integers(0, 30), min_size=1, max_size=9).filter(any),
    st.sampled_from(["interval", "subset"]),
)
def test_the_middle_of_a_side_is_the_value_nearest_its_mean_or_its_mode(values, model):
    domain = sorted({v for v in values if v is not None})
    column = reference.Column(model, values, domain)
    codes = np.array([[*domain, None].index(v) for v in values], np.int32)
    null = len(domain) if None in values else -1
    size = len(values) // 2 + 1
    side = np.array([1] * size + [0] * (len(values) - size), np.int8)
    if model == "interval":
        places = np.array([twins.place(column, v) for v in domain])
        found = callable_here(kernels.mean_code)(codes, side, 1, places, null)
    else:
        tally = np.zeros(len(domain) + 1, np.int64)
        found = callable_here(kernels.mode_code)(codes, side, 1, tally)
        assert not tally.any()
    assert [*domain, None][found] == twins.middle(column, list(range(size)))


# Sides


def assigned(distances: list[list[float]], k: int) -> list[int]:
    side = np.zeros(len(distances[0]), np.int8)
    callable_here(kernels.assign_sides)(np.array(distances), k, side)
    return side.tolist()


def test_records_go_to_the_nearer_centre_and_ties_to_the_smaller_side():
    assert assigned([[0.0, 0.1, 0.9, 0.9], [0.5, 0.5, 0.2, 0.0]], 2) == [0, 0, 1, 1]
    assert assigned([[0.0, 0.1, 0.5, 0.5, 0.5], [1.0, 1.0, 0.5, 0.5, 0.5]], 1) == [0, 0, 1, 1, 0]
    assert assigned([[0.1 + 0.2], [0.3]], 0) == [0]


def test_a_side_below_k_borrows_the_records_that_lose_least():
    near, far = [0.0, 0.1, 0.2, 0.3, 0.9], [0.9, 0.5, 0.3, 0.7, 0.0]
    assert assigned([near, far], 3) == [0, 1, 1, 0, 1]
    assert assigned([far, near], 3)[:4] == [1, 0, 0, 1]


# Edges


@given(varied, st.sampled_from(reference.MONOTONE), st.data())
def test_under_a_monotone_objective_large_groups_are_left_only_where_all_records_are_equal(
    sample, measure, data
):
    k = data.draw(st.integers(1, sample.records))
    problem = sample.problem(measure, k)
    groups = TwoMeans(rounds=1).partition(problem, 0, silent).groups
    for group in tables.members(groups.tolist()):
        assert len(group) < 2 * k or np.unique(problem.codes[group], axis=0).shape[0] == 1


def test_a_split_that_costs_more_than_the_whole_is_not_made():
    """Knowing x alone tells the sensitive value worse than knowing nothing: pmi is not monotone."""
    columns = {"x": ["a", "a", "b", "b"], "s": ["u", "v", "u", "u"]}
    table = encode(open_frame(pa.table(columns)), {"x": Suppression()}, ["s"])
    problem = Problem.of(table, "pmi", 1)
    groups = TwoMeans().partition(problem, 0, silent).groups
    assert problem.cost(groups) <= problem.cost(np.zeros(4, np.int32)) + 1e-9


# The papers' examples


@pytest.mark.parametrize("seed", range(8))
def test_the_groups_and_intervals_of_he12_table_2_are_found(seed):
    columns = {"age": [20, 20, 30, 40, 50, 60, 60], "zip": [25, 30, 25, 30, 10, 5, 10]}
    problem = tables.problem_of(columns, {"age": Interval(), "zip": Interval()}, "ncp", 2)
    groups = TwoMeans().partition(problem, seed, silent).groups
    andy_bob, jane_alex, mary_lily_lucy = [0, 1], [2, 3], [4, 5, 6]
    assert tables.partition_of(groups) == [andy_bob, jane_alex, mary_lily_lucy]
    closed = problem.close(groups)
    age, zips = (
        column.form.text(closed.closures[2 * j : 2 * j + 2])
        for j, column in enumerate(problem.columns)
    )
    released = {i: (age[closed.groups[i]], zips[closed.groups[i]]) for i in (0, 2, 4)}
    assert released == {
        0: ("20", "25–30"),
        2: ("30–40", "25–30"),
        4: ("50–60", "5–10"),
    }


# Options, seeds and progress


def larger_problem() -> Problem:
    rng = np.random.default_rng(1)
    columns = {"x": rng.integers(0, 99, 600), "y": rng.choice(list("abcdefgh"), 600)}
    return tables.problem_of(columns, {"x": Interval(), "y": Suppression()}, "gcp", 5)


def test_rounds_below_one_are_refused():
    assert TwoMeans(rounds=0).problems() == [
        "The 'rounds' parameter must be at least 1. Got 0 instead."
    ]
    assert not TwoMeans(rounds=1).problems()


@settings(max_examples=several(25))
@given(varied, st.integers(0, 9))
def test_more_rounds_never_make_a_single_split_dearer(sample, seed):
    problem = sample.problem("lm", sample.records // 3 + 1)
    costs = [
        problem.cost(TwoMeans(rounds).partition(problem, seed, silent).groups)
        for rounds in (1, 3, 8)
    ]
    for fewer, more in pairwise(costs):
        assert more <= fewer + 1e-9


def test_a_seed_repeats_and_another_one_differs():
    problem = larger_problem()
    first, again, other = (TwoMeans().partition(problem, seed, silent).groups for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert tables.partition_of(first) != tables.partition_of(other)


def test_work_in_small_steps_gives_the_same_groups_and_can_be_cancelled(monkeypatch):
    problem = larger_problem()
    whole = TwoMeans().partition(problem, 0, silent).groups.tolist()
    monkeypatch.setattr(sys.modules[TwoMeans.__module__], "WORK", 1)
    done: list[int] = []
    in_steps = TwoMeans().partition(problem, 0, lambda _, at, __: done.append(at))
    assert in_steps.groups.tolist() == whole
    assert len(done) > 50
    assert done == sorted(done)

    def cancel(stage: str, at: int, total: int) -> None:
        if at:
            raise Cancelled

    with pytest.raises(Cancelled):
        TwoMeans().partition(problem, 0, cancel)
