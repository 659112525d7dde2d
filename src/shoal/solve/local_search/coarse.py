"""A coarser problem for the relaxed one: the values of ranges in bins, where groups span many of them.

Where hardly any two records are equal, a column of numbers has as many ranges as pairs of records, and walks over all
cells would take time that grows with the square of the table or faster.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.encoding.encode import Column
from shoal.encoding.forms import Floats, Ints, RangeForm
from shoal.kernels.shared.forms import RANGE, Compiled
from shoal.solve.problem import Problem

# Bins that a group spans in a column, on average. On two columns of random numbers, 3,000 and 10,000 records, 3 lose 1
# to 2 % more in two thirds of the time, and 6 lose as much in twice the time.
BINS = 4
FEW = 128  # values of a column that stay as they are


def coarsened(problem: Problem, closures: Ints) -> Problem:
    """The problem with ranges in bins, as fine as these closures of groups need them; itself where they are narrow."""
    arrays, codes, columns = problem.arrays, problem.codes.copy(), list(problem.columns)
    takes, starts, sums = [], [0], []
    for j, column in enumerate(problem.columns):
        size = column.form.size
        every = np.arange(arrays.start[j], arrays.start[j + 1])
        first = _first_codes(problem, j, closures)
        if first.size < size:
            last = np.append(first[1:], size) - 1
            codes[:, j] = np.searchsorted(first, codes[:, j], side="right") - 1
            columns[j] = _binned(column, first, last)
            middle = (first + last) // 2
            if column.form.has_null:
                middle[0] = 0  # null with anything else costs as much as the whole domain
            takes.append(every[np.append(middle, size)])
            sums.append(every[np.append(first, size)])
        else:
            takes.append(every)
            sums.append(every)
        starts.append(starts[-1] + takes[-1].size)
    if starts[-1] == arrays.start[-1]:
        return problem
    return replace(
        problem,
        table=replace(problem.table, codes=codes, columns=tuple(columns)),
        objective=replace(
            problem.objective,
            arrays=_taken(arrays, np.concatenate(takes), np.concatenate(sums), starts),
        ),
    )


def _first_codes(problem: Problem, j: int, closures: Ints) -> Ints:
    """The first code of each bin of a column."""
    form = problem.columns[j].form
    if not isinstance(form, RangeForm):
        return np.arange(form.size, dtype=np.int32)
    low, high = closures[problem.table.slots[j]]
    known = high != form.null
    width = max(1.0, float((high - low)[known].mean()) / BINS) if known.any() else 1.0
    bins = min(len(form.labels), max(FEW, round(len(form.labels) / width)))
    first = np.arange(bins) * len(form.labels) // bins
    return np.append(first, [form.null] * form.has_null).astype(np.int32)


def _binned(column: Column, first: Ints, last: Ints) -> Column:
    """A column whose codes are bins."""
    form = column.form
    assert isinstance(form, RangeForm)
    kept = first[: first.size - form.has_null]
    labels = tuple(form.labels[code] for code in kept)
    counts: Floats = np.add.reduceat(column.counts, first)
    binned = replace(form, labels=labels, positions=form.positions[kept], values=None)
    return replace(column, form=binned, counts=counts)


def _taken(arrays: Compiled, takes: Ints, sums: Ints, starts: list[int]) -> Compiled:
    """Some entries of all columns: prices of single codes at `takes`, and sums up to a code at `sums`."""
    has_null = (arrays.form == RANGE) & (arrays.null >= 0)
    return arrays._replace(
        start=np.array(starts, dtype=np.int64),
        null=np.where(has_null, np.diff(starts) - 2, arrays.null),
        parent=arrays.parent[takes],
        cost=np.ascontiguousarray(arrays.cost[:, takes]),
        records=arrays.records[sums],
        second=np.ascontiguousarray(arrays.second[:, sums]),
        unit=np.where(arrays.form == RANGE, 0.0, arrays.unit),
    )
