"""Each neighbourhood of refinement keeps the requirement, never costs more, and repeats itself with the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import reference
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from partitions import TOLERANCE, Start, assert_tidy, is_met, lists, meter_of, starts
from reference.requirements import cases, problem_of
from reference.splitting import varied_sample

import shoal
from shoal.progress import silent
from shoal.solve.bounds.point_bounds import PointTrees
from shoal.solve.local_search import coarse, moves, program, regroup, repack
from shoal.solve.local_search.carve import Carve
from shoal.solve.local_search.moves import Moves
from shoal.solve.local_search.program import Program, cells_of
from shoal.solve.local_search.regroup import Regroup
from shoal.solve.local_search.relax import Relax
from shoal.solve.local_search.repack import LADDER, Repack, make_candidates
from shoal.solve.local_search.schedule import neighbourhoods_of
from shoal.solve.local_search.state import Neighbourhood, SearchState, region_of
from shoal.solve.methods.exact import Exact
from shoal.solve.problem import Problem

MONOTONE_ONLY = [Relax, Repack, Regroup, Program]
EVERY = [Moves, Carve, *MONOTONE_ONLY]
SPENT, ENOUGH = 1.0, 1e8  # units of work


@pytest.fixture(autouse=True)
def as_if_large() -> Iterator[None]:
    """Put values into bins, regroup regions and solve programs of known cells, as in large tables."""
    few = patch.object(program, "ENTRIES", 40)
    with patch.object(coarse, "FEW", 3), patch.multiple(regroup, LEAST=2, REGION=12), few:
        yield


def made(kind: type[Neighbourhood], problem: Problem, seed: int = 0, work: float = ENOUGH) -> Any:
    """A neighbourhood as the schedule makes it."""
    kinds = neighbourhoods_of(problem, seed, meter_of(problem, work))
    return next(found for found in kinds if isinstance(found, kind))


def walk(own: Neighbourhood, start: Start) -> list[list[int]]:
    """The groups after each of three steps, all of which are as they should be."""
    now, found = start.refined(), [start.groups.tolist()]
    for _ in range(3):
        before, done, is_tired = now.cost, own.meter.done, own.tired_at == now.cost
        now = own.step(now)
        assert_tidy(now)
        assert is_met(start.problem, now.groups)
        assert now.cost <= before + TOLERANCE * max(1.0, before)
        found.append(now.groups.tolist())
        if found[-1] != found[-2]:
            assert own.meter.done > done
            assert not is_tired
    return found


@pytest.mark.parametrize("kind", EVERY)
@settings(max_examples=several(80))
@given(data=st.data(), seed=st.integers(0, 9), work=st.sampled_from([SPENT, ENOUGH]))
def test_steps_keep_the_requirement_never_cost_more_and_are_repeatable(
    kind: type[Neighbourhood], data: st.DataObject, seed: int, work: float
) -> None:
    measures = reference.MONOTONE if kind in MONOTONE_ONLY else reference.OBJECTIVES
    start = data.draw(starts(measures=measures, diverse=True))
    first, again = (walk(made(kind, start.problem, seed, work), start) for _ in range(2))
    assert first == again


@settings(max_examples=several(80))
@given(cases(max_records=9), st.sampled_from(reference.MONOTONE), st.integers(0, 9))
def test_no_bound_is_above_the_optimum(case, measure: str, seed: int) -> None:
    sample, k, requirements = case
    problem = problem_of(sample, measure, k, requirements)
    optimum = Exact().partition(problem, 0, silent).groups
    kinds = neighbourhoods_of(problem, seed, meter_of(problem))
    now = SearchState.of(problem, optimum)
    least = now.cost
    for kind in kinds:
        now = kind.step(now)
        assert kind.bound <= least + TOLERANCE
        assert now.cost == pytest.approx(least, abs=TOLERANCE)


@settings(max_examples=several(40))
@given(starts(diverse=True))
def test_a_round_of_moves_may_take_many_steps(start: Start) -> None:
    whole = made(Moves, start.problem).step(start.refined())
    own, now = made(Moves, start.problem), start.refined()
    with patch.object(moves, "STEPS", 10**9):  # a record in each
        for _ in range(start.sample.records):
            now = own.step(now)
    assert now.groups.tolist() == whole.groups.tolist()


def test_pools_grow_where_little_is_gained_and_new_cells_are_tried_in_large_ones() -> None:
    problem = varied_sample(1).problem("lm", 2)
    own, now = (
        made(Repack, problem),
        SearchState.of(problem, np.zeros(problem.table.records, np.int32)),
    )
    tried = []

    def gains_nothing(now, cells, pools, *rest):
        tried.append(pools)
        return now.groups

    with patch.object(repack, "repack_all", gains_nothing):
        for _ in range(len(LADDER) + 1):
            own.step(now)
        own.learn(now.closures)
        own.step(now)
    assert tried == [*LADDER, LADDER[-1], LADDER[2]]


@settings(max_examples=several(60))
@given(starts(measures=("lm",)), st.integers(0, 9))
def test_a_region_is_made_of_whole_groups(start: Start, seed: int) -> None:
    now = start.refined()
    region = region_of(now, np.random.default_rng(seed), 2, 12)
    inside = np.isin(np.arange(start.sample.records), region)
    assert all(len(set(inside[group].tolist())) == 1 for group in lists(now.search) if group)
    assert inside.all() or len(set(now.groups[region].tolist())) >= 2


@settings(max_examples=several(60))
@given(starts(measures=reference.MONOTONE, diverse=True))
def test_a_program_knows_which_records_the_closures_of_groups_cover(start: Start) -> None:
    problem, now = start.problem, start.refined()
    points = PointTrees(problem, by_value=problem.tallied > 0)
    cells = cells_of(make_candidates(now, now.closures[:, :0]), points)
    place = points.points.place
    found = [
        frozenset(np.flatnonzero(np.isin(place, cells.point[cells.cell == c])).tolist())
        for c in range(cells.costs.size)
    ]
    covered = np.ones((problem.table.records, now.closures.shape[1]), dtype=bool)
    for j, column in enumerate(problem.columns):
        inside = column.form.holds(now.closures[problem.table.slots[j]]) > 0
        covered &= inside[problem.codes[:, j]]
    assert set(found) == {frozenset(np.flatnonzero(own).tolist()) for own in covered.T}
    for c, records in enumerate(found):
        prices = [
            now.search.price[i] for i in records if set(lists(now.search)[now.groups[i]]) <= records
        ]
        assert not prices or cells.costs[c] >= min(prices) - TOLERANCE


@pytest.mark.parametrize("requirements", [[], [shoal.LDiversity(2, kind="distinct")]])
def test_the_relaxed_problem_leaves_duals_where_only_k_is_required(requirements) -> None:
    sample = varied_sample(3)
    problem = problem_of(sample, "lm", 2, requirements)
    own = made(Relax, problem)
    assert own.duals is None
    own.step(SearchState.of(problem, np.zeros(sample.records, np.int32)))
    assert (own.duals is None) == bool(requirements)
