"""Refinement: never worse, never breaking a requirement, the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from compiled import needs_jit
from examples import several
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from partitions import is_met, meter_of
from tables import SHARE, Sample, paid, partition_of, samples

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.forms import Ints
from shoal.encoding.frames import open_frame
from shoal.kernels.refining.neighbourhoods import move_records
from shoal.progress import silent
from shoal.risk.limits import check_feasible
from shoal.solve.local_search.budget import Refine
from shoal.solve.local_search.carve import Carve
from shoal.solve.local_search.moves import swap_all
from shoal.solve.local_search.schedule import refine
from shoal.solve.local_search.state import SearchState
from shoal.solve.measures.catalogue import objectives
from shoal.solve.methods import Agglomerative, Cover, Exact, Sequential
from shoal.solve.methods.base import Partition
from shoal.solve.problem import Problem

pytestmark = pytest.mark.usefixtures("briefly")

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


def problem_of(sample: Sample, objective: str, k: int, requirements: list[Any]) -> Problem:
    """The problem; the example is dropped if no release can meet the requirement."""
    table = sample.encoded()
    try:
        check_feasible(table, k, requirements)
    except shoal.Infeasible:
        reject()
    return Problem.of(table, objective, k, sample.weights, SHARE, requirements)


def move_all(now: SearchState) -> int:
    return int(move_records(now.search, now.dearest()))


def carve_all(now: SearchState) -> None:
    Carve(now.problem, np.random.default_rng(0), meter_of(now.problem)).step(now)


def refined(problem: Problem, groups: Ints, steps: int = 3, seed: int = 0) -> Ints:
    return refine(problem, groups, seed, silent, Refine(steps=steps))[0]


@settings(max_examples=several(100))
@given(
    samples(min_records=4, max_records=40, sensitive=1),
    st.sampled_from(objectives()),
    st.integers(1, 5),
    st.sampled_from(REQUIREMENTS),
    st.sampled_from([Cover(), Agglomerative()]),
)
def test_refinement_keeps_the_requirement_and_never_costs_more(
    sample: Sample, objective: str, k: int, requirements: list[Any], method: Any
) -> None:
    problem = problem_of(sample, objective, min(k, sample.records), requirements)
    before = method.partition(problem, 0, silent).groups
    assert is_met(problem, before)
    given_groups = before.copy()
    after = refined(problem, before)
    assert (before == given_groups).all()
    assert is_met(problem, after)
    assert sorted(set(after.tolist())) == list(range(after.max() + 1))
    assert problem.cost(after) <= problem.cost(before) + ROUNDING * max(1.0, problem.cost(before))


@settings(max_examples=several(60))
@given(
    samples(min_records=4, max_records=9, sensitive=1),
    st.sampled_from(objectives()),
    st.integers(1, 3),
)
def test_refinement_is_never_better_than_the_optimum(
    sample: Sample, objective: str, k: int
) -> None:
    problem = sample.problem(objective, k)
    optimum = Exact().partition(problem, 0, silent)
    start = Sequential().partition(problem, 0, silent).groups
    least = paid(problem, optimum)
    for begun in (start, optimum.groups):
        found = paid(problem, Partition(refined(problem, begun)))
        assert found >= least - ROUNDING * max(1.0, abs(least))
    if problem.objective.monotone:
        assert problem.cost(refined(problem, optimum.groups)) == pytest.approx(least, abs=1e-7)


def people(records: int) -> Problem:
    """A problem of some size: three columns, four kinds of values."""
    rng = np.random.default_rng(1)
    frame = pa.table(
        {
            "age": rng.integers(0, 40, records),
            "town": rng.choice(list("abcdefgh"), records),
            "job": rng.choice(list("uvwxyz"), records),
            "ill": rng.choice(list("st"), records),
        }
    )
    models = {"age": shoal.Interval(), "town": shoal.Suppression(), "job": shoal.Subset()}
    table = encode(open_frame(frame), models, ["ill"])
    return Problem.of(table, "lm", 5, requirements=[shoal.LDiversity(2, kind="distinct")])


@pytest.mark.parametrize("steps", [0, pytest.param(40, marks=needs_jit)])
def test_the_same_seed_gives_the_same_groups(steps: int) -> None:
    problem = people(600)
    start = Sequential().partition(problem, 0, silent).groups
    first, again = (refined(problem, start, steps, seed=7) for _ in range(2))
    assert (first == again).all()


@needs_jit
def test_more_steps_gain_more_and_seconds_gain_something() -> None:
    problem = people(1500)
    start = Sequential().partition(problem, 0, silent).groups
    quick, long = refined(problem, start, 0), refined(problem, start, 100)
    timed = refine(problem, start, 0, silent, Refine(seconds=1.0)).groups
    assert problem.cost(long) < problem.cost(quick) < problem.cost(start)
    assert problem.cost(timed) < problem.cost(start)
    assert is_met(problem, long)
    assert is_met(problem, timed)


STAGES = "moves", "relaxing", "choosing cells", "carving", "regrouping"


@pytest.mark.parametrize("stage", STAGES)
def test_refinement_can_be_cancelled_in_every_stage(stage: str) -> None:
    def cancel(reported: str, done: int, total: int) -> None:
        if reported == f"refining: {stage}":
            raise shoal.Cancelled

    problem = people(300)
    start = Sequential().partition(problem, 0, silent).groups
    with pytest.raises(shoal.Cancelled):
        refine(problem, start, 0, cancel, Refine(steps=9))


def letters(rows: list[str], k: int) -> Problem:
    """Columns of letters under suppression."""
    frame = pa.table({f"c{j}": [row[j] for row in rows] for j in range(len(rows[0]))})
    models = dict.fromkeys(frame.column_names, shoal.Suppression())
    return Problem.of(encode(open_frame(frame), models, []), "suppressed", k)


def test_a_record_moves_to_the_group_that_it_equals() -> None:
    problem = letters(["aa", "aa", "bb", "bb", "aa"], 2)
    change = SearchState.of(problem, np.array([0, 0, 1, 1, 1], np.int32))
    assert move_all(change) == 1
    assert partition_of(change.groups.tolist()) == [[0, 1, 4], [2, 3]]


def test_a_group_is_carved_out_of_two_that_can_spare_its_records() -> None:
    problem = letters(["aa", "aa", "ab", "bb", "bb", "ab"], 2)
    change = SearchState.of(problem, np.array([0, 0, 0, 1, 1, 1], np.int32))
    move_all(change)
    carve_all(change)
    assert partition_of(change.groups.tolist()) == [[0, 1], [2, 5], [3, 4]]


def test_a_cell_is_filled_up_to_k_by_records_that_lose_less_than_others_gain() -> None:
    problem = letters(["aaba", "aaba", "aaba", "aabb", "ccdd", "ccde"], 2)
    change = SearchState.of(problem, np.array([0, 0, 0, 1, 1, 1], np.int32))
    assert change.cost == 12
    carve_all(change)
    assert change.cost == 4
    assert [4, 5] in partition_of(change.groups.tolist())


def test_a_partition_below_k_is_left_for_the_audit_to_find() -> None:
    problem = letters(["aa", "aa", "bb"], 2)
    broken = np.array([0, 0, 1], np.int32)
    assert refined(problem, broken).tolist() == [0, 0, 1]


def test_methods_beyond_local_recoding_and_optima_are_left_as_they_are() -> None:
    table = pa.table({"age": [1, 1, 1, 2, 2, 2, 2], "zip": list("aabbbcc")})
    left = (
        shoal.Mondrian(),
        shoal.Incognito(),
        shoal.NonHomogeneous(),
        shoal.Exact(),
        shoal.Auto(),
    )
    for method in left:  # the last one takes the optimum of so few records
        release = shoal.anonymize(table, quasi_identifiers=["age", "zip"], k=2, method=method)
        assert "refining" not in release.seconds
    release = shoal.anonymize(table, quasi_identifiers=["age", "zip"], k=2, method="cover")
    assert "refining" in release.seconds
    job = {"method": "cover", "refine": False}
    release = shoal.anonymize(table, quasi_identifiers=["age", "zip"], k=2, **job)
    assert "refining" not in release.seconds


def test_two_records_swap_where_neither_group_can_spare_one() -> None:
    problem = letters(["aa", "aa", "bb", "bb", "bb", "aa"], 3)
    change = SearchState.of(problem, np.array([0, 0, 0, 1, 1, 1], np.int32))
    assert move_all(change) == 0
    assert swap_all(change) == 1
    assert change.cost == 0
    assert change.groups.tolist() == [0, 0, 1, 1, 1, 0]


@settings(max_examples=several(60))
@given(
    samples(min_records=6, max_records=40, sensitive=1),
    st.sampled_from(objectives()),
    st.integers(2, 4),
    st.sampled_from(REQUIREMENTS),
)
def test_swaps_keep_the_requirement_and_never_cost_more(
    sample: Sample, objective: str, k: int, requirements: list[Any]
) -> None:
    problem = problem_of(sample, objective, min(k, sample.records), requirements)
    before = Agglomerative().partition(problem, 0, silent).groups
    state = SearchState.of(problem, before)
    changes = swap_all(state)
    after = state.groups
    assert is_met(problem, after)
    cost = problem.cost(before)
    assert problem.cost(after) <= cost + ROUNDING * max(1.0, cost)
    assert (changes > 0) == (problem.cost(after) < cost - ROUNDING)
