"""Counted tables: what holds for records holds for rows that stand for several of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import log
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from compiled import needs_jit

import shoal
from shoal.assess.association_rules import compare_rules
from shoal.assess.comparison import comparison_of
from shoal.assess.distributions import compare_distributions
from shoal.assess.downcoding import measure_downcoding
from shoal.assess.queries import compare_answers
from shoal.assess.risk import compare_risks
from shoal.data.open import open_table
from shoal.encoding.closed import Closed
from shoal.encoding.encode import Table, encode
from shoal.encoding.frames import open_frame
from shoal.kernels.shared.groups import group_costs
from shoal.kernels.shared.rules import count_groups, keeps_limits
from shoal.kernels.shared.state import offending
from shoal.pipeline.carriers.memory import encode_source
from shoal.progress import Progress, silent
from shoal.settings.settings import make_settings
from shoal.solve.bounds.certificate import Certifier
from shoal.solve.counted.assignment import Assignment, merge_equal_rows, pick_rows
from shoal.solve.counted.exact_groups import set_aside, which_comply
from shoal.solve.counted.parts import column_order, cut_into_parts, refine_in_parts
from shoal.solve.counted.remote import in_threads, solve_packed
from shoal.solve.counted.solve import solve
from shoal.solve.local_search.budget import Refine
from shoal.solve.local_search.state import SearchState
from shoal.solve.measures import MEASURES, compute_loss
from shoal.solve.methods import Agglomerative, Cover, Incognito, Method, Mondrian, Partition
from shoal.solve.problem import Problem

pytestmark = pytest.mark.usefixtures("briefly")

TOWNS = shoal.Hierarchy.from_dict(
    {"*": {"north": ["a", "b", "c"], "south": {"inland": ["d"], "coast": ["e", "f"]}}}
)
MODELS = {"age": shoal.Interval(), "town": TOWNS, "job": shoal.Subset(), "sex": shoal.Suppression()}
REQUIREMENTS = [
    [],
    [shoal.LDiversity(2, kind="distinct")],
    [shoal.LDiversity(1.5, kind="entropy")],
    [shoal.LDiversity(2)],
    [shoal.LDiversity(2, kind="recursive", c=3.0)],
    [shoal.AlphaK(0.7)],
    [shoal.TCloseness(0.5)],
    [shoal.PSensitive(2), shoal.LDiversity(1.2, kind="entropy")],
]


def people(records: int, seed: int = 0, ages: int = 9) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 20 + ages, records)
    town = rng.choice(list("abcdef"), records, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    jobs = rng.choice(["x", "y", "z", None], records, p=[0.5, 0.3, 0.1, 0.1])
    sex = rng.choice(["f", "m"], records)
    ill = rng.choice(["flu", "none", "cold", None], records, p=[0.4, 0.4, 0.15, 0.05])
    return pa.table(
        {
            "age": age,
            "town": town,
            "job": jobs,
            "sex": sex,
            "ill": ill,
            "more": rng.integers(0, 3, records),
        }
    )


def encoded(records: int, seed: int = 0, ages: int = 9) -> Table:
    return encode(open_frame(people(records, seed, ages)), MODELS, ["ill", "more"])


def problem_of(
    table: Table, k: int = 3, requirements: Sequence[shoal.Requirement] = (), objective: str = "lm"
) -> Problem:
    return Problem.of(table, objective, k, requirements=list(requirements))


def both(records: int, seed: int, objective: str = "lm") -> tuple[Closed, Closed]:
    """The same release of records and of counted rows."""
    table = encoded(records, seed)
    groups = Mondrian().partition(problem_of(table, objective=objective), seed, silent).groups
    plain = problem_of(table, objective=objective).close(groups)
    small = merge_equal_rows(table)
    keys = {tuple(row): i for i, row in enumerate(_rows(small))}
    place = np.array([keys[tuple(row)] for row in _rows(table)])
    assignment = Assignment.of(place, np.ones_like(place), groups)
    return plain, assignment.close(problem_of(small, objective=objective))[1]


def _rows(table: Table) -> list[list[int]]:
    secrets = [secret.codes for secret in table.sensitive.values()]
    return np.column_stack([table.codes, *secrets]).tolist()


def in_words(found: object) -> object:
    """A result without the last digits of its numbers."""
    if isinstance(found, float):
        return float(f"{found:.9g}")
    if isinstance(found, dict):
        return {key: in_words(value) for key, value in found.items()}
    return [in_words(item) for item in found] if isinstance(found, list | tuple) else found


@pytest.mark.parametrize("seed", range(3))
def test_a_reduced_table_stands_for_the_same_records(seed: int) -> None:
    table = encoded(300, seed)
    small = merge_equal_rows(table)
    assert small.counts is not None
    assert small.records == 300 > small.rows
    again = Counter({tuple(row): int(n) for row, n in zip(_rows(small), small.counts, strict=True)})
    assert again == Counter(map(tuple, _rows(table)))
    shuffled = table.pick(np.random.default_rng(seed).permutation(300))
    assert _rows(merge_equal_rows(shuffled)) == _rows(small)


@pytest.mark.parametrize("objective", ["lm", "entropy", "pmi", "wmi", "mi"])
def test_every_measure_is_the_same_on_counts(objective: str) -> None:
    plain, counted = both(200, 1, objective)
    assert counted.table.rows < plain.table.rows
    for measure in MEASURES:
        assert compute_loss(counted, measure, k=3) == pytest.approx(
            compute_loss(plain, measure, k=3), rel=1e-9
        ), measure


def test_every_evaluation_is_the_same_on_counts() -> None:
    settings = make_settings(None, quasi_identifiers=MODELS, sensitive=["ill", "more"], k=3)
    one, other = (comparison_of(closed, settings) for closed in both(200, 2))
    for evaluate in (compare_risks, compare_distributions, compare_rules):
        assert in_words(evaluate(one).to_dict()) == in_words(evaluate(other).to_dict()), evaluate
    answers = [in_words(compare_answers(item, 50).to_dict()) for item in (one, other)]
    assert answers[0] == answers[1]
    plain, counted = both(200, 2)
    assert in_words(measure_downcoding(plain).to_dict()) == in_words(
        measure_downcoding(counted).to_dict()
    )


@pytest.mark.parametrize("objective", ["lm", "pmi", "suppressed"])
def test_the_certificate_is_the_same_on_counts(objective: str) -> None:
    found = []
    for closed in both(150, 3, objective):
        value = compute_loss(closed, objective, k=3)
        certifier = Certifier(closed, k=3, objective=objective, weights={}, w=0.5, loss=value)
        certifier.certify(60, 3)
        found.append(certifier.certificate.bound if certifier.certificate else certifier.reason)
    assert (
        found[0] == pytest.approx(found[1], rel=1e-9)
        if objective != "pmi"
        else found[0] == found[1]
    )


@pytest.mark.parametrize("asked", REQUIREMENTS, ids=str)
def test_compliance_of_counted_groups_is_that_of_records(asked: list[shoal.Requirement]) -> None:
    table = encoded(400, 4)
    plain = problem_of(table, 3, asked)
    groups = np.random.default_rng(4).integers(0, 90, 400).astype(np.int32)
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    tally = np.zeros((groups.max() + 1, plain.tallied), np.int32)
    count_groups(plain.values, groups, tally)
    sizes = np.bincount(groups)
    expected = [
        bool(size >= 3 and keeps_limits(plain.rules, row, int(size)))
        for row, size in zip(tally, sizes, strict=True)
    ]
    assert which_comply(plain, groups, np.ones(400, np.int64)).tolist() == expected
    assert len(set(expected)) == 2


def meets(values: list[tuple[int, int]], k: int, distinct: int, entropy: float) -> bool:
    """Plainly: at least k records, so many distinct values of the first sensitive column, so much entropy."""
    counts = Counter(value for value, _ in values)
    spread = -sum(n / len(values) * log(n / len(values)) for n in counts.values())
    return len(values) >= k and len(counts) >= distinct and spread >= log(entropy) - 1e-9


ASKED = {"k": ([], 1, 1.0), "distinct": ([shoal.LDiversity(2, kind="distinct", columns=["ill"])], 2, 1.0),
         "entropy": ([shoal.LDiversity(1.5, kind="entropy", columns=["ill"])], 1, 1.5)}  # fmt: skip


def members(
    table: Table, rows: np.ndarray, counts: np.ndarray, groups: np.ndarray
) -> dict[int, list]:
    found: dict[int, list] = defaultdict(list)
    secrets = np.column_stack([secret.codes for secret in table.sensitive.values()])
    for row, count, group in zip(rows.tolist(), counts.tolist(), groups.tolist(), strict=True):
        found[group] += [tuple(secrets[row])] * count
    return found


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("most", [50, 400, 1200, 10_000])
def test_what_is_set_aside_and_what_is_left_meet_the_requirement(kind: str, most: int) -> None:
    asked, distinct, entropy = ASKED[kind]
    table = merge_equal_rows(encoded(2000, 5))
    problem = problem_of(table, 4, asked)
    aside = set_aside(problem, most)
    assert table.counts is not None
    assert (aside >= 0).all()
    assert (aside <= table.counts).all()
    left = table.counts - aside
    assert left.sum() == 2000 if most > 2000 else left.sum() < 2000
    points = np.unique(table.codes, axis=0, return_inverse=True)[1].reshape(-1)
    for values in members(table, np.arange(table.rows), aside, points).values():
        assert not values or meets(values, 4, distinct, entropy)
    [rest] = members(table, np.arange(table.rows), left, np.zeros(table.rows, int)).values()
    assert not rest or meets(rest, 4, distinct, entropy)
    if left.sum() > 2 * most:  # then no combination that is enough keeps any lenders
        whole = members(table, np.arange(table.rows), table.counts, points)
        for point, values in whole.items():
            if meets(values, 4, distinct, entropy):
                assert left[points == point].sum() == 0


def test_lenders_and_groups_get_sensitive_values_evenly() -> None:
    """Groups of equal records must not get one sensitive value after the other, which would tell it."""
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "age": np.repeat([30, 31, 32, 33], 500),
            "ill": rng.permutation(np.repeat(["flu", "none"], 1000)),
        }
    )
    lone = pa.table({"age": np.arange(40, 48), "ill": ["flu"] * 8})
    small = merge_equal_rows(encode(open_frame(pa.concat_tables([table, lone])), ["age"], ["ill"]))
    problem = Problem.of(small, "lm", 20)
    assert small.counts is not None
    lent = small.counts - set_aside(problem, 200, np.random.default_rng(1))
    for age in range(4):
        own = small.codes[:, 0] == age
        assert lent[own].sum() == 40
        assert np.abs(lent[own] - 40 * small.counts[own] / 500).max() < 1
    found = solve(problem, Cover(), None, seed=0, progress=silent, most=200).assignment
    merged, closed = found.close(problem)
    general = closed.of_column(0)[0] != closed.of_column(0)[1]
    is_ill = small.sensitive["ill"].codes[merged.rows] == 0
    borrowed = general[merged.groups] & (small.codes[merged.rows, 0] < 4)
    assert merged.counts[borrowed].sum() >= 12
    for group in np.flatnonzero(general):
        own = borrowed & (merged.groups == group)
        if merged.counts[own].sum() >= 12:
            assert 0.1 < merged.counts[own & is_ill].sum() / merged.counts[own].sum() < 0.9


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("most", [60, 250, 10_000])
@pytest.mark.parametrize("seed", range(2))
def test_every_record_is_assigned_to_a_group_that_meets_the_requirement(
    kind: str, most: int, seed: int
) -> None:
    asked, distinct, entropy = ASKED[kind]
    table = merge_equal_rows(encoded(600, seed, ages=30))
    problem = problem_of(table, 4, asked)
    found = solve(problem, Cover(), Refine(), seed=seed, progress=silent, most=most).assignment
    assert table.counts is not None
    assert np.bincount(found.rows, found.counts, table.rows).tolist() == table.counts.tolist()
    for values in members(table, found.rows, found.counts, found.groups).values():
        assert meets(values, 4, distinct, entropy)
    merged, closed = found.close(problem)
    assert merged.counts.sum() == closed.sizes.sum() == 600
    assert closed.sizes.min() >= 4
    for j, column in enumerate(table.columns):
        holds = column.form.holds(closed.of_column(j)) > 0
        assert holds[table.codes[merged.rows, j], merged.groups].all()


def test_a_table_that_fits_is_solved_like_its_records() -> None:
    table = merge_equal_rows(encoded(600, 7, ages=30))
    found = solve(problem_of(table), Cover(), None, seed=0, progress=silent, most=600).assignment
    counts = table.counts
    assert counts is not None
    plain = table.pick(np.repeat(np.arange(table.rows), counts))
    groups = Cover().partition(problem_of(plain), 0, silent).groups
    expected = compute_loss(problem_of(plain).close(groups), "lm")
    assert compute_loss(found.close(problem_of(table))[1], "lm") == pytest.approx(
        expected, rel=1e-12
    )


def test_left_out_records_are_counted_by_the_whole_table() -> None:
    plain = people(600, 8)
    far = np.where(np.arange(600) % 150 == 0, 5000, plain["age"].to_numpy())  # four very old people
    table = encode(open_frame(plain.set_column(0, "age", [far])), MODELS, ["ill", "more"])
    problem = problem_of(merge_equal_rows(table), 5, objective="ncp")
    problem = replace(problem, most_left_out=6)
    solved = solve(problem, Cover(), None, seed=0, progress=silent, most=300)
    assert 0 < solved.assignment.left_out <= 6
    kept = solved.assignment.released()
    assert kept.counts.sum() == 600 - solved.assignment.left_out
    sizes = np.bincount(kept.groups, kept.counts)
    assert sizes[sizes > 0].min() >= 5


def test_nothing_is_left_out_where_all_records_meet_the_requirement_with_their_equals() -> None:
    table = pa.table({"age": np.repeat([30, 31], 20), "ill": ["flu", "none"] * 20})
    problem = Problem.of(merge_equal_rows(encode(open_frame(table), ["age"], ["ill"])), "lm", 5)
    problem = replace(problem, most_left_out=4)
    solved = solve(problem, Cover(), Refine(), seed=0, progress=silent, most=10)
    assert solved.assignment.left_out == 0
    assert compute_loss(solved.assignment.close(problem)[1], "lm") == 0


def test_global_recoding_gives_equal_values_equal_texts_and_refuses_what_does_not_fit() -> None:
    table = merge_equal_rows(encoded(300, 9))
    problem = problem_of(replace(table), 4)
    found = solve(problem, Incognito(), None, seed=0, progress=silent, most=300)
    merged, closed = found.assignment.close(problem)
    for j in range(len(table.columns)):
        texts = table.columns[j].form.text(closed.of_column(j))
        reads = {
            (int(c), texts[g])
            for c, g in zip(table.codes[merged.rows, j], merged.groups, strict=True)
        }
        assert len(reads) == len(np.unique(table.codes[:, j]))
    with patch("shoal.solve.counted.exact_groups.COMFORTABLE", 10):
        again = solve(problem, Incognito(), None, seed=0, progress=silent, most=300)
    assert again.assignment.groups.tolist() == found.assignment.groups.tolist()
    with pytest.raises(shoal.InputError, match="needs all 300 records at once"):
        solve(problem, Incognito(), None, seed=0, progress=silent, most=299)


def test_parts_of_a_round_hold_all_rows_once_and_are_cut_elsewhere_the_next_time() -> None:
    table = merge_equal_rows(encoded(2000, 10, ages=60))
    problem, counts = problem_of(table), table.counts
    assert counts is not None
    lines, used = [column_order(problem, j) for j in range(4)], np.zeros(4)
    parts = [cut_into_parts(lines, counts, 200, used) for _ in range(2)]
    for found in parts:
        assert len(found) >= 8
        assert sorted(np.concatenate([part.rows for part in found]).tolist()) == list(
            range(table.rows)
        )
        assert max(counts[part.rows].sum() for part in found) <= 200
    one, other = ({frozenset(part.rows.tolist()) for part in found} for found in parts)
    assert one != other


@pytest.mark.parametrize("objective", ["lm", "ncp", "mi", "suppressed"])
def test_no_group_reaches_across_a_cut_for_less_than_is_said(objective: str) -> None:
    table = merge_equal_rows(encoded(300, 11, ages=12))
    problem = problem_of(table, objective=objective)
    for j, column in enumerate(table.columns):
        line, form = column_order(problem, j), column.form
        place = {
            int(code): int(at) for code, at in zip(table.codes[:, j], line.places, strict=True)
        }
        assert len(set(place.values())) == len(place)
        for a, b in combinations(place, 2):
            rows = [int(np.flatnonzero(table.codes[:, j] == code)[0]) for code in (a, b)]
            pair = Assignment.of(np.array(rows), np.ones(2, np.int64), np.zeros(2, np.int32))
            low, high = sorted((place[a], place[b]))
            closures, counts = pick_rows(problem, pair.rows, pair.counts).closures(pair.groups)
            cost = group_costs(problem.arrays, closures, counts)[j, 0] / 2
            assert (line.across[low:high] <= cost + 1e-9).all(), (column.name, form)


@needs_jit
def test_the_sample_loses_little_more_with_most_of_it_set_aside_or_in_rounds() -> None:
    source = shoal.samples.adult().slice(0, 12_000)
    settings = make_settings(shoal.samples.adult_settings())
    table = merge_equal_rows(encode_source(open_table(source, settings.reading), settings))
    problem = Problem.of(table, "lm", 5)
    losses = {}
    for most in (12_000, 9_000, 1_500):
        found = solve(problem, Cover(), None, seed=0, progress=silent, most=most)
        losses[most] = compute_loss(found.assignment.close(problem)[1], "lm")
    assert losses[9_000] < 1.01 * losses[12_000], losses
    assert losses[1_500] < 1.03 * losses[12_000], losses


@pytest.mark.parametrize("kind", ["k", "entropy"])
def test_a_large_table_in_memory_is_refined_in_parts_the_same_by_any_number_of_threads(
    kind: str,
) -> None:
    problem = problem_of(encoded(900, 3, ages=40), 4, ASKED[kind][0])
    groups = Cover().partition(problem, 0, silent).groups
    found = []
    for threads in (1, 2):
        with (
            patch("shoal.solve.counted.parts.MANY", 500),
            patch("shoal.solve.counted.parts.PART", 300),
            patch("shoal.solve.counted.remote.thread_count", lambda threads=threads: threads),
        ):
            found.append(refine_in_parts(problem, groups, 0, silent, Refine()))
    assert (found[0].groups == found[1].groups).all()
    assert found[0].notes == (
        "large table: only the 900 records with the highest loss were tried in other groups",
    )
    assert not offending(problem.rules, SearchState.of(problem, found[0].groups).search.s).any()
    assert problem.cost(found[0].groups) < problem.cost(groups)


@pytest.mark.parametrize("kind", ["k", "entropy"])
def test_rounds_never_solve_more_records_at_once_than_they_may(kind: str) -> None:
    asked = ASKED[kind][0]
    problem = problem_of(merge_equal_rows(encoded(900, 3, ages=40)), 4, asked)
    solved: list[int] = []
    plain = Cover.partition

    def spy(self: Cover, part: Problem, *how: Any) -> Partition:
        solved.append(part.table.records)
        return plain(self, part, *how)

    with patch.object(Cover, "partition", spy):
        solve(problem, Cover(), None, seed=0, progress=silent, most=150)
    assert len(solved) > 6
    assert max(solved) <= 150


def test_a_release_is_the_same_on_any_number_of_threads() -> None:
    problem = problem_of(merge_equal_rows(encoded(900, 3, ages=40)), 4)
    found = []
    for number in (1, 3):
        with patch("shoal.solve.counted.remote.thread_count", return_value=number):
            solved = solve(problem, Cover(), Refine(), seed=0, progress=silent, most=150)
        found.append(solved.assignment)
    assert found[0].rows.tolist() == found[1].rows.tolist()
    assert found[0].groups.tolist() == found[1].groups.tolist()


class Posted:
    """Parts that are solved elsewhere, each of them twice and from the last to the first."""

    note = "solved elsewhere"

    def __init__(self, ready: bool) -> None:
        self.ready, self.parts = ready, 0

    def is_ready(self) -> bool:
        return self.ready

    def solve(self, parts: Sequence[bytes]) -> list[bytes]:
        self.parts += len(parts)
        found = [(solve_packed(part), solve_packed(part)) for part in reversed(parts)]
        assert all(one == other for one, other in found)
        return [one for one, _ in reversed(found)]


@pytest.mark.parametrize("kind", ["k", "entropy"])
@pytest.mark.parametrize("method", [Cover(), Agglomerative()])
def test_parts_of_rounds_give_the_same_wherever_they_are_solved(kind: str, method: Method) -> None:
    problem = problem_of(merge_equal_rows(encoded(900, 3, ages=40)), 4, ASKED[kind][0])
    found = []
    for place in (None, Posted(ready=False), Posted(ready=True)):
        how: dict[str, Any] = {"seed": 0, "progress": silent, "most": 150, "elsewhere": place}
        solved = solve(problem, method, None, **how)
        found.append(
            [array.tolist() for array in vars(solved.assignment).values() if array is not None]
        )
        assert place is None or "solved elsewhere" in solved.notes
        assert place is None or (place.parts >= 6) == place.ready
    assert found[0] == found[1] == found[2]


def test_jobs_in_threads_come_back_in_order_and_stop_when_asked() -> None:
    def square(job: int, progress: Progress) -> int:
        progress("squaring", 0, 1)
        return job * job

    assert in_threads(range(20), square, "squaring", silent) == [job * job for job in range(20)]

    def patient(job: int, progress: Progress) -> None:
        while job:
            progress("waiting", 0, 1)

    def impatient(stage: str, done: int, total: int) -> None:
        raise shoal.Cancelled("enough")

    with pytest.raises(shoal.Cancelled, match="enough"):
        in_threads(range(3), patient, "waiting", impatient)

    def broken(job: int, progress: Progress) -> None:
        if job == 2:
            raise ValueError("a fault")

    with pytest.raises(ValueError, match="a fault"):
        in_threads(range(5), broken, "breaking", silent)
