"""What groups cover, and chains of records through them, are as in tests/reference/refinement.py."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
import tables
from compiled import callable_here
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from partitions import (
    TOLERANCE,
    Start,
    assert_tidy,
    changes,
    lists,
    starts,
    undo,
)
from reference import Group
from reference import refinement as twin
from reference.splitting import varied_sample
from tables import Sample

from shoal.encoding.forms import TreeForm
from shoal.kernels.refining import reach
from shoal.solve.local_search.state import reach_of

is_open, draw = map(callable_here, (reach.is_open, reach.draw))
holds = callable_here(reach.holds)


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


@settings(max_examples=several(150))
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


@settings(max_examples=several(150))
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


@settings(max_examples=several(100))
@given(starts())
def test_drawing_moves_one_record_of_each_group_on_the_way(start: Start) -> None:
    refined = start.refined()
    x, w = refined.search, reach_of(refined)
    reach.list_all_pairs(x, w)
    reach.find_supplies(x, w)
    before = lists(x)
    for g in range(len(before)):
        if before[g] and is_open(x, w, g):
            draw(x, w, g)
            assert assert_chain(start, before, lists(x), g) == w.source[g]
            undo(x)
            assert_tidy(refined)
