"""The neighbourhoods of refinement do what their slow twins in tests/reference_refinement.py do."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import pytest
import reference
import reference_refinement as twin
import reference_requirements
import tables
from compiled import callable_here
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Group, Meets, Objective
from reference_splitting import varied_sample
from tables import Sample

import shoal
from shoal.generalization.forms import Ints, TreeForm
from shoal.kernels import carving, chains, moves, reach, rounding, ruin, search
from shoal.kernels.search import FAR, make_search, reprice_all
from shoal.kernels.state import fill, group_complies, make_state, members_of, merge, offending
from shoal.methods.base import state_of
from shoal.methods.settle import settle
from shoal.privacy import check_feasible
from shoal.problem import Problem
from shoal.progress import silent
from shoal.refine import Refine
from shoal.refine.budget import Clock
from shoal.refine.carve import Carver
from shoal.refine.chains import reach_of, shift_all
from shoal.refine.partition import Refined
from shoal.refine.relax import Relaxation

TOLERANCE = 1e-7


group_complies, members_of = map(callable_here, (group_complies, members_of))
finish, undo = callable_here(search.finish), callable_here(search.undo)
is_open, draw, pull = map(callable_here, (chains.is_open, chains.draw, chains.pull))
holds, dissolve = callable_here(reach.holds), callable_here(moves.dissolve)
nearest_groups, ruin_one = callable_here(ruin.nearest_groups), callable_here(ruin.ruin)
KINDS = ("frequency", "distinct", "entropy", "recursive", "alpha", "closeness, equal")


@dataclass(frozen=True)
class Start:
    """A table and a partition of it that meets a requirement."""

    sample: Sample
    objective: Objective
    problem: Problem
    groups: Ints
    diverse: Meets  # whether records keep all limits but k

    def refined(self) -> Refined:
        return Refined.of(self.problem, self.groups)


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
        requirements = draw(reference_requirements.requirements(draw(st.sampled_from(KINDS))))
        try:
            check_feasible(sample.encoded(), k, requirements)
        except shoal.Infeasible:
            requirements = []
    problem = reference_requirements.problem_of(sample, measure, k, requirements)
    order, number = (
        np.arange(sample.records),
        max(1, sample.records // (k + draw(st.integers(0, 2)))),
    )
    draw(st.randoms(use_true_random=False)).shuffle(order)
    groups = settle(problem, (order % number).astype(np.int32), silent)
    kept = reference_requirements.meets(sample, 1, requirements)
    return Start(sample, sample.objective(measure), problem, groups, kept)


def lists(search: Any) -> list[Group]:
    """The records of every group, by its number."""
    return [members_of(search.s, g).tolist() for g in range(search.s.size.size)]


def changes(before: list[Group], after: list[Group]) -> list[twin.Change]:
    """Who went from where to where."""
    new = {i: g for g, group in enumerate(after) for i in group}
    return [(i, g, new[i]) for g, group in enumerate(before) for i in group if new[i] != g]


def assert_tidy(refined: Refined) -> None:
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


def is_met(problem: Problem, groups: Ints) -> bool:
    return not offending(problem.rules, state_of(problem, groups)).any()


# Reach


@given(tables.samples() | st.integers(0, 10**6).map(varied_sample))
def test_the_ranks_below_a_node_are_those_of_the_values_below_it(sample: Sample) -> None:
    problem = sample.problem("lm")
    c = problem.arrays
    low, high = (np.zeros(c.parent.size, np.int32) for _ in range(2))
    reach.rank_leaves(c, low, high)
    for j, column in enumerate(problem.columns):
        if not isinstance(column.form, TreeForm):
            continue
        start, parent = c.start[j], column.form.parent
        ranks = low[start : start + column.form.size]
        for node in range(len(parent)):
            below = []
            for code in range(column.form.size):
                way = [code]
                while parent[way[-1]] != way[-1]:
                    way.append(parent[way[-1]])
                below += [ranks[code]] if node in way else []
            inside = [rank for rank in ranks if low[start + node] <= rank < high[start + node]]
            assert sorted(below) == sorted(inside)
            assert len(set(inside)) == len(inside)


def listed_pairs(w: Any) -> dict[int, list[int]]:
    """The distinct records that each group is paired with, by group and by record: both tell the same."""
    by_group = {g: sorted(w.covered[w.begin[g] : w.end[g]].tolist()) for g in range(w.begin.size)}
    by_record: dict[int, list[int]] = {g: [] for g in by_group}
    for p in range(w.newest.size):
        e = w.newest[p]
        while e >= 0:
            g = int(w.owner[e])
            if w.begin[g] <= e < w.end[g]:
                by_record[g].append(p)
            e = w.older[e]
    assert {g: sorted(found) for g, found in by_record.items()} == by_group
    return by_group


@settings(max_examples=150)
@given(starts(measures=("lm",)))
def test_a_group_is_paired_with_exactly_the_distinct_records_that_it_covers(start: Start) -> None:
    x = start.refined().search
    w = reach_of(start.refined())
    groups = lists(x)
    expected = {
        g: sorted(
            {
                int(w.point[i])
                for i in range(start.sample.records)
                if group and twin.covers(start.sample.twins, group, i)
            }
        )
        for g, group in enumerate(groups)
    }
    reach.list_all_pairs(x, w)
    assert listed_pairs(w) == expected
    for g, group in enumerate(groups):
        for p in range(len(w.ranks)) if group else ():
            assert holds(x, w, g, p) == (p in expected[g])
    callable_here(reach.list_pairs)(x, w, 0)
    assert listed_pairs(w) == expected


@settings(max_examples=150)
@given(starts())
def test_the_supply_of_a_group_is_the_dearest_group_that_a_chain_leads_from(start: Start) -> None:
    refined = start.refined()
    x, w = refined.search, reach_of(refined)
    reach.list_all_pairs(x, w)
    reach.find_supplies(x, w)
    groups = lists(x)
    for g, sources in enumerate(twin.supplies(start.objective, groups, start.problem.k)):
        assert w.value[g] == pytest.approx(max(sources.values(), default=-inf), abs=TOLERANCE)
        assert (w.source[g] == reach.NONE) == (not sources)
        if sources:
            assert sources[w.source[g]] == pytest.approx(w.value[g], abs=TOLERANCE)
            assert is_open(x, w, g) == (w.source[g] != g)
        to = g
        while sources and to != w.source[g]:
            assert w.via[to] in groups[w.origin[to]]
            assert twin.covers(start.sample.twins, groups[to], w.via[to])
            to = w.origin[to]


# Chains


def assert_chain(start: Start, before: list[Group], after: list[Group], g: int) -> int:
    """Each group on the way took in one record that it covered and gave one; returns where the way began."""
    moved = changes(before, after)
    assert moved
    came, went = {to: (i, own) for i, own, to in moved}, {own for _, own, _ in moved}
    assert len(came) == len(went) == len(moved)
    way = g
    for _ in moved:
        i, own = came[way]
        assert twin.covers(start.sample.twins, before[way], i)
        way = own
    assert way not in came
    assert len(before[way]) > start.problem.k
    return way


@settings(max_examples=100)
@given(starts())
def test_drawing_and_pulling_move_one_record_of_each_group_on_the_way(start: Start) -> None:
    refined = start.refined()
    x, w = refined.search, reach_of(refined)
    reach.list_all_pairs(x, w)
    reach.find_supplies(x, w)
    before = lists(x)
    supplies = twin.supplies(start.objective, before, start.problem.k)
    for g, sources in enumerate(supplies):
        if not before[g]:
            continue
        if is_open(x, w, g):
            draw(x, w, g)
            assert assert_chain(start, before, lists(x), g) == w.source[g]
            undo(x)
            assert_tidy(refined)
        others = {h: price for h, price in sources.items() if h != g}
        for least in (-inf, float(w.price[g])):
            dearer = [price for price in others.values() if price > least + TOLERANCE]
            if pull(x, w, g, least, inf):
                began = assert_chain(start, before, lists(x), g)
                assert w.price[began] > least
                assert others[began] == pytest.approx(max(others.values()), abs=TOLERANCE)
            else:
                assert not dearer
            undo(x)
            assert_tidy(refined)


@settings(max_examples=100)
@given(starts(diverse=True))
def test_shifting_keeps_the_requirement_and_never_costs_more(start: Start) -> None:
    refined = start.refined()
    before, given_groups = refined.cost, refined.groups
    shifted = shift_all(refined, reach_of(refined))
    assert_tidy(refined)
    assert is_met(start.problem, refined.groups)
    if shifted:
        assert refined.cost < before
    else:
        assert (refined.groups == given_groups).all()


@settings(max_examples=100)
@given(starts(measures=reference.MONOTONE))
def test_where_shifting_ends_no_chain_leads_to_a_cheaper_group(start: Start) -> None:
    refined = start.refined()
    w = reach_of(refined)
    while shift_all(refined, w):  # anew, as groups that lost records cover less
        pass
    groups = lists(refined.search)
    for group, sources in zip(
        groups, twin.supplies(start.objective, groups, start.problem.k), strict=True
    ):
        if group:
            price = twin.cost(start.objective, group) / len(group)
            assert max(sources.values(), default=-inf) <= price + TOLERANCE


# Moves


@settings(max_examples=150)
@given(starts(diverse=True))
def test_every_record_moves_to_where_it_adds_least_if_that_gains(start: Start) -> None:
    refined, k, objective = start.refined(), start.problem.k, start.objective
    x, made = refined.search, 0
    order = np.lexsort(start.problem.codes.T).astype(np.int32)  # equal ones of all groups together
    for i in order.tolist():
        before, own = lists(x), x.s.group[i]
        moved = moves.move_records(x, np.array([i], np.int32))
        able = twin.places(objective, before, i, start.diverse)
        least = min(able.values(), default=FAR)
        rest = [m for m in before[own] if m != i]
        can_leave = len(rest) >= k and start.diverse(rest)
        gain = twin.saved_without(objective, before[own], i) - least if can_leave else -inf
        if moved:
            assert changes(before, lists(x)) == [(i, own, x.s.group[i])]
            assert able[x.s.group[i]] == pytest.approx(least, abs=TOLERANCE)
            assert gain > 0.0
        else:
            assert lists(x) == before
            assert gain <= TOLERANCE
            assert x.joins[i] == pytest.approx(least, abs=TOLERANCE)
        made += moved
    assert_tidy(refined)
    together = start.refined()
    assert moves.move_records(together.search, order) == made
    assert (together.search.s.group == x.s.group).all()


@settings(max_examples=100)
@given(starts(diverse=True))
def test_a_group_dissolves_if_its_records_gain_where_each_in_turn_adds_least(start: Start) -> None:
    refined, objective = start.refined(), start.objective
    x = refined.search
    added, scratch = np.empty(x.s.size.size), np.empty(x.s.size.size)
    for g in range(x.s.size.size):
        before = lists(x)
        if not before[g]:
            continue
        all_go = dissolve(x, g, added, scratch)
        after = lists(x)
        now = [list(group) for group in before]
        for i in before[g]:
            able = twin.places(objective, now, i, start.diverse)
            if i in after[g]:
                assert not all_go
                assert not able
                break
            to = int(x.s.group[i])
            assert able[to] == pytest.approx(min(able.values()), abs=TOLERANCE)
            now[g].remove(i)
            now[to].append(i)
        assert [sorted(group) for group in now] == after
        change = finish(x)
        expected = sum(twin.cost(objective, group) for group in now)
        expected -= sum(twin.cost(objective, group) for group in before)
        assert change == pytest.approx(expected, abs=TOLERANCE)
        undo(x)
        assert lists(x) == before
        x.joins[:] = -FAR  # all look as if they could gain
        reprice_all(x)
        gains = all_go and change < -TOLERANCE
        assert moves.dissolve_groups(x, np.array([g])) == gains or abs(change) <= TOLERANCE
        assert not gains or lists(x) == after
    assert_tidy(refined)
    assert is_met(start.problem, refined.groups)


@settings(max_examples=60)
@given(starts(diverse=True))
def test_dissolving_takes_as_many_groups_away_as_it_reports(start: Start) -> None:
    refined = start.refined()
    moves.move_records(refined.search, refined.dearest())
    before, groups = refined.cost, int(refined.groups.max()) + 1
    dissolved = moves.dissolve_groups(refined.search, np.arange(refined.search.s.size.size))
    assert int(refined.groups.max()) + 1 == groups - dissolved
    assert refined.cost < before if dissolved else refined.cost == before
    assert_tidy(refined)
    assert is_met(start.problem, refined.groups)


# Rounding


@st.composite
def covers(draw: st.DrawFn) -> tuple[list[list[tuple[int, float]]], list[int]]:
    """Cells of distinct records with their shares, and how many records each distinct one has."""
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=7))
    shares = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 0.75, 1.0, 1.5]) | st.floats(0, 2)
    cell = st.dictionaries(st.integers(0, len(counts) - 1), shares, max_size=5)
    return [list(one.items()) for one in draw(st.lists(cell, max_size=6))], counts


@settings(max_examples=150)
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


# Carving


def looks(carver: Carver, at: int) -> tuple[list[int], list[float]]:
    """The cell of every record at a lattice point, and what it costs there."""
    cells, steps = carver.cells, carver.steps[at]
    keys = np.bitwise_xor.reduce(cells.keys[steps], axis=0)
    costs = cells.costs[steps].sum(axis=0, dtype=np.float64)
    return keys[cells.column].tolist(), costs[cells.column].tolist()


@settings(max_examples=80)
@given(starts(diverse=True))
def test_carving_gains_what_it_reports_in_one_cell_and_leaves_no_trace(start: Start) -> None:
    refined = start.refined()
    x = refined.search
    moves.move_records(x, refined.dearest())
    carver = Carver.of(refined, reach_of(refined), 0)
    reach.list_all_pairs(x, carver.reach)
    for at in range(len(carver.steps)):
        reach.find_supplies(x, carver.reach)
        before, cost = lists(x), refined.cost
        carved, gained, _ = carving.carve_points(
            x, carver.cells, carver.reach, carver.steps[at : at + 1]
        )
        after = lists(x)
        assert cost - refined.cost == pytest.approx(gained, abs=TOLERANCE)
        assert (carved > 0) == (gained > 0.0) == (before != after)
        assert (carver.cells.s.place == carving.ELSEWHERE).all()
        new = [g for g, group in enumerate(after) if group and not before[g]]
        assert len(new) <= carved  # fewer where all that was left to gain is a group's end
        if carved == 1:
            keys, _ = looks(carver, at)
            ended = {i for g, group in enumerate(before) if not after[g] for i in group}
            # what is left of a group that ended goes where it adds least, maybe here
            assert all(len({keys[i] for i in after[g] if i not in ended}) <= 1 for g in new)
    assert_tidy(refined)
    assert is_met(start.problem, refined.groups)


@settings(max_examples=80)
@given(starts(measures=reference.MONOTONE))
def test_no_cell_gains_by_what_groups_can_spare_where_carving_ends(start: Start) -> None:
    refined = start.refined()
    carver = Carver.of(refined, reach_of(refined), 0)
    x, k = refined.search, start.problem.k
    # no chains known and no records that fit elsewhere: all that is estimated comes true
    while carving.carve_points(x, carver.cells, carver.reach, carver.steps)[0]:
        pass
    group = x.s.group.tolist()
    for at in range(len(carver.steps)):
        keys, here = looks(carver, at)
        assert all(gain <= 1e-3 for gain in twin.direct_gains(keys, here, x.price, group, k))


@settings(max_examples=40)
@given(starts(measures=("lm", "entropy", "pmi")))
def test_only_cells_with_room_for_fewer_than_k_are_priced_out(start: Start) -> None:
    carver = Carver.of(start.refined(), reach_of(start.refined()), 0)
    for keys, costs in zip(carver.cells.keys, carver.cells.costs, strict=True):
        of_record = keys[carver.cells.column].tolist()
        for cell in twin.cells_of(of_record):
            far = costs[carver.cells.column[cell]] == FAR
            assert (far == (len(cell) < start.problem.k)).all()


# Ruin


@settings(max_examples=60)
@given(starts(diverse=True), st.data())
def test_the_nearest_groups_are_the_own_one_and_those_where_a_record_adds_least(
    start: Start, data: st.DataObject
) -> None:
    x = start.refined().search
    i = data.draw(st.integers(0, start.sample.records - 1))
    number = data.draw(st.integers(1, 5))
    groups = lists(x)
    found = nearest_groups(x, i, number).tolist()
    able = twin.places(start.objective, groups, i, lambda group: True)
    assert found[0] == x.s.group[i]
    assert len(found) == min(number, len(able) + 1) == len(set(found))
    near = [able[g] for g in found[1:]]
    assert near == pytest.approx(sorted(able.values())[: len(near)], abs=TOLERANCE)


@settings(max_examples=60)
@given(starts(diverse=True), st.data())
def test_an_earlier_partition_can_be_put_back(start: Start, data: st.DataObject) -> None:
    refined = start.refined()
    x = refined.search
    before, earlier, cost = lists(x), x.s.group.copy(), refined.cost
    used = [g for g, group in enumerate(before) if group]
    if len(used) > 1:
        merge(x.c, x.s, *data.draw(st.permutations(used))[:2])
        assert lists(x) != before
    moves.move_records(x, refined.dearest())
    callable_here(ruin.put_back)(x, earlier)
    assert (x.s.group == earlier).all()
    assert refined.cost == cost
    assert_tidy(refined)


@settings(max_examples=60)
@given(starts(diverse=True), st.integers(2, 5), st.integers(2, 5), st.integers(0, 99))
def test_ruin_gains_what_it_reports_and_keeps_the_requirement(
    start: Start, near: int, united: int, record: int
) -> None:
    refined = start.refined()
    x = refined.search
    carver = Carver.of(refined, reach_of(refined), 0)
    reach.list_all_pairs(x, carver.reach)
    reach.find_supplies(x, carver.reach)
    before = refined.cost
    gained = ruin_one(
        x,
        carver.cells,
        carver.reach,
        carver.steps,
        record % start.sample.records,
        near,
        min(near, united),
    )
    assert gained >= -TOLERANCE
    assert before - refined.cost == pytest.approx(gained, abs=TOLERANCE)
    assert_tidy(refined)
    assert all(group_complies(x.q, x.s, g) for g in np.flatnonzero(x.s.size))


# Relaxation


@settings(max_examples=60)
@given(starts(measures=reference.MONOTONE, diverse=True), st.integers(0, 4))
def test_what_is_rounded_meets_the_requirement_and_costs_no_less_than_the_relaxed_problem(
    start: Start, passes: int
) -> None:
    problem, refined = start.problem, start.refined()
    assert Relaxation.suits(problem)
    relaxation = Relaxation(problem, refined.search.price)
    for _ in range(passes):
        assert relaxation.advance(lambda: True)
    groups = relaxation.round()
    assert sorted(set(groups.tolist())) == list(range(groups.max() + 1))
    assert is_met(problem, groups)
    cost = Refined.of(problem, groups).cost
    assert relaxation.total <= min(cost, refined.cost) + TOLERANCE * max(1.0, cost)


@pytest.mark.parametrize("measure", ["pmi", "wmi", "entropy"])
def test_where_costs_depend_on_the_record_nothing_is_relaxed(measure: str) -> None:
    assert not Relaxation.suits(varied_sample(1).problem(measure))


# Budget


def test_a_clock_of_steps_goes_on_for_its_share_of_them() -> None:
    reports: list[tuple[str, int, int]] = []
    clock = Clock(Refine(steps=4), lambda *report: reports.append(report))
    going = []
    for _ in range(5):
        going.append((clock.goes_on("a", 0.5), clock.goes_on("b")))
        clock.tick()
    assert going == [(True, True), (True, True), (False, True), (False, True), (False, False)]
    assert reports[:3] == [("refining: a", 0, 4), ("refining: b", 0, 4), ("refining: a", 1, 4)]


def test_a_clock_without_a_budget_ends_at_once() -> None:
    assert not Clock(Refine(), silent).goes_on("a")


def test_a_clock_of_seconds_goes_on_until_its_share_has_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, reports = [100.0], []
    monkeypatch.setattr("shoal.refine.budget.time.perf_counter", lambda: now[0])
    clock = Clock(Refine(seconds=2.5), lambda *report: reports.append(report))
    for spent, half, whole in ((0.0, True, True), (1.3, False, True), (2.5, False, False)):
        now[0] = 100.0 + spent
        clock.tick()  # steps do not count
        assert (clock.goes_on("a", 0.5), clock.goes_on("a")) == (half, whole)
    now[0] = 200.0
    assert not clock.goes_on("a")
    assert reports[-1] == ("refining: a", 2, 3)
