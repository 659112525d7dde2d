"""Which of many groups meet the requirement, from counts of their sensitive values, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.generalization.forms import Floats, Ints, Records
from shoal.kernels.shared.rules import EPSILON, Rules
from shoal.problem import Problem

CELLS = 4_000_000  # counts looked at together, to bound memory

Booleans = npt.NDArray[np.bool_]


def complying(problem: Problem, groups: Ints, counts: Records) -> Booleans:
    """Return whether each group meets the requirement, k included.

    Row i of the problem stands for `counts[i]` records in group `groups[i]`, numbered without gaps.
    """
    number = int(groups.max(initial=-1)) + 1
    sizes = np.bincount(groups, counts, number)
    is_enough = sizes >= problem.k
    if not problem.tallied:
        return is_enough
    order = np.argsort(groups, kind="stable")
    bounds = np.searchsorted(groups[order], np.arange(number + 1))
    step = max(1, CELLS // problem.tallied)
    for first in range(0, number, step):
        last = min(number, first + step)
        rows = order[bounds[first] : bounds[last]]
        tally = np.zeros((last - first, problem.tallied))
        for values in problem.values[rows].T:
            np.add.at(tally, (groups[rows] - first, values), counts[rows])
        block = slice(first, last)
        is_enough[block] &= keep_limits(problem.rules, tally, sizes[block])
    return is_enough


def complies_as_one(problem: Problem, counts: Records) -> bool:
    """Return whether so many records of each row meet the requirement as one group."""
    return bool(complying(problem, np.zeros(counts.size, np.int32), counts)[0])


def keep_limits(rules: Rules, tally: Floats, sizes: npt.NDArray[Any]) -> Booleans:
    """Return whether groups of so many records with these counts keep all limits except k."""
    kept = sizes > 0
    size = np.maximum(sizes, 1.0)[:, None]
    for t in range(rules.start.size - 1):
        counts = tally[:, rules.start[t] : rules.start[t + 1]]
        share = counts / size
        if rules.capped[t] or rules.distinct[t] > 1:
            cap = rules.cap[rules.start[t] : rules.start[t + 1]]
            kept &= (counts <= cap * size + EPSILON).all(axis=1)
            kept &= (counts > 0).sum(axis=1) >= rules.distinct[t]
        if rules.entropy[t] > 0.0:
            logs = np.log(share, out=np.zeros_like(share), where=share > 0)
            kept &= -(share * logs).sum(axis=1) >= rules.entropy[t] - EPSILON
        if rules.depth[t] > 0:
            falling = -np.sort(-counts, axis=1)
            rest = falling[:, rules.depth[t] - 1 :].sum(axis=1)
            kept &= falling[:, 0] < rules.factor[t] * rest - EPSILON
        if rules.distance[t] < np.inf:
            kept &= _distance(rules, t, share) <= rules.distance[t] + EPSILON
    return kept


def _distance(rules: Rules, t: int, share: Floats) -> Floats:
    """The earth mover's distance between tally t of each group and that of the whole table."""
    nodes = slice(rules.node[t], rules.node[t + 1])
    parent, edge = rules.parent[nodes], rules.edge[nodes]
    extra = np.zeros((share.shape[0], parent.size))
    extra[:, : share.shape[1]] = share - rules.share[rules.start[t] : rules.start[t + 1]]
    total = np.zeros(share.shape[0])
    for node in range(parent.size):
        total += np.abs(extra[:, node]) * edge[node]
        if parent[node] != node:
            extra[:, parent[node]] += extra[:, node]
    return total
