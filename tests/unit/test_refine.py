"""Refinement: never worse, never breaking a requirement, the same for the same seed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import SHARE, Sample, samples

import shoal
from shoal.generalization.forms import Ints
from shoal.kernels.state import offending
from shoal.measures.catalogue import OBJECTIVES
from shoal.methods import Cover, Exact, Hilbert, Mondrian
from shoal.methods.base import state_of
from shoal.privacy import check_feasible
from shoal.problem import Problem
from shoal.progress import silent
from shoal.refine import Refine, refine

ROUNDING = 1e-9
REQUIREMENTS: list[list[Any]] = [
    [],
    [shoal.LDiversity(2, kind="distinct")],
    [shoal.LDiversity(2)],
    [shoal.LDiversity(1.5, kind="entropy")],
    [shoal.LDiversity(2, kind="recursive", c=2.0)],
    [shoal.AlphaK(0.7)],
    [shoal.TCloseness(0.5)],
]


def problem_of(sample: Sample, objective: str, k: int, requirements: list[Any]) -> Problem | None:
    """The problem, or None where no release can meet the requirement."""
    table = sample.encoded()
    try:
        check_feasible(table, k, requirements)
    except shoal.Infeasible:
        return None
    return Problem.of(table, objective, k, sample.weights, SHARE, requirements)


def refined(problem: Problem, groups: Ints, steps: int = 3, seed: int = 0) -> Ints:
    return refine(problem, groups, seed, silent, Refine(steps=steps))[0]


def is_met(problem: Problem, groups: Ints) -> bool:
    return not offending(problem.rules, state_of(problem, groups)).any()


@settings(max_examples=150)
@given(
    samples(min_records=4, max_records=40, sensitive=1),
    st.sampled_from(OBJECTIVES),
    st.integers(1, 5),
    st.sampled_from(REQUIREMENTS),
    st.sampled_from([Cover(), Hilbert(), Mondrian()]),
)
def test_refinement_keeps_the_requirement_and_never_costs_more(
    sample: Sample, objective: str, k: int, requirements: list[Any], method: Any
) -> None:
    problem = problem_of(sample, objective, min(k, sample.records), requirements)
    if problem is None:
        return
    before = method.partition(problem, 0, silent).groups
    given_groups = before.copy()
    after = refined(problem, before)
    assert (before == given_groups).all()
    assert is_met(problem, after)
    assert sorted(set(after.tolist())) == list(range(after.max() + 1))
    assert problem.cost(after) <= problem.cost(before) + ROUNDING * max(1.0, problem.cost(before))


@settings(max_examples=60)
@given(
    samples(min_records=4, max_records=9, sensitive=1),
    st.sampled_from(OBJECTIVES),
    st.integers(1, 3),
    st.sampled_from(REQUIREMENTS),
)
def test_refinement_is_never_better_than_the_optimum(
    sample: Sample, objective: str, k: int, requirements: list[Any]
) -> None:
    problem = problem_of(sample, objective, k, requirements)
    if problem is None:
        return
    optimum = Exact().partition(problem, 0, silent).groups
    start = Mondrian().partition(problem, 0, silent).groups
    least = problem.cost(optimum)
    assert problem.cost(refined(problem, start)) >= least - ROUNDING * max(1.0, abs(least))
    assert problem.cost(refined(problem, optimum)) == pytest.approx(least, abs=1e-7)
