"""`forest`: links are short, trees hold k records, and cutting leaves k … max(2k − 1, 3k − 5) of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from compiled import callable_here
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import guarantees as twins

from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels.covering.forest import LinkForest as Links
from shoal.kernels.covering.forest import (
    cut_links,
    distances,
    gather_branches,
    kth_distance,
    records_below,
)
from shoal.kernels.shared.groups import members
from shoal.progress import silent
from shoal.solve.methods.base import guarantee_notes
from shoal.solve.methods.exact import Exact
from shoal.solve.methods.papers.forest import Forest, link_points
from shoal.solve.problem import Problem

distances, gather_branches, kth_distance = map(
    callable_here, (distances, gather_branches, kth_distance)
)

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")


def most_records(k: int) -> int:
    return max(2 * k - 1, 3 * k - 5)


@given(tables.samples(max_records=60, sensitive=1), st.sampled_from(OBJECTIVES), st.integers(1, 9))
@settings(max_examples=several(200))
def test_groups_have_k_to_the_most_records(sample, measure, k):
    k = min(k, sample.records)
    groups = Forest().partition(sample.problem(measure, k), 0, silent).groups
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.max() <= most_records(k)


def grown(problem: Problem) -> Links:
    """Stage 1 with all records in their trees."""
    points = problem.points
    by_point = members(points.of_record, len(points.weights))
    return link_points(problem, points.weights, *by_point, silent)


def first_records(problem: Problem) -> list[int]:
    """A record of each point."""
    points = problem.points
    return [points.of_record.tolist().index(p) for p in range(len(points.weights))]


@given(
    tables.samples(max_records=30), st.sampled_from(sorted(reference.MONOTONE)), st.integers(2, 6)
)
@settings(max_examples=several(200))
def test_trees_have_k_records_and_links_are_among_the_k_minus_1_shortest(sample, measure, k):
    problem = sample.problem(measure, min(k, sample.records))
    objective = sample.objective(measure)
    forest, record = grown(problem), first_records(problem)
    below = records_below(forest.link, problem.points.weights)
    assert below[forest.link < 0].min() >= problem.k
    assert below[forest.link < 0].sum() == sample.records
    for p in np.flatnonzero(forest.link >= 0):
        i = record[p]
        length = twins.distance(objective, i, record[forest.link[p]])
        assert forest.length[p] == pytest.approx(length, abs=1e-9)
        others = (twins.distance(objective, i, r) for r in range(sample.records) if r != i)
        assert length <= sorted(others)[problem.k - 2] + 1e-9


@given(tables.samples(max_records=10), st.sampled_from(twins.COVERED), st.integers(2, 5))
def test_all_links_together_cost_no_more_than_the_optimum(sample, measure, k):
    problem = twins.proper_problem(sample, measure, min(k, sample.records))
    assume(guarantee_notes(problem) == ())
    best = problem.cost(Exact().partition(problem, 0, silent).groups)
    assert grown(problem).length.sum() <= best + 1e-9


@given(tables.samples(sensitive=1), st.sampled_from(OBJECTIVES), st.data())
def test_distances_are_what_meeting_a_point_adds(sample, measure, data):
    problem = sample.problem(measure)
    points, record = problem.points, first_records(problem)
    p = data.draw(st.integers(0, len(record) - 1))
    closure, out = np.empty((problem.arrays.slot[-1], 1), np.int32), np.empty(len(record))
    columns = np.ascontiguousarray(points.codes.T)
    scan = (problem.arrays, problem.pairs, points.codes, columns, points.classes)
    distances(*scan, p, closure, out)
    objective = sample.objective(measure)
    expected = [twins.distance(objective, record[p], i) for i in record]
    assert out == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), min_size=1), st.data())
def test_the_kth_distance_holds_k_records(points, data):
    records = sorted(distance for distance, weight in points for _ in range(weight))
    k = data.draw(st.integers(1, len(records)))
    out, weights = (np.array(part) for part in zip(*points, strict=True))
    assert kth_distance(out.astype(np.float64), weights, k) == records[k - 1]


@given(tables.samples(max_records=12), st.integers(2, 6))
def test_links_are_those_of_the_twin(sample, k):
    sample = sample.unweighted()  # whole numbers: what ties, ties exactly
    problem = sample.problem("suppressed", min(k, sample.records))
    points = tables.members(problem.points.of_record)
    expected = twins.links(sample.objective("suppressed"), points, problem.k)
    assert grown(problem).link.tolist() == expected


def test_of_points_equally_near_the_one_whose_tree_costs_least_to_unite_with_is_linked():
    rows = ["a1", "a1", "a1", "b1", "b2", "b3"]  # b1 would hide a cell of four records with a1
    frame = pa.table({name: [row[j] for row in rows] for j, name in enumerate("xy")})
    problem = Problem.of(encode(open_frame(frame), ["x", "y"]), "suppressed", 3)
    assert grown(problem).link.tolist() == [-1, 2, 3, -1]


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
@settings(max_examples=several(500))
def test_branches_below_k_are_gathered_into_bins_of_k_to_the_most(k, single, data):
    sizes = data.draw(st.lists(st.integers(0, k - 1) | st.integers(max(0, k - 3), k - 1)))
    assume(sum(sizes) + single >= 2 * k)
    bins, singles = gather_branches(np.array(sizes, np.int64), single, k, most_records(k))
    total = singles.copy()
    np.add.at(total, bins, sizes)
    assert singles.sum() == single
    assert (singles >= 0).all()
    assert total.min() >= k
    assert total.max() <= most_records(k)
