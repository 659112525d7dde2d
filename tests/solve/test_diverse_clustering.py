"""agglomerative, bottom_up, k_member, sequential and two_means keep every requirement beyond k, as their twins do."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from compiled import callable_here
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from partitions import swept
from reference import clustering as twins

import shoal
from shoal.audits.requirements.alpha import AlphaK
from shoal.audits.requirements.base import Requirement
from shoal.audits.requirements.closeness import TCloseness
from shoal.audits.requirements.diversity import LDiversity
from shoal.audits.requirements.sensitivity import PSensitive
from shoal.encoding.encode import Table, encode
from shoal.encoding.frames import open_frame
from shoal.encoding.models.base import labels_of
from shoal.kernels.clustering.agglomerative import merge_round
from shoal.kernels.clustering.mend import unite_offenders
from shoal.kernels.shared import rules as rule_kernels
from shoal.kernels.shared.state import pack
from shoal.kernels.splitting.two_means import even_out_sides
from shoal.progress import silent
from shoal.risk.limits import check_feasible
from shoal.solve.methods import base
from shoal.solve.methods.agglomerative import DISTANCES, Agglomerative
from shoal.solve.methods.base import Method, state_of
from shoal.solve.methods.completion import complete_groups
from shoal.solve.methods.papers.bottom_up import BottomUp
from shoal.solve.methods.papers.k_member import KMember, k_members
from shoal.solve.methods.papers.sequential import Sequential, deal_evenly, deal_in_turn, kinds_of
from shoal.solve.methods.papers.two_means import TwoMeans
from shoal.solve.problem import Problem

even_out_sides = callable_here(even_out_sides)

METHODS: tuple[Method, ...] = (
    Sequential(),
    Agglomerative(),
    KMember(),
    BottomUp(),
    TwoMeans(rounds=3),
)
TREE = shoal.Hierarchy.from_dict({"*": {"st": {"s": None, "t": None}, "u": None}})
WORD, OTHER, NUMBER = ["sensitive0"], ["sensitive1"], ["sensitive2"]
BOTH = [*WORD, *OTHER]
MEASURES = st.sampled_from(("lm", "gcp", "entropy", "pmi"))


def ratios(low: float, high: float) -> st.SearchStrategy[float]:
    return st.integers(0, 20).map(lambda step: low + (high - low) * step / 20)


KINDS: dict[str, st.SearchStrategy[list[Requirement]]] = {
    "frequency": ratios(1, 2.5).map(lambda l: [LDiversity(l, columns=WORD)]),
    "distinct": st.integers(1, 4).map(lambda l: [LDiversity(l, kind="distinct", columns=WORD)]),
    "entropy": ratios(1, 2.5).map(lambda l: [LDiversity(l, kind="entropy", columns=WORD)]),
    "recursive": st.tuples(st.integers(1, 3), ratios(0.8, 4)).map(
        lambda lc: [LDiversity(lc[0], kind="recursive", c=lc[1], columns=WORD)]
    ),
    "p-sensitive": st.integers(1, 4).map(lambda p: [PSensitive(p, columns=BOTH)]),
    "extended p-sensitive": st.integers(1, 3).map(
        lambda p: [PSensitive(p, hierarchy=TREE, protected=["st"], columns=WORD)]
    ),
    "alpha": ratios(0.3, 1).map(lambda alpha: [AlphaK(alpha, columns=WORD)]),
    "alpha of some": ratios(0.1, 1).map(lambda alpha: [AlphaK(alpha, ["s"], columns=WORD)]),
    "equal closeness": ratios(0, 0.6).map(lambda t: [TCloseness(t, columns=WORD)]),
    "ordered closeness": ratios(0, 0.4).map(lambda t: [TCloseness(t, "ordered", columns=NUMBER)]),
    "hierarchical closeness": ratios(0, 0.6).map(
        lambda t: [TCloseness(t, "hierarchical", TREE, columns=WORD)]
    ),
    "two columns": st.tuples(ratios(1, 2), ratios(0.1, 0.5)).map(
        lambda lt: [LDiversity(lt[0], columns=BOTH), TCloseness(lt[1], columns=OTHER)]
    ),
    "three columns": st.tuples(ratios(1, 2), ratios(0.4, 1), st.integers(1, 3)).map(
        lambda lap: [
            LDiversity(lap[0], kind="entropy", columns=OTHER),
            AlphaK(lap[1], ["s"], columns=WORD),
            PSensitive(lap[2]),
        ]
    ),
}


@st.composite
def samples(draw: st.DrawFn) -> tables.Sample:
    """A table with two sensitive columns of words, one of them with a value s, and one of numbers."""
    sample = draw(tables.samples(min_records=2, max_records=24, sensitive=2))
    numbers = st.lists(st.integers(0, 3), min_size=sample.records, max_size=sample.records)
    words = ["s", *sample.frame[WORD[0]].to_pylist()[1:]]
    frame = sample.frame.set_column(
        sample.frame.column_names.index(WORD[0]), WORD[0], pa.array(words, pa.string())
    )
    sample = tables.replace(sample, frame=frame)
    return sample.with_columns(sensitive2=pa.array(draw(numbers)))


def misses(table: Table, requirements: list[Requirement], groups: np.ndarray) -> list[str]:
    """What groups miss, by the code of the audit."""
    found = []
    for requirement in requirements:
        for column in requirement.over(list(table.sensitive)):
            secret = table.sensitive[column]
            counts = np.zeros((groups.max() + 1, secret.size))
            np.add.at(counts, (groups, secret.codes), 1.0)
            labels = [*labels_of(secret.values), *([None] if secret.has_null else [])]
            levels = requirement.levels(counts, labels, counts.sum(axis=0) / counts.sum())
            if not requirement.is_met(levels).all():
                found.append(requirement.describe(column))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@settings(max_examples=6)
@given(samples(), MEASURES, st.integers(1, 5), st.data())
def test_every_group_meets_every_requirement(kind, method, sample, measure, k, data) -> None:
    requirements, table = data.draw(KINDS[kind]), sample.encoded()
    k = min(k, sample.records)
    problem = Problem.of(table, measure, k, sample.weights, tables.SHARE, requirements)
    groups = method.partition(problem, 1, silent).groups
    sizes = np.bincount(groups)
    try:
        check_feasible(table, k, requirements)
    except shoal.Infeasible:
        assert sizes.size >= 1  # it ends, as it must where kernels are compiled on a few records
    else:
        assert misses(table, requirements, groups) == []
        assert sizes.min() >= k
    assert groups.min() == 0
    assert (groups == method.partition(problem, 1, silent).groups).all()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_requirement_that_asks_for_nothing_changes_no_loss_much(method) -> None:
    """All code for requirements runs, and every group passes: the groups are as good as without."""
    rng = np.random.default_rng(0)
    frame = pa.table(
        {"x": rng.integers(0, 99, 400), "y": rng.choice(list("abcdef"), 400), "s": np.arange(400)}
    )
    table = encode(open_frame(frame), {"x": shoal.Interval(), "y": shoal.Suppression()}, ["s"])
    free = Problem.of(table, "lm", 5)
    bound = Problem.of(table, "lm", 5, requirements=[LDiversity(2, kind="distinct")])
    losses = [p.cost(method.partition(p, 0, silent).groups) for p in (free, bound)]
    assert losses[1] == pytest.approx(losses[0], rel=0.15)


# Twins


def generic(
    seed: int, records: int, kind: str, l: float
) -> tuple[Problem, reference.Objective, twins.Cost]:
    """A table without ties of cost, and how far its groups are from diversity."""
    rng = np.random.default_rng(seed)
    numbers = [rng.random(records).tolist() for _ in range(2)]
    secret = rng.choice(list("uvw"), records, p=[0.5, 0.3, 0.2]).tolist()
    frame = pa.table({"x": numbers[0], "y": numbers[1], "s": secret})
    models = {"x": shoal.Interval(), "y": shoal.Interval()}
    weights = {"x": 1.0, "y": 2**0.5}
    columns = [reference.Column("interval", own, sorted(own)) for own in numbers]
    table = encode(open_frame(frame), models, ["s"])
    problem = Problem.of(table, "ncp", 3, weights, requirements=[LDiversity(l, kind=kind)])
    objective = reference.Objective("ncp", columns, list(weights.values()))
    return problem, objective, twins.lacking(kind, l, secret)


DIVERSITIES = pytest.mark.parametrize(
    ("kind", "l"), [("frequency", 1.5), ("distinct", 2), ("entropy", 1.7)]
)


@DIVERSITIES
@pytest.mark.parametrize("seed", range(8))
def test_agglomerative_equals_its_twin(seed: int, kind: str, l: float) -> None:
    problem, objective, lack = generic(seed, 12, kind, l)
    for distance in DISTANCES:
        found = Agglomerative(distance).partition(problem, 0, silent).groups
        groups = tables.members(problem.points.of_record.tolist())
        expected = twins.agglomerative(objective.group, groups, 3, distance, lack)
        assert tables.partition_of(found.tolist()) == tables.as_partition(expected)


@DIVERSITIES
@pytest.mark.parametrize("seed", range(8))
def test_a_bottom_up_round_equals_its_twin(seed: int, kind: str, l: float) -> None:
    problem, objective, lack = generic(seed, 12, kind, l)
    start = problem.points.of_record // 2
    for distance, number in DISTANCES.items():
        state = state_of(problem, start)
        merge_round(problem.arrays, problem.pairs, problem.rules, state, number, 0, state.size.size)
        expected = twins.bottom_up(
            objective.group, tables.members(start.tolist()), 3, distance, lack
        )
        assert tables.partition_of(pack(state)[0].tolist()) == tables.as_partition(expected)


@DIVERSITIES
@pytest.mark.parametrize("seed", range(12))
def test_k_member_equals_its_twin(seed: int, kind: str, l: float, monkeypatch) -> None:
    problem, objective, lack = generic(seed, 17, kind, l)
    settling = sys.modules[complete_groups.__module__]
    monkeypatch.setattr(settling, "_mend", lambda *_: None)  # has a twin of its own
    found = k_members(problem, np.arange(17), problem.codes[5], silent)
    rest = np.lexsort(problem.codes.T).tolist()
    expected = twins.k_member(objective.group, list(range(17)), 3, 5, rest, lack)
    assert tables.partition_of(found.tolist()) == tables.as_partition(expected)


@DIVERSITIES
@pytest.mark.parametrize("seed", range(12))
def test_a_sequential_pass_equals_its_twin(seed: int, kind: str, l: float) -> None:
    problem, objective, lack = generic(seed, 24, kind, l)
    start = np.random.default_rng(seed).integers(0, 5, 24).tolist()
    start = np.array(tables.renumbered(start), dtype=np.int32)
    for firm in (1, 3, 5):
        state = swept(problem, start, firm)
        expected = twins.sequential(objective.group, tables.members(start.tolist()), lack, firm)
        assert tables.partition_of(pack(state)[0].tolist()) == tables.as_partition(expected)


# Pieces


@given(samples(), st.sampled_from(list(KINDS)), st.data())
def test_a_group_falls_short_by_nothing_exactly_where_it_is_diverse(sample, kind, data) -> None:
    problem = Problem.of(sample.encoded(), "lm", 1, requirements=data.draw(KINDS[kind]))
    size = data.draw(st.integers(1, sample.records))
    counts = np.bincount(problem.values[:size].reshape(-1), minlength=problem.tallied)
    lack = callable_here(rule_kernels.shortfall)(problem.rules, counts, size)
    assert (lack == 0.0) == rule_kernels.keeps_limits(problem.rules, counts, size)
    assert lack >= 0.0


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(1, 9), st.integers(0, 9))
def test_every_part_gets_its_share_of_every_kind(kinds, parts, seed) -> None:
    given_kinds = np.array(kinds, np.int32)
    for dealt in (
        deal_evenly(given_kinds, parts, np.random.default_rng(seed)),
        deal_in_turn(given_kinds, parts),
    ):
        for kind in set(kinds):
            counts = np.bincount(dealt[given_kinds == kind], minlength=parts)
            assert counts.size == parts
            assert counts.max() - counts.min() <= 1
    sizes = np.bincount(deal_in_turn(given_kinds, parts), minlength=parts)
    assert sizes.max() - sizes.min() <= 1


def test_which_parts_get_one_more_differs_from_kind_to_kind() -> None:
    kinds = np.repeat(np.arange(50, dtype=np.int32), 1)
    dealt = deal_evenly(kinds, 10, np.random.default_rng(0))
    assert len(set(dealt.tolist())) == 10


@settings(max_examples=several(40))
@given(samples(), st.sampled_from(list(KINDS)), st.integers(1, 8), st.data())
def test_uniting_ends_with_groups_that_keep_all_limits(sample, kind, parts, data) -> None:
    requirements = data.draw(KINDS[kind])
    problem = Problem.of(sample.encoded(), "lm", 1, requirements=requirements)
    groups = np.arange(sample.records, dtype=np.int32) % min(parts, sample.records)
    sizes = np.bincount(groups)
    tally = np.zeros((sizes.size, problem.tallied), np.int32)
    rule_kernels.count_groups(problem.values, groups, tally)
    diverse = [
        rule_kernels.keeps_limits(problem.rules, *own) for own in zip(tally, sizes, strict=True)
    ]
    before = groups.copy()
    found = unite_offenders(problem.rules, groups, tally, sizes, 32, np.random.default_rng(0))
    assert found <= diverse.count(False)
    if all(diverse):
        assert (groups == before).all()
    for a, b in pairwise(np.argsort(before, kind="stable")):
        assert before[a] != before[b] or groups[a] == groups[b]
    left = np.unique(groups, return_inverse=True)[1]
    assert left.max() == 0 or misses(problem.table, requirements, left) == []


def test_a_side_that_misses_the_requirement_borrows_the_nearest_records_that_help() -> None:
    frame = pa.table({"x": list(range(8)), "s": list("uuuvuvvv")})
    table = encode(open_frame(frame), {"x": shoal.Interval()}, ["s"])
    problem = Problem.of(table, "lm", 2, requirements=[LDiversity(1.5)])
    distances = np.array([[0, 0, 0, 3, 1, 4, 5, 2], [9, 9, 9, 0, 0, 0, 0, 0]], np.float64)
    side = np.array([0, 0, 0, 1, 1, 1, 1, 1], np.int8)
    assert not even_out_sides(problem.rules, problem.values, distances, side)
    side = np.array([0, 0, 0, 1, 1, 1, 1, 1], np.int8)
    looser = Problem.of(table, "lm", 2, requirements=[LDiversity(1.25)])
    assert even_out_sides(looser.rules, looser.values, distances, side)
    assert side.tolist() == [0, 0, 0, 1, 1, 1, 1, 0]


def test_sequential_says_when_its_even_start_missed_the_requirement() -> None:
    rng = np.random.default_rng(0)
    secret = np.where(np.arange(600) < 400, "common", "rare")
    frame = pa.table({"x": rng.integers(0, 50, 600), "s": secret})
    table = encode(open_frame(frame), {"x": shoal.Interval()}, ["s"])
    for l, is_told in ((1.1, False), (1.4, True)):
        problem = Problem.of(table, "lm", 10, requirements=[LDiversity(l)])
        made = Sequential().partition(problem, 0, silent)
        assert bool(made.notes) == is_told
        assert made.groups.max() > 10
        assert misses(table, [LDiversity(l)], made.groups) == []


def test_sequential_as_printed_gives_up_where_its_even_start_misses_the_requirement() -> None:
    """GT10 Algorithm 2, step 3; first groups of ⌊α·k⌋ = 5 records with a third of them rare."""
    rng = np.random.default_rng(0)
    secret = np.where(np.arange(600) < 400, "common", "rare")
    frame = pa.table({"x": rng.integers(0, 50, 600), "s": secret})
    table = encode(open_frame(frame), {"x": shoal.Interval()}, ["s"])
    for l, is_trivial in ((1.2, False), (1.4, True)):
        problem = Problem.of(table, "lm", 10, requirements=[LDiversity(l)])
        made = Sequential(printed=True).partition(problem, 0, silent)
        assert (made.groups.max() == 0) == is_trivial
        assert bool(made.notes) == is_trivial
        assert misses(table, [LDiversity(l)], made.groups) == []
        ours = Sequential().partition(problem, 0, silent)
        assert problem.cost(ours.groups) <= problem.cost(made.groups)


def test_sequential_as_printed_is_its_passes_and_merges_alone() -> None:
    """Where nothing is split, the release follows from the even start by the twins of its steps."""
    problem, objective, lack = generic(3, 24, "frequency", 1.3)
    method = Sequential(alpha=1.0, omega=2.0, tolerance=0, printed=True)
    made = method.partition(problem, 7, silent)
    rng = np.random.default_rng((7, 0))
    start = deal_evenly(kinds_of(problem), 24 // problem.k, rng).tolist()
    groups = tables.members(tables.renumbered(start))
    assert not any(lack(group) for group in groups)
    while True:
        before = tables.as_partition(groups)
        groups = twins.sequential(objective.group, groups, lack)
        assert max(map(len, groups)) <= 2 * problem.k
        if tables.as_partition(groups) == before:
            break
    groups = twins.merge_small(objective.group, groups, problem.k)
    assert tables.partition_of(made.groups.tolist()) == tables.as_partition(groups)


def test_k_member_stops_growing_a_group_that_nothing_brings_closer() -> None:
    """Once the rare value is used up, further groups stay at k records and are merged at the end."""
    frame = pa.table({"x": [0] * 30, "s": ["rare"] * 4 + ["common"] * 26})
    table = encode(open_frame(frame), {"x": shoal.Interval()}, ["s"])
    problem = Problem.of(table, "lm", 3, requirements=[LDiversity(2, kind="distinct")])
    groups = KMember().partition(problem, 0, silent).groups
    assert misses(table, [LDiversity(2, kind="distinct")], groups) == []
    assert groups.max() > 0


@pytest.mark.parametrize("method", METHODS[:4], ids=lambda method: method.name)
def test_counts_that_would_fill_the_memory_are_refused(method, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules[base.__name__], "MOST_TALLIES", 100)
    frame = pa.table({"x": list(range(60)), "s": [str(i) for i in range(60)]})
    table = encode(open_frame(frame), {"x": shoal.Interval()}, ["s"])
    problem = Problem.of(table, "lm", 2, requirements=[LDiversity(2)])
    with pytest.raises(shoal.InputError, match=r"GB of memory\. Choose a method"):
        method.partition(problem, 0, silent)
