"""Choosing cells anew under requirements is as in tests/reference/repacking.py and keeps them."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
import reference
from compiled import callable_here
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from partitions import TOLERANCE, Start, assert_tidy, is_met, meter_of, relaxed, starts
from reference import repacking as twin
from reference.clustering import lacking

from shoal.kernels.refining import diverse_repacking as kernels
from shoal.kernels.refining.repacking import ELSEWHERE, RIVALS, CellPool
from shoal.kernels.shared.rules import Rules
from shoal.solve.local_search.repack import PoolOptions, make_candidates, repack_all
from shoal.solve.local_search.state import SearchState

price, can_comply = callable_here(kernels.price_diverse), callable_here(kernels.can_comply)
improve, start_from = callable_here(kernels.improve_diverse), callable_here(kernels.start_from)
make_base = callable_here(kernels.make_base)
KINDS = {"distinct": (2, 3), "entropy": (1.5, 2), "frequency": (1.5, 2)}
VALUES = 4


@st.composite
def pools(draw: st.DrawFn) -> tuple[twin.Pool, set[int], list[int], str, float]:
    """A pool, a choice of its rivals, the sensitive values of its records, and what is asked of them."""
    costs = sorted(draw(st.lists(st.integers(0, 9), min_size=1, max_size=6)))
    lies_in = draw(st.lists(st.sets(st.integers(0, len(costs) - 1)), min_size=1, max_size=14))
    outside = [draw(st.sampled_from([np.inf, *range(10)])) for _ in lies_in]
    choice = draw(st.sets(st.integers(0, len(costs) - 1)))
    values = [draw(st.integers(0, VALUES - 1)) for _ in lies_in]
    kind = draw(st.sampled_from([*KINDS]))
    pool = twin.Pool([float(c) for c in costs], lies_in, outside, draw(st.integers(1, 4)))
    return pool, choice, values, kind, draw(st.sampled_from(KINDS[kind]))


def bits(rivals: set[int]) -> np.uint64:
    return np.uint64(sum(1 << rival for rival in rivals))


def rules(k: int, kind: str, l: float) -> Rules:
    return Rules(
        k=k,
        start=np.array([0, VALUES]),
        cap=np.full(VALUES, 1 / l if kind == "frequency" else 1.0),
        capped=np.array([kind == "frequency"]),
        distinct=np.array([int(l) if kind == "distinct" else 1]),
        entropy=np.array([log(l) if kind == "entropy" else 0.0]),
        depth=np.zeros(1, np.int64),
        factor=np.zeros(1),
        distance=np.array([np.inf]),
        share=np.full(VALUES, 1 / VALUES),
        node=np.array([0, VALUES + 1]),
        parent=np.full(VALUES + 1, VALUES),
        edge=np.ones(VALUES + 1),
    )


def compiled(pool: twin.Pool, values: list[int]) -> tuple[CellPool, kernels.Limits]:
    m, room = len(pool.lies_in), RIVALS + 1
    made = CellPool(
        np.arange(m, dtype=np.int32),
        np.arange(len(pool.costs)),
        np.array(pool.costs),
        np.array([bits(rivals) for rivals in pool.lies_in], np.uint64),
        np.array(pool.outside, np.float64),
        np.empty(m, np.int64),
        *(np.zeros(room, np.int64) for _ in range(3)),
    )
    every = bits(set(range(len(pool.costs))))
    tally = np.zeros((room, VALUES), np.int32)
    limits = kernels.Limits(
        values=np.array(values, np.int32)[:, None],
        tally=tally,
        home=np.zeros(m, np.int64),
        able=np.array([every]),
        meets=np.full(RIVALS, every),
        work=np.zeros(1, np.int64),
        near=np.empty(m, np.int64),
        target=np.empty(m, np.int64),
        kept=np.empty(VALUES),
        gives=np.empty(VALUES, np.int8),
        open=np.full(RIVALS + 1, ELSEWHERE),
        opened=np.zeros(1, np.int64),
        base=make_base(made, tally),
    )
    return made, limits


@settings(max_examples=several(500))
@given(pools())
def test_a_choice_costs_what_the_twin_says(case) -> None:
    pool, choice, values, kind, l = case
    base = {rival for rival in choice if rival % 2} | {0}  # any other choice to start from
    q, lack = rules(pool.k, kind, l), lacking(kind, l, values)
    made, limits = compiled(pool, values)
    cost, places = twin.price_diverse(pool, choice, lack)
    start_from(made, limits, bits(base))
    assert price(made, limits, q, bits(choice), np.inf) == pytest.approx(cost)
    if cost < np.inf:
        chosen = [None if at == ELSEWHERE else at for at in made.chosen.tolist()]
        assert chosen == places
        for rival in choice:
            group = [at for at, place in enumerate(chosen) if place == rival]
            assert len(group) >= pool.k
            assert lack(group) == 0
        found, least = improve(made, limits, q, bits(choice), float(cost))
        assert least == pytest.approx(
            twin.price_diverse(pool, {a for a in range(6) if int(found) >> a & 1}, lack)[0]
        )
        assert least <= cost


@settings(max_examples=several(100))
@given(st.lists(st.integers(0, 5), min_size=VALUES, max_size=VALUES), st.integers(1, 4), pools())
def test_cells_that_cannot_comply_are_known(counts: list[int], k: int, case) -> None:
    assume(sum(counts) <= 12)
    _, _, _, kind, l = case
    q, size = rules(k, kind, l), sum(counts)
    records = [v for v, count in enumerate(counts) for _ in range(count)]
    lack = lacking(kind, l, records)
    subsets = ([i for i in range(size) if chosen >> i & 1] for chosen in range(1 << size))
    possible = any(len(group) >= k and lack(group) == 0 for group in subsets)
    assert can_comply(q, np.array(counts, np.int32), size) == possible


@settings(max_examples=several(60))
@given(starts(measures=reference.MONOTONE, diverse=True), st.integers(0, 2), st.integers(0, 9))
def test_a_partition_of_cells_chosen_anew_complies_and_is_no_dearer(
    start: Start, kicks: int, seed: int
) -> None:
    problem, refined = start.problem, start.refined()
    assume(problem.tallied)
    relaxation = relaxed(refined, 1)
    v = make_candidates(refined, relaxation.cells())
    number, before = len(v.cost), v.cost[v.s.group].sum()
    kick = np.random.default_rng(seed).integers(0, 1 << 30, (number, kicks, 3))
    gained = kernels.repack_diverse(
        v,
        problem.rules,
        np.arange(number),
        np.full(number, 5),
        1000,
        np.ones(number),
        kick,
        np.zeros(1, np.int64),
        10**9,
    )
    assert gained >= 0
    assert abs(before - gained - v.cost[v.s.group].sum()) <= TOLERANCE * max(1.0, before)
    groups = repack_all(
        refined,
        relaxation.cells(),
        PoolOptions(kicks=kicks),
        np.random.default_rng(seed),
        meter_of(problem),
        lambda: True,
    )
    found = SearchState.of(problem, groups)
    assert_tidy(found)
    assert is_met(problem, groups)
    assert is_met(problem, v.s.group)
    assert found.cost <= refined.cost + TOLERANCE * max(1.0, refined.cost)
