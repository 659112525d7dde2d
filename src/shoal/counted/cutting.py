"""Cutting: rows are cut into parts between two values of a column, where a group that reached across would be dear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.generalization.forms import Floats, Ints, Records, SetForm, TreeForm
from shoal.kernels.shared.groups import close_groups, group_costs
from shoal.problem import Problem

EVEN = 0.2  # share of the records of a part that a cut leaves on its smaller side, at least
MOST_PAIRED = (
    300  # values of a subset column of which all pairs are looked at; with more, it is not cut
)
NOWHERE = 1e-12  # stands for the cost of reaching across a cut where that is nothing


@dataclass(frozen=True)
class Part:
    """Rows that are solved together, and the least that reaching across one of the cuts around them costs a record."""

    rows: Records
    across: float = np.inf


@dataclass(frozen=True)
class Line:
    """A column as a line on which the values below any node of a tree are neighbours."""

    places: Ints  # of each row
    across: Floats  # what a value and the next one cost together

    def of(self, rows: Records) -> Line:
        """The line with some rows on it."""
        return Line(self.places[rows], self.across)


def cut(
    lines: list[Line],
    left: Records,
    all_records: Records,
    most: int,
    used: Floats,
) -> list[Part]:
    """Cut rows into parts with at most `most` records that are left, between values of one column at a time.

    A part is cut where reaching across is dearest; what a column counts is divided by how often it was cut before,
    which `used` says and is told. Rows of which records are set aside are cut with them.
    """
    done: list[Part] = []
    waiting = [Part(np.flatnonzero(all_records))]
    worth = 1 / (1 + used)
    while waiting:
        part = waiting.pop()
        rows = part.rows
        if left[rows].sum() <= most or rows.size < 2:
            done.append(part)
            continue
        best, column, place = -1.0, 0, 0
        for j, line in enumerate(lines):
            at, value = _best_cut(line, rows, left[rows])
            if value * worth[j] > best:
                best, column, place = value * worth[j], j, at
        is_before = lines[column].places[rows] <= place
        across = min(part.across, float(lines[column].across[place]))
        if best <= 0:  # all in one value of every column: anywhere
            is_before, across = np.arange(rows.size) < rows.size // 2, NOWHERE
        else:
            used[column] += left[rows].sum() / left.sum()
        waiting += [Part(rows[is_before], across), Part(rows[~is_before], across)]
    return done


def _best_cut(line: Line, rows: Records, weights: Records) -> tuple[int, float]:
    """The value after which a part is best cut along a line, and how good that is: 0 where it cannot be cut."""
    total = np.bincount(line.places[rows], weights, line.across.size)
    reached = np.cumsum(total) / total.sum()
    smaller = np.minimum(reached, 1 - reached)
    worth = np.where(smaller > 0, np.minimum(smaller, EVEN) / EVEN * (line.across + NOWHERE), 0.0)
    worth = worth * (1 + 1e-6 * smaller)  # of equals, the most even
    return int(worth.argmax()), float(worth.max())


def line_of(problem: Problem, j: int) -> Line:
    """Lay a column out on a line."""
    form = problem.columns[j].form
    order = np.arange(form.size)
    if isinstance(form, TreeForm):
        ways: list[tuple[int, ...]] = []
        for value in range(form.size):
            way = [value]
            while form.parent[way[-1]] != way[-1]:
                way.append(int(form.parent[way[-1]]))
            ways.append(tuple(reversed(way)))
        order = np.array(sorted(range(form.size), key=ways.__getitem__))
    rank = np.empty(form.size, dtype=np.int32)
    rank[order] = np.arange(form.size)
    across = np.zeros(form.size)
    if isinstance(form, SetForm):  # any two values may be together
        if 1 < form.size <= MOST_PAIRED:
            one, other = np.triu_indices(form.size, 1)
            pairs = np.full((form.size, form.size), np.inf)
            pairs[one, other] = _pair_costs(problem, j, one, other)
            across[:-1] = [pairs[:place, place:].min() for place in range(1, form.size)]
    elif form.size > 1:
        across[:-1] = _pair_costs(problem, j, order[:-1], order[1:])
    return Line(rank[problem.codes[:, j]], across)


def _pair_costs(problem: Problem, j: int, one: Records, other: Records) -> Floats:
    """What two values of column j cost a record together."""
    codes = np.repeat(problem.codes[:1], 2 * one.size, axis=0)
    codes[:, j] = np.column_stack([one, other]).reshape(-1)
    members = np.arange(codes.shape[0], dtype=np.int32)
    closures = close_groups(problem.arrays, codes, members, np.arange(one.size + 1) * 2)
    counts = np.zeros((problem.class_count, one.size))
    counts[0] = 1.0
    return np.maximum(0.0, group_costs(problem.arrays, closures, counts)[j])
