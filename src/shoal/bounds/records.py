"""Bounds for each record alone: what any closure costs that at least k records share (spec §6).

A group's closure is that of a closed cell, which holds at least the group's k records. Where costs never fall as
closures grow, a record also pays at least for its closure with the (k − 1)-th nearest other record (GiT09 Lemma 6.10).
"""

from __future__ import annotations

import numpy as np

from shoal.bounds.cells import Cells
from shoal.generalization.forms import Floats
from shoal.kernels.bounding.cell_walk import make_walk
from shoal.kernels.bounding.closed_cells import cheapest_cells
from shoal.kernels.bounding.nearest import nearest_costs

MOST_LOOKS = 200_000_000  # points looked at in a walk over closed cells: some 2 seconds
MOST_WALKS = 5  # walks of MOST_LOOKS that are paid for, where there are more classes
TREES_LOOKS = 5  # looks that making the trees counts for, for each point and slot
MOST_PAIRS = 500_000_000  # pairs of points that are compared: some 2 seconds


def cell_bound(cells: Cells) -> Floats:
    """A bound for each point: what the cheapest closed cell of k records that holds it costs.

    Each class takes a walk, the largest class first. Where there is no time left for a class, its points get the
    least that any closure costs.
    """
    problem = cells.problem
    first, _, counts = cells.points
    classes = problem.classes[first]
    least = np.empty(len(counts))
    looks = MOST_LOOKS * min(problem.class_count, MOST_WALKS)
    for y in np.argsort(-np.bincount(classes, counts, problem.class_count), kind="stable"):
        own = classes == y
        least[own] = cells.least_cost(y)
        if looks > 0 and own.any():
            trees = cells.trees(y)
            found = np.where(own, np.inf, -np.inf)  # the others are out of reach of any cell
            done, spent = cheapest_cells(trees, make_walk(trees, 1), problem.k, looks, found)
            looks -= spent + TREES_LOOKS * trees.paths.size
            if done:
                least[own] = found[own]
    return least


def nearest_bound(cells: Cells) -> Floats | None:
    """A bound for each point: its cost together with its (k − 1)-th nearest record; None if pairs are too many."""
    problem = cells.problem
    first, _, counts = cells.points
    if len(counts) ** 2 > MOST_PAIRS:
        return None
    points = problem.codes[first]
    columns = np.ascontiguousarray(points.T)
    least = np.empty(len(counts))
    weights = counts.astype(np.int64)
    nearest_costs(problem.arrays, problem.pairs, points, columns, weights, problem.k, least)
    return least
