"""`exact` is the optimum: a search of all partitions finds nothing better, and no method does."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import log

import numpy as np
import pytest
import reference
import tables
from compiled import needs_jit
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import guarantees as twins

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.errors import Cancelled, InputError
from shoal.progress import silent
from shoal.solve.methods import Agglomerative, Cover, Mondrian, Sequential
from shoal.solve.methods.base import Partition, guarantee_notes
from shoal.solve.methods.completion import suppressed_costs
from shoal.solve.methods.exact import MOST_RECORDS, Exact
from shoal.solve.methods.greedy_cover import covered_with_guarantee
from shoal.solve.methods.incognito import Incognito
from shoal.solve.methods.papers.forest import Forest
from shoal.solve.problem import Problem

pytestmark = pytest.mark.usefixtures("briefly")

OBJECTIVES = (*reference.ADDITIVE, "pmi", "wmi")
METHODS = {
    "cover": Cover().partition,
    "mondrian": Mondrian().partition,
    "sequential": Sequential().partition,
    "agglomerative": Agglomerative().partition,
    "forest": Forest().partition,
    "incognito": Incognito().partition,
    "incognito, suppression": Incognito(suppression=0.3).partition,
    "greedy cover": covered_with_guarantee,
}


def least_size(partition: Partition) -> int:
    return int(np.bincount(partition.groups).min())


@given(tables.jobs(7, OBJECTIVES))
@settings(max_examples=several(200))
def test_exact_finds_the_least_cost_of_all_partitions(case):
    sample, measure, k = case
    problem = sample.problem(measure, k)
    found = Exact().partition(problem, 0, silent)
    assert least_size(found) >= k
    best = reference.optimum(sample.objective(measure), sample.records, k)
    assert tables.paid(problem, found) == pytest.approx(best, abs=1e-9)


@given(tables.jobs(12, OBJECTIVES))
@settings(max_examples=several(150))
def test_every_method_keeps_k_and_none_is_better_than_exact(case):
    sample, measure, k = case
    problem = sample.problem(measure, k)
    best = tables.paid(problem, Exact().partition(problem, 0, silent))
    for name, partition in METHODS.items():
        found = partition(problem, 1, silent)
        assert found.groups.shape == (sample.records,), name
        assert least_size(found) >= k, name
        assert tables.paid(problem, found) >= best - 1e-9, name


@given(
    tables.samples(min_records=4, max_records=12), st.sampled_from(twins.COVERED), st.integers(2, 4)
)
@settings(max_examples=several(400))
def test_forest_and_greedy_cover_are_within_their_guarantees(sample, measure, k):
    problem = twins.proper_problem(sample, measure, min(k, sample.records))
    k = problem.k
    assume(guarantee_notes(problem) == ())
    best = tables.paid(problem, Exact().partition(problem, 0, silent))
    greedy = problem.cost(covered_with_guarantee(problem, 0, silent).groups)
    assert greedy <= 2 * (1 + log(2 * k)) * best + 1e-9
    forest = problem.cost(Forest().partition(problem, 0, silent).groups)
    assert forest <= max(2 * k - 1, 3 * k - 5) * best + 1e-9


def ages(records: int, k: int) -> Problem:
    frame = {"age": np.arange(records) ** 2}
    table = encode(open_frame(tables.pa.table(frame)), {"age": shoal.Interval()})
    return Problem.of(table, "lm", k)


@needs_jit
def test_the_largest_table_is_cut_into_neighbours():
    groups = Exact().partition(ages(MOST_RECORDS, 3), 0, silent).groups
    assert tables.partition_of(groups.tolist()) == [[i, i + 1, i + 2] for i in range(0, 18, 3)]


@needs_jit
def test_a_larger_table_is_cut_by_an_integer_program_and_proven():
    problem = ages(27, 3)
    found = Exact().partition(problem, 0, silent)
    neighbours = [[i, i + 1, i + 2] for i in range(0, 27, 3)]
    assert tables.partition_of(found.groups.tolist()) == neighbours
    assert found.notes == ()
    assert found.bound == pytest.approx(problem.cost(found.groups))


def test_a_larger_table_that_no_program_states_is_refused_and_cover_named():
    frame = tables.pa.table({"letter": [chr(97 + i % 9) for i in range(19)]})
    problem = Problem.of(encode(open_frame(frame), {"letter": shoal.Subset()}), "lm", 3)
    refusal = r"at most 18 records with columns of subsets, but the table has 19\. .*'cover'"
    with pytest.raises(InputError, match=refusal):
        Exact().partition(problem, 0, silent)


@given(tables.jobs(7, reference.MONOTONE), st.integers(0, 3))
@settings(max_examples=several(100))
def test_exact_leaves_out_the_records_that_save_most(case, most):
    sample, measure, k = case
    problem = replace(sample.problem(measure, k), most_left_out=most)
    found = Exact().partition(problem, 0, silent).groups
    hidden = suppressed_costs(problem)[problem.classes]
    assert (found < 0).sum() <= most
    costs = [problem.objective.offset.sum() + hidden.sum() if sample.records <= most else np.inf]
    for left_out in range(min(most, sample.records - 1) + 1):
        for outside in combinations(range(sample.records), left_out):
            kept = np.delete(np.arange(sample.records), outside)
            for groups in reference.partitions(kept.tolist(), k):
                numbers = np.full(sample.records, -1, dtype=np.int32)
                for g, group in enumerate(groups):
                    numbers[group] = g
                costs.append(problem.cost(numbers) + hidden[[*outside]].sum())
    paid = problem.cost(found) if (found >= 0).any() else problem.objective.offset.sum()
    assert paid + hidden[found < 0].sum() == pytest.approx(min(costs), abs=1e-9)


@pytest.mark.parametrize("name", [*METHODS, "exact"])
def test_a_run_can_be_cancelled(name):
    def stop(stage: str, done: int, total: int) -> None:
        raise Cancelled(stage)

    partition = {**METHODS, "exact": Exact().partition}[name]
    with pytest.raises(Cancelled):
        partition(ages(10, 2), 0, stop)
