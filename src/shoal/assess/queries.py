"""How accurately COUNT and SUM queries can be answered from a release (XU06 §5).

A query has a condition on each of some quasi-identifiers: a random range of numbers, dates or ordered categories, or a
random value or node of a hierarchy. It is answered exactly from the table, and estimated from the release as a reader
would: a record counts as the share of its closures' values that meet the conditions, with columns assumed to be
independent within a closure. The order of records does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.assess import Result
from shoal.assess.comparison import Comparison
from shoal.encoding.encode import distinct_rows
from shoal.encoding.forms import Floats, Form, Ints, RangeForm, Records, TreeForm
from shoal.encoding.models.base import is_numeric
from shoal.errors import InputError, near_miss, raise_problems
from shoal.kernels.assess import add_answers, add_exactly

BLOCK, CELLS = 256, 1 << 22  # most queries answered together, and most numbers stored for them
MOST_DRAWS = 100  # times the wanted number, in case many queries select nothing


@dataclass(frozen=True)
class Errors(Result):
    """Relative errors of the queries of a workload.

    The relative error of a query is |estimate − answer| / |answer|. If the exact answer is zero, it is undefined, and
    XU06 does not say what to do then. Such queries are replaced by new ones; `drawn` counts them too.

    Attributes
    ----------
    function
        "count" or "sum".
    columns
        The quasi-identifiers that every query has a condition on.
    queries, drawn
        The number of queries whose answer is not zero, and of all queries drawn to get them.
    mean, median
        Mean and median of the relative errors; None if no query selects anything.
    """

    function: str
    columns: tuple[str, ...]
    queries: int
    drawn: int
    mean: float | None
    median: float | None


@dataclass(frozen=True)
class Queries(Result):
    """Errors of COUNT and SUM queries on all columns, and of COUNT queries on each column alone.

    `sum_column` is the column that is summed. If it is a quasi-identifier, conditions are on the others, as in XU06.
    """

    count: Errors
    sum: Errors | None
    sum_column: str | None
    by_column: tuple[Errors, ...]


@dataclass(frozen=True)
class Workload:
    """Queries with a condition on each of some quasi-identifiers."""

    columns: tuple[int, ...]
    conditions: tuple[Ints, ...]  # by column, a closure for each query: slots × queries

    @property
    def queries(self) -> int:
        return int(self.conditions[0].shape[1])

    def pick(self, chosen: Records) -> Workload:
        """A workload with some of these queries."""
        return Workload(self.columns, tuple(c[:, chosen] for c in self.conditions))


def compare_answers(
    comparison: Comparison, number: int = 1000, *, seed: int = 0, sum_column: str | None = None
) -> Queries:
    """Answer random workloads of `number` queries each from the table and from the release, drawn with `seed`.

    SUM queries add up `sum_column`: a quasi-identifier with intervals or a sensitive column of numbers, by default the
    first one.
    """
    summed = _sum_column(comparison, sum_column)
    names = comparison.table.names
    others = [name for name in names if name != summed]
    sums = None
    if summed and others:
        amounts = amounts_of(comparison, summed)
        sums = _errors("sum", comparison, others, *amounts, number, seed)
    return Queries(
        count=count_errors(comparison, names, number, seed=seed),
        sum=sums,
        sum_column=summed if others else None,
        by_column=tuple(count_errors(comparison, [name], number, seed=seed) for name in names),
    )


def count_errors(
    comparison: Comparison, columns: Sequence[str], number: int = 1000, *, seed: int = 0
) -> Errors:
    """Answer a workload of COUNT queries with a condition on each of these quasi-identifiers."""
    raise_problems(
        f"Column '{name}' is not a quasi-identifier{near_miss(name, comparison.table.names) or '.'} "
        f"Quasi-identifiers: {', '.join(comparison.table.names)}."
        for name in columns
        if name not in comparison.table.names
    )
    records = _times(np.ones(comparison.table.rows), comparison.table.counts)
    return _errors("count", comparison, columns, records, comparison.sizes, number, seed)


def _errors(
    function: str,
    comparison: Comparison,
    columns: Sequence[str],
    of_records: Floats,
    of_groups: Floats,
    number: int,
    seed: int,
) -> Errors:
    """Draw queries until enough of them have an answer that is not zero, and compare the answers."""
    rng = np.random.default_rng(seed)
    places = tuple(comparison.table.names.index(name) for name in columns)
    originals = OriginalRecords(comparison, places, of_records)
    errors, drawn = np.empty(0), 0
    while errors.size < number and drawn < MOST_DRAWS * number:
        workload = draw_workload(comparison, places, number, rng)
        exact = originals.answer(workload)
        some = np.flatnonzero(exact)[: number - errors.size]
        full = some.size == number - errors.size
        drawn += int(some[-1]) + 1 if full else number
        estimate = answer_from_release(comparison, workload.pick(some), of_groups)
        errors = np.append(errors, np.abs(estimate - exact[some]) / np.abs(exact[some]))
    mean, median = (float(f(errors)) if errors.size else None for f in (np.mean, np.median))
    return Errors(function, tuple(columns), errors.size, drawn, mean, median)


def draw_workload(
    comparison: Comparison, columns: Sequence[int], number: int, rng: np.random.Generator
) -> Workload:
    """Draw queries with a random condition on each of these quasi-identifiers."""
    forms = [comparison.table.columns[j].form for j in columns]
    return Workload(tuple(columns), tuple(_draw(form, number, rng) for form in forms))


class OriginalRecords:
    """Some columns of the original records, prepared to answer queries exactly."""

    def __init__(self, comparison: Comparison, columns: Sequence[int], amounts: Floats) -> None:
        codes = comparison.table.codes[:, columns]
        first, place, _ = distinct_rows(codes)
        self.points = codes[first]
        self.weights = _total(place, amounts, first.size)
        self.forms = [comparison.table.columns[j].form for j in columns]
        self.start = np.cumsum([0, *(form.size for form in self.forms)])
        self.order = np.argsort(self.points.T, axis=1, kind="stable")
        counts = [
            np.bincount(codes, minlength=form.size)
            for codes, form in zip(self.points.T, self.forms, strict=True)
        ]
        self.first = np.concatenate([np.append(0, np.cumsum(count)) for count in counts])

    def answer(self, workload: Workload) -> Floats:
        """For each query, sum the amounts of the records that meet its conditions."""
        answers = np.zeros(workload.queries)
        for block in _blocks(workload, int(self.start[-1])):
            conditions = zip(self.forms, workload.conditions, strict=True)
            meets = np.concatenate([form.holds(asked[:, block]) > 0 for form, asked in conditions])
            index = (meets, self.start, self.points, self.order, self.first)
            add_exactly(*index, self.weights, answers[block])
        return answers


def answer_from_release(comparison: Comparison, workload: Workload, amounts: Floats) -> Floats:
    """For each query, sum the amounts of all groups times the shares of their closures that meet it."""
    forms = [comparison.table.columns[j].form for j in workload.columns]
    closures, rows = [], []
    for j in workload.columns:
        distinct, row = np.unique(comparison.of_column(j), axis=1, return_inverse=True)
        closures.append(distinct)
        rows.append(row.reshape(-1))
    combined = np.stack(rows, axis=1).astype(np.int32)
    first, place, _ = distinct_rows(combined)
    weights = _total(place, amounts, first.size)
    sizes = [form.sizes(own) for form, own in zip(forms, closures, strict=True)]
    start = np.cumsum([0, *(size.size for size in sizes)])
    answers = np.zeros(workload.queries)
    for block in _blocks(workload, int(start[-1])):
        shares = [
            form.sums(own, form.holds(wanted[:, block])) / size[:, None]
            for form, own, wanted, size in zip(
                forms, closures, workload.conditions, sizes, strict=True
            )
        ]
        add_answers(np.concatenate(shares), start, combined[first], weights, answers[block])
    return answers


def _blocks(workload: Workload, entries: int) -> Iterator[slice]:
    """Cut a workload into blocks, so that the memory for `entries` numbers per query stays small."""
    step = min(BLOCK, max(1, CELLS // entries))
    for first in range(0, workload.queries, step):
        yield slice(first, first + step)


def amounts_of(comparison: Comparison, name: str) -> tuple[Floats, Floats]:
    """What each original record and each released group adds to a SUM; missing values add nothing."""
    table = comparison.table
    if name in table.names:
        j = table.names.index(name)
        form = table.columns[j].form
        assert isinstance(form, RangeForm)
        numbers = np.append(_floats(form.values), 0.0)
        closures, values = comparison.of_column(j), numbers[: form.size]
        mean = form.sums(closures, values) / form.sizes(closures)
        return _times(numbers[table.codes[:, j]], table.counts), comparison.sizes * mean
    column = table.sensitive[name]
    numbers = np.append(_floats(column.values), 0.0)
    released = _times(numbers[comparison.released[name]], comparison.counts)
    per_group = _total(comparison.groups, released, comparison.sizes.size)
    return _times(numbers[column.codes], table.counts), per_group


def _draw(form: Form, number: int, rng: np.random.Generator) -> Ints:
    """Random conditions on a column: ranges between two values, or a value or a named set."""
    known = len(form.labels)
    if isinstance(form, RangeForm):
        return np.sort(rng.integers(0, known, (2, number)), axis=0).astype(np.int32)
    value = rng.integers(0, known, number)
    is_value = rng.random(number) < 0.5
    if isinstance(form, TreeForm):
        inner = rng.integers(form.size, form.entries, number)
        return np.where(is_value, value, inner).astype(np.int32)[None, :]
    whole = np.array(form.whole, dtype=np.int32)
    return np.where(is_value, form.alone[:, value], whole[:, None])


def _sum_column(comparison: Comparison, name: str | None) -> str | None:
    """The column to sum, by default the first possible one."""
    ranges = [c.name for c in comparison.table.columns if _has_numbers(c.form)]
    unchanged = [n for n, c in comparison.table.sensitive.items() if is_numeric(c.values.type)]
    possible = [*ranges, *unchanged]
    if name is None:
        return possible[0] if possible else None
    if name not in possible:
        remedy = near_miss(name, possible) or f": {', '.join(possible) or 'there are none'}."
        raise InputError(
            f"Column '{name}' cannot be summed. Choose a column of numbers that is sensitive or released as "
            f"intervals{remedy}"
        )
    return name


def _times(amounts: Floats, counts: Records | None) -> Floats:
    """The total of all records of each row, given the amount of each record."""
    return amounts if counts is None else amounts * counts


def _total(place: Ints, amounts: Floats, size: int) -> Floats:
    return np.bincount(place, weights=amounts, minlength=size).astype(np.float64)


def _has_numbers(form: Form) -> bool:
    return isinstance(form, RangeForm) and form.has_scale and is_numeric(form.values.type)


def _floats(values: pa.Array) -> Floats:
    return np.asarray(values.cast(pa.float64(), safe=False))
