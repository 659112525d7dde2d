"""agglomerative, bottom_up, k_member and sequential do what their slow twins do, on any mix of models."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from partitions import swept
from reference import clustering as twins

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels.clustering.agglomerative import merge_round
from shoal.kernels.shared.state import pack
from shoal.progress import silent
from shoal.solve.methods.agglomerative import DISTANCES, Agglomerative
from shoal.solve.methods.papers.bottom_up import BottomUp
from shoal.solve.methods.papers.k_member import k_members
from shoal.solve.methods.papers.sequential import Sequential, state_of
from shoal.solve.problem import Problem

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")
MEASURES = st.sampled_from(OBJECTIVES)
SAMPLES = tables.samples(min_records=2, max_records=14, sensitive=1)


def kernel_cost(problem: Problem) -> twins.Cost:
    """What a group costs by the kernels themselves, so that equal choices tie in both."""

    @cache
    def cost(group: tuple[int, ...]) -> float:
        numbers = np.where(np.isin(np.arange(problem.table.records), group), 0, 1)
        if len(group) == problem.table.records:
            numbers[:] = 0
        state = state_of(problem, numbers.astype(np.int32))
        return float(state.cost[0])

    return lambda group: cost(tuple(sorted(group)))


def distinct_groups(problem: Problem) -> list[list[int]]:
    return tables.members(problem.points.of_record.tolist())


def generic(seed: int, records: int = 12) -> tuple[Problem, reference.Objective]:
    """A table without ties: two columns of random numbers and one of categories."""
    rng = np.random.default_rng(seed)
    numbers = [rng.random(records).tolist() for _ in range(2)]
    letters = rng.choice(list("abc"), records).tolist()
    frame = pa.table({"x": numbers[0], "y": numbers[1], "z": letters})
    models = {"x": shoal.Interval(), "y": shoal.Interval(), "z": shoal.Suppression()}
    weights = {"x": 1.0, "y": 2**0.5, "z": 0.3}
    columns = [
        reference.Column("interval", numbers[0], sorted(numbers[0])),
        reference.Column("interval", numbers[1], sorted(numbers[1])),
        reference.Column("suppression", letters, sorted(set(letters))),
    ]
    problem = Problem.of(encode(open_frame(frame), models), "ncp", 3, weights)
    return problem, reference.Objective("ncp", columns, list(weights.values()))


# Against twins that share no code


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", DISTANCES)
def test_agglomerative_equals_brute_force(seed: int, kind: str) -> None:
    problem, objective = generic(seed)
    found = Agglomerative(kind).partition(problem, 0, silent).groups
    expected = twins.agglomerative(objective.group, distinct_groups(problem), 3, kind)
    assert tables.partition_of(found.tolist()) == tables.as_partition(expected)


@pytest.mark.parametrize("seed", range(20))
def test_k_member_equals_its_twin(seed: int) -> None:
    problem, objective = generic(seed, 14)
    found = k_members(problem, np.arange(14), problem.codes[5], silent)
    rest = np.lexsort(problem.codes.T).tolist()
    expected = twins.k_member(objective.group, list(range(14)), 3, 5, rest)
    assert tables.partition_of(found.tolist()) == tables.as_partition(expected)


@pytest.mark.parametrize("seed", range(20))
def test_a_sequential_pass_equals_its_twin(seed: int) -> None:
    problem, objective = generic(seed, 20)
    start = np.random.default_rng(seed).integers(0, 6, 20)
    start = np.array(tables.renumbered(start.tolist()), dtype=np.int32)
    state = swept(problem, start)
    expected = twins.sequential(objective.group, tables.members(start.tolist()))
    assert tables.partition_of(pack(state)[0].tolist()) == tables.as_partition(expected)


# Against twins on the same costs: ties and every model


@settings(max_examples=several(60))
@given(SAMPLES, MEASURES, st.sampled_from(list(DISTANCES)), st.data())
def test_agglomerative_never_trusts_a_stale_neighbour(sample, measure, kind, data) -> None:
    k = data.draw(st.integers(1, sample.records))
    problem = sample.problem(measure, k)
    found = Agglomerative(kind).partition(problem, 0, silent).groups
    expected = twins.agglomerative(kernel_cost(problem), distinct_groups(problem), k, kind)
    ours = tables.partition_of(found.tolist())
    assert min(map(len, ours)) >= k
    assert sum(map(kernel_cost(problem), ours)) == pytest.approx(
        sum(map(kernel_cost(problem), expected)), abs=1e-7
    ) or _has_ties(problem, kind)


def _has_ties(problem: Problem, kind: str) -> bool:
    """Whether two pairs of distinct records are equally far apart, which rounding may tell apart."""
    groups, cost = distinct_groups(problem), kernel_cost(problem)
    gaps = sorted(
        twins.distance(cost, a, b, kind) for i, a in enumerate(groups) for b in groups[:i]
    )
    return any(b - a < 1e-9 for a, b in pairwise(gaps))


@settings(max_examples=several(60))
@given(SAMPLES, MEASURES, st.data())
def test_every_method_makes_groups_of_at_least_k(sample, measure, data) -> None:
    k = data.draw(st.integers(1, sample.records))
    problem = sample.problem(measure, k)
    for method in (Sequential(), Sequential(restarts=2), BottomUp(), BottomUp("union")):
        groups = method.partition(problem, 1, silent).groups
        assert groups.min() >= 0
        assert np.bincount(groups).min() >= k
        assert (groups == method.partition(problem, 1, silent).groups).all()


@settings(max_examples=several(40))
@given(SAMPLES, MEASURES)
def test_a_pass_leaves_closures_counts_and_costs_as_if_made_anew(sample, measure) -> None:
    problem = sample.problem(measure)
    start = (np.arange(sample.records) % max(1, sample.records // 2)).astype(np.int32)
    state = swept(problem, start)
    again = state_of(problem, pack(state)[0])
    used = state.size > 0
    assert (again.closures == state.closures[:, used]).all()
    assert (again.counts == state.counts[:, used]).all()
    assert again.cost == pytest.approx(state.cost[used], abs=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_a_bottom_up_round_equals_its_twin(seed: int) -> None:
    problem, objective = generic(seed)
    for kind, number in DISTANCES.items():
        state = state_of(problem, problem.points.of_record)
        merge_round(problem.arrays, problem.pairs, problem.rules, state, number, 0, state.size.size)
        expected = twins.bottom_up(objective.group, distinct_groups(problem), 3, kind)
        assert tables.partition_of(pack(state)[0].tolist()) == tables.as_partition(expected)


def test_bottom_up_finds_the_groups_of_xu06_example_4() -> None:
    points = [(10, 60), (20, 70), (20, 50), (50, 20), (50, 10), (60, 15)]
    frame = pa.table({"x": [x for x, _ in points], "y": [y for _, y in points]})
    for distance in DISTANCES:
        release = shoal.anonymize(
            frame,
            quasi_identifiers=["x", "y"],
            k=2,
            objective="ncp",
            method=shoal.BottomUp(distance),
        )
        assert tables.partition_of(release.groups.tolist()) == [[0, 1, 2], [3, 4, 5]]


def test_sequential_splits_groups_above_omega_k_and_keeps_the_best_restart() -> None:
    problem, _ = generic(3, 60)
    one = problem.cost(Sequential(restarts=1).partition(problem, 0, silent).groups)
    many = problem.cost(Sequential(restarts=5).partition(problem, 0, silent).groups)
    assert many <= one
