"""The integer program finds what dynamic programming finds, and its bounds and cells are right."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
import reference
import reference.bounds
import reference.requirements
import tables
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.kernels.bounding.cell_walk import make_walk
from shoal.kernels.bounding.closed_cells import list_cells
from shoal.kernels.shared.state import offending
from shoal.progress import silent
from shoal.solve.bounds.point_bounds import PointTrees
from shoal.solve.methods import integer_program
from shoal.solve.methods.base import state_of
from shoal.solve.methods.completion import suppressed_costs
from shoal.solve.methods.exact import Exact
from shoal.solve.methods.integer_program import IntegerProgram, obstacle
from shoal.solve.problem import Problem


def paid(problem: Problem, groups) -> float:
    """What groups cost, and the records left out."""
    return problem.cost(groups) + suppressed_costs(problem)[problem.classes[groups < 0]].sum()


@given(tables.jobs(7, ("lm", "suppressed", "tree")))
@settings(max_examples=several(150))
def test_every_closed_cell_of_k_records_is_listed_once(case):
    sample, measure, k = case
    problem = sample.problem(measure, k)
    points = PointTrees(problem)
    assume(points.exact)
    _, place, counts = points.points
    bounds, costs, members = np.zeros(200, np.int64), np.empty(199), np.empty(2000, np.int32)
    every = np.full(len(counts), np.inf)
    walk = make_walk(points.trees(), 1)
    listed = list_cells(points.trees(), walk, k, 1, every, bounds, costs, members)
    found = [
        tuple(np.flatnonzero(np.isin(place, members[bounds[c] : bounds[c + 1]])))
        for c in range(listed)
    ]
    cells = reference.bounds.closed_cells(sample.twins, k)
    assert sorted(found) == sorted(cells)
    objective = sample.objective(measure)
    for cell, cost in zip(found, costs[:listed], strict=True):
        assert cost == pytest.approx(objective.record(cells[cell], cell[0]), abs=1e-9)


@given(reference.requirements.cases(max_records=9), st.integers(0, 3), st.integers(1, 30))
@settings(max_examples=several(200))
def test_the_program_finds_and_proves_the_optimum_of_dynamic_programming(case, most, few):
    sample, k, requirements = case
    problem = reference.requirements.problem_of(sample, "lm", k, requirements)
    problem = replace(problem, most_left_out=most)
    assume(not obstacle(problem))
    program = IntegerProgram.of(problem)
    assert program is not None
    one = np.zeros(sample.records, dtype=np.int32)
    with patch.object(integer_program, "FEW_ENTRIES", few):
        found = program.improve(one, 1_000, 10, silent)
    best = paid(problem, Exact().partition(problem, 0, silent).groups)
    assert found.cost == pytest.approx(best, abs=1e-7)
    assert found.cost == pytest.approx(paid(problem, found.groups), abs=1e-9)
    assert found.proven
    assert (found.groups < 0).sum() <= most
    kept = np.flatnonzero(found.groups >= 0)
    if kept.size:
        assert not offending(problem.rules, state_of(problem, found.groups[kept], kept)).any()


@given(reference.requirements.cases(max_records=10))
@settings(max_examples=several(100))
def test_one_program_of_one_node_never_costs_more_and_bounds_the_optimum(case):
    sample, k, requirements = case
    problem = reference.requirements.problem_of(sample, "lm", k, requirements)
    one = np.zeros(sample.records, dtype=np.int32)
    program = IntegerProgram.of(problem)
    assert (program is None) == bool(obstacle(problem))
    if program is not None:
        found = program.improve(one, 1, 1, silent)
        assert found.cost == pytest.approx(paid(problem, found.groups), abs=1e-9)
        assert found.cost <= problem.cost(one) + 1e-9
        assert found.bound <= paid(problem, Exact().partition(problem, 0, silent).groups) + 1e-9
