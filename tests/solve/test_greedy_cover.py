"""The greedy cover over cells takes the steps of the paper's greedy cover over all subsets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import guarantees as twins

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.errors import InputError
from shoal.progress import silent
from shoal.solve.methods import greedy_cover
from shoal.solve.methods.base import guarantee_notes
from shoal.solve.methods.greedy_cover import choose_until_covered, covered_with_guarantee
from shoal.solve.problem import Problem

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")


def objective_of(problem: Problem, measure: str, sample: tables.Sample) -> reference.Objective:
    """The twin of a problem with proper models: allowed sets read from the compiled trees."""
    twin_columns = []
    for column, codes in zip(problem.columns, problem.codes.T.tolist(), strict=True):
        form = column.form
        names = list(form.labels)
        values = [None if code == form.null else names[code] for code in codes]
        below = [{name} for name in names] + ([{None}] if form.has_null else [])
        below += [set() for _ in form.inner]
        for node, parent in enumerate(form.parent[:-1]):
            below[parent] |= below[node]
        nodes = dict(zip(form.inner, map(frozenset, below[form.size :]), strict=True))
        twin_columns.append(reference.Column("hierarchy", values, names, nodes))
    weights = [sample.weights[column.name] for column in problem.columns]
    return reference.Objective(measure, twin_columns, weights)


@given(
    tables.samples(min_records=3, max_records=8),
    st.sampled_from(twins.COVERED),
    st.integers(1, 4),
)
@settings(max_examples=several(60))
def test_every_set_chosen_has_the_least_ratio_of_all_subsets(sample, measure, k):
    problem = twins.proper_problem(sample, measure, min(k, sample.records))
    assume(guarantee_notes(problem) == ())
    objective = objective_of(problem, measure, sample)
    cover = choose_until_covered(problem, 0, silent)
    covered: set[int] = set()
    for number, cell in enumerate(cover.chosen):
        new = set(np.flatnonzero(cover.set_of == number).tolist())
        assert 0 < len(new) < 2 * problem.k
        ratio = twins.least_ratio(objective, sample.records, problem.k, covered)
        assert cover.cells.cost[cell] / len(new) == pytest.approx(ratio, abs=1e-9)
        assert twins.charge(objective, sorted(new)) <= cover.cells.cost[cell] + 1e-9
        covered |= new
    assert covered == set(range(sample.records))
    groups = tables.partition_of(covered_with_guarantee(problem, 0, silent).groups.tolist())
    charges = sum(twins.charge(objective, group) for group in groups)
    assert charges <= cover.cells.cost[cover.chosen].sum() + 1e-9  # d(γ⁰) ≤ d(γ), GiT09 §6.3


def test_a_set_is_priced_by_at_most_2k_minus_1_new_records():
    tall = [
        ("x", f"{i}") for i in range(4)
    ]  # hiding b costs 1.2, a set of 3 at most 0.4 per record
    wide = [(f"{i}", "y") for i in range(3)]  # hiding a costs 1, a set of 3 thus 0.33 per record
    a, b = zip(*tall, *wide, strict=True)
    table = encode(open_frame(pa.table({"a": a, "b": b})), ["a", "b"])
    problem = Problem.of(table, "suppressed", 2, {"a": 1.0, "b": 1.2})
    assert np.flatnonzero(choose_until_covered(problem, 0, silent).set_of == 0).tolist() == [
        4,
        5,
        6,
    ]


@given(tables.samples(max_records=40, sensitive=1), st.sampled_from(OBJECTIVES), st.integers(1, 9))
@settings(max_examples=several(200))
def test_groups_have_k_to_2k_minus_1_records(sample, measure, k):
    k = min(k, sample.records)
    groups = covered_with_guarantee(sample.problem(measure, k), 0, silent).groups
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k


@given(tables.samples(max_records=30, sensitive=1), st.sampled_from(OBJECTIVES))
def test_the_seed_only_draws_keys_and_changes_nothing(sample, measure):
    problem = sample.problem(measure, min(3, sample.records))
    first, second = (covered_with_guarantee(problem, seed, silent).groups for seed in (0, 1))
    assert first.tolist() == second.tolist()


def made(models: dict[str, shoal.Model | None], measure: str, k: int = 2) -> Problem:
    frame = pa.table({"a": ["p", "q", "r", "r"], "b": [1, 2, 3, 4], "s": ["x", "y", "x", "y"]})
    return Problem.of(encode(open_frame(frame), models, ["s"]), measure, k)


@pytest.mark.parametrize("measure", ["suppressed", "tree", "lm", "monotone_entropy", "entropy"])
def test_no_note_where_the_guarantee_holds(measure):
    problem = made({"a": shoal.Suppression(), "b": shoal.Suppression()}, measure)
    assert covered_with_guarantee(problem, 0, silent).notes == ()


@pytest.mark.parametrize("measure", ["mi", "pmi", "wmi"])
def test_an_objective_without_guarantee_is_noted(measure):
    problem = made({"a": shoal.Suppression(), "b": shoal.Suppression()}, measure)
    [note] = covered_with_guarantee(problem, 0, silent).notes
    assert "objective" in note


def test_entropy_is_covered_on_a_monotone_tree_only():
    tree = shoal.Hierarchy.from_dict({"*": {"pq": ["p", "q"], "r": None}})
    frame = pa.table({"a": [*"pq", *"rrrrrrrr"]})
    problem = Problem.of(encode(open_frame(frame), {"a": tree}), "entropy", 2)
    [note] = guarantee_notes(problem)  # H(X | pq) is 1 bit, H(X) is 0.92
    assert "objective" in note


def test_columns_without_a_hierarchy_are_named():
    problem = made({"a": shoal.Subset(), "b": shoal.Interval()}, "lm")
    [note] = covered_with_guarantee(problem, 0, silent).notes
    assert note.endswith("column a, b")


@pytest.mark.parametrize("limit", ["MOST_WORK", "MOST_CELLS"])
def test_a_table_that_is_too_large_is_refused_and_the_way_out_named(monkeypatch, limit):
    monkeypatch.setattr(greedy_cover, limit, 0)
    with pytest.raises(InputError, match="guarantee=False"):
        covered_with_guarantee(made({"a": None, "b": None}, "lm"), 0, silent)
