"""Groups rounded from the relaxed problem are as in tests/reference/refinement.py."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import reference
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from partitions import (
    TOLERANCE,
    Start,
    is_met,
    meter_of,
    relaxed,
    starts,
)
from reference import refinement as twin

from shoal.kernels.refining import repacking as rounding
from shoal.solve.local_search import relax
from shoal.solve.local_search.relax import Relax, Relaxation
from shoal.solve.local_search.schedule import neighbourhoods_of
from shoal.solve.local_search.state import SearchState
from shoal.solve.problem import Problem


@st.composite
def covers(draw: st.DrawFn) -> tuple[list[list[tuple[int, float]]], list[int]]:
    """Cells of distinct records with their shares, and how many records each distinct one has."""
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=7))
    shares = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 0.75, 1.0, 1.5]) | st.floats(0, 2)
    cell = st.dictionaries(st.integers(0, len(counts) - 1), shares, max_size=5)
    return [list(one.items()) for one in draw(st.lists(cell, max_size=6))], counts


@settings(max_examples=several(150))
@given(
    covers(),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.25, 0.5]),
    st.randoms(use_true_random=False),
)
def test_cells_open_while_they_find_k_records_that_no_other_has(
    cover: tuple[list[list[tuple[int, float]]], list[int]], k: int, fussy: float, random: Any
) -> None:
    cells, counts = cover
    order = random.sample(range(len(cells)), len(cells))
    first = np.append(0, np.cumsum(counts))
    records = np.array(random.sample(range(sum(counts)), sum(counts)), np.int32)
    parts = [part for cell in cells for part in cell]
    found = rounding.round_cells(
        np.append(0, np.cumsum([len(cell) for cell in cells])).astype(np.int64),
        np.array([p for p, _ in parts], np.int32),
        np.array([share for _, share in parts], np.float64),
        np.array(order, np.int64),
        first,
        records,
        k,
        fussy,
    )
    equal = [records[first[p] : first[p + 1]].tolist() for p in range(len(counts))]
    expected = twin.round_cells(cells, order, equal, k, fussy)
    placed = [i for group in expected for i in group]
    assert len(set(placed)) == len(placed)
    assert all(len(group) >= k for group in expected)
    assert [np.flatnonzero(found == g).tolist() for g in range(len(expected))] == [
        sorted(group) for group in expected
    ]
    assert found.max(initial=-1) < len(expected)


@settings(max_examples=several(60))
@given(starts(measures=reference.MONOTONE, diverse=True), st.integers(0, 4))
def test_what_is_rounded_meets_the_requirement_and_costs_no_less_than_the_relaxed_problem(
    start: Start, passes: int
) -> None:
    problem, refined = start.problem, start.refined()
    relaxation = relaxed(refined, passes)
    groups = relaxation.round()
    assert sorted(set(groups.tolist())) == list(range(groups.max() + 1))
    assert is_met(problem, groups)
    cost = SearchState.of(problem, groups).cost
    assert relaxation.total <= min(cost, refined.cost) + TOLERANCE * max(1.0, cost)


def relaxing(problem: Problem) -> Relax:
    """The neighbourhood as the schedule makes it."""
    kinds = neighbourhoods_of(problem, 0, meter_of(problem))
    [own] = [kind for kind in kinds if isinstance(kind, Relax)]
    return own


@settings(max_examples=several(40))
@given(starts(measures=reference.MONOTONE, diverse=True))
def test_the_problem_is_relaxed_only_where_a_walk_over_all_cells_is_short(start: Start) -> None:
    now, problem = start.refined(), start.problem
    own = relaxing(problem)
    assert relaxed(now).is_possible
    with patch.object(relax, "WALK", 0.0):
        assert own.step(now) is now


@settings(max_examples=several(40))
@given(starts(measures=reference.MONOTONE, diverse=True), st.sampled_from([0.0, np.inf]))
def test_requirements_are_included_where_rounding_costs_far_more_than_the_bound(
    start: Start, far: float
) -> None:
    now, problem = start.refined(), start.problem
    own = relaxing(problem)
    with patch.multiple(relax, FAR=far, GIVE_UP=np.inf):
        own.step(now)
    assert own._diverse == (problem.tallied > 0 and far == 0.0)


@settings(max_examples=several(40))
@given(starts(measures=reference.MONOTONE))
def test_a_second_pass_is_made_only_where_there_is_time(start: Start) -> None:
    made = []
    advance = Relaxation.advance

    def counted(relaxation: Relaxation, go_on: Any) -> bool:
        made.append(relaxation)
        return advance(relaxation, go_on)

    with patch.object(Relaxation, "advance", counted), patch.multiple(relax, CHEAP=0.0, SHARE=0.0):
        relaxing(start.problem).step(start.refined())
        assert len(made) == 1
        with patch.object(relax, "SHARE", 1.0):
            relaxing(start.problem).step(start.refined())
    assert len(made) >= 3
