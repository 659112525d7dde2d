"""A forest of nearest records, cut into small trees (GiT09 §6.4, AFK+05 §4; spec §5.11)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.encoding.forms import Ints, Records
from shoal.kernels.covering import forest as kernels
from shoal.kernels.shared.groups import members
from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition, guarantee_notes, state_of
from shoal.solve.methods.completion import complete_groups
from shoal.solve.problem import Problem

CHUNK = 500  # records between two reports of progress


@dataclass(frozen=True)
class Forest(Method):
    """Link near records until every tree has k, then cut the trees.

    While a tree has fewer than k records, the one of them without an outgoing link gets one to a record
    outside the tree that is one of its k − 1 nearest: the one whose tree costs least to unite with. All
    links together thus cost no more than the optimum (Lemma 6.10). Then links are cut, longest first, that
    leave k records on both sides. A tree of 2k or more without such links has a hub all of whose branches
    are below k: they are gathered into groups, held together by a copy of the hub that does not count. All
    groups have k … L = max(2k − 1, 3k − 5) records, so the cost is at most L times the optimum (Theorem 6.9)
    for suppression and hierarchies and for the objectives `suppressed`, `tree`, `lm`, `monotone_entropy`,
    and `entropy` on monotone trees; a note says where it is not. Where more than k is required there is no
    guarantee: groups that do not meet it are merged with others or handed out to them.
    O(n²) in time, n the distinct records, O(n) in memory.
    """

    name = "forest"
    source = "GiT09 §6.4"
    recoding = "local"
    promise = "max(2k − 1, 3k − 5) × optimum"
    growth = "n²"
    seconds = 11.8
    summary = "links similar records into trees and cuts these; has a guarantee"

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        if problem.tallied:
            # equal records are one point whatever their sensitive values: a group of them then has several
            groups = self._cut(replace(problem, values=problem.values[:, :0]), progress)
            note = "no guarantee: it is for k alone, and more is required"
            return Partition(complete_groups(problem, groups, progress), (note,))
        return Partition(self._cut(problem, progress), guarantee_notes(problem))

    def _cut(self, problem: Problem, progress: Progress) -> Ints:
        """Cut trees into groups of k … L records."""
        k, points = problem.k, problem.points
        # what equal records have beyond 2k is groups of its own
        weights = np.where(points.weights < 2 * k, points.weights, k + points.weights % k)
        records, bounds = members(points.of_record, len(weights))
        forest = link_points(problem, weights, records, bounds, progress)
        below = kernels.records_below(forest.link, weights)
        kernels.cut_links(forest.link, below, np.argsort(-forest.length, kind="stable"), k)
        most = max(2 * k - 1, 3 * k - 5)
        return kernels.cut_trees(
            forest.link, forest.length, below, weights, k, most, records, bounds
        )


def link_points(
    problem: Problem, weights: Ints, records: Records, bounds: Records, progress: Progress
) -> kernels.LinkForest:
    """Link points until every tree has k records (stage 1).

    Point p has the records records[bounds[p]:bounds[p + 1]], of which only the last weights[p] take part.
    """
    k, points, total = problem.k, problem.points, len(weights)
    forest = kernels.make_forest(total)
    tables = (
        problem.arrays,
        problem.pairs,
        points.codes,
        np.ascontiguousarray(points.codes.T),
        points.classes,
    )
    for start in range(0, total, CHUNK):
        progress("measuring distances", start, total)
        kernels.measure_points(*tables, weights, forest, k, start, min(total, start + CHUNK))
    trees = points.of_record.copy()
    for p in np.flatnonzero(weights < points.weights):
        trees[records[bounds[p] : bounds[p + 1] - weights[p]]] = -1
    state = state_of(problem, trees)
    last = records[bounds[1:] - 1]
    small = int((weights < k).sum())
    done, linked = 0, CHUNK
    while linked == CHUNK:
        progress("linking records", done, small)
        linked = kernels.link_trees(*tables, last, forest, state, k, CHUNK)
        done += linked
    progress("linking records", small, small)
    return forest
