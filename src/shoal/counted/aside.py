"""Set aside what needs no solving: combinations whose records meet the requirement by themselves are released exactly.

A few records of each stay in the problem as lenders, which other records may need to make up a group (spec §7).
"""

from __future__ import annotations

import numpy as np

from shoal.counted.assignment import pick
from shoal.counted.complying import Booleans, complies_as_one, complying
from shoal.generalization.forms import Ints, Records
from shoal.problem import Problem
from shoal.table.rows import distinct_rows

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
    enough = complying(problem, place, counts)
    lenders = _lenders(total, enough, problem.k, comfortable)
    aside = _lent(problem, place, counts, enough, lenders, drawn)
    while not can_be_solved(problem, counts - aside):
        lenders = max(problem.k, 2 * lenders)
        if lenders > total.max():
            return np.zeros_like(counts)
        aside = _lent(problem, place, counts, enough, lenders, drawn)
    return aside


def standing(problem: Problem) -> Records:
    """Return how many records of each row are of a combination that meets the requirement by itself: all or none."""
    counts = problem.table.counts
    assert counts is not None
    place = distinct_rows(problem.codes).place
    return np.where(complying(problem, place, counts)[place], counts, 0)


def solved_at_once(problem: Problem) -> int:
    """Return how many records have to be solved: all, or those that do not meet the requirement alone."""
    records = problem.table.records
    return records if records <= COMFORTABLE else records - int(standing(problem).sum())


def brought_in(problem: Problem, aside: Records, most: int, chance: np.random.Generator) -> Records:
    """Return how many records of each row that are set aside may take part in refinement, at most so many.

    Those of a combination that take part, and those that do not, meet the requirement by themselves.
    """
    rows = np.flatnonzero(aside)
    if not rows.size:
        return np.zeros_like(aside)
    part, counts = pick(problem, rows), aside[rows]
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
    lent = shared_out(place, counts, np.full_like(total, lenders), drawn)
    aside = np.where(spare[place], counts - lent, 0)
    if problem.tallied and lenders:
        kept = complying(problem, place, aside) & complying(problem, place, lent)
        aside = np.where((spare & ~kept)[place], counts, aside)
    return aside


def shared_out(place: Ints, counts: Records, wanted: Records, drawn: float) -> Records:
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
