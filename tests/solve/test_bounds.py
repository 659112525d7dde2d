"""A certificate's bound is never above the optimum, and what it says of its strength is true."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import reference
import reference.bounds
import reference.requirements
import tables
from compiled import callable_here
from examples import several
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.errors import InputError
from shoal.kernels.bounding.cell_columns import flat_costs
from shoal.kernels.bounding.cell_walk import make_walk
from shoal.kernels.bounding.closed_cells import cell_cost, next_cell
from shoal.kernels.clustering.k_member import subset_costs
from shoal.kernels.shared.groups import close_groups, group_costs
from shoal.progress import silent
from shoal.solve.bounds import point_bounds as records
from shoal.solve.bounds import record_bound as by_record
from shoal.solve.bounds.ascent import Ascent
from shoal.solve.bounds.certificate import Certificate, Certifier, ratio
from shoal.solve.bounds.point_bounds import PointTrees, cell_bound, nearest_bound
from shoal.solve.bounds.record_bound import record_bound
from shoal.solve.methods import Cover
from shoal.solve.methods.exact import Exact
from shoal.solve.problem import Problem

cell_cost, next_cell = map(callable_here, (cell_cost, next_cell))

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")


def optimum(problem: Problem) -> float:
    return tables.paid(problem, Exact().partition(problem, 0, silent))


def may_bound(sample: tables.Sample, measure: str) -> bool:
    return measure in reference.MONOTONE or is_proper(sample)


def release(
    sample: tables.Sample, measure: str | shoal.WMI, k: int, **options: Any
) -> shoal.Release:
    return shoal.anonymize(
        sample.frame,
        quasi_identifiers=sample.models,
        sensitive=sample.sensitive,
        k=k,
        objective=measure,
        weights=sample.weights,
        **options,
    )


def is_proper(sample: tables.Sample) -> bool:
    return all(model.proper for model in sample.models.values())


@given(tables.samples(min_records=2, max_records=10), st.sampled_from(reference.MONOTONE))
def test_where_closures_are_not_listed_the_cheapest_pair_stands_for_all(sample, measure):
    problem = sample.problem(measure)
    for j, column in enumerate(sample.twins):
        if column.model not in ("interval", "order", "subset"):
            continue
        costs = flat_costs(problem.arrays, j)
        for a, b in combinations(range(sample.records), 2):
            if column.values[a] != column.values[b]:
                pair = close_groups(
                    problem.arrays, problem.codes, np.array([a, b]), np.array([0, 2])
                )
                cost = group_costs(problem.arrays, pair, np.ones((1, 1)))[j, 0]
                assert costs[-1] <= cost + 1e-9


@given(tables.jobs(8, OBJECTIVES))
@settings(max_examples=several(200))
def test_every_record_is_bounded_by_its_cheapest_possible_closure(case):
    sample, measure, k = case
    assume(may_bound(sample, measure))
    cells = PointTrees(sample.problem(measure, k))
    bound = float(cell_bound(cells) @ cells.points.counts + cells.problem.objective.offset.sum())
    least = sum(reference.bounds.cheapest(sample.twins, sample.objective(measure), k))
    may_fall = measure not in reference.MONOTONE  # a closure counts as cheap as those above it
    if may_fall or any(column.model == "subset" for column in sample.twins):
        assert bound <= least + 1e-9
    else:
        assert bound == pytest.approx(least, abs=1e-9)


@given(tables.jobs(8, OBJECTIVES))
@settings(max_examples=several(100))
def test_a_walk_that_takes_too_long_leaves_a_bound_for_each_record_all_the_same(case):
    sample, measure, k = case
    assume(may_bound(sample, measure))
    cells = PointTrees(sample.problem(measure, k))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "MOST_LOOKS", 3 * sample.records)
        short = cell_bound(cells)
    assert (short <= cell_bound(cells) + 1e-12).all()


@given(tables.jobs(10, OBJECTIVES))
@settings(max_examples=several(200))
def test_records_cost_at_least_as_much_as_with_their_nearest_others(case):
    sample, measure, k = case
    assume(measure in reference.MONOTONE)
    cells = PointTrees(sample.problem(measure, k))
    least = nearest_bound(cells)
    assert least is not None
    total = float(least @ cells.points.counts + cells.problem.objective.offset.sum())
    expected = sum(reference.bounds.nearest(sample.twins, sample.objective(measure), k))
    assert total == pytest.approx(expected, abs=1e-9)


def test_too_many_pairs_of_points_are_not_compared(monkeypatch):
    problem = Problem.of(encode(open_frame(PEOPLE), SUPPRESSED), "lm", 3)
    assert nearest_bound(PointTrees(problem)) is not None
    monkeypatch.setattr(records, "MOST_PAIRS", 1)
    assert nearest_bound(PointTrees(problem)) is None


@given(tables.jobs(8, OBJECTIVES))
@settings(max_examples=several(200))
def test_the_walk_meets_every_closed_cell_once_at_what_it_costs(case):
    sample, measure, k = case
    assume(may_ascend(sample, measure))
    assume(all(column.model != "subset" for column in sample.twins))
    problem, objective = sample.problem(measure, k), sample.objective(measure)
    assume(not problem.objective.offset.any())  # which differs between a cell's records
    cells = PointTrees(problem)
    trees, place = cells.trees(), cells.points.place
    walk = make_walk(trees, k)
    endless = np.full(len(cells.points.counts), 1e6)
    met: dict[tuple[int, ...], float] = {}
    floors: list[float] = []  # of the cells above the one met, and its own
    while next_cell(trees, walk, k, k, endless):
        f = walk.top[0]
        points = walk.order[walk.low[f] : walk.high[f]]
        cell = tuple(np.flatnonzero(np.isin(place, points)).tolist())
        assert cell not in met
        met[cell] = cell_cost(walk)
        floors[f - 1 :] = [walk.floor[f]]
        assert max(floors) <= met[cell] + 1e-9
    expected = {
        cell: objective.record(closures, cell[0])
        for cell, closures in reference.bounds.closed_cells(sample.twins, k).items()
    }
    assert met == pytest.approx(expected, abs=1e-9)


@given(tables.jobs(9, reference.MONOTONE), st.data())
@settings(max_examples=several(200))
def test_the_walk_meets_every_cell_whose_largest_numbers_exceed_its_cost(case, data):
    sample, measure, k = case
    assume(all(column.model != "subset" for column in sample.twins))
    problem, objective = sample.problem(measure, k), sample.objective(measure)
    assume(problem.class_count == 1 and not problem.objective.offset.any())
    cells = PointTrees(problem)
    trees, place = cells.trees(), cells.points.place
    number = len(cells.points.counts)
    numbers = st.lists(st.floats(-0.5, 3), min_size=number, max_size=number)
    duals = np.array(data.draw(numbers))
    walk = make_walk(trees, k)
    met = set()
    while next_cell(trees, walk, k, k, duals):
        f = walk.top[0]
        points = walk.order[walk.low[f] : walk.high[f]]
        met.add(tuple(np.flatnonzero(np.isin(place, points)).tolist()))
    for cell, closures in reference.bounds.closed_cells(sample.twins, k).items():
        largest = reference.bounds.mean_of_largest(duals[place[list(cell)]].tolist(), k)
        if largest > objective.record(closures, cell[0]) + 1e-9:
            assert cell in met


@given(tables.jobs(9, reference.MONOTONE), st.data(), st.sampled_from([0.0, 40.0, 1e9]))
@settings(max_examples=several(400))
def test_a_search_record_by_record_lowers_numbers_until_every_cell_can_pay_for_them(
    case, data, looks
):
    sample, measure, k = case
    problem, objective = sample.problem(measure, k), sample.objective(measure)
    assume(problem.class_count == 1 and not problem.objective.offset.any())
    cells = PointTrees(problem)
    place, number = cells.points.place, len(cells.points.counts)
    numbers = st.lists(st.floats(0, 3), min_size=number, max_size=number)
    scale = data.draw(st.sampled_from([0.1, 0.4, 1.0]))
    before = scale * np.array(data.draw(numbers))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_record, "MARGINS", (0.0,))
        after = record_bound(cells, before, looks)
    assert (after <= before).all()
    was_valid = True
    for cell, closures in reference.bounds.closed_cells(sample.twins, k).items():
        cost = objective.record(closures, cell[0]) + 1e-9
        points = place[list(cell)]
        assert reference.bounds.mean_of_largest(after[points].tolist(), k) <= cost
        was_valid &= reference.bounds.mean_of_largest(before[points].tolist(), k) <= cost
    if was_valid and looks > 1e6 and all(column.model != "subset" for column in sample.twins):
        assert after == pytest.approx(before)


@pytest.mark.parametrize("seed", range(20))
def test_numbers_of_records_that_are_given_up_are_valid(seed, monkeypatch):
    monkeypatch.setattr(by_record, "MARGINS", (0.0,))
    rng, records, columns, k = np.random.default_rng(seed), 14, 10, 4
    table = pa.table({f"c{j}": rng.integers(0, 2, records).astype(str) for j in range(columns)})
    models = dict.fromkeys(table.column_names, shoal.Suppression())
    problem = Problem.of(encode(open_frame(table), models), "lm", k)
    cells = PointTrees(problem)
    before = columns * rng.uniform(0.4, 0.7, len(cells.points.counts))
    after = record_bound(cells, before, 0)
    groups = np.array(list(combinations(range(records), k)))
    ends = np.arange(0, groups.size + 1, k)
    closures = close_groups(problem.arrays, problem.codes, groups.reshape(-1), ends)
    costs = group_costs(problem.arrays, closures, np.ones((1, len(groups)))).sum(axis=0)
    assert (after[cells.points.place][groups].sum(axis=1) <= k * costs + 1e-9).all()


@given(st.integers(0, 10_000), st.sampled_from([2, 5, 12]), st.floats(0, 1))
def test_of_many_ranges_the_walk_tries_those_whose_largest_numbers_exceed_their_cost(
    seed, k, spread
):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 200, 60)
    frame = open_frame(pa.table({"number": values}))
    cells = PointTrees(Problem.of(encode(frame, {"number": shoal.Interval()}), "lm", k))
    numbers = np.unique(values)
    duals = rng.normal(k / 60, spread * k / 60, numbers.size)
    walk, met = make_walk(cells.trees(), k), set()
    while next_cell(cells.trees(), walk, k, k, duals):
        met.add((int(walk.at[walk.top[0], 0]), int(walk.to[walk.top[0], 0])))
    every = duals[cells.points.place]
    for a, b in combinations(range(numbers.size), 2):
        inside = every[(values >= numbers[a]) & (values <= numbers[b])]
        if inside.size >= k:
            excess = np.sort(inside)[-k:].mean() - (b - a) / (numbers.size - 1)
            assert (a, b) in met or excess <= 1e-8


def ascent(problem: Problem, groups: list[int] | None = None, looks: float = inf) -> Ascent:
    """The ascent that starts at what groups cost, or all records in one, with so many looks."""
    cells = PointTrees(problem)
    labels = (
        np.zeros(problem.table.records, np.int32) if groups is None else np.array(groups, np.int32)
    )
    closures, counts = problem.closures(labels)
    costs = group_costs(problem.arrays, closures, np.ones_like(counts)).sum(axis=0)[labels]
    climb = Ascent(cells, cells.least_of_points(costs))
    climb.begin(looks)
    return climb


def may_ascend(sample: tables.Sample, measure: str) -> bool:
    return measure not in ("pmi", "wmi") and (measure in reference.MONOTONE or is_proper(sample))


@given(tables.jobs(12, OBJECTIVES), st.integers(0, 12), st.booleans())
@settings(max_examples=several(200))
def test_no_release_costs_less_than_the_tightened_bound_which_never_falls(case, passes, good):
    sample, measure, k = case
    assume(may_ascend(sample, measure))
    problem = sample.problem(measure, k)
    climb = ascent(problem, Cover().partition(problem, 0, silent).groups if good else None)
    totals = [climb.total]
    for _ in range(passes):
        climb.advance()
        totals.append(climb.total)
    assert totals == sorted(totals)
    assert totals[-1] + problem.objective.offset.sum() <= optimum(problem) + 1e-9


@given(tables.jobs(12, OBJECTIVES), st.integers(0, 6), st.sampled_from([0, 1, 10, 60, 200]))
@settings(max_examples=several(200))
def test_no_release_costs_less_than_a_bound_found_in_a_hurry(case, passes, looks):
    sample, measure, k = case
    assume(may_ascend(sample, measure))
    problem = sample.problem(measure, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.solve.bounds.ascent.CHUNK", 5)
        climb = ascent(problem, looks=looks)
    for _ in range(passes):
        climb.advance()
    assert climb.total + problem.objective.offset.sum() <= optimum(problem) + 1e-9


@given(tables.jobs(9, OBJECTIVES))
@settings(max_examples=several(200))
def test_in_no_group_do_the_numbers_exceed_what_it_costs(case):
    sample, measure, k = case
    assume(may_ascend(sample, measure))
    problem = sample.problem(measure, k)
    climb = ascent(problem)
    for _ in range(4):
        climb.advance()
    y = climb.valid[PointTrees(problem).points.place]
    costs = subset_costs(
        problem.arrays, problem.rules, problem.codes, problem.classes, problem.values
    )
    for subset in range(1, 1 << sample.records):
        group = [i for i in range(sample.records) if subset >> i & 1]
        if len(group) >= k:
            assert y[group].sum() <= costs[subset] + 1e-9


def test_listed_cells_that_do_not_fit_are_repaired_all_the_same(monkeypatch):
    monkeypatch.setattr("shoal.solve.bounds.ascent.MOST_CELLS", 1)
    problem = Problem.of(encode(open_frame(PEOPLE), SUPPRESSED), "lm", 3)
    climb = ascent(problem)
    for _ in range(50):
        climb.advance()
    assert climb.total == pytest.approx(3)


@given(tables.jobs(12, OBJECTIVES), st.sampled_from(["mondrian", "cover", "incognito"]))
@settings(max_examples=several(150))
def test_a_certificate_stands_between_optimum_and_release(case, method):
    sample, measure, k = case
    found = release(sample, measure, k, method=method)
    best = release(sample, measure, k, method="exact").loss()
    if found.certificate is None:
        assert "suppression or a hierarchy" in found.certificate_reason
        reject()
    assert found.certificate_reason == ""
    assert 0 <= found.certificate.bound <= best + 1e-9
    assert found.certificate.ratio >= 1
    if found.certificate.bound > 1e-9:
        assert found.certificate.ratio == pytest.approx(found.loss() / found.certificate.bound)
        assert found.loss() <= found.certificate.ratio * best + 1e-9


@given(tables.jobs(6, OBJECTIVES), st.integers(1, 3), st.sampled_from([None, 1, 2]))
@settings(max_examples=several(300))
def test_a_bound_also_holds_for_releases_that_leave_records_out(case, most, distinct):
    """By brute force over all records left out and all partitions of the rest, costs being those of the whole table."""
    sample, measure, k = case
    requirements = () if distinct is None else (shoal.LDiversity(distinct, kind="distinct"),)
    meets = reference.requirements.meets(sample, k, requirements)
    assume(meets([*range(sample.records)]))
    closed = release(sample, measure, k, requirements=requirements, method="mondrian").closed
    certifier = Certifier(
        closed,
        k=k,
        objective=measure,
        weights=sample.weights,
        w=tables.SHARE,
        loss=0.0,
        requirements=requirements,
        most_left_out=most,
    )
    certificate = certifier.certify(inf, 5)
    assume(certificate is not None)
    objective = sample.objective(measure)
    total = reference.requirements.optimum(objective, sample.records, meets, most)
    weight = len(objective.weights) if measure == "gcp" else sum(objective.weights)
    least = total if measure in reference.SUMS else total / (sample.records * weight)
    assert certificate.bound <= least + 1e-9


def test_leaving_out_one_of_five_is_the_optimum_that_a_certificate_knows_of():
    table = pa.table({"age": [15, 15, 15, 25, 15]})
    options = {"quasi_identifiers": {"age": shoal.Interval()}, "k": 2}
    all_kept = {
        "method": "k_member",
        "refine": False,
    }  # in two groups, neither of which can spare a record
    found = shoal.anonymize(table, **options, **all_kept, suppression_limit=0.2)
    hidden = pa.table({"age": ["15", "15", "15", "*", "15"]})
    least = shoal.loss(table, hidden, "lm", quasi_identifiers=options["quasi_identifiers"])
    assert found.suppressed == 0
    assert found.certificate.bound == pytest.approx(least)
    assert shoal.anonymize(table, **options, suppression_limit=0.2).suppressed == 1
    none_left_out = shoal.anonymize(table, **options, suppression_limit=0.19)
    assert none_left_out.certificate.bound > least + 0.1


@given(tables.jobs(10, OBJECTIVES), st.data())
@settings(max_examples=several(100))
def test_no_start_makes_a_certificate_wrong(case, data):
    sample, measure, k = case
    numbers = st.floats(-1, 5)
    duals = data.draw(st.lists(numbers, min_size=sample.records, max_size=sample.records))
    best = release(sample, measure, k, method="exact")
    found = replace(best, duals=np.array(duals))
    assume(found.certificate is not None)
    found.certify(passes=2)
    assert 0 <= found.certificate.bound <= best.loss() + 1e-9


@given(tables.jobs(10, ["wmi"]), st.sampled_from([0.1, 0.5, 0.9, 1.0]), st.integers(0, 4))
@settings(max_examples=several(200))
def test_wmi_is_bounded_by_what_mi_and_pmi_must_cost_each(case, w, passes):
    sample, _, k = case
    best = release(sample, shoal.WMI(w), k, method="exact")
    if passes:
        best.certify(passes=passes)
    mi = replace(best, settings=replace(best.settings, objective="mi"))
    if passes:
        mi.certify(passes=passes)
    assert w * mi.certificate.bound <= best.certificate.bound + 1e-9
    assert best.certificate.bound <= best.loss() + 1e-9


PEOPLE = pa.table(
    {"zip": ["1", "1", "1", "2", "2", "2"], "sex": list("ffffmm"), "ill": list("abcabc")}
)
SUPPRESSED = {"zip": shoal.Suppression(), "sex": shoal.Suppression()}
ROLES = {"quasi_identifiers": SUPPRESSED, "sensitive": ["ill"]}


def test_tightening_finds_what_records_alone_do_not_show():
    # Three pairs in a ring: a record's own pair partner costs nothing in one of the two columns only.
    ring = pa.table({"a": list("xxyyzz"), "b": list("qrrssq")})
    models = {"a": shoal.Suppression(), "b": shoal.Suppression()}
    found = shoal.anonymize(ring, quasi_identifiers=models, k=3, method="exact")
    assert found.certify(passes=30).ratio == 1.0


def test_passes_are_repeatable_and_the_best_certificate_is_kept(monkeypatch):
    table = shoal.samples.adult().slice(0, 400)
    options = {
        "quasi_identifiers": {"sex": None, "race": None, "education": None, "marital-status": None},
        "others": "drop",
        "k": 5,
    }
    monkeypatch.setattr("shoal.solve.bounds.certificate.LEAST_LOOKS", 100_000)
    one, two = (shoal.anonymize(table, **options, refine=False) for _ in range(2))
    quick = one.certificate
    better = one.certify(passes=6)
    assert better.bound >= quick.bound
    assert one.certificate == better
    assert two.certify(passes=6) == better
    assert "dual ascent" in better.how
    assert two.certify(0.01).bound >= better.bound


def test_what_a_hurry_left_out_is_made_up_for_when_there_is_time(monkeypatch):
    models = {"age": shoal.Interval(), "sex": shoal.Suppression(), "race": shoal.Suppression()}
    few = shoal.samples.adult().slice(0, 300)
    found = shoal.anonymize(few, quasi_identifiers=models, others="drop", k=5, refine=False)
    again = replace(found)
    assert found.certificate.how.startswith("dual ascent over cells of k records")
    monkeypatch.setattr("shoal.solve.bounds.certificate.LEAST_LOOKS", 500)
    monkeypatch.setattr("shoal.solve.bounds.certificate.LOOKS", 0)
    monkeypatch.setattr("shoal.solve.bounds.ascent.CHUNK", 100)
    assert again.certificate.how in (
        "dual ascent over some cells of k records; still improving",
        "nearest k − 1 records; still improving",
    )
    assert again.certificate.bound < found.certificate.bound
    assert again.certify(passes=25).bound == pytest.approx(found.certify(passes=25).bound, rel=0.01)


@pytest.mark.parametrize("given", [{}, {"seconds": 0}, {"passes": 0}, {"seconds": 1, "passes": 1}])
def test_certify_wants_seconds_or_passes(given):
    with pytest.raises(InputError, match="'seconds' or 'passes'"):
        shoal.anonymize(PEOPLE, **ROLES, k=2).certify(**given)


def test_a_bound_is_worked_out_by_hand():
    # k = 3: the first three records are alike; of the others one is f, two are m: all lose the sex.
    found = shoal.anonymize(PEOPLE, **ROLES, k=3)
    assert found.certificate.bound == pytest.approx(3 / 12)
    assert found.certificate.ratio == 1.0
    assert found.certificate.how == "dual ascent over cells of k records"
    assert str(found.certificate) == "the optimum"


def test_a_sum_is_bounded_as_a_sum_and_weights_count():
    found = shoal.anonymize(PEOPLE, **ROLES, k=3, objective="suppressed", weights={"sex": 5.0})
    # The f of zip 2 could lose its zip instead, but two m need it, or all lose the sex: 15 in any case.
    assert found.certify(passes=50).bound == pytest.approx(15)
    assert found.loss() == pytest.approx(15)


def test_requirements_beyond_k_raise_the_bound():
    # All three values in every group: two groups of three records, and no f of zip 2 has value b or c.
    strict = shoal.anonymize(PEOPLE, **ROLES, k=2, requirements=[shoal.LDiversity(3)])
    assert strict.certificate.bound > shoal.anonymize(PEOPLE, **ROLES, k=2).certificate.bound
    assert strict.certify(passes=50).bound == pytest.approx(3 / 12)
    assert strict.certificate.ratio == 1.0
    assert strict.certificate.how.endswith("groups that meet all requirements")


def test_a_release_without_groups_has_no_certificate_and_says_why():
    found = shoal.anonymize(PEOPLE, **ROLES, k=2, method="non_homogeneous")
    assert found.certificate is None
    assert found.certify(passes=1) is None
    assert "non_homogeneous" in found.certificate_reason


def test_an_objective_that_may_fall_has_none_over_intervals():
    models = {"zip": shoal.Subset(), "sex": shoal.Suppression()}
    roles = {**ROLES, "quasi_identifiers": models}
    found = shoal.anonymize(PEOPLE, **roles, k=2, objective="entropy")
    assert found.certificate is None
    assert "suppression or a hierarchy in every column" in found.certificate_reason


@pytest.mark.parametrize(
    ("loss", "bound", "expected"),
    [(2.0, 1.0, 2.0), (1.0, 1.0 - 1e-9, 1.0), (0.0, 0.0, 1.0), (1.0, 0.0, inf)],
)
def test_the_ratio_is_not_below_one_by_rounding(loss, bound, expected):
    assert ratio(loss, bound) == expected


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.0, "the optimum"),
        (1.18001, "at most 1.181 times the optimum"),  # never less than it is
        (inf, "none: the bound is 0"),
    ],
)
def test_a_certificate_reads_as_a_sentence(ratio, text):
    assert str(Certificate(0.0, ratio, "")) == text
