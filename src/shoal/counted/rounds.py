"""Rounds: a rest that is too large to be solved at once is cut into parts, of which only cheap groups are kept.

Parts that are solved alone and kept whole would lose 23 % and more, because records at their borders miss their
nearest. So of every round only the cheapest groups stay; the others are pooled and cut
along other columns in the next round, until they can be solved at once (spec §7).
"""

from __future__ import annotations

import numpy as np

from shoal.counted.assignment import Assignment, pick, records_of
from shoal.counted.complying import complies_as_one
from shoal.generalization.forms import Floats, Ints, Records, TreeForm
from shoal.kernels.shared.groups import group_costs
from shoal.methods import Method
from shoal.problem import Problem
from shoal.progress import Progress

# Share of a round's records that stay in their groups, at most. With Adult × 9 in eight parts, 0.5, 0.3 and 0.2 lose
# 5.4, 3.2 and 2.1 % more than solving it at once (k = 10), in about the same time.
KEPT = 0.2
EVEN = 0.2  # share of the records of a part that a cut leaves on its smaller side, at least


def solve_in_rounds(
    problem: Problem,
    left: Records,
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
) -> tuple[Assignment, Records]:
    """Assign records in rounds until at most `most` are left; returns the assignment and what is left of each row."""
    found: list[Assignment] = []
    left, turn = left.copy(), 0
    columns = _columns_to_cut(problem, left, method, seed, progress, most, chance)
    while left.sum() > most:
        progress(
            "solving in rounds", int(problem.table.records - left.sum()), problem.table.records
        )
        shift = turn % len(columns)
        parts = cut(problem, left, most, [*columns[shift:], *columns[:shift]])
        solved = _round(problem, left, parts, method, seed, progress, chance)
        kept = _kept(problem, left, solved, most)
        if not kept.rows.size:
            break
        found.append(kept)
        left = left - np.bincount(kept.rows, kept.counts, left.size).astype(np.int64)
        turn += 1
    return _together(found), left


def _columns_to_cut(
    problem: Problem,
    left: Records,
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
) -> list[int]:
    """All columns, those first in which groups of a sample cost least: cutting there parts the fewest groups."""
    rows = np.flatnonzero(left)
    some = rows[:: int(-(-left.sum() // most))]
    if not complies_as_one(pick(problem, some), left[some]):
        return list(range(len(problem.columns)))
    solved = _round(problem, left, [some], method, seed, progress, chance)
    closures, counts = pick(problem, solved.rows, solved.counts).closures(solved.groups)
    costs = group_costs(problem.arrays, closures, counts).sum(axis=1)
    return [int(j) for j in np.argsort(costs, kind="stable")]


def _round(
    problem: Problem,
    left: Records,
    parts: list[Records],
    method: Method,
    seed: int,
    progress: Progress,
    chance: np.random.Generator,
) -> Assignment:
    """Solve every part of what is left alone."""
    solved: list[Assignment] = []
    for rows in parts:
        if not complies_as_one(pick(problem, rows), left[rows]):
            continue
        records = records_of(problem, rows, left[rows], chance)
        groups = method.partition(pick(problem, records), seed, progress).groups
        solved.append(Assignment.of(records, np.ones_like(records), groups))
    return _together(solved)


def cut(problem: Problem, left: Records, most: int, columns: list[int]) -> list[Records]:
    """Cut the rows of what is left into parts of at most `most` records, between values of one column at a time.

    A part is cut along the first column that parts it evenly enough.
    """
    lines = [_line(problem, j) for j in columns]
    done: list[Records] = []
    waiting = [np.flatnonzero(left)]
    while waiting:
        rows = waiting.pop()
        if left[rows].sum() <= most or rows.size < 2:
            done.append(rows)
            continue
        best, place = 0.0, (lines[0][rows], 0.0)
        for line in lines:
            values, share = _even_cut(line[rows], left[rows])
            if share > best:
                best, place = share, (line[rows], values)
            if share >= EVEN:
                break
        before = place[0] <= place[1] if best else np.arange(rows.size) < rows.size // 2
        waiting += [rows[before], rows[~before]]
    return done


def _even_cut(line: Ints, weights: Records) -> tuple[float, float]:
    """The value after which a line is cut most evenly, and the share of records on the smaller side."""
    total = np.bincount(line, weights)
    reached = np.cumsum(total) / total.sum()
    smaller = np.minimum(reached, 1 - reached)
    return float(smaller.argmax()), float(smaller.max())


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
