"""Rounds: a rest that is too large to be solved at once is cut into parts, of which only cheap groups are kept.

Parts that are solved alone and kept whole would lose 23 % and more, because records at their borders miss their
nearest. So of every round only the cheapest groups stay; the others are pooled and cut
along other columns in the next round, until they can be solved at once (spec §7).
"""

from __future__ import annotations

import numpy as np

from shoal.counted.assignment import Assignment, pick
from shoal.counted.complying import complies_as_one
from shoal.generalization.forms import Floats, Ints, Records, TreeForm
from shoal.kernels.shared.groups import group_costs
from shoal.methods import Method
from shoal.problem import Problem
from shoal.progress import Progress

# Share of a round's records that stay in their groups, at most. With the rest of a million records in eight parts, 0.5
# loses 5.4 % more than solving it at once, 0.3 loses 2.1 %, in about the same time.
KEPT = 0.3


def solve_in_rounds(
    problem: Problem, left: Records, method: Method, seed: int, progress: Progress, most: int
) -> tuple[Assignment, Records]:
    """Assign records in rounds until at most `most` are left; returns the assignment and what is left of each row."""
    found: list[Assignment] = []
    left, turn = left.copy(), 0
    while left.sum() > most:
        progress(
            "solving in rounds", int(problem.table.records - left.sum()), problem.table.records
        )
        solved = _round(problem, left, method, seed, progress, most, turn)
        kept = _kept(problem, left, solved, most)
        if not kept.rows.size:
            break
        found.append(kept)
        left = left - np.bincount(kept.rows, kept.counts, left.size).astype(np.int64)
        turn += 1
    return _together(found), left


def _round(
    problem: Problem,
    left: Records,
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    turn: int,
) -> Assignment:
    """Solve every part of what is left alone."""
    parts: list[Assignment] = []
    for rows in cut(problem, left, most, turn):
        if not complies_as_one(pick(problem, rows), left[rows]):
            continue
        records = np.repeat(rows, left[rows])
        groups = method.partition(pick(problem, records), seed, progress).groups
        parts.append(Assignment.of(records, np.ones_like(records), groups))
    return _together(parts)


def cut(problem: Problem, left: Records, most: int, turn: int) -> list[Records]:
    """Cut the rows of what is left into parts of at most about `most` records, halving along one column at a time."""
    columns = [_line(problem, j) for j in range(len(problem.columns))]
    done: list[Records] = []
    waiting = [(np.flatnonzero(left), turn)]
    while waiting:
        rows, turn_of_part = waiting.pop()
        weights = left[rows]
        if weights.sum() <= most or rows.size < 2:
            done.append(rows)
            continue
        for offset in range(len(columns)):  # a column in which the part has more than one value
            line = columns[(turn_of_part + offset) % len(columns)][rows]
            if line.min() < line.max():
                break
        order = np.argsort(line, kind="stable")
        half = int(np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2))
        half = min(max(1, half), rows.size - 1)
        after = turn_of_part + offset + 1
        waiting += [(np.sort(rows[order[:half]]), after), (np.sort(rows[order[half:]]), after)]
    return done


def _line(problem: Problem, j: int) -> Ints:
    """The codes of column j as places on a line on which the values below any node of a tree are neighbours."""
    form, codes = problem.columns[j].form, problem.codes[:, j]
    if not isinstance(form, TreeForm):
        return codes
    ways: list[tuple[int, ...]] = []
    for value in range(form.size):
        way = [value]
        while form.parent[way[-1]] != way[-1]:
            way.append(int(form.parent[way[-1]]))
        ways.append(tuple(reversed(way)))
    rank = np.empty(form.size, dtype=np.int32)
    rank[sorted(range(form.size), key=ways.__getitem__)] = np.arange(form.size)
    return rank[codes]


def _kept(problem: Problem, left: Records, solved: Assignment, most: int) -> Assignment:
    """The cheapest groups of a round: as few records as let the others fit, and at most KEPT of them."""
    if not solved.rows.size:
        return solved
    costs, sizes = _costs(problem, solved)
    order = np.argsort(costs, kind="stable")
    reached = np.cumsum(sizes[order])
    wanted = min(left.sum() - most, KEPT * left.sum())
    number = int(np.searchsorted(reached, wanted)) + 1
    while number > 0:
        stays = np.zeros(costs.size, dtype=bool)
        stays[order[:number]] = True
        piece = stays[solved.groups]
        kept = Assignment.of(solved.rows[piece], solved.counts[piece], solved.groups[piece])
        rest = left - np.bincount(kept.rows, kept.counts, left.size).astype(np.int64)
        if not rest.any() or complies_as_one(problem, rest):
            return kept
        number //= 2
    return Assignment(solved.rows[:0], solved.counts[:0], solved.groups[:0])


def _costs(problem: Problem, solved: Assignment) -> tuple[Floats, Floats]:
    """What each group costs a record of it, and its records."""
    pieces = pick(problem, solved.rows, solved.counts)
    closures, counts = pieces.closures(solved.groups)
    sizes = counts.sum(axis=0)
    return group_costs(problem.arrays, closures, counts).sum(axis=0) / sizes, sizes


def _together(parts: list[Assignment]) -> Assignment:
    """All assignments as one, groups numbered one after the other."""
    if not parts:
        nothing = np.zeros(0, np.int64)
        return Assignment(nothing, nothing, np.zeros(0, np.int32))
    shifts = np.cumsum([0, *(int(part.groups.max(initial=-1)) + 1 for part in parts)])
    groups = [part.groups + shift for part, shift in zip(parts, shifts, strict=False)]
    return Assignment(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.unique(np.concatenate(groups), return_inverse=True)[1].astype(np.int32),
    )
