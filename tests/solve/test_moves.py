"""Records move, and groups dissolve, as in tests/reference/refinement.py."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from compiled import callable_here
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from partitions import (
    TOLERANCE,
    Start,
    assert_tidy,
    changes,
    is_met,
    lists,
    starts,
    undo,
)
from reference import refinement as twin

from shoal.kernels.refining import neighbourhoods as moves
from shoal.kernels.refining import search
from shoal.kernels.refining.search import FAR

finish, dissolve = callable_here(search.finish), callable_here(moves.dissolve)


@settings(max_examples=several(150))
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


@settings(max_examples=several(100))
@given(starts(diverse=True))
def test_records_of_a_group_that_dissolves_go_where_each_in_turn_adds_least(start: Start) -> None:
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
    assert_tidy(refined)
    assert is_met(start.problem, refined.groups)


@settings(max_examples=several(60))
@given(starts(diverse=True), st.data())
def test_the_nearest_groups_are_the_own_one_and_those_where_a_record_adds_least(
    start: Start, data: st.DataObject
) -> None:
    x = start.refined().search
    i = data.draw(st.integers(0, start.sample.records - 1))
    number = data.draw(st.integers(1, 5))
    groups = lists(x)
    found = search.find_nearest(x, i, number).tolist()
    able = twin.places(start.objective, groups, i, lambda group: True)
    assert found[0] == x.s.group[i]
    assert len(found) == min(number, len(able) + 1) == len(set(found))
    near = [able[g] for g in found[1:]]
    assert near == pytest.approx(sorted(able.values())[: len(near)], abs=TOLERANCE)
