"""Ranges of bins cost what ranges of their values cost, and tables of few values have none."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
import reference
from compiled import callable_here
from examples import several
from hypothesis import given, settings
from partitions import Start, starts
from tables import problem_of

import shoal
from shoal.encoding.forms import Ints, RangeForm
from shoal.kernels.shared import forms
from shoal.kernels.shared.forms import LINEAR
from shoal.solve.local_search import coarse
from shoal.solve.local_search.coarse import BINS, coarsened

range_cost = callable_here(forms.range_cost)


@settings(max_examples=several(60))
@given(starts())
def test_tables_of_few_values_stay_as_they_are(start: Start) -> None:
    assert coarsened(start.problem, start.refined().closures) is start.problem


def bins_of(form: RangeForm, binned: RangeForm) -> tuple[Ints, Ints]:
    """The first and the last code in each bin of a column; null is alone in the last one."""
    first = np.searchsorted(form.positions, binned.positions)
    last = np.append(first[1:], len(form.labels)) - 1
    null = [form.null] * form.has_null
    return np.append(first, null).astype(np.int32), np.append(last, null).astype(np.int32)


@settings(max_examples=several(150))
@given(starts(measures=reference.MONOTONE))
def test_a_range_of_bins_costs_what_that_of_their_values_does(start: Start) -> None:
    """Where a cost adds up from value to value, a bin counts as the value in its middle."""
    problem = start.problem
    with patch.object(coarse, "FEW", 2):
        coarser = coarsened(problem, start.refined().closures)
    for j, (column, binned) in enumerate(zip(problem.columns, coarser.columns, strict=True)):
        codes, into = problem.codes[:, j], coarser.codes[:, j]
        if binned is column:
            assert (into == codes).all()
            continue
        assert isinstance(column.form, RangeForm)
        assert isinstance(binned.form, RangeForm)
        first, last = bins_of(column.form, binned.form)
        assert (first[into] <= codes).all()
        assert (codes <= last[into]).all()
        assert np.isclose(binned.counts, np.bincount(into, minlength=first.size)).all()
        is_linear = problem.arrays.kind[j] == LINEAR
        low, high = ((first + last) // 2,) * 2 if is_linear else (first, last)
        for a, b in combinations(range(first.size), 2):
            expected = range_cost(problem.arrays, 0, j, low[a], high[b])
            assert range_cost(coarser.arrays, 0, j, a, b) == pytest.approx(expected)


def test_groups_span_a_few_bins_of_a_column_of_many_values() -> None:
    records, size = 4000, 80
    problem = problem_of({"n": range(records)}, {"n": shoal.Interval()}, "lm", size)
    groups = np.arange(records, dtype=np.int32) // size
    coarser = coarsened(problem, problem.closures(groups)[0])
    low, high = coarser.closures(groups)[0]
    assert (high - low).mean() == pytest.approx(BINS, rel=0.1)


def test_null_and_a_bin_cost_as_much_as_the_whole_domain() -> None:
    problem = problem_of({"n": [*range(999), None]}, {"n": shoal.Interval()}, "lm", 5)
    wide = np.array([[0], [500]], dtype=np.int32)
    coarser = coarsened(problem, wide)
    [column] = coarser.columns
    null = column.form.size - 1
    assert null < 999
    assert range_cost(coarser.arrays, 0, 0, null - 1, null) == 1.0
