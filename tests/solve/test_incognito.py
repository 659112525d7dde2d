"""`incognito` finds what a search of the whole lattice of levels finds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import guarantees as twins

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.errors import InputError
from shoal.progress import silent
from shoal.solve.methods import incognito
from shoal.solve.methods.incognito import Incognito, cheapest_node, find_passing, make_levels
from shoal.solve.problem import HIDDEN, Problem

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")

cases = st.tuples(
    tables.samples(sensitive=1),
    st.sampled_from(OBJECTIVES),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.0, 0.1, 0.3, 0.9]),
)


@given(cases)
@settings(max_examples=several(200))
def test_the_node_chosen_is_the_cheapest_of_all_that_hold_k(case):
    sample, measure, k, share = case
    k = min(k, sample.records)
    problem = sample.problem(measure, k)
    levels, codes = [make_levels(column) for column in problem.columns], problem.codes.tolist()
    budget = int(share * sample.records + 1e-9)
    passed = find_passing(problem, levels, budget, 0, silent)
    expected = twins.passing_nodes(levels, codes, k, budget)
    assert [tuple(node) for node in np.argwhere(passed).tolist()] == expected
    objective = sample.objective(measure)
    costs = [twins.recoding_cost(objective, levels, codes, node) for node in expected]
    chosen = cheapest_node(problem, levels, passed)
    assert costs[expected.index(chosen)] == pytest.approx(min(costs), abs=1e-7)


@given(cases)
@settings(max_examples=several(200))
def test_groups_are_cells_of_one_node_and_records_of_small_ones_are_hidden(case):
    sample, measure, k, share = case
    k = min(k, sample.records)
    problem = sample.problem(measure, k)
    found = Incognito(suppression=share).partition(problem, 0, silent)
    groups, is_hidden = found.groups, (found.forms == HIDDEN).any(axis=1)
    assert np.bincount(groups).min() >= k
    levels = [make_levels(column) for column in problem.columns]
    budget = int(share * sample.records + 1e-9)
    node = cheapest_node(problem, levels, find_passing(problem, levels, budget, 1, silent))
    cells = twins.node_cells(levels, problem.codes.tolist(), node)
    small = [cell for cell in cells if len(cell) < k]
    assert sum(map(len, small)) <= budget
    assert all(is_hidden[cell].all() for cell in small)
    full = [len(cell) for cell in cells if len(cell) >= k and is_hidden[cell[0]]]
    assert not full or (small and is_hidden.sum() - max(full) < k)  # none is hidden needlessly
    open_cells = [cell for cell in cells if not is_hidden[cell[0]]]
    assert all(len(set(groups[cell])) == 1 for cell in cells)
    assert len({groups[cell[0]] for cell in open_cells}) == len(open_cells)
    assert len(set(groups[is_hidden])) <= 1
    assert not set(groups[is_hidden]) & set(groups[~is_hidden])


@given(tables.samples(max_records=30), st.integers(1, 5))
def test_every_value_has_one_form_in_the_whole_release(sample, k):
    problem = sample.problem("lm", min(k, sample.records))
    found = Incognito().partition(problem, 0, silent)
    closed = problem.close(found.groups, found.closing)
    for j in range(len(problem.columns)):
        forms = closed.of_column(j)[:, closed.groups]
        for code in set(problem.codes[:, j]):
            assert len(np.unique(forms[:, problem.codes[:, j] == code], axis=1).T) == 1


def test_adult_ages_have_one_form_each():
    names = ["age", "education", "sex"]
    table = shoal.samples.adult().select(names)[:8_000]
    options = {"quasi_identifiers": names, "k": 10, "method": "incognito", "keep_order": True}
    for limit in (0.0, 0.01):
        release = shoal.anonymize(table, suppression_limit=limit, **options)
        ages = np.array(table["age"])[release.groups >= 0]
        assert len(set(zip(ages, release.data["age"].to_pylist(), strict=True))) == len(set(ages))


@given(tables.samples(max_records=40))
def test_levels_are_nested_and_go_from_each_value_that_occurs_to_all(sample):
    for column in sample.encoded().columns:
        occurring = np.flatnonzero(column.counts)
        levels = [level[occurring].tolist() for level in make_levels(column)]
        assert len(set(levels[0])) == occurring.size
        assert len(set(levels[-1])) == 1
        for lower, upper in pairwise(levels):
            assert len(set(upper)) < len(set(lower))
            assert len(set(zip(lower, upper, strict=True))) == len(set(lower))


def test_bins_of_an_interval_double_in_width_and_leave_null_apart_until_the_end():
    table = encode(open_frame(pa.table({"n": [*range(8), None]})), {"n": shoal.Interval()})
    assert [level.tolist() for level in make_levels(table.columns[0])] == [
        [0, 1, 2, 3, 4, 5, 6, 7, 8],
        [0, 0, 1, 1, 2, 2, 3, 3, 8],
        [0, 0, 0, 0, 1, 1, 1, 1, 8],
        [0, 0, 0, 0, 0, 0, 0, 0, 8],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]


@pytest.mark.parametrize(
    ("k", "counts"),
    [
        (2, 4 * 3 + 11 * 2),  # single columns: the bottom and both levels; larger subsets: only `*`
        (1, 15 * 2),  # the bottom passes in every subset, and all above it with it
    ],
)
def test_nodes_known_from_subsets_or_from_below_are_not_counted(monkeypatch, k, counts):
    names = ["a", "b", "c", "d"]
    frame = pa.table({name: [f"v{i}" for i in range(16)] for name in names})
    problem = Problem.of(encode(open_frame(frame), names), "lm", k)
    counted = []
    roll_up = incognito._Counter.roll_up
    monkeypatch.setattr(incognito._Counter, "roll_up", lambda *a: counted.append(a) or roll_up(*a))
    groups = Incognito().partition(problem, 0, silent).groups
    assert np.bincount(groups).tolist() == ([16] if k == 2 else [1] * 16)
    assert len(counted) == counts


@pytest.mark.parametrize("share", [-0.1, 1.0, 2.0])
def test_a_share_that_leaves_no_record_in_a_full_cell_is_refused(share):
    assert len(Incognito(suppression=share).problems()) == 1
    assert Incognito(suppression=0.99).problems() == []


def test_a_lattice_that_is_too_large_is_refused_with_its_size(monkeypatch):
    table = encode(open_frame(pa.table({"a": ["x", "y"], "b": ["x", "y"]})), ["a", "b"])
    monkeypatch.setattr(incognito, "MOST_NODES", 8)
    with pytest.raises(InputError, match=r"has 9 nodes, but method 'incognito' takes 8; .*'cover'"):
        Incognito().partition(Problem.of(table, "lm", 2), 0, silent)
