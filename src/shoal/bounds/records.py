"""The quick bound: for each record alone, what any closure costs that at least k records share (spec §6).

Closures are listed where they are not too many: a group's closure is that of a closed cell, which holds at
least the group's k records. Otherwise a record pays at least for its closure with the (k − 1)-th nearest other
record, where costs never fall as closures grow (GiT09 Lemma 6.10).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.bounds.cells import Cells
from shoal.generalization.forms import Floats
from shoal.kernels.closed_cells import cheapest_cells
from shoal.kernels.nearest import nearest_costs
from shoal.problem import Problem

MOST_LOOKS = 1_000_000_000  # points looked at in a walk over closed cells: some 15 seconds
FEW_LOOKS = 100_000_000  # where there are ranges, which may be far too many
MOST_PAIRS = 3_600_000_000  # pairs of points


class NoBound(Exception):
    """No lower bound can be given; the message says why."""


@dataclass(frozen=True)
class RecordBound:
    """What every point costs at least, and how it was found; whether all cells could be listed in short time."""

    cells: Cells
    least: Floats
    how: str
    listed: bool


def cell_bound(cells: Cells, start: Floats | None = None) -> Floats | None:
    """What the cheapest closed cell of k records costs each point at least; None if there are too many cells.

    `start`, if given, is what a release that meets k costs each record: its closures are among those listed,
    at that cost or, in place of intervals and subsets, at less.
    """
    problem = cells.problem
    first, counts, _ = cells.points
    least = np.full(len(counts), np.inf) if start is None else cells.least_of_points(start)
    classes = problem.classes[first]
    looks = FEW_LOOKS if cells.has_ranges else MOST_LOOKS // problem.class_count
    for y in range(problem.class_count):
        own = np.where(classes == y, least, -np.inf)  # the others are out of reach of any cell
        if not cheapest_cells(cells.trees(y), problem.k, looks, own):
            return None
        least[classes == y] = own[classes == y]
    return least


def nearest_bound(cells: Cells) -> Floats | None:
    """What each point costs with its (k − 1)-th nearest record at least; None if there are too many pairs."""
    problem = cells.problem
    first, counts, _ = cells.points
    if len(counts) ** 2 > MOST_PAIRS:
        return None
    points = problem.codes[first]
    columns = np.ascontiguousarray(points.T)
    least = np.empty(len(counts))
    weights = counts.astype(np.int64)
    nearest_costs(problem.arrays, problem.pairs, points, columns, weights, problem.k, least)
    return least


def record_bound(problem: Problem, start: Floats | None = None) -> RecordBound:
    """What every point costs at least, found in the best way that the models allow and time permits.

    Raises
    ------
    NoBound
        If there is none.
    """
    cells = Cells(problem)
    monotone = problem.objective.monotone and problem.class_count == 1
    proper = all(column.model.proper for column in problem.columns)
    if not proper and not monotone:
        raise NoBound(
            "costs may fall as closures grow, and then a bound needs suppression or a hierarchy in every column"
        )
    by_cell = cell_bound(cells, start)
    listed = by_cell is not None
    if by_cell is not None and cells.exact:
        return RecordBound(cells, by_cell, "cheapest cell of k records", listed)
    if cells.has_ranges and not listed:
        by_cell = cell_bound(Cells(problem, flat=True), start)
    nearest = nearest_bound(cells) if monotone else None
    if by_cell is not None and nearest is not None:
        best = np.maximum(by_cell, nearest)
        return RecordBound(cells, best, "cheapest cell and nearest k − 1 records", listed)
    if nearest is not None:
        return RecordBound(cells, nearest, "nearest k − 1 records", listed)
    if by_cell is not None:
        return RecordBound(cells, by_cell, "cheapest cell of k records", listed)
    raise NoBound("the table has too many distinct records and closures to bound its loss")
