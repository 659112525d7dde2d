"""A bound where cells are too many for a walk: what a release costs, made valid record by record."""

from __future__ import annotations

import numpy as np

from shoal.encoding.forms import Floats, Records
from shoal.kernels.bounding.cell_columns import Trees
from shoal.kernels.bounding.record_search import ENDS, Points, search_records
from shoal.kernels.shared.forms import LINEAR
from shoal.solve.bounds.point_bounds import PointTrees

CHUNKS = 32  # parts of the order of points; those that are done are dropped after each
# Numbers are lowered by a share at once, so that less is left to search: by the first of these with which a sample of
# points says that all together will take no more than the looks there are, the last one otherwise. On 20,000 × 20,
# shares of 0, .05, .1 and .15 prove 1.40, 1.38, 1.35 and 1.34 in 16, 13, 11 and 9 CPU seconds.
MARGINS, SAMPLE = (0.15, 0.3, 0.4, 0.5, 0.6), 200
SHARE = 1.5  # of the looks of a walk that the search may take, most of which see more columns


def record_bound(cells: PointTrees, above: Floats, most: float) -> Floats:
    """A bound for each point, from what it costs in a release, in about `most` looks."""
    search = _Search(cells)
    order = np.argsort(-above, kind="stable")
    some = order[np.unique(np.linspace(0, order.size - 1, SAMPLE).astype(np.int64))]
    share = SHARE * most * some.size / order.size
    for margin in MARGINS:
        start = (1 - margin) * np.maximum(above, 0.0)
        if search.lower(start, order, some, 2 * share)[1] <= share:
            break
    return search.lower(start, order, order, 2 * SHARE * most)[0]


class _Search:
    """Searches among the points of a problem."""

    def __init__(self, cells: PointTrees) -> None:
        self._k, self._trees = cells.problem.k, cells.trees()
        trees = self._trees
        found = [
            np.unique(codes, return_index=True, return_inverse=True)
            for codes in trees.paths[:, trees.slot[1:] - 1].T
        ]
        parting = [_parting(place.reshape(-1), trees.weights) for _, _, place in found]
        columns = sorted(range(len(found)), key=lambda j: -parting[j])
        self._column = np.array(columns, dtype=np.int64)
        self._codes = np.column_stack([found[j][2].reshape(-1) for j in columns]).astype(np.int32)
        self._first = np.append(0, np.cumsum([found[j][1].size for j in columns]))
        self._sample = np.concatenate([found[j][1] for j in columns]).astype(np.int32)
        self._part = np.append(0, np.cumsum([ENDS if _adds_up(trees, j) else 1 for j in columns]))

    def lower(
        self, start: Floats, order: Records, chosen: Records, most: float
    ) -> tuple[Floats, float]:
        """Lower numbers until no set is violated that has a chosen point first; return them and the looks.

        All points and the chosen ones are in descending order of their numbers.
        """
        turn = np.empty_like(order)
        turn[order] = np.arange(order.size)
        duals, looks = start.copy(), 0.0
        step = -(-chosen.size // CHUNKS)
        for low in range(0, chosen.size, step):
            points = self._points(np.flatnonzero(turn >= turn[chosen[low]]))
            high = min(low + step, chosen.size)
            left = most - looks
            looks += search_records(
                self._trees, points, self._k, chosen, low, high, turn, start, duals, left
            )
        return duals, looks

    def _points(self, chosen: Records) -> Points:
        """Some points, sorted first by the columns that tell most apart for the number of values they have."""
        codes = self._codes[chosen]
        order = np.lexsort(codes.T[::-1])
        codes = np.ascontiguousarray(codes[order])
        size, r = codes.shape
        changed = np.ones((size, r), dtype=np.bool_)
        changed[1:] = np.logical_or.accumulate(codes[1:] != codes[:-1], axis=1)
        ends = np.empty((size, r), dtype=np.int32)
        for j in range(r):
            starts = np.append(np.flatnonzero(changed[:, j]), size)
            ends[:, j] = np.repeat(starts[1:], np.diff(starts))
        return Points(
            point=chosen[order].astype(np.int32),
            codes=codes,
            column=self._column,
            differs=np.where(changed.any(axis=1), np.argmax(changed, axis=1), r),
            ends=ends,
            first=self._first,
            sample=self._sample,
            part=self._part,
        )


def _adds_up(trees: Trees, j: int) -> bool:
    """Whether a column has ranges whose costs add up from one end to the other."""
    return trees.ranged[j] >= 0 and trees.compiled.kind[trees.ranged[j]] == LINEAR


def _parting(codes: Records, counts: Records) -> float:
    """How often two records differ in a column, for each bit of its entropy."""
    share = np.bincount(codes, counts) / counts.sum()
    share = share[share > 0]
    bits = -float(share @ np.log2(share))
    return (1 - float(share @ share)) / bits if bits > 0 else 0.0
