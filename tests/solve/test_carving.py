"""Carving new groups and ruining old ones is as in tests/reference/refinement.py."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from compiled import callable_here
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from partitions import (
    TOLERANCE,
    Start,
    assert_tidy,
    is_met,
    lists,
    starts,
)
from reference import refinement as twin

from shoal.kernels.refining import carving, carving_cells, reach, ruin
from shoal.kernels.refining import neighbourhoods as moves
from shoal.kernels.refining.search import FAR
from shoal.kernels.shared import state
from shoal.solve.local_search.descent import Carver, reach_of

group_complies, merge = callable_here(state.group_complies), callable_here(state.merge)
nearest_groups = callable_here(ruin.nearest_groups)


def looks(carver: Carver, at: int) -> tuple[list[int], list[float]]:
    """The cell of every record at a lattice point, and what it costs there."""
    cells, steps = carver.cells, carver.steps[at]
    keys = np.bitwise_xor.reduce(cells.keys[steps], axis=0)
    costs = cells.costs[steps].sum(axis=0, dtype=np.float64)
    return keys[cells.column].tolist(), costs[cells.column].tolist()


@settings(max_examples=several(80))
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
        assert (carver.cells.scratch.place == carving_cells.ELSEWHERE).all()
        new = [g for g, group in enumerate(after) if group and not before[g]]
        assert len(new) <= carved  # fewer where all that was left to gain is a group's end
        if carved == 1:
            keys, _ = looks(carver, at)
            ended = {i for g, group in enumerate(before) if not after[g] for i in group}
            # what is left of a group that ended goes where it adds least, maybe here
            assert all(len({keys[i] for i in after[g] if i not in ended}) <= 1 for g in new)
    assert_tidy(refined)
    assert is_met(start.problem, refined.groups)


@settings(max_examples=several(80))
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


@settings(max_examples=several(40))
@given(starts(measures=("lm", "entropy", "pmi")))
def test_only_cells_with_room_for_fewer_than_k_are_priced_out(start: Start) -> None:
    carver = Carver.of(start.refined(), reach_of(start.refined()), 0)
    for keys, costs in zip(carver.cells.keys, carver.cells.costs, strict=True):
        of_record = keys[carver.cells.column].tolist()
        for cell in twin.cells_of(of_record):
            far = costs[carver.cells.column[cell]] == FAR
            assert (far == (len(cell) < start.problem.k)).all()


@settings(max_examples=several(60))
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


@settings(max_examples=several(60))
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


@settings(max_examples=several(60))
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
    once = (record % start.sample.records, near, min(near, united))
    gained = ruin.ruin_all(
        x, carver.cells, carver.reach, carver.steps, *(np.array([one]) for one in once)
    )
    assert gained >= -TOLERANCE
    assert before - refined.cost == pytest.approx(gained, abs=TOLERANCE)
    assert_tidy(refined)
    assert all(group_complies(x.q, x.s, g) for g in np.flatnonzero(x.s.size))
