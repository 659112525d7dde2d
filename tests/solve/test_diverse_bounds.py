"""Bounds under requirements beyond k are never above the optimum, and see what k alone does not."""

from __future__ import annotations

from itertools import product
from math import inf, log, log2

import numpy as np
import pytest
import reference
import reference.bounds
import reference.requirements
import tables
from compiled import callable_here
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.kernels.bounding import diverse_counts
from shoal.kernels.bounding import diverse_groups as kernels
from shoal.kernels.bounding import diverse_slopes as diverse_mending
from shoal.kernels.clustering.k_member import subset_costs
from shoal.kernels.shared.groups import group_costs
from shoal.kernels.shared.rules import Rules
from shoal.progress import silent
from shoal.solve.bounds.diverse import (
    DiverseAscent,
    distinct_needed,
    outside_by_entropy,
    outside_needed,
)
from shoal.solve.bounds.point_bounds import PointTrees
from shoal.solve.methods import Cover
from shoal.solve.methods.exact import Exact
from shoal.solve.problem import Problem

sort_cell, least_excess, counted_excess, mend = map(
    callable_here,
    (kernels.sort_cell, kernels.least_excess, diverse_counts.counted_excess, diverse_mending.mend),
)
best_lift, cap_excess, excess = map(
    callable_here, (kernels.best_lift, kernels.cap_excess, kernels.excess)
)
OBJECTIVES = tuple(reference.MONOTONE)


def ascent(problem: Problem, good: bool, looks: float = inf) -> DiverseAscent:
    """The ascent that starts at what groups cost: those of a method, or all records in one."""
    records = problem.table.records
    groups = (
        Cover().partition(problem, 0, silent).groups if good else np.zeros(records, dtype=np.int32)
    )
    closures, counts = problem.closures(groups)
    costs = group_costs(problem.arrays, closures, np.ones_like(counts)).sum(axis=0)[groups]
    cells = PointTrees(problem, by_value=True)
    climb = DiverseAscent(cells, cells.least_of_points(costs))
    climb.begin(looks)
    return climb


@given(
    reference.requirements.cases(max_records=9),
    st.sampled_from(OBJECTIVES),
    st.integers(0, 8),
    st.booleans(),
    st.sampled_from([0, 5, 60, 200, 10**9]),
)
@settings(max_examples=several(300))
def test_no_release_that_keeps_the_requirements_costs_less(case, measure, passes, good, looks):
    sample, k, requirements = case
    problem = reference.requirements.problem_of(sample, measure, k, requirements)
    assume(problem.class_count == 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.solve.bounds.ascent.CHUNK", 5)
        climb = ascent(problem, good, looks)
    totals = [climb.total]
    for _ in range(passes):
        climb.advance()
        totals.append(climb.total)
    assert totals == sorted(totals)
    best = tables.paid(problem, Exact().partition(problem, 0, silent))
    assert totals[-1] + problem.objective.offset.sum() <= best + 1e-9


@given(reference.requirements.cases(max_records=8), st.integers(0, 3))
@settings(max_examples=several(150))
def test_in_no_group_that_keeps_the_requirements_do_the_numbers_exceed_what_it_costs(case, passes):
    sample, k, requirements = case
    problem = reference.requirements.problem_of(sample, "lm", k, requirements)
    climb = ascent(problem, good=True)
    for _ in range(passes):
        climb.advance()
    y = climb.valid[PointTrees(problem, by_value=True).points.place]
    costs = subset_costs(
        problem.arrays, problem.rules, problem.codes, problem.classes, problem.values
    )
    for subset in np.flatnonzero(np.isfinite(costs)):
        group = [i for i in range(sample.records) if subset >> i & 1]
        assert y[group].sum() <= costs[subset] + 1e-9


@given(reference.requirements.cases(max_records=8), st.data())
@settings(max_examples=several(150))
def test_no_group_of_a_cell_exceeds_its_cost_by_more_than_the_multipliers_say(case, data):
    sample, k, requirements = case
    problem = reference.requirements.problem_of(sample, "lm", k, requirements)
    meets = reference.requirements.meets(sample, k, requirements)
    numbers = st.lists(st.floats(-2, 3), min_size=sample.records, max_size=sample.records)
    duals, cost = np.array(data.draw(numbers)), data.draw(st.floats(0, 2))
    largest = reference.bounds.largest_excess(duals.tolist(), cost, meets)
    rules, everyone = problem.rules, np.arange(sample.records, dtype=np.int32)
    weights, need = np.ones(sample.records, np.int64), distinct_needed(rules)
    cell = kernels.make_sorted(sample.records, rules, outside_needed(rules))
    for t in range(len(need)):
        kinds = sort_cell(cell, everyone, problem.values, t, duals, weights, cost)
        assert kinds >= need[t]  # the whole table keeps the requirements
        assert largest <= max(0.0, least_excess(rules, t, cell, kinds, need[t])[2]) + 1e-9


def entropy_rules(values: int, k: int, entropy: float) -> Rules:
    """Rules that limit entropy alone."""
    return Rules(
        k=k,
        start=np.array([0, values]),
        cap=np.ones(values),
        capped=np.array([False]),
        distinct=np.array([1]),
        entropy=np.array([entropy]),
        depth=np.array([0]),
        factor=np.array([0.0]),
        distance=np.array([np.inf]),
        share=np.full(values, 1 / values),
        node=np.array([0, 0]),
        parent=np.empty(0, np.int64),
        edge=np.empty(0),
    )


@st.composite
def cells_under_entropy(draw):
    """A sorted cell of a few records, what its groups need, and the largest sum of z that any group has."""
    counts = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4))
    k, l = draw(st.integers(1, 4)), draw(st.sampled_from([1.3, 1.7, 2.0, 2.6, 3.0]))
    values = np.repeat(np.arange(len(counts)), counts)[:, None].astype(np.int32)
    assume(k <= len(values))
    z = np.array(draw(st.lists(st.floats(-2, 3), min_size=len(values), max_size=len(values))))
    rules = entropy_rules(len(counts), k, log(l))
    best = -np.inf
    for group in product(*(range(count + 1) for count in counts)):
        if sum(group) >= k and reference.entropy(group) >= log2(l) - 1e-12:
            chosen = [np.sort(z[values[:, 0] == v])[::-1][:n].sum() for v, n in enumerate(group)]
            best = max(best, sum(chosen))
    cell = kernels.make_sorted(len(values), rules, outside_needed(rules))
    everyone, weights = np.arange(len(values), dtype=np.int32), np.ones(len(values), np.int64)
    kinds = sort_cell(cell, everyone, values, 0, z, weights, 0.0)
    return rules, cell, kinds, best


@given(cells_under_entropy(), st.integers(1, 2), st.floats(0, 2))
@settings(max_examples=several(300))
def test_a_lift_sums_up_k_records_and_no_lower_one_does(case, need, pull):
    rules, cell, kinds, _ = case
    cell.slope[:kinds] = np.linspace(-1, 1, kinds)

    def summed_up(lift: float) -> tuple[float, float]:
        return excess(cell, kinds, need, rules.k, pull, lift, np.inf), cell.picked[:kinds].sum()

    lift = best_lift(cell, kinds, need, rules.k, pull)
    total, records = summed_up(lift)
    assert records >= rules.k or total == -np.inf  # there are too few outside one value
    if lift > 1e-6 and total > -np.inf:
        assert summed_up(lift * (1 - 1e-6) - 1e-9)[1] < rules.k


@given(cells_under_entropy(), st.floats(0, 2))
@settings(max_examples=several(300))
def test_a_cap_leaves_nothing_above_0_and_no_higher_one_does(case, pull):
    rules, cell, kinds, _ = case
    cell.slope[:kinds] = np.linspace(-1, 1, kinds)
    lift = best_lift(cell, kinds, 1, rules.k, pull)
    assume(excess(cell, kinds, 1, rules.k, pull, lift, np.inf) > 1e-6)
    cap = cap_excess(cell, kinds, 1, rules.k, pull, lift)
    assert excess(cell, kinds, 1, rules.k, pull, lift, cap) <= 0
    assert excess(cell, kinds, 1, rules.k, pull, lift, cap + 1e-6) > 0


@given(cells_under_entropy())
@settings(max_examples=several(300))
def test_counting_records_bounds_every_group_of_enough_entropy(case):
    rules, cell, kinds, best = case
    found = counted_excess(cell, kinds, rules.k, rules.entropy[0])
    assert best <= found + 1e-9
    down = np.sort(cell.z[: cell.begin[kinds]])[::-1]
    assert found <= np.cumsum(down)[rules.k - 1 :].max() + 1e-9  # the best without any entropy


@pytest.mark.parametrize(("counts", "l", "best"), [((7, 2, 2), 3.0, 1.6), ((6, 1), 1.5, 5.9)])
def test_counting_records_is_exact_where_one_multiplier_suffices(counts, l, best):
    # A record of the first value counts for 1, any other for −0.1. Three values must be equally frequent for entropy 3,
    # so that (2, 2, 2) is best; (6, 1), all records, has entropy 1.51.
    values = np.repeat(np.arange(len(counts)), counts)[:, None].astype(np.int32)
    duals = np.where(values[:, 0] == 0, 1.0, -0.1)
    rules = entropy_rules(len(counts), 2, log(l))
    cell = kernels.make_sorted(len(values), rules, outside_needed(rules))
    everyone, weights = np.arange(len(values), dtype=np.int32), np.ones(len(values), np.int64)
    kinds = sort_cell(cell, everyone, values, 0, duals, weights, 0.0)
    assert counted_excess(cell, kinds, 2, rules.entropy[0]) == pytest.approx(best)


@given(cells_under_entropy())
@settings(max_examples=several(150))
def test_a_mended_group_keeps_the_entropy_and_k(case):
    rules, cell, kinds, _ = case
    counted_excess(cell, kinds, rules.k, rules.entropy[0])
    if mend(rules, 0, cell, kinds):
        group = cell.picked[:kinds]
        shares = group[group > 0] / group.sum()
        assert -(shares * np.log(shares)).sum() >= rules.entropy[0] - 1e-6
        assert (group <= np.diff(cell.begin[: kinds + 1]) + 1e-9).all()


@pytest.mark.parametrize("l", [1.0, 1.2, 1.5, 1.9, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("values", [2, 3, 4])
def test_as_many_records_lie_outside_a_value_as_in_every_group_of_enough_entropy(l, values):
    for k in range(1, 6):
        outside = {
            size - group[0]
            for size in range(k, 2 * k + 4)
            for group in product(range(size + 1), repeat=values)
            if sum(group) == size and reference.entropy(group) >= log2(l) - 1e-9
        }
        found = outside_by_entropy(k, log(l), values)
        assert found == min(outside, default=k) or found == k <= min(outside, default=k)


def test_listed_groups_keep_the_entropy_and_prove_a_release_near_the_optimum() -> None:
    columns = ("sex", "education", "marital-status")
    release = shoal.anonymize(
        shoal.samples.adult().slice(0, 1500).select([*columns, "income"]),
        quasi_identifiers={name: shoal.Suppression() for name in columns},
        sensitive=["income"],
        requirements=[shoal.LDiversity(1.5, kind="entropy")],
        k=5,
    )
    certificate = release.certify(passes=6)
    assert certificate is not None
    climb = release._certifier._ascent
    assert isinstance(climb, DiverseAscent)
    assert len(climb._costs) > 20
    for first, end in zip(climb._bounds[:-1], climb._bounds[1:], strict=True):
        members = climb._members[first:end]
        counts = np.bincount(climb._values[members, 0], climb._shares[first:end])
        shares = counts[counts > 0] / counts.sum()
        assert counts.sum() >= 5 - 1e-9
        assert -(shares * np.log(shares)).sum() >= log(1.5) - 1e-6
    assert certificate.ratio < 1.4  # 1.388; far more if listed groups break the requirement
