"""Top-down splitting and repair do what their slow twin does, and what XU06 says of its examples."""

from __future__ import annotations

import sys

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
from shoal.kernels.shared.state import fill, make_state
from shoal.kernels.splitting import top_down as kernels
from shoal.progress import silent
from shoal.solve.methods.papers.top_down import TopDown
from shoal.solve.methods.papers.two_means import TwoMeans
from shoal.solve.problem import Problem

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")
varied = st.integers(0, 2**32).map(twins.varied_sample)


# Twins


@settings(max_examples=several(40))
@given(tables.samples(min_records=2, sensitive=1) | varied, st.sampled_from(OBJECTIVES))
def test_a_segment_is_parted_as_by_its_twin(sample, measure):
    problem = sample.problem(measure)
    arrays, codes, classes = problem.arrays, problem.codes, problem.classes
    order = np.random.default_rng(sample.records).permutation(sample.records)
    own = kernels.own_costs(arrays, codes, classes)
    side = callable_here(kernels.part_by_seeds)(arrays, problem.pairs, codes, classes, own, order)
    expected = twins.part_far(sample.objective(measure), order.tolist())
    assert [order[side == g].tolist() for g in (0, 1)] == expected


def test_a_long_segment_is_parted_record_by_record():
    """Longer than the kernel looks ahead, with closures that widen early and late."""
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.integers(400, 600, 2500), rng.integers(0, 1000, 500)])
    problem = tables.problem_of({"x": values}, {"x": Interval(domain=range(1000))}, "lm", 1)
    own = np.zeros(values.size)
    side = callable_here(kernels.part_by_seeds)(
        problem.arrays, problem.pairs, problem.codes, problem.classes, own, np.arange(values.size)
    )
    seeds = [0]
    for _ in range(3):
        seeds.append(int(np.argmax(np.abs(values - values[seeds[-1]]))))
    ends = [[values[seed], values[seed]] for seed in seeds[-2:]]
    sizes = [1, 1]
    expected = [int(i == seeds[-1]) for i in range(values.size)]
    for i in range(values.size):
        if i in seeds[-2:]:
            continue
        wider = [[min(low, values[i]), max(high, values[i])] for low, high in ends]
        added = [
            (size + 1) * (new[1] - new[0]) - size * (old[1] - old[0])
            for size, new, old in zip(sizes, wider, ends, strict=True)
        ]
        g = min((0, 1), key=lambda g: (added[g], sizes[g]))
        ends[g], expected[i] = wider[g], g
        sizes[g] += 1
    assert min(sizes) > 512
    assert side.tolist() == expected


@settings(max_examples=several(150))
@given(
    tables.samples(sensitive=1) | varied,
    st.sampled_from(OBJECTIVES),
    st.sampled_from([0, 1, 8]),
    st.integers(1, 7),
)
def test_top_down_makes_the_groups_of_its_twin(sample, measure, candidates, k):
    k = min(k, sample.records)
    problem = sample.problem(measure, k)
    groups = TopDown(candidates).partition(problem, 5, silent).groups
    assert np.bincount(groups).min() >= k
    order = np.random.default_rng(5).permutation(sample.records).tolist()
    expected = twins.top_down(sample.objective(measure), order, k, candidates)
    assert tables.partition_of(groups) == sorted(map(sorted, expected))


# Repair


@settings(max_examples=several(150))
@given(
    st.integers(0, 2**32).map(lambda seed: twins.varied_sample(seed, 40)),
    st.sampled_from(OBJECTIVES),
    st.sampled_from([0, 1, 1, 8]),
    st.integers(2, 4),
    st.randoms(use_true_random=False),
)
def test_small_groups_are_repaired_as_by_their_twin(sample, measure, candidates, k, random):
    groups = tables.renumbered(random.choices(range(7), [1, 1, 1, 4, 4, 4, 4], k=sample.records))
    problem, found = sample.problem(measure, k), tables.members(groups)
    mended = TopDown(candidates)._repair(problem, np.array(groups), len(found), silent)
    expected = twins.repair(sample.objective(measure), found, k, candidates)
    assert tables.partition_of(mended) == sorted(map(sorted, expected))


@settings(max_examples=several(300))
@given(varied, st.sampled_from(OBJECTIVES), st.integers(1, 3), st.integers(2, 9))
def test_records_are_picked_one_by_one_where_they_add_least(sample, measure, size, need):
    need = min(need, sample.records - size)
    groups = np.array([0] * size + [1] * (sample.records - size), np.int32)
    problem, objective = sample.problem(measure), sample.objective(measure)
    state = make_state(problem.arrays, problem.values, 0, 2)
    fill(problem.arrays, state, problem.codes, problem.classes, groups)
    picks, change = callable_here(kernels.pick_records)(
        problem.arrays, problem.pairs, state, problem.codes, problem.classes, 0, 1, need
    )
    group, donor = tables.members(groups.tolist())
    expected = sorted(twins.picked(objective, group, donor, need))
    assert picks.tolist() == expected
    kept = [i for i in donor if i not in expected]
    after = objective.group(group + expected) + (objective.group(kept) if kept else 0.0)
    assert change == pytest.approx(
        after - objective.group(group) - objective.group(donor), abs=1e-9
    )


def repaired(values, small, others, k, candidates=8):
    """Groups, as lists of values, once the small one is repaired."""
    problem = tables.problem_of({"x": values}, {"x": Interval()}, "ncp", k)
    groups = np.array([0 if v in small else 1 + others.index(v // 100) for v in values], np.int32)
    found = TopDown(candidates)._repair(problem, groups, len(others) + 1, silent)
    return sorted([values[i] for i in group] for group in tables.members(found.tolist()))


def test_a_small_group_takes_what_it_lacks_from_the_end_of_a_group_that_can_spare_it():
    values = [99, 101, 102, 130, 140, 150, 151, 400, 401, 402]
    assert repaired(values, [99], [1, 4], 3) == [
        [99, 101, 102],
        [130, 140, 150, 151],
        [400, 401, 402],
    ]


def test_a_small_group_merges_where_no_group_can_spare_a_record():
    values = [99, 101, 102, 130, 400, 401, 402]
    assert repaired(values, [99], [1, 4], 3) == [[99, 101, 102, 130], [400, 401, 402]]


def test_without_candidates_small_groups_only_merge():
    values = [99, 101, 102, 130, 140, 150, 151, 400, 401, 402]
    found = repaired(values, [99], [1, 4], 3, candidates=0)
    assert found == [[99, 101, 102, 130, 140, 150, 151], [400, 401, 402]]


# Edges


def test_equal_records_stay_in_one_group():
    problem = tables.problem_of({"x": ["a"] * 50}, {"x": Suppression()}, "mi", 3)
    assert not TopDown().partition(problem, 0, silent).groups.any()


def test_an_outlier_takes_from_a_crowd_of_equal_records_rather_than_spoil_it():
    problem = tables.problem_of({"x": [0] * 50 + [9]}, {"x": Interval()}, "lm", 3)
    groups = TopDown().partition(problem, 0, silent).groups
    assert sorted(np.bincount(groups)) == [3, 48]


def test_a_chain_of_outliers_as_long_as_the_table_is_split_without_recursion():
    values = [float(2**i) for i in range(900)]
    problem = tables.problem_of({"x": values}, {"x": Interval()}, "ncp", 1)
    groups = TopDown().partition(problem, 0, silent).groups
    assert np.bincount(groups).max() < 900


@pytest.mark.parametrize("method", [TopDown(), TwoMeans()], ids=lambda method: method.name)
@given(st.integers(1, 400), st.integers(0, 3))
def test_every_group_has_k_records_whatever_k(method, k, seed):
    rng = np.random.default_rng(seed)
    columns = {"x": rng.integers(0, 40, 400), "y": rng.choice(list("abcd"), 400)}
    problem = tables.problem_of(columns, {"x": Interval(), "y": Suppression()}, "lm", k)
    groups = method.partition(problem, seed, silent).groups
    assert np.bincount(groups).min() >= k


# The papers' examples


@pytest.mark.parametrize("seed", range(8))
def test_the_points_of_xu06_example_1_are_split_in_two(seed):
    columns = {"x": [10, 20, 20, 50, 50, 60], "y": [60, 70, 50, 20, 10, 15]}
    table = encode(open_frame(pa.table(columns)), {"x": Interval(), "y": Interval()})
    problem = Problem.of(table, "ncp", 2, {"x": 50.0, "y": 60.0})
    groups = TopDown().partition(problem, seed, silent).groups
    assert tables.partition_of(groups) == [[0, 1, 2], [3, 4, 5]]
    assert problem.cost(groups) == pytest.approx(150)
    pairs = np.array([0, 0, 1, 1, 2, 2], np.int32)
    assert problem.cost(pairs) == pytest.approx(190)


# Options, seeds and progress


def larger_problem() -> Problem:
    rng = np.random.default_rng(1)
    columns = {"x": rng.integers(0, 99, 600), "y": rng.choice(list("abcdefgh"), 600)}
    return tables.problem_of(columns, {"x": Interval(), "y": Suppression()}, "gcp", 5)


def test_candidates_below_zero_are_refused():
    assert TopDown(candidates=-1).problems() == [
        "The 'candidates' parameter must be at least 0. Got -1 instead."
    ]
    assert not TopDown(candidates=0).problems()


def test_a_seed_repeats_and_another_one_differs():
    problem = larger_problem()
    first, again, other = (TopDown().partition(problem, seed, silent).groups for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert tables.partition_of(first) != tables.partition_of(other)


@pytest.mark.parametrize("stage", ["splitting groups", "repairing groups"])
def test_work_in_small_steps_gives_the_same_groups_and_can_be_cancelled(stage, monkeypatch):
    problem = larger_problem()
    whole = TopDown().partition(problem, 0, silent).groups.tolist()
    monkeypatch.setattr(sys.modules[TopDown.__module__], "WORK", 1)
    monkeypatch.setattr(sys.modules[TopDown.__module__], "COMPARISONS", 1)
    stages: list[str] = []
    in_steps = TopDown().partition(problem, 0, lambda stage, *_: stages.append(stage))
    assert in_steps.groups.tolist() == whole
    assert stages.count(stage) > 10

    def cancel(name: str, done: int, total: int) -> None:
        if name == stage and done:
            raise Cancelled

    with pytest.raises(Cancelled):
        TopDown().partition(problem, 0, cancel)
