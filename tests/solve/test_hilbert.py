"""The Hilbert curve visits every place once, step by step, and its order is cut at least cost."""

from __future__ import annotations

import sys
from itertools import islice, pairwise, product

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import splitting as twins

from shoal import Cancelled, Hierarchy, Interval, Subset, Suppression
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels.splitting.hilbert import hilbert_words
from shoal.progress import silent
from shoal.solve.methods.papers.hilbert import Hilbert, grid_places, value_places
from shoal.solve.problem import Problem

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")
varied = st.integers(0, 2**32).map(twins.varied_sample)
LINEAR = ("lm", "ncp", "gcp", "il", "tree")  # proportional to the width of an interval


# The curve


def walk(bits: int, dimensions: int) -> np.ndarray:
    """All places in order of their index."""
    places = np.array(list(product(range(2**bits), repeat=dimensions)), np.int64)
    words = hilbert_words(places, bits)
    assert np.unique(words, axis=1).shape[1] == len(places)
    return places[np.lexsort(words[::-1])]


@pytest.mark.parametrize(
    ("bits", "dimensions"), [(1, 1), (7, 1), (1, 2), (5, 2), (3, 3), (2, 4), (1, 7)]
)
def test_the_curve_visits_every_place_once_and_moves_one_step_at_a_time(bits, dimensions):
    steps = np.abs(np.diff(walk(bits, dimensions), axis=0))
    assert (steps.sum(axis=1) == 1).all()


@pytest.mark.parametrize(("bits", "dimensions"), [(5, 2), (3, 3), (2, 4)])
def test_the_curve_starts_at_the_origin_and_leaves_a_box_only_when_it_is_full(bits, dimensions):
    places = walk(bits, dimensions)
    assert not places[0].any()
    for level in range(1, bits):
        boxes = (places >> level).reshape(-1, 2 ** (level * dimensions), dimensions)
        assert (boxes == boxes[:, :1]).all()


def test_one_dimension_keeps_its_order():
    assert walk(6, 1).ravel().tolist() == list(range(64))


def test_indices_longer_than_a_machine_word_still_order_neighbours():
    """Twenty columns of ten bits: 200 bits to an index; the curve's first steps are those of a small box."""
    small = np.array(list(islice(product(range(2), repeat=20), 512)), np.int64)
    words = hilbert_words(small, 10)
    assert words.shape == (4, 512)
    assert np.unique(words, axis=1).shape[1] == 512
    far = np.full((1, 20), 1023, np.int64)
    assert hilbert_words(far, 10)[0, 0] > words[0].max() == 0


# Places


def column_form(values, model):
    return encode(open_frame(pa.table({"x": values})), {"x": model}).columns[0].form


def test_numbers_keep_their_place():
    assert value_places(column_form([1, 2, 11, None], Interval())).tolist() == [0.0, 0.1, 1.0]


def test_tree_values_come_in_the_order_of_the_tree():
    rows = [["a", "x", "*"], ["b", "y", "*"], ["c", "x", "*"], ["d", "y", "*"], ["e", "x", "*"]]
    tree = Hierarchy.from_rows(rows)
    assert tree.leaves == ("a", "b", "c", "d", "e")
    ranks = value_places(column_form(["a", "b", "c", "d", "e"], tree)) * 4
    assert ranks.tolist() == [0, 3, 1, 4, 2]


@given(tables.samples(max_columns=1))
def test_values_below_one_node_stand_together(sample):
    form = sample.encoded().columns[0].form
    places = value_places(form)
    assert places.min() == 0.0
    assert places.max() in (0.0, 1.0)
    ranks = dict(zip(sample.twins[0].domain, np.argsort(np.argsort(places)), strict=True))
    for node in sample.twins[0].nodes.values():
        inside = [ranks[value] for value in node]
        assert max(inside) - min(inside) == len(node) - 1


@pytest.mark.parametrize("model", [Interval(), Subset(), Suppression()])
def test_values_are_stretched_over_all_places_and_null_has_the_last_to_itself(model):
    assert grid_places(column_form([1, 2, 3], model), 4).tolist() == [0, 8, 15]
    assert grid_places(column_form([1, 2, 3, None], model), 4).tolist() == [0, 7, 14, 15]


@pytest.mark.parametrize("model", [Interval(), Subset(), Suppression()])
def test_null_comes_last(model):
    frame = open_frame(pa.table({"x": [None, 5, None, 3, 9]}))
    problem = Problem.of(encode(frame, {"x": model}), "lm", 1)
    assert Hilbert().order(problem).tolist() == [3, 1, 4, 0, 2]


def test_values_that_share_a_place_stay_in_order():
    frame = open_frame(pa.table({"x": [10**9, 3, 1, 2, 0]}))
    problem = Problem.of(encode(frame, {"x": Interval()}), "lm", 1)
    assert Hilbert(bits=1).order(problem).tolist() == [4, 2, 3, 1, 0]


# Cuts


@given(tables.samples(sensitive=1) | varied, st.sampled_from(OBJECTIVES), st.integers(1, 4))
def test_no_cut_of_the_order_into_runs_costs_less(sample, measure, k):
    k = min(k, sample.records)
    problem, objective = sample.problem(measure, k), sample.objective(measure)
    groups = Hilbert().partition(problem, 0, silent).groups
    order = Hilbert().order(problem).tolist()
    assert sorted(order) == list(range(sample.records))
    runs = groups[order]
    assert all(later - earlier in (0, 1) for earlier, later in pairwise(runs))
    longest = sample.records if measure in reference.MONOTONE else 2 * k - 1
    least = twins.least_cost_of_runs(objective, order, k, longest)
    assert problem.cost(groups) == pytest.approx(least, abs=1e-9)


@given(tables.samples(max_records=30, sensitive=1), st.sampled_from(OBJECTIVES), st.data())
def test_every_group_has_k_records_whatever_k(sample, measure, data):
    k = data.draw(st.integers(1, sample.records))
    sizes = np.bincount(Hilbert().partition(sample.problem(measure, k), 0, silent).groups)
    assert sizes.sum() == sample.records
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


def numbers(values: list[int], measure: str, k: int) -> tuple[Problem, reference.Objective]:
    frame = open_frame(pa.table({"x": values}))
    problem = Problem.of(encode(frame, {"x": Interval()}), measure, k)
    column = reference.Column("interval", values, sorted(set(values)))
    return problem, reference.Objective(measure, [column], [1.0])


@settings(max_examples=several(40))
@given(st.randoms(use_true_random=False), st.integers(3, 8), st.sampled_from(LINEAR), st.data())
def test_on_one_interval_column_the_loss_is_near_the_optimum_and_equal_where_groups_are(
    random, size, measure, data
):
    values = [0, 12, *random.choices(range(13), k=size - 2)]
    k = data.draw(st.integers(1, size // 2))
    problem, objective = numbers(values, measure, k)
    cost = problem.cost(Hilbert().partition(problem, 0, silent).groups)
    optimum = reference.optimum(objective, len(values), k)
    assert cost <= (2 - 1 / k) * optimum + 1e-9
    if len(values) <= 2 * k:
        assert cost == pytest.approx(optimum, abs=1e-9)


def test_on_one_interval_column_a_group_inside_another_may_beat_every_cut_into_runs():
    problem, objective = numbers([0, 50, 50, 50, 100], "ncp", 2)
    assert problem.cost(Hilbert().partition(problem, 0, silent).groups) == pytest.approx(2.5)
    assert objective.group([0, 4]) + objective.group([1, 2, 3]) == 2.0
    assert reference.optimum(objective, 5, 2) == 2.0


# The papers' examples


@pytest.mark.parametrize("k", [2, 4, 10])
def test_rescaling_mends_the_order_of_gt10_table_1(k):
    points = [(0, 0, 0, 0), (1, 1, 1, 0), (0, 0, 0, 2), (1, 1, 1, 2)]
    records = [point for point in points for _ in range(k // 2)]
    frame = pa.table({f"x{j}": [record[j] for record in records] for j in range(4)})
    models = {f"x{j}": Suppression(domain=[0, 1, 2] if j == 3 else None) for j in range(4)}
    problem = Problem.of(encode(open_frame(frame), models), "suppressed", k)
    raw = Hilbert(rescale=False).partition(problem, 0, silent).groups
    rescaled = Hilbert().partition(problem, 0, silent).groups
    r1, r2, r3 = 0, k // 2, k
    assert raw[r1] == raw[r2] != raw[r3]
    assert rescaled[r1] == rescaled[r3] != rescaled[r2]
    assert (problem.cost(raw), problem.cost(rescaled)) == (6 * k, 2 * k)


def test_the_points_of_xu06_example_1_are_cut_in_two():
    frame = pa.table({"x": [10, 20, 20, 50, 50, 60], "y": [60, 70, 50, 20, 10, 15]})
    table = encode(open_frame(frame), {"x": Interval(), "y": Interval()})
    problem = Problem.of(table, "ncp", 2, {"x": 50.0, "y": 60.0})
    groups = Hilbert().partition(problem, 0, silent).groups
    assert tables.partition_of(groups) == [[0, 1, 2], [3, 4, 5]]
    assert problem.cost(groups) == pytest.approx(150)


# Options and progress


def test_bits_out_of_range_are_refused():
    for bits in (0, 33):
        assert Hilbert(bits=bits).problems() == [
            f"The 'bits' parameter must be from 1 to 32. Got {bits} instead."
        ]
    assert not Hilbert(bits=32).problems()


def test_the_curve_is_cut_the_same_in_small_steps_and_can_be_cancelled(monkeypatch):
    problem, _ = numbers([7 * i % 31 for i in range(60)], "lm", 3)
    whole = Hilbert().partition(problem, 0, silent).groups.tolist()
    monkeypatch.setattr(sys.modules[Hilbert.__module__], "WORK", 12)
    reports: list[tuple[int, int]] = []
    in_steps = Hilbert().partition(problem, 0, lambda _, done, all_: reports.append((done, all_)))
    assert in_steps.groups.tolist() == whole
    assert len(reports) == 16
    assert reports[-1] == (60, 60)

    def cancel(stage: str, done: int, total: int) -> None:
        if done:
            raise Cancelled

    with pytest.raises(Cancelled):
        Hilbert().partition(problem, 0, cancel)
