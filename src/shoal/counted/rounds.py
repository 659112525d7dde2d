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
from shoal.counted.assignment import Assignment, costs_of, pick
from shoal.counted.complying import complies_as_one
from shoal.counted.cutting import NOWHERE, Part, cut, line_of
from shoal.counted.stock import Solved, Standing, borrows, solve_part
from shoal.counted.threads import FEW_THREADS, in_threads
from shoal.generalization.forms import Floats, Records
from shoal.methods import Method
from shoal.problem import Problem
from shoal.progress import Progress

KEPT = 0.2  # share of a round's records that stay in groups which might gain from reaching across a cut, at most


def solve_in_rounds(
    problem: Problem,
    left: Records,
    standing: Standing,
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
) -> tuple[Records, Standing]:
    """Group records in rounds until at most `most` are left; groups that are kept stand from then on.

    Returns what is left of each row, and all groups that stand.
    """
    lines = [line_of(problem, j) for j in range(len(problem.columns))]
    used = np.zeros(len(lines))
    while left.sum() > most:
        progress(
            "solving in rounds", int(problem.table.records - left.sum()), problem.table.records
        )
        present = left + np.bincount(standing.first, minlength=left.size)
        parts = cut(lines, left, present, most, used)
        kept = _round(problem, left, standing, parts, method, seed, progress, most, chance)
        if kept is None:
            break
        left, standing = kept.left_of(left), standing.after(problem, kept)
    return left, standing


def _round(
    problem: Problem,
    left: Records,
    standing: Standing,
    parts: list[Part],
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
) -> Solved | None:
    """Solve every part of what is left alone, and keep the groups that would gain least from reaching across a cut."""
    if not borrows(method.choose(most)):
        parts = [
            part for part in parts if complies_as_one(pick(problem, part.rows), left[part.rows])
        ]

    def work(job: tuple[Part, np.random.Generator], progress: Progress) -> tuple[Solved, Floats]:
        part, own = job
        found = solve_part(
            problem, left, standing, part.rows, method, seed, progress, most, own, settles=False
        )
        if not found.rows.size:
            return found, np.zeros(0)
        groups = Assignment.of(found.rows, np.ones_like(found.rows), found.groups)
        return found, costs_of(problem, groups) / max(part.across, NOWHERE)

    jobs = list(zip(parts, chance.spawn(len(parts)), strict=True))
    if not jobs:
        return None
    found, shares = zip(
        *in_threads(jobs, work, "solving in rounds", progress, FEW_THREADS), strict=True
    )
    shifts = np.cumsum([0, *(share.size for share in shares)])
    solved = Solved(
        np.concatenate([one.rows for one in found]),
        np.concatenate([one.pieces for one in found]),
        np.concatenate([one.groups + by for one, by in zip(found, shifts, strict=False)]),
    )
    must_comply = not borrows(method.choose(most))
    return _kept(problem, left, solved, np.concatenate(shares), most, must_comply)


def _kept(
    problem: Problem,
    left: Records,
    solved: Solved,
    shares: Floats,
    most: int,
    must_comply: bool,
) -> Solved | None:
    """The groups of least share: those below 1, and some others; as few as let what is left be solved at once.

    Where what is left cannot borrow, it must be able to meet the requirement.
    """
    sizes = np.bincount(solved.groups, solved.pieces < 0, shares.size)
    order = np.argsort(shares, kind="stable")
    reached = np.cumsum(sizes[order])
    safe = float(sizes[shares <= 1].sum())
    wanted = min(left.sum() - most, max(safe, KEPT * left.sum()))
    number = min(order.size, int(np.searchsorted(reached, wanted)) + 1)
    while number > 0:
        stays = np.zeros(shares.size, dtype=bool)
        stays[order[:number]] = True
        kept = solved.only(stays[solved.groups])
        if not must_comply or can_be_solved(problem, kept.left_of(left)):
            return kept
        number //= 2
    return None
