"""Settling in parts: after rounds, records that no good group was found for join the groups around them."""

from __future__ import annotations

import numpy as np

from shoal.counted.assignment import Assignment, pick, together
from shoal.counted.complying import complies_as_one
from shoal.counted.cutting import Part, cut, line_of
from shoal.counted.threads import FEW_THREADS, in_threads
from shoal.generalization.forms import Records
from shoal.methods.settle import settle
from shoal.problem import Problem
from shoal.progress import Progress


def settle_in_parts(
    problem: Problem, left: Records, found: Assignment, progress: Progress, most: int
) -> Assignment:
    """Give every record that is left a group, in parts of about `most` records with the groups that are there."""
    sizes = np.bincount(found.groups, found.counts).astype(np.int64)
    first = found.rows[np.unique(found.groups, return_index=True)[1]]
    present = left + np.bincount(first, sizes, left.size).astype(np.int64)
    lines = [line_of(problem, j) for j in range(len(problem.columns))]
    parts = cut(lines, present, present, most, np.zeros(len(lines)))
    inside = _uniting(problem, left, found, first, parts)

    def work(part: tuple[Records, Records], progress: Progress) -> Assignment:
        return _settled(problem, left, found, *part, progress)

    done = in_threads(inside, work, "settling", progress, FEW_THREADS)
    touched = np.zeros(sizes.size, dtype=bool)
    for _, pieces in inside:
        touched[found.groups[pieces]] = True
    stays = ~touched[found.groups]
    rest = Assignment(found.rows[stays], found.counts[stays], found.groups[stays])
    return together([rest, *done])


def _uniting(
    problem: Problem, left: Records, found: Assignment, first: Records, parts: list[Part]
) -> list[tuple[Records, Records]]:
    """The rows that are left and the pieces of groups in each part that needs settling.

    Parts that cannot meet the requirement are united with the next one, and at the end with the one before.
    """
    part_of = np.zeros(left.size, np.int64)
    for number, part in enumerate(parts):
        part_of[part.rows] = number
    pieces_in = part_of[first][found.groups]
    united: list[tuple[Records, Records]] = []
    open_rows: list[Records] = []
    open_pieces: list[Records] = []
    for number, part in enumerate(parts):
        open_rows.append(part.rows[left[part.rows] > 0])
        open_pieces.append(np.flatnonzero(pieces_in == number))
        rows, pieces = np.concatenate(open_rows), np.concatenate(open_pieces)
        if not rows.size:
            open_rows, open_pieces = [], []
        elif _complies(problem, left, found, rows, pieces):
            united.append((rows, pieces))
            open_rows, open_pieces = [], []
    if open_rows:
        rows, pieces = united.pop() if united else (np.zeros(0, np.int64), np.zeros(0, np.int64))
        united.append((np.concatenate([rows, *open_rows]), np.concatenate([pieces, *open_pieces])))
    return united


def _complies(
    problem: Problem, left: Records, found: Assignment, rows: Records, pieces: Records
) -> bool:
    counts = np.concatenate([left[rows], found.counts[pieces]])
    return complies_as_one(pick(problem, np.concatenate([rows, found.rows[pieces]])), counts)


def _settled(
    problem: Problem,
    left: Records,
    found: Assignment,
    rows: Records,
    pieces: Records,
    progress: Progress,
) -> Assignment:
    """Settle what is left of some rows among some groups."""
    own = np.repeat(rows, left[rows])
    records = np.concatenate([own, np.repeat(found.rows[pieces], found.counts[pieces])])
    groups = np.concatenate(
        [np.full(own.size, -1, np.int32), np.repeat(found.groups[pieces], found.counts[pieces])]
    )
    return Assignment.of(
        records, np.ones_like(records), settle(pick(problem, records), groups, progress)
    )
