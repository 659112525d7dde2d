"""Rounds: a rest that is too large to be solved at once is cut into parts, of which only good groups are kept.

Parts that are solved alone and kept whole would lose 23 % and more, because records at their borders miss their
nearest. But a group that reaches across a cut costs at least what the two values beside the cut cost together, so that
a group which costs less would not gain from reaching across. Parts are therefore cut where reaching across is dear,
groups are kept in the order of their cost as a share of that, and the others are pooled and cut elsewhere in the next
round, until they can be solved at once (spec §7).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shoal.counted.aside import can_be_solved
from shoal.counted.assignment import Assignment, costs_of, pick
from shoal.counted.complying import complies_as_one
from shoal.counted.cutting import NOWHERE, Part, cut, line_of
from shoal.counted.elsewhere import Elsewhere, unpacked
from shoal.counted.stock import Loose, Solved, Standing, borrows, loose
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
    elsewhere: Elsewhere | None = None,
) -> tuple[Records, Standing]:
    """Group records in rounds until at most `most` are left; groups that are kept stand from then on.

    Parts are solved `elsewhere`, or in threads. Returns what is left of each row, and all groups that stand.
    """
    lines = [line_of(problem, j) for j in range(len(problem.columns))]
    used = np.zeros(len(lines))
    while left.sum() > most:
        progress(
            "solving in rounds", int(problem.table.records - left.sum()), problem.table.records
        )
        present = left + np.bincount(standing.first, minlength=left.size)
        parts = cut(lines, left, present, most, used)
        how = (method, seed, progress, most, chance, elsewhere)
        kept = _round(problem, left, standing, parts, *how)
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
    elsewhere: Elsewhere | None,
) -> Solved | None:
    """Solve every part of what is left alone, and keep the groups that would gain least from reaching across a cut."""
    must_comply = not borrows(method.choose(most))
    if must_comply:
        parts = [
            part for part in parts if complies_as_one(pick(problem, part.rows), left[part.rows])
        ]
    if not parts:
        return None

    def asked(job: tuple[Part, np.random.Generator]) -> Loose:
        part, own = job
        how = (method, seed, most, own)
        return loose(problem, left, standing, part.rows, *how, settles=False)

    def work(job: tuple[Part, np.random.Generator], progress: Progress) -> Solved:
        records = asked(job)
        return records.grouped(records.asked.solve(progress))

    jobs = list(zip(parts, chance.spawn(len(parts)), strict=True))
    if elsewhere is not None:
        found = _solved_elsewhere(elsewhere, map(asked, jobs))
    else:
        found = in_threads(jobs, work, "solving in rounds", progress, FEW_THREADS)
    shares = [_shares(problem, one, part) for one, part in zip(found, parts, strict=True)]
    shifts = np.cumsum([0, *(share.size for share in shares)])
    solved = Solved(
        np.concatenate([one.rows for one in found]),
        np.concatenate([one.pieces for one in found]),
        np.concatenate([one.groups + by for one, by in zip(found, shifts, strict=False)]),
    )
    return _kept(problem, left, solved, np.concatenate(shares), most, must_comply)


def _solved_elsewhere(elsewhere: Elsewhere, parts: Iterable[Loose]) -> list[Solved]:
    """Solve parts in another place; what they hold is not kept here meanwhile."""
    bare, sent = [], []
    for part in parts:
        sent.append(part.asked.packed())
        bare.append((part.rows, part.pieces))
    found = [unpacked(groups) for groups in elsewhere.solve(sent)]
    return [
        Solved(rows[groups >= 0], pieces[groups >= 0], groups[groups >= 0])
        for (rows, pieces), groups in zip(bare, found, strict=True)
    ]


def _shares(problem: Problem, found: Solved, part: Part) -> Floats:
    """What each group of a part costs, as a share of what reaching across a cut would."""
    if not found.rows.size:
        return np.zeros(0)
    groups = Assignment.of(found.rows, np.ones_like(found.rows), found.groups)
    return costs_of(problem, groups) / max(part.across, NOWHERE)


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
