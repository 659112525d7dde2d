"""Partitions for searches to begin with, and whether all that is kept of them is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import reference
import reference.requirements
import tables
from compiled import callable_here
from hypothesis import strategies as st
from reference import Group, Meets, Objective
from reference import refinement as twin
from reference.splitting import varied_sample
from tables import Sample

import shoal
from shoal.encoding.forms import Ints
from shoal.kernels.clustering.agglomerative import sequential_pass
from shoal.kernels.refining import search
from shoal.kernels.refining.search import make_search
from shoal.kernels.shared import state
from shoal.kernels.shared.state import State, fill, make_state, offending
from shoal.progress import silent
from shoal.risk.limits import check_feasible
from shoal.solve.local_search import budget
from shoal.solve.local_search.budget import Meter, Refine
from shoal.solve.local_search.relax import Relaxation
from shoal.solve.local_search.state import SearchState
from shoal.solve.methods.base import state_of
from shoal.solve.methods.completion import complete_groups
from shoal.solve.problem import Problem

TOLERANCE = 1e-7


undo, members_of = callable_here(search.undo), callable_here(state.members_of)
KINDS = ("frequency", "distinct", "entropy", "recursive", "alpha", "closeness, equal")


@dataclass(frozen=True)
class Start:
    """A table and a partition of it that meets a requirement."""

    sample: Sample
    objective: Objective
    problem: Problem
    groups: Ints
    diverse: Meets  # whether records keep all limits but k

    def refined(self) -> SearchState:
        return SearchState.of(self.problem, self.groups)


@st.composite
def starts(
    draw: st.DrawFn, measures: tuple[str, ...] = reference.OBJECTIVES, diverse: bool = False
) -> Start:
    """A random partition into small groups, mended; with k alone unless it should be diverse, too."""
    varied = st.integers(0, 10**6).map(lambda seed: varied_sample(seed, 24))
    sample = draw(tables.samples(min_records=8, max_records=20, sensitive=1) | varied)
    measure, k = draw(st.sampled_from(measures)), draw(st.integers(1, 3))
    requirements: list[Any] = []
    if diverse:
        requirements = draw(reference.requirements.requirements(draw(st.sampled_from(KINDS))))
        try:
            check_feasible(sample.encoded(), k, requirements)
        except shoal.Infeasible:
            requirements = []
    problem = reference.requirements.problem_of(sample, measure, k, requirements)
    order, number = (
        np.arange(sample.records),
        max(1, sample.records // (k + draw(st.integers(0, 2)))),
    )
    draw(st.randoms(use_true_random=False)).shuffle(order)
    groups = complete_groups(problem, (order % number).astype(np.int32), silent)
    kept = reference.requirements.meets(sample, 1, requirements)
    return Start(sample, sample.objective(measure), problem, groups, kept)


def relaxed(refined: SearchState, passes: int = 0) -> Relaxation:
    """The relaxed problem after some passes, from what records pay in a partition."""
    found = Relaxation(refined.problem, refined.search.price, refined.closures)
    for _ in range(passes):
        assert found.advance(lambda: True)
    return found


def meter_of(problem: Problem, work: float = 1e8) -> Meter:
    """A meter that allows so much work, whatever the table."""
    meter = Meter(Refine(), problem.table.records * len(problem.columns), silent)
    meter.allowance = meter.quick = work
    return meter


def brief_budget(work: float = 1e8) -> Any:
    """Lets quick refinement of a small table do so much work, which is less than a second of it as a rule."""
    return patch.object(budget, "LEAST", work)


def lists(search: Any) -> list[Group]:
    """The records of every group, by its number."""
    return [members_of(search.s, g).tolist() for g in range(search.s.size.size)]


def changes(before: list[Group], after: list[Group]) -> list[twin.Change]:
    """Who went from where to where."""
    new = {i: g for g, group in enumerate(after) for i in group}
    return [(i, g, new[i]) for g, group in enumerate(before) for i in group if new[i] != g]


def assert_tidy(refined: SearchState) -> None:
    """All that is kept of a partition is as if it were made anew, and no change is under way."""
    x, problem = refined.search, refined.problem
    state = make_state(problem.arrays, problem.values, problem.tallied, x.s.size.size)
    fill(problem.arrays, state, problem.codes, problem.classes, x.s.group)
    fresh = make_search(x.c, x.pairs, x.q, state, x.codes, x.classes)
    used = state.size > 0
    assert lists(x) == lists(fresh)
    for kept, made in ((x.s.size, state.size), (x.s.tally, state.tally), (x.price, fresh.price)):
        assert (kept == made).all()
    for kept, made in ((x.s.closures, state.closures), (x.s.counts, state.counts)):
        assert (kept[:, used] == made[:, used]).all()
    assert (x.s.cost[used] == state.cost[used]).all()
    assert x.number.tolist() == [0, 0]
    assert (x.before == -1.0).all()
    assert not x.lost.any()


def swept(problem: Problem, start: Ints, firm: int = 1) -> State:
    """What one pass of `sequential` makes of a partition."""
    state = state_of(problem, start)
    sequential_pass(
        problem.arrays,
        problem.pairs,
        problem.rules,
        state,
        problem.codes,
        problem.classes,
        problem.objective.monotone,
        firm,
        0,
        problem.table.records,
    )
    return state


def is_met(problem: Problem, groups: Ints) -> bool:
    return not offending(problem.rules, state_of(problem, groups)).any()
