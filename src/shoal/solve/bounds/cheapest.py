"""The cheapest cell of each record, which is a lower bound of what the record costs in any release (spec §6).

All these bounds together are valid numbers for a certificate: no group costs a record less than the cheapest cell does
that holds it. They need no walk over all cells, so they are found where columns are many.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import Floats, Ints, Records, TreeForm
from shoal.kernels.bounding.cheapest import Branches, Neighbours, cheapest_cells, make_branches
from shoal.kernels.shared.forms import Compiled
from shoal.solve.bounds.needs import distinct_needed, outside_needed
from shoal.solve.bounds.point_bounds import PointTrees
from shoal.solve.problem import Problem

# Points and branches of one search. With 5,000 points, credit card clients with 17 columns have 1.33 proved instead of
# 1.30, with 100,000 it is 1.29 and takes a third longer.
ROOM, BRANCHES = 20_000, 2_000
# A search ends at this share of what the point costs in the release: points further away are then not even looked at.
# With 0.85, four tables of 17 to 40 columns have at most 1 % more proved than with 0.7, in 1.3 to 2 times the looks.
# The first share is taken for which a sample of so many points says that there are looks enough for all.
SHARES, SAMPLE = (0.7, 0.5, 0.4), 200


def cheapest_bound(
    cells: PointTrees, above: Floats | None, most: float, beat: float = -inf
) -> Floats | None:
    """A bound for each point: what the cheapest cell costs that holds it and could meet the requirements.

    `above` is what each point costs in a release, if that is known. Looks are extras that are added up or points of
    branches. Returns None where all points would take more than `most` looks, or a sample of them promises no more in
    all than `beat`.
    """
    search = _Search.of(cells, above)
    for share in SHARES if above is not None else (1.0,):
        looks, bound = search.sampled(share)
        if bound <= beat:
            return None
        if looks <= most:
            return search.bounds(share)
    return None


class _Search(NamedTuple):
    near: Neighbours
    scratch: Branches
    order: Records  # the points as they are sorted
    classes: Ints
    above: Floats

    @classmethod
    def of(cls, cells: PointTrees, above: Floats | None) -> _Search:
        near, order = neighbours(cells)
        scratch = make_branches(near, max(1, cells.problem.tallied), ROOM, BRANCHES)
        classes = cells.problem.classes[cells.points.first][order]
        limits = np.full(len(order), inf) if above is None else above[order]
        return cls(near, scratch, order, classes, limits)

    def sampled(self, share: float) -> tuple[float, float]:
        """How many looks all points will take, and the bound on the cost of all records, by a sample."""
        points = len(self.order)
        chosen = np.unique(np.linspace(0, points - 1, min(points, SAMPLE)).astype(np.int64))
        least, looks = share * self.above, 0
        for i in chosen.tolist():
            is_own = self.classes == self.classes[i]
            looks += self._run(int(self.classes[i]), is_own, i, i + 1, least)
        weights = self.near.weights
        mean = float(least[chosen] @ weights[chosen]) / float(weights[chosen].sum())
        return looks * points / len(chosen), mean * float(weights.sum())

    def bounds(self, share: float) -> Floats:
        """The bounds of all points, in their own order."""
        least = share * self.above
        for y in np.unique(self.classes).tolist():
            self._run(y, self.classes == y, 0, len(self.order), least)
        found = np.empty_like(least)
        found[self.order] = least
        return found

    def _run(
        self, y: int, is_own: npt.NDArray[np.bool_], low: int, high: int, least: Floats
    ) -> int:
        looks: int = cheapest_cells(self.near, self.scratch, y, is_own, low, high, ROOM, least)
        return looks


def neighbours(cells: PointTrees) -> tuple[Neighbours, Records]:
    """The points as the search reads them, and their order.

    They are sorted first by the columns that tell most apart for the number of values they have: then most points that
    are too far away are passed over many at a time.
    """
    problem, (first, _, counts) = cells.problem, cells.points
    codes = problem.codes[first]
    columns = sorted(range(codes.shape[1]), key=lambda j: -_parting(codes[:, j], counts))
    order = np.lexsort([codes[:, j] for j in reversed(columns)])
    codes = np.ascontiguousarray(codes[order][:, columns])
    points, r = codes.shape
    changed = np.ones((points, r), dtype=np.bool_)
    changed[1:] = np.logical_or.accumulate(codes[1:] != codes[:-1], axis=1)
    ends = np.empty((points, r), dtype=np.int32)
    for j in range(r):
        starts = np.append(np.flatnonzero(changed[:, j]), points)
        ends[:, j] = np.repeat(starts[1:], np.diff(starts))
    tallies = problem.values.shape[1] if cells.by_value else 0
    values = problem.values[first][order][:, :tallies]
    near = Neighbours(
        codes=codes,
        differs=np.where(changed.any(axis=1), np.argmax(changed, axis=1), r),
        ends=ends,
        weights=counts[order].astype(np.int64),
        values=np.ascontiguousarray(values, dtype=np.int32),
        need=distinct_needed(problem.rules)[:tallies],
        outside=outside_needed(problem.rules),
        k=problem.k,
        column=np.array(columns, dtype=np.int64),
        size=np.array([problem.columns[j].form.size for j in columns], dtype=np.int64),
        compiled=_rising(problem),
    )
    return near, order


def _parting(codes: Ints, counts: Records) -> float:
    """How often two records differ in a column, for each bit of its entropy."""
    share = np.bincount(codes, counts) / counts.sum()
    share = share[share > 0]
    bits = -float(share @ np.log2(share))
    return (1 - float(share @ share)) / bits if bits > 0 else 0.0


def _rising(problem: Problem) -> Compiled:
    """The compiled columns, where a node of a tree costs the least of itself and all above it; see `PointTrees`."""
    arrays = problem.arrays
    cost = arrays.cost.copy()
    for j, column in enumerate(problem.columns):
        if isinstance(column.form, TreeForm):
            own, parent = cost[:, arrays.start[j] :], column.form.parent
            for node in range(parent.size - 2, -1, -1):
                own[:, node] = np.minimum(own[:, node], own[:, parent[node]])
    return arrays._replace(cost=cost)
