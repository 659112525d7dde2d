"""Set aside what needs no solving: combinations whose records meet the requirement by themselves are released
exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.encoding.encode import distinct_rows
from shoal.encoding.forms import Floats, Ints, Records
from shoal.kernels.shared.rules import EPSILON, Rules
from shoal.solve.counted.assignment import pick_rows
from shoal.solve.problem import Problem

CELLS = 4_000_000  # counts looked at together, to bound memory

Booleans = npt.NDArray[np.bool_]


def which_comply(problem: Problem, groups: Ints, counts: Records) -> Booleans:
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
    return bool(which_comply(problem, np.zeros(counts.size, np.int32), counts)[0])


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


# Lenders of a combination at most, as a multiple of k. On the 1,193,504 records of `benchmarks large`, k lenders lose
# .4 % more than solving everything, 2k lose the same.
MOST_LENDERS = 2
# Records to be solved, lenders included; beyond, lenders would cost minutes and gain less than one percent.
COMFORTABLE = 1_000_000


def set_aside(problem: Problem, most: int, chance: np.random.Generator | None = None) -> Records:
    """Return how many records of each row are released exactly, so that at most so many are left to be solved.

    What is set aside of a combination of quasi-identifiers meets the requirement, and so does all that is left. If
    even without lenders more than `most` are left, that is so; if all records fit, nothing is set aside. Which records
    of a combination stay is left to `chance`, evenly over its sensitive values.
    """
    drawn = (chance or np.random.default_rng(0)).random()
    counts = problem.table.counts
    assert counts is not None
    comfortable = min(most, COMFORTABLE)
    if problem.table.records <= comfortable:
        return np.zeros_like(counts)
    place = distinct_rows(problem.codes).place
    total = np.bincount(place, counts).astype(np.int64)
    enough = which_comply(problem, place, counts)
    lenders = _lenders(total, enough, problem.k, comfortable)
    aside = _lent(problem, place, counts, enough, lenders, drawn)
    while not can_be_solved(problem, counts - aside):
        lenders = max(problem.k, 2 * lenders)
        if lenders > total.max():
            return np.zeros_like(counts)
        aside = _lent(problem, place, counts, enough, lenders, drawn)
    return aside


def complying_alone(problem: Problem) -> Records:
    """Return how many records of each row are of a combination that meets the requirement by itself: all or none."""
    counts = problem.table.counts
    assert counts is not None
    place = distinct_rows(problem.codes).place
    return np.where(which_comply(problem, place, counts)[place], counts, 0)


def solved_at_once(problem: Problem) -> int:
    """Return how many records have to be solved: all, or those that do not meet the requirement alone."""
    records = problem.table.records
    return records if records <= COMFORTABLE else records - int(complying_alone(problem).sum())


def records_brought_in(
    problem: Problem, aside: Records, most: int, chance: np.random.Generator
) -> Records:
    """Return how many records of each row that are set aside may take part in refinement, at most so many.

    Those of a combination that take part, and those that do not, meet the requirement by themselves.
    """
    rows = np.flatnonzero(aside)
    if not rows.size:
        return np.zeros_like(aside)
    part, counts = pick_rows(problem, rows), aside[rows]
    place = distinct_rows(part.codes).place
    total = np.bincount(place, counts).astype(np.int64)
    enough = np.ones(total.size, dtype=bool)
    lenders = _lenders(total, enough, problem.k, most)
    found = np.zeros_like(aside)
    found[rows] = counts - _lent(part, place, counts, enough, lenders, chance.random())
    return found


def _lenders(total: Records, enough: Booleans, k: int, most: int) -> int:
    """The number of lenders that each combination can keep without leaving more than `most` records to be solved."""
    # Fewer than k lenders could not make up a group of their own, so that those which nobody needs would cost.
    low, high = k - 1, MOST_LENDERS * k
    while low < high:
        middle = (low + high + 1) // 2
        stays = np.where(enough & (total >= k + middle), middle, total).sum()
        low, high = (middle, high) if stays <= most else (low, middle - 1)
    return low if low >= k else 0


def _lent(
    problem: Problem,
    place: Ints,
    counts: Records,
    enough: Booleans,
    lenders: int,
    drawn: float,
) -> Records:
    """The records of each row that are set aside if combinations keep so many lenders.

    Row i has counts[i] records of combination place[i].
    """
    total = np.bincount(place, counts).astype(np.int64)
    spare = enough & (total >= problem.k + lenders)
    lent = share_among_rows(place, counts, np.full_like(total, lenders), drawn)
    aside = np.where(spare[place], counts - lent, 0)
    if problem.tallied and lenders:
        kept = which_comply(problem, place, aside) & which_comply(problem, place, lent)
        aside = np.where((spare & ~kept)[place], counts, aside)
    return aside


def share_among_rows(place: Ints, counts: Records, wanted: Records, drawn: float) -> Records:
    """Share what is wanted of each combination among its rows, by their counts: every row gives about its share."""
    total = np.bincount(place, counts).astype(np.int64)
    whole, before, wanted = total[place], _before(place, counts), wanted[place]
    start = (drawn * whole).astype(np.int64)
    found: Records = (wanted * (before + counts) + start) // whole
    return found - (wanted * before + start) // whole


def _before(place: Ints, counts: Records) -> Records:
    """The records of the same combination in the rows before each row."""
    order = np.argsort(place, kind="stable")
    running = np.cumsum(counts[order]) - counts[order]
    first = np.flatnonzero(np.diff(place[order], prepend=-1))
    before = np.empty_like(running)
    before[order] = running - running[first][place[order]]
    return before


def can_be_solved(problem: Problem, left: Records) -> bool:
    """Whether what is left meets the requirement as one group, or nothing is left."""
    return not left.any() or complies_as_one(problem, left)
