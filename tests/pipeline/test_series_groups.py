"""Groups of a series improve and keep their values, as in tests/reference/series.py; newcomers are placed in cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from compiled import callable_here
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import series as twin

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels.refining import series as exchanging
from shoal.kernels.refining import series as regrouping
from shoal.pipeline.series.buckets import Buckets, NewcomerPlacement
from shoal.pipeline.series.split import nested_cells
from shoal.solve.local_search.state import SearchState
from shoal.solve.problem import Problem

TOLERANCE = 1e-9
make_pool, grow = callable_here(regrouping.make_person_pool), callable_here(regrouping.regroup_pool)


def problem_of(people: int, k: int, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    frame = pa.table(
        {
            "age": rng.integers(0, 1_000, people),
            "income": rng.integers(0, 1_000_000, people),
            "sex": rng.choice(list("fmx"), people),
        }
    )
    models = {"age": shoal.Interval(), "income": shoal.Interval(), "sex": shoal.Suppression()}
    return Problem.of(encode(open_frame(frame), models), "lm", k)


def cost_in(problem: Problem) -> Callable[[Sequence[int]], float]:
    def cost(group: Sequence[int]) -> float:
        if not group:
            return 0.0
        groups = np.full(problem.table.records, -1, dtype=np.int32)
        groups[list(group)] = 0
        return problem.cost(groups)

    return cost


def lists(groups: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(groups == g).tolist() for g in range(int(groups.max()) + 1)]


class Series:
    """People of two signatures with one value in common, in groups with two or three of each value."""

    def __init__(self, seed: int, groups: int) -> None:
        rng = np.random.default_rng(seed)
        values, marks, places = [], [], []
        for g in range(groups):
            own = g % 2
            for v in ((0, 1, 2), (0, 3, 4))[own]:
                copies = 2 + g % 3 // 2
                values += [v] * copies
                marks += [own] * copies
                places += [g] * copies
        order = rng.permutation(len(values))
        self.value = np.array(values, dtype=np.int32)[order]
        self.signature = np.array(marks, dtype=np.int32)[order]
        self.groups = np.array(places, dtype=np.int32)[order]
        self.is_new = rng.random(order.size) < 0.5
        self.width = np.array([3, 3])
        self.holds = np.zeros((2, 5), dtype=np.bool_)
        self.holds[self.signature, self.value] = True
        self.problem = problem_of(order.size, 6, seed)

    def assert_kept(self, groups: np.ndarray, signature: np.ndarray) -> None:
        """Groups are balanced and of one signature, and nobody but newcomers has another one."""
        assert (signature == self.signature)[~self.is_new].all()
        for own in lists(groups):
            [number] = set(signature[own].tolist())
            counts = Counter(self.value[own].tolist())
            assert set(counts) == set(np.flatnonzero(self.holds[number]).tolist())
            assert len(set(counts.values())) == 1
            assert len(own) >= 6


@settings(max_examples=several(40))
@given(seed=st.integers(0, 1_000), groups=st.integers(2, 6))
def test_people_change_places_where_that_gains_and_may_be(seed: int, groups: int) -> None:
    series = Series(seed, groups)
    cost = cost_in(series.problem)
    refined, signature = SearchState.of(series.problem, series.groups), series.signature.copy()
    for i in range(series.value.size):
        before = lists(refined.groups)
        possible = twin.exchanges(before, i, series.value, signature, series.is_new, cost)
        own = next(group for group in before if i in group)
        price = cost(own) / len(own)
        helps = cost(own) - cost([m for m in own if m != i]) > price + 2 * TOLERANCE
        sides = (np.array([i], np.int32), groups, series.value, signature)
        done = exchanging.exchange_people(refined.search, *sides, series.is_new, series.holds)
        gain = sum(map(cost, before)) - sum(map(cost, lists(refined.groups)))
        if done:
            assert -gain == pytest.approx(min(possible, key=lambda change: abs(change + gain)))
            assert gain > 0
        else:
            assert not helps or min(possible, default=0.0) > -2 * TOLERANCE
        series.assert_kept(refined.groups, signature)


@settings(max_examples=several(40))
@given(seed=st.integers(0, 1_000), copies=st.integers(4, 9), first=st.integers(0, 5))
def test_groups_grow_as_those_of_the_twin(seed: int, copies: int, first: int) -> None:
    problem = problem_of(3 * copies, 6, seed)
    value = np.random.default_rng(seed).permutation(np.repeat([7, 2, 5], copies)).astype(np.int32)
    people = np.random.default_rng(seed + 1).permutation(3 * copies)
    refined = SearchState.of(problem, np.zeros(3 * copies, dtype=np.int32))
    pool = make_pool(refined.search, people, value, 3, copies // 2)
    total = grow(refined.search, pool, 2, first)
    cost = cost_in(problem)
    expected = twin.grown(people.tolist(), value.tolist(), 6, cost, first)
    assert [sorted(people[pool.place == g].tolist()) for g in range(copies // 2)] == [
        sorted(own) for own in expected
    ]
    assert total == pytest.approx(sum(map(cost, expected)))


@settings(max_examples=several(40))
@given(seed=st.integers(0, 1_000), groups=st.integers(1, 8), near=st.integers(1, 4))
def test_near_groups_made_anew_cost_less_and_keep_their_signature(
    seed: int, groups: int, near: int
) -> None:
    series = Series(seed, groups)
    refined = SearchState.of(series.problem, series.groups)
    order = np.arange(refined.search.s.size.size)
    done = regrouping.regroup_near(
        refined.search, order, near, 3, series.value, series.signature, series.width
    )
    before, after = series.problem.cost(series.groups), series.problem.cost(refined.groups)
    assert (after < before) if done else (refined.groups == series.groups).all()
    series.assert_kept(refined.groups, series.signature)


def test_cells_are_nested_and_the_smallest_come_first() -> None:
    problem = problem_of(400, 5, 0)
    people = np.arange(0, 400, 2)
    cells = nested_cells(problem, people, 20)
    assert len(cells) > 2
    assert (cells[-1] == 0).all()
    for small, large in pairwise(cells):
        for cell in np.unique(small[people]):
            assert np.unique(large[people][small[people] == cell]).size == 1
    assert people.size / np.unique(cells[0][people]).size >= 20


def test_people_of_a_cell_get_the_values_that_are_frequent_there() -> None:
    value = np.array([0, 1, 2] * 20 + [3, 4, 5] * 20, dtype=np.int32)
    cells = [np.repeat([0, 1], 60).astype(np.int32), np.zeros(120, dtype=np.int32)]
    settling = NewcomerPlacement(value, 6, np.full(120, -1, dtype=np.int32), 3, 6)
    settling.settle(np.arange(120), cells)
    assert settling.signatures == [frozenset({0, 1, 2}), frozenset({3, 4, 5})]
    assert (settling.signature == np.repeat([0, 1], 60)).all()


def test_a_gap_is_filled_by_whoever_is_near_it() -> None:
    """Two signatures need somebody of value 0, each in a cell of its own."""
    value = np.array([0, 0, 1, 1, 2, 2, 0, 0, 3, 3, 4, 4, 0, 0], dtype=np.int32)
    before = np.array([0, -1, 0, 0, 0, 0, 1, -1, 1, 1, 1, 1, -1, -1], dtype=np.int32)
    cell = np.array([0] * 6 + [1] * 6 + [2] * 2, dtype=np.int32)
    signatures = [frozenset({0, 1, 2}), frozenset({0, 3, 4})]
    for seed in range(5):
        turn = np.random.default_rng(seed).permutation(14)
        cells = [cell, np.zeros(14, dtype=np.int32)]
        placed = Buckets(value, list(signatures), 3, 6, turn, cells).place(before, 5)
        assert placed.tolist() == [0] * 6 + [1] * 6 + [-1] * 2


@given(
    seed=st.integers(0, 1_000),
    people=st.integers(1, 150),
    values=st.integers(2, 8),
    staying=st.sampled_from([0.0, 0.5, 0.9]),
)
def test_whoever_is_placed_is_balanced(seed: int, people: int, values: int, staying: float) -> None:
    rng = np.random.default_rng(seed)
    value = rng.integers(0, values, people).astype(np.int32)
    signatures = [frozenset({0, 1}), frozenset({1, -1, 0}), frozenset(range(values))]
    own = rng.integers(0, 3, people)
    fits = np.array([v in signatures[s] for v, s in zip(value.tolist(), own, strict=True)])
    before = np.where(fits & (rng.random(people) < staying), own, -1).astype(np.int32)
    cells = [rng.integers(0, 4, people).astype(np.int32), np.zeros(people, dtype=np.int32)]
    buckets = Buckets(value, list(signatures), 2, 4, rng.permutation(people), cells)
    placed, known = buckets.place(before, values), buckets.signatures
    assert known[:3] == signatures
    stays = (before >= 0) & (placed >= 0)
    assert (placed[stays] == before[stays]).all()
    for number in np.unique(placed[placed >= 0]).tolist():
        counts = Counter(value[placed == number].tolist())
        assert set(counts) == set(known[number])
        assert len(set(counts.values())) == 1
        assert counts.total() >= 4
