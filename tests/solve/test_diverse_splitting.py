"""Methods that split meet every requirement, do what their twins do, and are never better than `exact`."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from compiled import callable_here
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import requirements as twins

from shoal import Cancelled, Interval, Suppression
from shoal.audits.requirements.alpha import AlphaK
from shoal.audits.requirements.base import Requirement
from shoal.audits.requirements.diversity import LDiversity
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels.splitting import mondrian as kernels
from shoal.progress import silent
from shoal.solve.methods import Method, Mondrian
from shoal.solve.methods.completion import complete_groups
from shoal.solve.methods.exact import Exact
from shoal.solve.methods.incognito import Incognito, find_passing, make_levels
from shoal.solve.methods.papers.forest import Forest
from shoal.solve.methods.papers.hilbert import SHARE, Hilbert
from shoal.solve.methods.papers.top_down import TopDown
from shoal.solve.problem import Problem

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")
METHODS: dict[str, Method] = {
    "mondrian": Mondrian(),
    "mondrian, relaxed": Mondrian(strict=False),
    "top_down": TopDown(),
    "hilbert": Hilbert(),
    "forest": Forest(),
    "incognito": Incognito(),
    "incognito, suppression": Incognito(suppression=0.3),
}
each_kind = pytest.mark.parametrize("kind", twins.ALL_KINDS)
objectives = st.sampled_from(OBJECTIVES)


def offenders(groups: np.ndarray, meets: reference.Meets) -> list[list[int]]:
    """Groups that do not comply."""
    assert groups.min() == 0
    return [group for group in tables.members(groups.tolist()) if not meets(group)]


# Every method


@each_kind
@settings(max_examples=several(40))
@given(data=st.data(), measure=objectives, seed=st.integers(0, 3))
def test_every_group_meets_the_requirement_and_no_method_is_better_than_exact(
    kind, data, measure, seed
):
    sample, k, requirements = data.draw(twins.cases(kind, max_records=10))
    problem = twins.problem_of(sample, measure, k, requirements)
    meets = twins.meets(sample, k, requirements)
    best = Exact().partition(problem, 0, silent)
    assert not offenders(best.groups, meets)
    least = tables.paid(problem, best)
    for name, method in METHODS.items():
        found = method.partition(problem, seed, silent)
        assert found.groups.shape == (sample.records,), name
        assert not offenders(found.groups, meets), name
        assert tables.paid(problem, found) >= least - 1e-9, name


@each_kind
@settings(max_examples=15)
@given(data=st.data(), measure=objectives)
def test_every_group_of_a_larger_table_meets_the_requirement(kind, data, measure):
    sample, k, requirements = data.draw(twins.cases(kind, max_records=60, least=20, top=8))
    problem = twins.problem_of(sample, measure, k, requirements)
    meets = twins.meets(sample, k, requirements)
    for name, method in METHODS.items():
        assert not offenders(method.partition(problem, 0, silent).groups, meets), name


@settings(max_examples=several(150))
@given(twins.cases(max_records=6, top=3), objectives)
def test_exact_finds_the_least_cost_of_all_partitions_that_comply(case, measure):
    sample, k, requirements = case
    problem = twins.problem_of(sample, measure, k, requirements)
    found = Exact().partition(problem, 0, silent)
    meets = twins.meets(sample, k, requirements)
    best = twins.optimum(sample.objective(measure), sample.records, meets)
    assert tables.paid(problem, found) == pytest.approx(best, abs=1e-9)


# Tables made by hand


def people(
    quasi: list[int], secret: str, k: int, *requirements: Requirement, model: object = None
) -> Problem:
    """One quasi-identifier and one letter for the sensitive value of each record."""
    frame = open_frame(pa.table({"x": quasi, "secret": list(secret)}))
    table = encode(frame, {"x": model or Interval()}, ["secret"])
    return Problem.of(table, "lm", k, requirements=requirements)


def partition(method: Method, problem: Problem) -> list[list[int]]:
    return tables.partition_of(method.partition(problem, 0, silent).groups.tolist())


# Mondrian


@settings(max_examples=several(150))
@given(twins.cases(max_records=24, top=3), objectives, st.booleans())
def test_mondrian_makes_the_groups_of_its_twin(case, measure, relaxed):
    sample, k, requirements = case
    if measure == "gcp":
        measure = "ncp"  # without weights columns tie, and a rounding error may decide
    problem = twins.problem_of(sample, measure, k, requirements)
    groups = Mondrian(strict=not relaxed).partition(problem, 0, silent).groups
    meets = twins.meets(sample, k, requirements)
    everything = list(range(sample.records))
    expected = reference.mondrian(sample.objective(measure), everything, meets, relaxed)
    assert tables.partition_of(groups.tolist()) == sorted(map(sorted, expected))


def cut(secret: str, requirement: Requirement, codes: list[int], relaxed: bool = False) -> int:
    problem = people(codes, secret, 1, requirement)
    return int(
        callable_here(kernels.cut_segment)(
            problem.rules, np.array(codes, np.int32), problem.values, -1, relaxed
        )[1]
    )


def test_the_cut_is_the_nearest_to_the_median_that_leaves_enough_on_both_sides():
    two = LDiversity(2, "distinct")
    assert cut("stssssst", two, list(range(8))) == 4
    assert cut("stststss", two, list(range(8))) == 4
    assert cut("sssssstt" + "st", two, list(range(10))) == 7
    assert cut("tsttssss" + "sts", two, list(range(11))) == 5
    assert cut("stssssss", two, list(range(8))) == 0
    assert cut("ststst", two, [0, 0, 0, 0, 5, 5]) == 4
    assert cut("ststst", two, [0, 0, 0, 0, 5, 5], relaxed=True) == 3


def test_children_that_cannot_stand_alone_take_in_the_smallest_that_can():
    secret, children = "ss" + "stst" + "ststst", [0] * 2 + [1] * 4 + [2] * 6
    problem = people(children, secret, 2, LDiversity(2, "distinct"))
    order, ends = callable_here(kernels.part_children)(
        problem.rules, np.array(children, np.int32), problem.values
    )
    assert [part.tolist() for part in np.split(order, ends[:-1])] == [
        [0, 1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10, 11],
    ]


# Mending


@settings(max_examples=several(300))
@given(twins.cases(max_records=20), objectives, st.data())
def test_groups_are_mended_as_by_their_twin(case, measure, data):
    sample, k, requirements = case
    groups = data.draw(tables.partitions(sample.records))
    problem = twins.problem_of(sample, measure, k, requirements)
    meets = twins.meets(sample, k, requirements)
    found = complete_groups(problem, np.array(groups, np.int32), silent)
    assert not offenders(found, meets)
    expected = twins.mend(sample.objective(measure), tables.members(groups), meets)
    assume(all(meets(group) for group in expected if group))  # others are settled
    assert tables.partition_of(found.tolist()) == sorted(sorted(g) for g in expected if g)


def mended(quasi: list[int], secret: str, groups: list[int], k: int = 2) -> list[list[int]]:
    problem = people(quasi, secret, k, LDiversity(2, "distinct"))
    found = complete_groups(problem, np.array(groups, np.int32), silent)
    return [[quasi[i] for i in group] for group in tables.partition_of(found.tolist())]


def test_a_group_is_merged_with_the_closest_that_has_what_it_lacks():
    quasi = [0, 1, 4, 5, 30, 31, 60, 61]
    assert mended(quasi, "ssss" + "tt" + "st", [0, 0, 1, 1, 2, 2, 3, 3]) == [
        [0, 1, 4, 5, 30, 31],
        [60, 61],
    ]
    assert mended(quasi, "ssss" + "ss" + "st", [0, 0, 1, 1, 2, 2, 3, 3]) == [quasi]


def test_records_of_an_offending_group_go_to_both_sides_where_that_costs_less():
    quasi = [0, 1, 2, 98, 99, 100]
    assert mended(quasi, "stssts", [0, 0, 1, 1, 2, 2]) == [[0, 1, 2], [98, 99, 100]]


def test_groups_that_no_other_can_mend_are_settled():
    problem = people(list(range(6)), "stuvwx", 1, LDiversity(5, "distinct"))
    assert not complete_groups(problem, np.arange(6, dtype=np.int32), silent).any()


def test_records_without_a_group_find_one():
    problem = people([0, 1, 2, 50, 51, 52], "ststst", 2, LDiversity(2, "distinct"))
    groups = complete_groups(problem, np.array([0, 0, -1, 1, 1, -1], np.int32), silent)
    assert groups.tolist() == [0, 0, 0, 1, 1, 1]
    assert not complete_groups(problem, np.full(6, -1, np.int32), silent).any()


def crowd(k: int) -> Problem:
    rng = np.random.default_rng(7)
    columns = {
        "x": rng.integers(0, 99, 400),
        "y": rng.choice(list("abcdefgh"), 400),
        "secret": rng.choice(list("sssstu"), 400),
    }
    table = encode(open_frame(pa.table(columns)), {"x": Interval(), "y": Suppression()}, ["secret"])
    return Problem.of(table, "gcp", k, requirements=[LDiversity(1.8, "entropy")])


@pytest.mark.parametrize("name", ["top_down", "hilbert", "forest"])
def test_mending_in_small_steps_gives_the_same_groups_and_can_be_cancelled(name, monkeypatch):
    problem, method = crowd(4), METHODS[name]
    whole = method.partition(problem, 0, silent).groups.tolist()
    monkeypatch.setattr(sys.modules[complete_groups.__module__], "COMPARISONS", 1)
    stages: list[str] = []
    in_steps = method.partition(problem, 0, lambda stage, *_: stages.append(stage))
    assert in_steps.groups.tolist() == whole
    assert stages.count("repairing groups") > 10

    def cancel(stage: str, done: int, total: int) -> None:
        if stage == "repairing groups" and done:
            raise Cancelled

    with pytest.raises(Cancelled):
        method.partition(problem, 0, cancel)


# Hilbert


@settings(max_examples=several(150))
@given(twins.cases(max_records=14), objectives)
def test_no_runs_and_records_left_out_cost_less(case, measure):
    sample, k, requirements = case
    problem = twins.problem_of(sample, measure, k, requirements)
    objective, everyone = sample.objective(measure), list(range(sample.records))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sys.modules[Hilbert.__module__], "complete_groups", lambda problem, groups, _: groups
        )
        groups = Hilbert().partition(problem, 0, silent).groups
    own = [objective.group([i]) for i in everyone]
    extra = (objective.group(everyone) - sum(own)) / sample.records
    spare = [cost + SHARE * extra for cost in own]
    found = sum(spare[i] for i in everyone if groups[i] < 0)
    for g in range(groups.max() + 1):
        run = np.flatnonzero(groups == g).tolist()
        assert k <= len(run) < 2 * k
        found += objective.group(run)
    order = Hilbert().order(problem).tolist()
    assert found == pytest.approx(
        twins.least_cost_with_spares(objective, order, k, spare), abs=1e-9
    )


def test_equal_records_come_with_their_sensitive_values_evenly_spread():
    problem = people([5] * 6 + [1] * 3, "sssstt" + "sss", 3, LDiversity(2, "distinct"))
    order = Hilbert().order(problem)
    assert order[:3].tolist() == [6, 7, 8]
    assert "".join("sssstt"[i] for i in order[3:]) == "stssts"


def test_an_outlier_is_left_out_of_the_run_it_would_spoil():
    problem = people([*range(6), 100], "stststt", 3, LDiversity(2, "distinct"))
    found = partition(Hilbert(), problem)
    assert found == [[0, 1, 2], [3, 4, 5, 6]]


# Forest


def test_forest_says_that_its_guarantee_is_for_k_alone():
    problem = people([0, 0, 1, 1], "stst", 2, LDiversity(2, "distinct"), model=Suppression())
    notes = Forest().partition(problem, 0, silent).notes
    assert notes == ("no guarantee: it is for k alone, and more is required",)
    without = people([0, 0, 1, 1], "stst", 2, model=Suppression())
    assert Forest().partition(without, 0, silent).notes == ()


def test_forest_keeps_equal_records_together_whatever_their_sensitive_values():
    problem = people([0] * 4 + [1] * 4, "sttt" + "tsss", 4, LDiversity(2, "distinct"))
    assert partition(Forest(), problem) == [[0, 1, 2, 3], [4, 5, 6, 7]]


# Incognito


@settings(max_examples=several(200))
@given(twins.cases(), st.sampled_from([0.0, 0.1, 0.3, 0.6]))
def test_incognito_finds_all_nodes_that_a_search_of_the_lattice_finds(case, share):
    sample, k, requirements = case
    problem = twins.problem_of(sample, "lm", k, requirements)
    levels = [make_levels(column) for column in problem.columns]
    budget = int(share * sample.records + 1e-9)
    passed = find_passing(problem, levels, budget, 0, silent)
    meets = twins.meets(sample, k, requirements)
    expected = twins.passing_nodes(levels, problem.codes.tolist(), meets, budget)
    assert [tuple(node) for node in np.argwhere(passed).tolist()] == expected


def test_a_node_may_pass_where_its_generalizations_do_not():
    """A record alone spoils, joined to a cell that just complies, more records than the budget allows."""
    frame = open_frame(
        pa.table({"x": [0] * 10 + [1], "y": [0] * 11, "secret": list("s" * 5 + "t" * 6)})
    )
    table = encode(frame, {"x": Suppression(), "y": Suppression()}, ["secret"])
    problem = Problem.of(table, "lm", 2, requirements=[AlphaK(0.5)])
    levels = [make_levels(column) for column in table.columns]
    assert find_passing(problem, levels, 1, 0, silent)[:, 0].tolist() == [True, False]
    assert find_passing(problem, levels, 0, 0, silent)[:, 0].tolist() == [False, False]
