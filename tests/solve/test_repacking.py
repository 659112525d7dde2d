"""Choosing cells anew is as in tests/reference/repacking.py, and never makes a partition dearer."""

from __future__ import annotations

import numpy as np
import reference
from compiled import callable_here
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from partitions import (
    TOLERANCE,
    Start,
    assert_tidy,
    brief_budget,
    is_met,
    meter_of,
    relaxed,
    starts,
)
from reference import repacking as twin

from shoal.kernels.refining import repacking
from shoal.progress import silent
from shoal.solve.local_search.budget import Refine
from shoal.solve.local_search.repack import PoolOptions, make_candidates, repack_all
from shoal.solve.local_search.schedule import refine
from shoal.solve.local_search.state import SearchState

price, improve = callable_here(repacking.price), callable_here(repacking.improve)
make_pool = callable_here(repacking.make_cell_pool)
make_scratch = callable_here(repacking.make_repacking_scratch)


@st.composite
def pools(draw: st.DrawFn) -> tuple[twin.Pool, set[int]]:
    """A pool of a few records and rivals, and a choice of these."""
    costs = sorted(draw(st.lists(st.integers(0, 9), min_size=1, max_size=7)))
    lies_in = draw(st.lists(st.sets(st.integers(0, len(costs) - 1)), min_size=1, max_size=14))
    outside = [draw(st.sampled_from([np.inf, *range(10)])) for _ in lies_in]
    choice = draw(st.sets(st.integers(0, len(costs) - 1)))
    return twin.Pool([float(c) for c in costs], lies_in, outside, draw(st.integers(1, 4))), choice


def bits(rivals: set[int]) -> np.uint64:
    return np.uint64(sum(1 << rival for rival in rivals))


def compiled(pool: twin.Pool) -> repacking.CellPool:
    m, room = len(pool.lies_in), repacking.RIVALS + 1
    return repacking.CellPool(
        np.arange(m, dtype=np.int32),
        np.arange(len(pool.costs)),
        np.array(pool.costs),
        np.array([bits(rivals) for rivals in pool.lies_in], np.uint64),
        np.array(pool.outside, np.float64),
        np.empty(m, np.int64),
        *(np.zeros(room, np.int64) for _ in range(3)),
    )


@given(st.integers(0, 63), st.integers(0, 2**64 - 1))
def test_the_cheapest_rival_of_a_choice_is_its_lowest_bit(lowest: int, others: int) -> None:
    choice = np.uint64((others << lowest | 1 << lowest) & (2**64 - 1))
    assert callable_here(repacking.cheapest)(choice) == lowest


@settings(max_examples=several(300))
@given(pools())
def test_a_choice_costs_what_the_twin_says(case: tuple[twin.Pool, set[int]]) -> None:
    pool, choice = case
    kernel = compiled(pool)
    cost, places = twin.price(pool, choice)
    assert price(kernel, pool.k, bits(choice), np.inf) == cost
    if cost < np.inf:
        chosen = [None if at == repacking.ELSEWHERE else at for at in kernel.chosen.tolist()]
        assert chosen == places
        assert all(chosen.count(rival) >= pool.k for rival in choice)
        assert price(kernel, pool.k, bits(choice), cost) >= cost


@settings(max_examples=several(150))
@given(pools())
def test_small_changes_lead_to_the_choice_of_the_twin(case: tuple[twin.Pool, set[int]]) -> None:
    pool, choice = case
    start = twin.price(pool, choice)[0]
    work = np.zeros(1, np.int64)
    found, cost = improve(compiled(pool), pool.k, bits(choice), start, work)
    expected = twin.improve(pool, choice)
    assert found == bits(expected)
    assert cost == twin.price(pool, expected)[0] <= start
    assert work[0] >= len(pool.lies_in) * len(pool.costs)  # each rival is tried at least once


@settings(max_examples=several(60))
@given(starts(measures=reference.MONOTONE), st.integers(0, 2), st.randoms(use_true_random=False))
def test_a_pool_is_made_of_all_that_its_records_lie_in(start: Start, passes: int, random) -> None:
    problem, refined = start.problem, start.refined()
    v = make_candidates(refined, relaxed(refined, passes).cells())
    number = len(v.cost)
    lies_in = [set(v.owner[v.start[p] : v.start[p + 1]].tolist()) for p in problem.points.of_record]
    cells = v.s.group.tolist()
    assert all(cell in within for cell, within in zip(cells, lies_in, strict=True))
    for c in range(number):
        below = set(v.covered[v.begin[c] : v.end[c]].tolist())
        assert below == {
            int(p)
            for p, within in zip(problem.points.of_record, lies_in, strict=True)
            if c in within
        }
    pool = set(random.sample(sorted(set(cells)), min(2, len(set(cells)))))
    scratch = make_scratch(number)
    o, choice, cost = make_pool(v, problem.k, np.array(sorted(pool)), np.ones(number), scratch)
    rivals = set(o.rivals.tolist())
    possible = twin.rivals_of(v.cost, lies_in, cells, pool, problem.k)
    assert pool <= rivals <= possible
    assert len(rivals) == min(len(possible), max(len(pool), repacking.RIVALS))
    assert (np.diff(o.rivals) > 0).all()
    assert (np.diff(o.cost) >= 0).all()
    assert choice == bits({o.rivals.tolist().index(cell) for cell in pool})
    assert np.isclose(cost, sum(v.cost[cell] for cell in cells if cell in pool))
    open_outside = set(cells) - pool
    for i, within, outside in zip(o.records, o.lies_in, o.outside, strict=True):
        assert within == bits({a for a, c in enumerate(o.rivals.tolist()) if c in lies_in[i]})
        assert outside == min((v.cost[c] for c in lies_in[i] & open_outside), default=np.inf)


@settings(max_examples=several(60))
@given(starts(measures=reference.MONOTONE), st.integers(0, 3), st.integers(0, 3), st.integers(0, 9))
def test_cells_chosen_anew_hold_k_records_each_and_cost_what_is_said(
    start: Start, passes: int, kicks: int, seed: int
) -> None:
    problem, refined = start.problem, start.refined()
    v = make_candidates(refined, relaxed(refined, passes).cells())
    before = v.cost[v.s.group].sum()
    assert abs(before - refined.cost) <= TOLERANCE * max(1.0, before)
    rng = np.random.default_rng(seed)
    number, work = len(v.cost), np.zeros(1, np.int64)
    gained = repacking.repack(
        v,
        problem.k,
        np.arange(number),
        np.full(number, 5),
        1000,
        np.ones(number),
        rng.integers(0, 1 << 30, (number, kicks, 3)),
        work,
    )
    after = v.cost[v.s.group].sum()
    assert gained >= 0
    assert work[0] > 0 or gained == 0
    assert abs(before - gained - after) <= TOLERANCE * max(1.0, before)
    sizes = np.bincount(v.s.group, minlength=number)
    assert (sizes == v.s.size).all()
    assert (sizes[sizes > 0] >= problem.k).all()
    for i, cell in enumerate(v.s.group):
        p = problem.points.of_record[i]
        assert cell in v.owner[v.start[p] : v.start[p + 1]]


@settings(max_examples=several(40))
@given(starts(measures=reference.MONOTONE), st.integers(0, 5))
def test_a_partition_of_cells_chosen_anew_is_no_dearer(start: Start, seed: int) -> None:
    problem, refined = start.problem, start.refined()
    groups = repack_all(
        refined,
        relaxed(refined).cells(),
        PoolOptions(kicks=2),
        np.random.default_rng(seed),
        meter_of(problem),
        lambda: True,
    )
    found = SearchState.of(problem, groups)
    assert_tidy(found)
    assert is_met(problem, groups)
    assert found.cost <= refined.cost + TOLERANCE * max(1.0, refined.cost)


@settings(max_examples=15, deadline=None)
@given(starts(measures=reference.MONOTONE), st.integers(1, 12))
def test_more_steps_never_cost_more_and_are_repeatable(start: Start, steps: int) -> None:
    problem = start.problem
    with brief_budget(1e7):
        quick, longer, again = (
            refine(problem, start.groups, 1, silent, budget)[0]
            for budget in (Refine(), Refine(steps=steps), Refine(steps=steps))
        )
    assert (longer == again).all()
    assert is_met(problem, longer)
    assert problem.cost(longer) <= problem.cost(quick) + TOLERANCE
