"""Cover borrows, and proposes lattice points where it cannot visit all, as its slow twins do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
import reference.requirements
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import OBJECTIVES, Group
from reference import borrowing as twins
from reference.clustering import Cost, lacking, none_lacking
from reference.proposals import propose

import shoal
from shoal.audits.requirements.base import Requirement
from shoal.audits.requirements.closeness import TCloseness
from shoal.audits.requirements.diversity import LDiversity
from shoal.audits.requirements.sensitivity import PSensitive
from shoal.encoding.encode import Table, encode
from shoal.encoding.frames import open_frame
from shoal.kernels.covering.proposals import propose_points
from shoal.progress import silent
from shoal.solve.methods import Cover, cover
from shoal.solve.methods import borrowing_cover as lending
from shoal.solve.methods import borrowing_cover as proposals
from shoal.solve.methods.lattice import make_ladders, make_lattice, rung_costs
from shoal.solve.problem import Problem

SECRET = ["p", "q"]
TERMS = ((0.0, 0.0), (0.3, 0.5), (1.0, 1.0))  # generous ones, for small tables
TREE = shoal.Hierarchy.from_dict({"*": {"ab": {"a": None, "b": None}, "c": None, "d": None}})
MODELS = {"u": TREE, "v": shoal.Suppression(), "w": shoal.Interval()}


def random_table(seed: int, records: int) -> Table:
    """Some values are frequent, some rare, so that cells lack a little and groups have some to spare."""
    rng = np.random.default_rng(seed)
    shares = [0.5, 0.25, 0.15, 0.1]
    columns = {name: rng.choice(list("abcd"), records, p=shares) for name in ("u", "v", *SECRET)}
    frame = pa.table({**columns, "w": rng.integers(0, 5, records)})
    return encode(open_frame(frame), MODELS, SECRET)


def secret_of(table: Table, name: str) -> list[int]:
    return [int(code) for code in table.sensitive[name].codes]


def both(kind: str, level: float) -> Callable[[Table], Cost]:
    """How far a group is from a level in the two sensitive columns together."""

    def of(table: Table) -> Cost:
        lacks = [lacking(kind, level, secret_of(table, name)) for name in SECRET]
        return lambda group: sum(lack(group) for lack in lacks)

    return of


REQUIREMENTS: dict[str, tuple[Sequence[Requirement], Callable[[Table], Cost]]] = {
    "k": ([], lambda table: none_lacking),
    "frequency": ([LDiversity(1.5)], both("frequency", 1.5)),
    "distinct": ([LDiversity(3, "distinct")], both("distinct", 3)),
    "entropy": ([LDiversity(2, "entropy")], both("entropy", 2)),
    "p-sensitive": ([PSensitive(2)], both("distinct", 2)),
    "closeness": ([TCloseness(0.3)], both("closeness", 0.3)),
}


def visits_of(problem: Problem, terms: Sequence[tuple[float, float]]) -> list[twins.Visit]:
    """Every lattice point under each of the terms of borrowing and with each reach, in order of price."""
    ladders = make_ladders(problem)
    paid = [
        [rung_costs(problem, j, rung) for rung in ladder.rungs] for j, ladder in enumerate(ladders)
    ]
    found = []
    for point in product(*(range(len(ladder.rungs)) for ladder in ladders)):
        own = [(ladder.rungs[r], ladder.costs[r]) for ladder, r in zip(ladders, point, strict=True)]
        rungs = [rung for rung, _ in own]
        keys = [tuple(rung[v] for rung, v in zip(rungs, row, strict=True)) for row in problem.codes]
        costs = [
            sum(paid[j][r][y, row[j]] for j, r in enumerate(point))
            for row, y in zip(problem.codes, problem.classes, strict=True)
        ]
        found.append((round(sum(cost for _, cost in own), 9), keys, costs))
    found.sort(key=lambda item: item[0])
    priced: list[tuple[float, twins.Visit]] = []
    for term, (markup, share) in enumerate(terms):
        for reach in lending.REACHES:
            for point, (cost, keys, costs) in enumerate(found):
                limit = (1 + 1e-5) * reach * cost if reach < lending.REACHES[-1] else np.inf
                visit = twins.Visit(keys, costs, limit, term * len(found) + point, markup, share)
                priced.append((round((1 + markup) * reach * cost, 9), visit))
    return [visit for _, visit in sorted(priced, key=lambda item: item[0])]


def walked(problem: Problem, terms: Sequence[tuple[float, float]]) -> tuple[list[Group], Group]:
    lattice = make_lattice(problem, make_ladders(problem), 10_000, 0)
    with pytest.MonkeyPatch.context() as patch:
        for chosen in ("TERMS", "SCARCE_TERMS", "DISTINCT_TERMS"):
            patch.setattr(lending, chosen, terms)
        patch.setattr(cover, "CHUNK", 5)
        found = cover._walk(problem, lattice, silent)
    groups = [np.flatnonzero(found == g).tolist() for g in range(found.max() + 1)]
    return groups, np.flatnonzero(found < 0).tolist()


def by_all_that_is_seen(problem: Problem) -> Group:
    """The order in which records are looked at, wherever they stand in the table."""
    rows = np.column_stack([problem.codes, problem.classes, problem.values]).tolist()
    return sorted(range(len(rows)), key=lambda i: rows[i])


@pytest.mark.parametrize("kind", REQUIREMENTS)
@settings(max_examples=several(25))
@given(
    st.integers(0, 10**6),
    st.integers(8, 70),
    st.integers(2, 6),
    st.integers(1, 3),
    st.sampled_from(OBJECTIVES),
)
def test_cells_borrow_as_in_the_twin(kind, seed, records, k, borrowing, objective):
    requirements, lack_of = REQUIREMENTS[kind]
    table = random_table(seed, records)
    problem = Problem.of(table, objective, k, requirements=requirements)
    terms = TERMS[:borrowing]
    visits, order = visits_of(problem, terms), by_all_that_is_seen(problem)
    groups, left = twins.lend(visits, order, k, lack_of(table))
    assert walked(problem, terms) == ([sorted(group) for group in groups], sorted(left))


@pytest.mark.parametrize("kind", REQUIREMENTS)
def test_borrowing_changes_the_groups_of_such_tables(kind):
    requirements, _ = REQUIREMENTS[kind]
    problem = Problem.of(random_table(1, 70), "lm", 4, requirements=requirements)
    assert walked(problem, TERMS) != walked(problem, TERMS[:1])


@settings(max_examples=several(60))
@given(
    st.integers(0, 10**6), st.integers(1, 70), st.integers(1, 6), st.sampled_from([1, 40, 10**6])
)
def test_seeds_propose_the_points_of_the_twin(seed, records, k, most_counts):
    weights = {"u": 2**0.5, "v": 1.0, "w": 3**0.5}  # so that steps do not tie
    problem = Problem.of(random_table(seed, records), "lm", k, weights)
    ladders = make_ladders(problem)
    order = np.random.default_rng(seed).permutation(records).astype(np.int32)
    counted, seeds = order[: max(1, records // 2)], order[: max(1, records // 4)]
    rungs = proposals._flatten(ladders)
    found, number = propose_points(rungs, problem.codes, counted, seeds, k, most_counts)
    own = [(ladder.rungs, ladder.costs) for ladder in ladders]
    ends = [propose(own, problem.codes.tolist(), counted.tolist(), i, k) for i in seeds]
    counted_ends: Counter[tuple[int, ...]] = Counter()
    for point, times in zip(found.tolist(), number.tolist(), strict=True):
        counted_ends[tuple(point)] += times
    assert counted_ends == Counter(ends)


@pytest.mark.parametrize("kind", reference.requirements.ALL_KINDS)
@settings(max_examples=several(30))
@given(data=st.data())
def test_groups_from_proposed_points_meet_the_requirement(kind, data):
    sample, k, requirements = data.draw(reference.requirements.cases(kind, max_records=40))
    problem = reference.requirements.problem_of(sample, "lm", k, requirements)
    groups = Cover(max_points=1).partition(problem, 0, silent).groups
    meets = reference.requirements.meets(sample, k, requirements)
    assert all(meets(np.flatnonzero(groups == g).tolist()) for g in range(groups.max() + 1))


def test_records_in_many_columns_are_not_left_to_one_group():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, (20, 40))  # twenty kinds of people, told apart by forty columns
    rows = kinds[rng.integers(0, 20, 600)]
    rows ^= rng.random(rows.shape) < 0.02
    table = pa.table({f"c{j:02}": rows[:, j] for j in range(40)})
    models = dict.fromkeys(table.column_names, shoal.Suppression())
    release = shoal.anonymize(table, quasi_identifiers=models, k=5, method="cover", refine=False)
    assert release.loss("lm") < 0.15
    assert "those that records proposed" in release.notes[0]


@pytest.mark.parametrize("max_points", [30_000, 1])
@pytest.mark.parametrize(("chosen", "kind"), [("TERMS", "k"), ("DISTINCT_TERMS", "distinct")])
def test_there_may_be_any_number_of_terms(chosen, kind, max_points, monkeypatch):
    """What waits has a place for each of the terms in force: a fourth one must not write beyond it."""
    visits: list[int] = []
    visit = lending.LendingCover.visit

    def watched(self, steps, costs, terms, places, waiting, *rows):
        visits.append(len(places))
        assert places.max(initial=0) < waiting.size
        visit(self, steps, costs, terms, places, waiting, *rows)

    monkeypatch.setattr(lending, chosen, (*TERMS, (2.0, 1.0)))
    monkeypatch.setattr(lending.LendingCover, "visit", watched)
    requirements, _ = REQUIREMENTS[kind]
    problem = Problem.of(random_table(1, 70), "lm", 4, requirements=requirements)
    groups = Cover(max_points).partition(problem, 0, silent).groups
    assert np.bincount(groups).min() >= 4
    assert sum(visits) > 0
