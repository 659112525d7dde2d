"""enhanced_pk and greedy_pk do what their slow twins do, and every group they make is p-sensitive."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from compiled import callable_here
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import sensitivity as twins

import shoal
from shoal.audits.requirements.alpha import AlphaK
from shoal.audits.requirements.base import Requirement
from shoal.audits.requirements.diversity import LDiversity
from shoal.audits.requirements.sensitivity import PSensitive
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels.clustering.p_sensitive import (
    best_match,
    lacking_values,
    make_record_pool,
    refill,
)
from shoal.kernels.shared.state import make_state, offending, pack
from shoal.progress import Progress, silent
from shoal.risk.limits import check_feasible, most_groups
from shoal.solve.methods import EnhancedPK, GreedyPK, Method
from shoal.solve.methods.base import state_of
from shoal.solve.methods.papers.enhanced_pk import (
    fill_groups,
    make_sensitive,
    plan_groups,
    share_out,
)
from shoal.solve.problem import Problem

best_match, lacking_values = map(callable_here, (best_match, lacking_values))

METHODS = {"enhanced_pk": (EnhancedPK(), twins.enhanced), "greedy_pk": (GreedyPK(), twins.greedy)}
each_method = pytest.mark.parametrize("method", [EnhancedPK(), GreedyPK()], ids=METHODS)
VALUES = "abcde"
SHARES = [(0.5, 0.2, 0.1, 0.1, 0.1), (0.7, 0.1, 0.1, 0.05, 0.05), (0.3, 0.3, 0.2, 0.1, 0.1)]
SAMPLES = tables.samples(min_records=2, max_records=14, sensitive=2)


def problem_of(columns, k, *requirements, models=None, sensitive=("s", "t", "u")) -> Problem:
    known = [name for name in sensitive if name in columns]
    models = models or {name: None for name in columns if name not in known}
    table = encode(open_frame(pa.table(columns)), models, known)
    return Problem.of(table, "il", k, requirements=requirements)


def generic(
    seed: int, records: int, p: tuple[int, ...], k: int, weights: tuple[float, ...] = ()
) -> tuple[Problem, twins.Case]:
    """A table without ties: two columns of random numbers, and a sensitive one of unequal values for each p."""
    rng = np.random.default_rng(seed)
    numbers = [rng.random(records).tolist() for _ in range(2)]
    drawn = [rng.choice(list(VALUES), records - len(VALUES), p=share) for share in SHARES[: len(p)]]
    secrets = [rng.permutation([*VALUES, *own]).tolist() for own in drawn]
    names = "stu"[: len(p)]
    frame = pa.table(dict(zip(f"xy{names}", [*numbers, *secrets], strict=True)))
    own_weights = {"x": 1.0, "y": 2**0.5}
    columns = [reference.Column("interval", own, sorted(own)) for own in numbers]
    table = encode(open_frame(frame), {"x": shoal.Interval(), "y": shoal.Interval()}, [*names])
    required = [PSensitive(own, columns=[name]) for own, name in zip(p, names, strict=True)]
    problem = Problem.of(table, "ncp", k, own_weights, requirements=required)
    objective = reference.Objective("ncp", columns, list(own_weights.values()))
    return problem, twins.Case(objective.group, secrets, p, k, weights)


def joining_order(problem: Problem) -> list[int]:
    """The order in which records that are left join."""
    return np.lexsort((*problem.values.T, problem.classes, *problem.codes.T)).tolist()


def complies(problem: Problem, groups) -> bool:
    return not offending(problem.rules, state_of(problem, groups)).any()


def distinct_values(sample: tables.Sample) -> int:
    """In the sensitive column that has fewest: the largest p that can be."""
    return min(len(set(column)) for column in sample.secrets)


# Twins


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("p", [(2, 2), (3, 2), (1, 3), (4, 3), (1, 1)])
@pytest.mark.parametrize("seed", range(12))
def test_methods_make_the_groups_of_their_twins(seed, p, name):
    problem, case = generic(seed, 24, p, k=3)
    method, twin = METHODS[name]
    found = method.partition(problem, seed, silent).groups
    order = np.random.default_rng(seed).permutation(24).tolist()
    expected = twin(case, order, joining_order(problem))
    assert tables.partition_of(found.tolist()) == sorted(map(sorted, expected))
    assert all(case.is_sensitive(group) for group in expected)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("weights", [(1.0, 0.25, 0.5), (0.125, 0.5, 1.0)])
@pytest.mark.parametrize("seed", range(8))
def test_weights_say_which_column_a_group_looks_for_first(seed, weights, name):
    problem, case = generic(seed, 24, (3, 3, 3), 3, weights)
    kind, twin = type(METHODS[name][0]), METHODS[name][1]
    method = kind({name: 4 * w for name, w in zip("stu", weights, strict=True)})  # ratios matter
    found = method.partition(problem, seed, silent).groups
    order = np.random.default_rng(seed).permutation(24).tolist()
    expected = twin(case, order, joining_order(problem))
    assert tables.partition_of(found.tolist()) == sorted(map(sorted, expected))
    assert all(case.is_sensitive(group) for group in expected)


@each_method
def test_weights_change_the_groups_and_equal_ones_do_not(method: Method):
    differ = 0
    given = [{}, *({"s": w, "t": 1 / w, "u": 1.0} for w in (1, 8, 1e300))]
    for seed in range(6):
        problem, _ = generic(seed, 40, (3, 3, 3), 3)
        plain, equal, apart, far = (
            type(method)(weights).partition(problem, seed, silent).groups for weights in given
        )
        assert (plain == equal).all()
        assert complies(problem, far)
        differ += not (plain == apart).all()
    assert differ


def test_a_weight_counts_for_all_that_is_asked_of_its_column():
    asked = [PSensitive(2), AlphaK(0.9, columns=["t"]), LDiversity(2, "distinct", columns=["s"])]
    columns = {"x": list(range(4)), "s": list("abab"), "t": list("aabb")}
    problem = problem_of(columns, 2, *asked)
    assert problem.tallies == ("s", "t", "t", "s")
    assert EnhancedPK({"s": 3, "t": 6}).tally_weights(problem).tolist() == [0.5, 1, 1, 0.5]
    assert EnhancedPK().tally_weights(problem).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weights", [(), (1.0, 0.2)], ids=["equal", "weighed"])
def test_the_best_match_has_the_div_and_the_cost_of_its_twin(seed, weights):
    problem, case = generic(seed, 24, (4, 3), 3, weights)
    group, others = list(range(seed % 4 + 1)), list(range(5, 24))
    state = state_of(problem, np.where(np.arange(24) < len(group), 0, -1).astype(np.int32))
    pool = make_record_pool(problem.codes, problem.classes)
    refill(pool, np.array(others))
    gain, out, scratch = np.empty(problem.tallied), np.empty(24), np.empty(24)
    assert lacking_values(problem.rules, np.array(case.w, float), state, 0, gain) == case.hom(group)
    div, added, entry = best_match(
        problem.arrays, problem.pairs, state, pool, 0, gain, out, scratch
    )
    best, _ = case.best_match(others, [group])
    assert pool.places[entry] == best
    assert div == case.div(best, group)
    assert added == pytest.approx(case.added(best, group))


@given(SAMPLES, st.integers(1, 4), st.data())
def test_closures_counts_and_costs_are_as_if_made_anew(sample, p, data):
    k = data.draw(st.integers(1, max(1, sample.records // 2)))
    measure = data.draw(st.sampled_from(reference.OBJECTIVES))
    assume(p <= distinct_values(sample))
    problem = required(sample, measure, k, PSensitive(p))
    shape = plan_groups(problem)
    state = make_state(problem.arrays, problem.values, problem.tallied, shape.groups)
    pool = make_record_pool(problem.codes, problem.classes)
    weight = np.ones(len(problem.tallies))
    share_out(problem, weight, shape, state, pool, np.arange(sample.records), silent)
    hardest = [Counter(shape.values[state.group == g].tolist()) for g in range(shape.groups)]
    assert all(len(values) == values.total() == shape.p for values in hardest)
    kept = make_sensitive(problem, weight, state, pool, silent)
    fill_groups(problem, state, pool, kept, silent)
    waiting = pool.places[: pool.size[0]][pool.left[: pool.size[0]] == 1]
    assert sorted(waiting.tolist()) == np.flatnonzero(state.group < 0).tolist()
    assume(kept.size)
    again = state_of(problem, pack(state)[0])
    used = state.size > 0
    assert (again.closures == state.closures[:, used]).all()
    assert (again.counts == state.counts[:, used]).all()
    assert (again.tally == state.tally[used]).all()
    assert again.cost == pytest.approx(state.cost[used], abs=1e-7)


def test_weights_come_from_the_command_line_and_stay_in_the_settings(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{'abc'[i % 3]},{'xyz'[i // 3 % 3]}" for i in range(18)]
    Path("people.csv").write_text("\n".join(["age,ill,pay.a", *rows]) + "\n")
    roles = ("-q", "age", "-s", "ill", "-s", "pay.a", "-k", 3, "--require", "sensitivity:p=2")
    options = (
        "--method",
        "enhanced_pk",
        "--option",
        "weights.ill=2",
        "--option",
        "weights.pay.a=0.5",
    )
    files = ("-o", "out.csv", "--save-settings", "out.toml", "--quiet")
    assert shell("anonymize", "people.csv", *roles, *options, *files) == (0, "", "")
    wanted = EnhancedPK({"ill": 2, "pay.a": 0.5})
    assert shoal.Settings.load("out.toml").method == wanted


# Promises


def required(sample: tables.Sample, measure: str, k: int, *requirements: Requirement) -> Problem:
    return Problem.of(
        sample.encoded(), measure, k, sample.weights, tables.SHARE, requirements=requirements
    )


@each_method
@settings(max_examples=several(100))
@given(SAMPLES, st.integers(1, 4), st.data())
def test_every_group_is_p_sensitive_and_has_k_records(method: Method, sample, p, data):
    assume(p <= distinct_values(sample))
    k = data.draw(st.integers(1, sample.records))
    measure = data.draw(st.sampled_from(reference.OBJECTIVES))
    problem = required(sample, measure, k, PSensitive(p))
    groups = method.partition(problem, 1, silent).groups
    for group in tables.members(groups.tolist()):
        assert len(group) >= k
        assert all(len({column[i] for i in group}) >= p for column in sample.secrets)
    assert (groups == method.partition(problem, 1, silent).groups).all()


@each_method
@settings(max_examples=several(100))
@given(SAMPLES, st.data())
def test_other_requirements_hold_too(method: Method, sample, data):
    k = data.draw(st.integers(1, min(4, sample.records)))
    asked = [
        PSensitive(data.draw(st.integers(1, 2)), columns=["sensitive0"]),
        PSensitive(data.draw(st.integers(1, 3)), columns=["sensitive1"]),
        AlphaK(data.draw(st.sampled_from([0.4, 0.6, 0.9])), columns=["sensitive0"]),
        LDiversity(data.draw(st.sampled_from([1.0, 1.5, 2.0])), "entropy"),
    ]
    problem = required(sample, "lm", k, *asked)
    try:
        check_feasible(problem.table, k, asked)
    except shoal.Infeasible:
        assume(False)
    assert complies(problem, method.partition(problem, 3, silent).groups)


@each_method
def test_protected_values_below_one_strong_value_count_as_one(method: Method):
    tree = shoal.Hierarchy.from_dict({"cancer": ["colon", "breast"], "other": ["flu", "cold"]})
    illness = ["colon", "breast", "colon", "flu", "cold", "breast", "flu", "colon"]
    wanted = PSensitive(2, tree, ["cancer"], columns=["s"])
    problem = problem_of({"x": list(range(8)), "s": illness}, 2, wanted)
    groups = method.partition(problem, 0, silent).groups.tolist()
    for group in tables.members(groups):
        assert len({"cancer" if illness[i] in tree.inner else illness[i] for i in group}) >= 2
        assert {illness[i] for i in group} & {"flu", "cold"}


@each_method
@given(SAMPLES, st.data())
def test_without_distinct_values_to_keep_groups_have_k_records_and_no_more_are_merged(
    method: Method, sample, data
):
    k = data.draw(st.integers(1, sample.records))
    groups = method.partition(sample.problem("lm", k), 0, silent).groups
    assert np.bincount(groups).min() >= k
    assert groups.max() + 1 == sample.records // k


# TCM07 Condition 2


@given(st.lists(st.sampled_from("aabc"), min_size=1, max_size=12), st.integers(1, 4))
def test_condition_2_counts_what_there_is_to_share_out(column, p):
    counts = np.array(list(Counter(column).values()), float)
    assert most_groups([counts], p)[0] == twins.most_groups(column, p)


@settings(max_examples=several(40))
@given(
    st.lists(st.tuples(*[st.sampled_from("abc")] * 2), min_size=1, max_size=7), st.integers(1, 3)
)
def test_no_partition_has_more_p_sensitive_groups_than_condition_2_says(records, p):
    columns = list(zip(*records, strict=True))
    for shown in ([columns[0]], columns):
        counts = [np.array(list(Counter(column).values()), float) for column in shown]
        bound, _ = most_groups(counts, p)
        case = twins.Case(lambda group: 0.0, shown, [p] * len(shown), 1)
        valid = [
            len(groups)
            for groups in twins.partitions(len(records))
            if all(map(case.is_sensitive, groups))
        ]
        assert max(valid, default=0) <= bound
        if len(shown) == 1:
            assert max(valid, default=0) == bound


@settings(max_examples=several(100))
@given(SAMPLES, st.integers(2, 4), st.data())
def test_enhanced_pk_never_makes_more_groups_than_condition_2_allows(sample, p, data):
    assume(p <= distinct_values(sample))
    k = data.draw(st.integers(1, min(4, sample.records)))
    problem = required(sample, "lm", k, PSensitive(p))
    counts = [np.array(list(Counter(column).values()), float) for column in sample.secrets]
    groups = EnhancedPK().partition(problem, 0, silent).groups
    assert groups.max() + 1 <= min(most_groups(counts, p)[0], sample.records // k)


def test_one_sensitive_column_is_shared_out_to_as_many_groups_as_there_can_be():
    for seed in range(20):
        column = np.random.default_rng(seed).choice(list("aaaabbcdef"), 40).tolist()
        for p in (2, 3, 4):
            problem = problem_of({"x": list(range(40)), "s": column}, 2, PSensitive(p))
            groups = EnhancedPK().partition(problem, seed, silent).groups
            assert complies(problem, groups)
            assert groups.max() + 1 == min(twins.most_groups(column, p), 20)


def test_a_value_too_rare_to_reach_every_group_is_dealt_even_if_the_paper_counts_it_as_frequent():
    column = list("aabbccdde")
    assert most_groups([np.array([2.0, 2, 2, 2, 1])], 3) == (3, 2)
    problem = problem_of({"x": list(range(9)), "s": column}, 3, PSensitive(3))
    groups = EnhancedPK().partition(problem, 0, silent).groups
    assert [len({column[i] for i in group}) for group in tables.members(groups.tolist())] == [3] * 3


# TCM07's own examples


@each_method
def test_the_table_of_figure_1_has_one_group_though_condition_2_allows_two(method: Method):
    columns = {"s": [1, 1, 2, 2], "t": list("abab"), "u": list("αββα")}
    assert most_groups([np.array([2.0, 2.0])] * 3, 2)[0] == 2
    for seed in range(6):
        problem = problem_of({"x": [1, 2, 3, 4], **columns}, 2, PSensitive(2))
        assert method.partition(problem, seed, silent).groups.tolist() == [0, 0, 0, 0]


TABLE_1 = {
    "age": [20] * 3 + [30] * 4,
    "zip": [41099] * 7,
    "s": ["AIDS"] * 3 + ["Diabetes"] * 2 + ["Tuberculosis"] * 2,
    "t": [60_000, 60_000, 40_000, 50_000, 40_000, 50_000, 40_000],
}


@each_method
def test_table_1_is_regrouped_until_no_group_has_a_single_diagnosis(method: Method):
    printed = np.array([0, 0, 0, 1, 1, 1, 1], np.int32)
    assert complies(problem_of(TABLE_1, 3, PSensitive(1)), printed)
    problem = problem_of(TABLE_1, 3, PSensitive(2))
    assert not complies(problem, printed)
    groups = method.partition(problem, 0, silent).groups
    assert complies(problem, groups)
    assert groups.max() + 1 == 2
    mended = TABLE_1 | {"s": ["Flu", *TABLE_1["s"][1:]]}
    assert complies(problem_of(mended, 3, PSensitive(2)), printed)


# Runs


@each_method
def test_a_run_reports_and_can_be_cancelled_at_every_report(method: Method):
    problem, _ = generic(0, 60, (3, 2), 4)
    reports: list[tuple[str, int, int]] = []
    method.partition(problem, 0, lambda *report: reports.append(report))
    assert len(reports) > 5
    assert all(0 <= done <= total for _, done, total in reports)

    for stop in range(len(reports)):
        with pytest.raises(shoal.Cancelled):
            method.partition(problem, 0, cancelling_after(stop))


def cancelling_after(reports: int) -> Progress:
    left = iter(range(reports))

    def cancel(stage: str, done: int, total: int) -> None:
        if next(left, None) is None:
            raise shoal.Cancelled("stop")

    return cancel


@each_method
def test_another_seed_makes_other_groups(method: Method):
    problem, _ = generic(1, 60, (2, 2), 3)
    found = {
        str(tables.partition_of(method.partition(problem, s, silent).groups)) for s in range(5)
    }
    assert len(found) > 1


@each_method
@pytest.mark.parametrize("k", [2, 5])
def test_what_cannot_be_ends_in_one_group(method: Method, k: int):
    problem = problem_of({"x": [1, 2, 3, 4], "s": list("aaab")}, k, PSensitive(3))
    assert method.partition(problem, 0, silent).groups.tolist() == [0, 0, 0, 0]
