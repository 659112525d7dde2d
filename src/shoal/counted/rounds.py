"""Rounds: a rest that is too large to be solved at once is cut into parts, of which only good groups are kept.

Parts that are solved alone and kept whole would lose 23 % and more, because records at their borders miss their
nearest. But a group that reaches across a cut costs at least what the two values beside the cut cost together, so that
a group which costs less would not gain from reaching across. Parts are therefore cut where reaching across is dear,
groups are kept in the order of their cost as a share of that, and the others are pooled and cut elsewhere in the next
round, until they can be solved at once (spec §7).
"""

from __future__ import annotations

import numpy as np

from shoal.counted.aside import can_be_solved
from shoal.counted.assignment import Assignment, costs_of, pick, together
from shoal.counted.complying import complies_as_one
from shoal.counted.cutting import NOWHERE, Part, cut, line_of
from shoal.counted.stock import solve_part, without
from shoal.counted.threads import in_threads
from shoal.generalization.forms import Floats, Records
from shoal.methods import Method
from shoal.problem import Problem
from shoal.progress import Progress

KEPT = 0.2  # share of a round's records that stay in groups which might gain from reaching across a cut, at most


def solve_in_rounds(
    problem: Problem,
    left: Records,
    aside: Records,
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
) -> tuple[Assignment, Records, Records]:
    """Assign records in rounds until at most `most` are left, some of them lent by those that are set aside.

    Returns the assignment, and what is left and still set aside of each row.
    """
    found: list[Assignment] = []
    lines = [line_of(problem, j) for j in range(len(problem.columns))]
    used = np.zeros(len(lines))
    while left.sum() > most:
        progress(
            "solving in rounds", int(problem.table.records - left.sum()), problem.table.records
        )
        parts = cut(lines, left, left + aside, most, used)
        kept = _round(problem, left, aside, parts, method, seed, progress, most, chance)
        if not kept.rows.size:
            break
        found.append(kept)
        left, aside = without(kept, left, aside)
    return together(found), left, aside


def _round(
    problem: Problem,
    left: Records,
    aside: Records,
    parts: list[Part],
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
) -> Assignment:
    """Solve every part of what is left alone, and keep the groups that would gain least from reaching across a cut."""
    parts = [part for part in parts if complies_as_one(pick(problem, part.rows), left[part.rows])]

    def work(
        job: tuple[Part, np.random.Generator], progress: Progress
    ) -> tuple[Assignment, Floats]:
        part, own = job
        records, found = solve_part(
            problem, left, aside, part.rows, method, seed, progress, most, own
        )
        solved = Assignment.of(records, np.ones_like(records), found.groups)
        return solved, costs_of(problem, solved) / max(part.across, NOWHERE)

    jobs = list(zip(parts, chance.spawn(len(parts)), strict=True))
    if not jobs:
        return together([])
    solved, shares = zip(*in_threads(jobs, work, "solving in rounds", progress), strict=True)
    return _kept(problem, left, aside, together(list(solved)), np.concatenate(shares), most)


def _kept(
    problem: Problem,
    left: Records,
    aside: Records,
    solved: Assignment,
    shares: Floats,
    most: int,
) -> Assignment:
    """The groups of least share: those below 1, and some others; as few as let what is left be solved at once."""
    own = np.where(aside[solved.rows] > 0, 0, solved.counts)
    sizes = np.bincount(solved.groups, own, shares.size)
    order = np.argsort(shares, kind="stable")
    reached = np.cumsum(sizes[order])
    safe = float(sizes[shares <= 1].sum())
    wanted = min(left.sum() - most, max(safe, KEPT * left.sum()))
    number = min(order.size, int(np.searchsorted(reached, wanted)) + 1)
    while number > 0:
        stays = np.zeros(shares.size, dtype=bool)
        stays[order[:number]] = True
        piece = stays[solved.groups]
        kept = Assignment.of(solved.rows[piece], solved.counts[piece], solved.groups[piece])
        if can_be_solved(problem, without(kept, left, aside)[0]):
            return kept
        number //= 2
    return together([])
