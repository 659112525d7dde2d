"""Set aside what needs no solving: combinations whose records meet the requirement by themselves are released
exactly.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.encoding.encode import distinct_rows
from shoal.encoding.forms import Ints, Records
from shoal.kernels.shared.cells import offending_cells
from shoal.kernels.shared.groups import members
from shoal.solve.counted.assignment import pick_rows
from shoal.solve.problem import Problem

Booleans = npt.NDArray[np.bool_]


def which_comply(problem: Problem, groups: Ints, counts: Records) -> Booleans:
    """Return whether each group meets the requirement, k included.

    Row i of the problem stands for `counts[i]` records in group `groups[i]`, numbered without gaps.
    """
    cells = members(groups, int(groups.max(initial=-1)) + 1)
    return ~offending_cells(problem.rules, problem.values, counts.astype(np.int32), *cells)


def can_be_solved(problem: Problem, left: Records) -> bool:
    """Return whether so many records of each row meet the requirement as one group, or none is left."""
    every = np.zeros(left.size, np.int32)
    return not left.any() or bool(which_comply(problem, every, left)[0])


# Lenders of a combination at most, as a multiple of k. On the 1,193,504 records of `benchmarks large`, k lenders lose
# .4 % more than solving everything, 2k lose the same.
MOST_LENDERS = 2
# The same where more than k is required, and a group can lend less: on the 30,162 records of Adult with entropy
# diversity, 2k lose 3.6 % more than solving everything, 5k the same.
MOST_DIVERSE_LENDERS = 5
# Lenders in all, and records from which on some are set aside: more would cost minutes and gain less than one percent.
COMFORTABLE = 1_000_000


def set_aside(problem: Problem, most: int, chance: np.random.Generator | None = None) -> Records:
    """Return how many records of each row are released exactly, so that at most so many are left, and as many lenders.

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
    needing = int(total[~enough].sum())
    room = needing + comfortable if needing <= most else 0
    lenders = _lenders(problem, total, enough, room)
    aside = _lent(problem, place, counts, enough, lenders, drawn)
    while not can_be_solved(problem, counts - aside):
        lenders = max(problem.k, 2 * lenders)
        if lenders > total.max():
            return np.zeros_like(counts)
        aside = _lent(problem, place, counts, enough, lenders, drawn)
    return aside


def solved_at_once(problem: Problem) -> int:
    """Return how many records have to be solved: all, or those that do not meet the requirement alone."""
    records, counts = problem.table.records, problem.table.counts
    if records <= COMFORTABLE:
        return records
    assert counts is not None
    place = distinct_rows(problem.codes).place
    return int(counts[~which_comply(problem, place, counts)[place]].sum())


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
    lenders = _lenders(problem, total, enough, most)
    found = np.zeros_like(aside)
    found[rows] = counts - _lent(part, place, counts, enough, lenders, chance.random())
    return found


def _lenders(problem: Problem, total: Records, enough: Booleans, most: int) -> int:
    """The number of lenders that each combination can keep without leaving more than `most` records to be solved."""
    k, times = problem.k, MOST_DIVERSE_LENDERS if problem.tallied else MOST_LENDERS
    # Fewer than k lenders could not make up a group of their own, so that those which nobody needs would cost.
    low, high = k - 1, times * k
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
    lent = share_among_rows(place, counts, lenders, drawn)
    aside = np.where(spare[place], counts - lent, 0)
    if problem.tallied and lenders:
        kept = which_comply(problem, place, aside) & which_comply(problem, place, lent)
        aside = np.where((spare & ~kept)[place], counts, aside)
    return aside


def share_among_rows(place: Ints, counts: Records, wanted: int, drawn: float) -> Records:
    """Share what is wanted of each combination among its rows, by their counts: every row gives about its share."""
    order, bounds = members(place, int(place.max(initial=-1)) + 1)
    before = np.empty_like(counts)  # the records of the same combination in earlier rows
    before[order] = np.cumsum(counts[order]) - counts[order]
    before -= before[order[bounds[:-1]]][place]
    whole = np.bincount(place, counts).astype(np.int64)[place]
    start = (drawn * whole).astype(np.int64)
    found: Records = (wanted * (before + counts) + start) // whole
    return found - (wanted * before + start) // whole
