"""`forest`: links are short, trees hold k records, and cutting leaves k … max(2k − 1, 3k − 5) of them."""

from __future__ import annotations

import numpy as np
import pytest
import reference
import reference_methods_b as twins
import tables
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.kernels.forest import (
    cut_links,
    gather,
    make_forest,
    nearest_outside,
    records_below,
)
from shoal.methods.exact import Exact
from shoal.methods.forest import Forest, grow
from shoal.methods.greedy_cover import guarantee_notes
from shoal.progress import silent

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")


def most_records(k: int) -> int:
    return max(2 * k - 1, 3 * k - 5)


@given(tables.samples(max_records=60, sensitive=1), st.sampled_from(OBJECTIVES), st.integers(1, 9))
@settings(max_examples=200)
def test_groups_have_k_to_the_most_records(sample, measure, k):
    k = min(k, sample.records)
    groups = Forest().partition(sample.problem(measure, k), 0, silent).groups
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.max() <= most_records(k)


@given(
    tables.samples(max_records=30), st.sampled_from(sorted(reference.MONOTONE)), st.integers(2, 6)
)
@settings(max_examples=200)
def test_a_link_is_one_of_the_k_minus_1_shortest_of_its_record(sample, measure, k):
    problem = sample.problem(measure, min(k, sample.records))
    objective, k = sample.objective(measure), problem.k
    weights = problem.points.weights
    forest = grow(problem, make_forest(weights), silent)
    roots = forest.link < 0
    assert (forest.size[roots] >= k).all()
    assert forest.size[roots].sum() == sample.records
    assert (forest.tree[~roots] == forest.tree[forest.link[~roots]]).all()
    record = [int(np.flatnonzero(problem.points.of_record == p)[0]) for p in range(len(weights))]
    for p in np.flatnonzero(~roots):
        i, other = record[p], record[forest.link[p]]
        own = objective.record(reference.close(sample.twins, [i]), i)
        added = objective.record(reference.close(sample.twins, [i, other]), i) - own
        assert forest.length[p] == pytest.approx(added, abs=1e-9)
        others = [r for r in range(sample.records) if r != i]
        near = sorted(
            objective.record(reference.close(sample.twins, [i, r]), i) - own for r in others
        )
        assert added <= near[k - 2] + 1e-9


@given(tables.samples(max_records=10), st.sampled_from(twins.COVERED), st.integers(2, 5))
def test_all_links_together_cost_no_more_than_the_optimum(sample, measure, k):
    problem = twins.proper_problem(sample, measure, min(k, sample.records))
    assume(guarantee_notes(problem) == ())
    forest = grow(problem, make_forest(problem.points.weights), silent)
    best = problem.cost(Exact().partition(problem, 0, silent).groups)
    assert forest.length.sum() <= best + 1e-9


@given(tables.samples(min_records=3, sensitive=1), st.sampled_from(OBJECTIVES), st.data())
def test_the_nearest_outside_is_the_closest_point_of_another_tree(sample, measure, data):
    problem = sample.problem(measure)
    points = problem.points
    count = len(points.weights)
    assume(count > 1)
    tree = np.array(data.draw(tables.partitions(count)), np.int32)
    assume(tree.max() > 0)
    p = data.draw(st.integers(0, count - 1))
    closure, out = np.empty((problem.arrays.slot[-1], 1), np.int32), np.empty(count)
    columns = np.ascontiguousarray(points.codes.T)
    found, gap = nearest_outside(
        problem.arrays, problem.pairs, points.codes, columns, points.classes, tree, p, closure, out
    )  # fmt: skip
    objective = sample.objective(measure)
    record = [int(np.flatnonzero(points.of_record == q)[0]) for q in range(count)]
    own = objective.record(reference.close(sample.twins, [record[p]]), record[p])
    added = {
        q: objective.record(reference.close(sample.twins, [record[p], record[q]]), record[p]) - own
        for q in range(count)
        if tree[q] != tree[p]
    }
    assert gap == pytest.approx(min(added.values()), abs=1e-9)
    assert added[found] == pytest.approx(gap, abs=1e-9)


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Links to later points only, and a number of records per point."""
    points = draw(st.integers(1, 30))
    link = [draw(st.sampled_from([*range(p + 1, points), -1])) for p in range(points)]
    weights = draw(st.lists(st.integers(1, 4), min_size=points, max_size=points))
    return link, weights


@given(forests(), st.integers(1, 8))
def test_links_are_cut_while_both_sides_keep_k(forest, k):
    link, weights = (np.array(part, np.int32) for part in forest)
    below = records_below(link, weights)
    total = weights.sum()
    sizes = below[link < 0]
    assert sizes.sum() == total
    cut = link.copy()
    cut_links(cut, below, np.arange(link.size), k)
    assert (below == records_below(cut, weights)).all()
    assert (cut[cut != link] == -1).all()
    assert (below[cut < 0] >= min(k, sizes.min())).all()
    for p in np.flatnonzero(cut >= 0):
        root = p
        while cut[root] >= 0:
            root = cut[root]
        assert min(below[p], below[root] - below[p]) < k


@given(st.integers(2, 12), st.integers(1, 30), st.data())
@settings(max_examples=500)
def test_branches_below_k_are_gathered_into_bins_of_k_to_the_most(k, single, data):
    sizes = data.draw(st.lists(st.integers(0, k - 1) | st.integers(max(0, k - 3), k - 1)))
    assume(sum(sizes) + single >= 2 * k)
    bins, singles = gather(np.array(sizes, np.int64), single, k, most_records(k))
    total = singles.copy()
    np.add.at(total, bins, sizes)
    assert singles.sum() == single
    assert (singles >= 0).all()
    assert total.min() >= k
    assert total.max() <= most_records(k)
