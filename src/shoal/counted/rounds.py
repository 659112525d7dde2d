"""Rounds: a rest that is too large to be solved at once is cut into parts, of which only good groups are kept.

Parts that are solved alone and kept whole would lose 23 % and more, because records at their borders miss their
nearest. But a group that reaches across a cut costs at least what the two values beside the cut cost together, so that
a group which costs less would not gain from reaching across. Parts are therefore cut where reaching across is dear,
groups are kept in the order of their cost as a share of that, and the others are pooled and cut elsewhere in the next
round, until they can be solved at once (spec §7).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.counted.assignment import Assignment, pick, records_of
from shoal.counted.complying import complies_as_one
from shoal.generalization.forms import Floats, Ints, Records, SetForm, TreeForm
from shoal.kernels.shared.groups import close_groups, group_costs
from shoal.methods import Method
from shoal.problem import Problem
from shoal.progress import Progress

KEPT = 0.2  # share of a round's records that stay in groups which might gain from reaching across a cut, at most
EVEN = 0.2  # share of the records of a part that a cut leaves on its smaller side, at least
MOST_PAIRED = (
    300  # values of a subset column of which all pairs are looked at; with more, it is not cut
)
NOWHERE = 1e-12  # stands for the cost of reaching across a cut where that is nothing


@dataclass(frozen=True)
class Part:
    """Rows that are solved together, and the least that reaching across one of the cuts around them costs a record."""

    rows: Records
    across: float = np.inf


@dataclass(frozen=True)
class _Line:
    """A column as a line on which the values below any node of a tree are neighbours."""

    places: Ints  # of each row
    across: Floats  # what a value and the next one cost together


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
    left = left.copy()
    lines = [_line(problem, j) for j in range(len(problem.columns))]
    used = np.zeros(len(lines))
    while left.sum() > most:
        progress(
            "solving in rounds", int(problem.table.records - left.sum()), problem.table.records
        )
        parts = cut(lines, left, most, used)
        kept = _round(problem, left, parts, method, seed, progress, most, chance)
        if not kept.rows.size:
            break
        found.append(kept)
        left = left - np.bincount(kept.rows, kept.counts, left.size).astype(np.int64)
    return _together(found), left


def cut(lines: list[_Line], left: Records, most: int, used: Floats) -> list[Part]:
    """Cut the rows of what is left into parts of at most `most` records, between values of one column at a time.

    A part is cut where reaching across is dearest; what a column counts is divided by how often it was cut before,
    which `used` says and is told.
    """
    done: list[Part] = []
    waiting = [Part(np.flatnonzero(left))]
    worth = 1 / (1 + used)
    while waiting:
        part = waiting.pop()
        rows = part.rows
        if left[rows].sum() <= most or rows.size < 2:
            done.append(part)
            continue
        best, column, place = -1.0, 0, 0
        for j, line in enumerate(lines):
            at, value = _best_cut(line, rows, left[rows])
            if value * worth[j] > best:
                best, column, place = value * worth[j], j, at
        is_before = lines[column].places[rows] <= place
        across = min(part.across, float(lines[column].across[place]))
        if best <= 0:  # all in one value of every column: anywhere
            is_before, across = np.arange(rows.size) < rows.size // 2, NOWHERE
        else:
            used[column] += left[rows].sum() / left.sum()
        waiting += [Part(rows[is_before], across), Part(rows[~is_before], across)]
    return done


def _best_cut(line: _Line, rows: Records, weights: Records) -> tuple[int, float]:
    """The value after which a part is best cut along a line, and how good that is: 0 where it cannot be cut."""
    total = np.bincount(line.places[rows], weights, line.across.size)
    reached = np.cumsum(total) / total.sum()
    smaller = np.minimum(reached, 1 - reached)
    worth = np.where(smaller > 0, np.minimum(smaller, EVEN) / EVEN * (line.across + NOWHERE), 0.0)
    worth = worth * (1 + 1e-6 * smaller)  # of equals, the most even
    return int(worth.argmax()), float(worth.max())


def _line(problem: Problem, j: int) -> _Line:
    """Lay a column out on a line."""
    form = problem.columns[j].form
    order = np.arange(form.size)
    if isinstance(form, TreeForm):
        ways: list[tuple[int, ...]] = []
        for value in range(form.size):
            way = [value]
            while form.parent[way[-1]] != way[-1]:
                way.append(int(form.parent[way[-1]]))
            ways.append(tuple(reversed(way)))
        order = np.array(sorted(range(form.size), key=ways.__getitem__))
    rank = np.empty(form.size, dtype=np.int32)
    rank[order] = np.arange(form.size)
    across = np.zeros(form.size)
    if isinstance(form, SetForm):  # any two values may be together
        if 1 < form.size <= MOST_PAIRED:
            one, other = np.triu_indices(form.size, 1)
            pairs = np.full((form.size, form.size), np.inf)
            pairs[one, other] = _pair_costs(problem, j, one, other)
            across[:-1] = [pairs[:place, place:].min() for place in range(1, form.size)]
    elif form.size > 1:
        across[:-1] = _pair_costs(problem, j, order[:-1], order[1:])
    return _Line(rank[problem.codes[:, j]], across)


def _pair_costs(problem: Problem, j: int, one: Records, other: Records) -> Floats:
    """What two values of column j cost a record together."""
    codes = np.repeat(problem.codes[:1], 2 * one.size, axis=0)
    codes[:, j] = np.column_stack([one, other]).reshape(-1)
    members = np.arange(codes.shape[0], dtype=np.int32)
    closures = close_groups(problem.arrays, codes, members, np.arange(one.size + 1) * 2)
    counts = np.zeros((problem.class_count, one.size))
    counts[0] = 1.0
    return np.maximum(0.0, group_costs(problem.arrays, closures, counts)[j])


def _round(
    problem: Problem,
    left: Records,
    parts: list[Part],
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
) -> Assignment:
    """Solve every part of what is left alone, and keep the groups that would gain least from reaching across a cut."""
    solved: list[Assignment] = []
    shares: list[Floats] = []
    for part in parts:
        if not complies_as_one(pick(problem, part.rows), left[part.rows]):
            continue
        records = records_of(problem, part.rows, left[part.rows], chance)
        groups = method.partition(pick(problem, records), seed, progress).groups
        solved.append(Assignment.of(records, np.ones_like(records), groups))
        shares.append(_costs(problem, solved[-1]) / max(part.across, NOWHERE))
    if not solved:
        return _together([])
    return _kept(problem, left, _together(solved), np.concatenate(shares), most)


def _kept(
    problem: Problem, left: Records, solved: Assignment, shares: Floats, most: int
) -> Assignment:
    """The groups of least share: those below 1, and some others; as few as let what is left be solved at once."""
    sizes = np.bincount(solved.groups, solved.counts, shares.size)
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
        rest = left - np.bincount(kept.rows, kept.counts, left.size).astype(np.int64)
        if not rest.any() or complies_as_one(problem, rest):
            return kept
        number //= 2
    return _together([])


def _costs(problem: Problem, solved: Assignment) -> Floats:
    """What each group costs a record of it, on average."""
    closures, counts = pick(problem, solved.rows, solved.counts).closures(solved.groups)
    return group_costs(problem.arrays, closures, counts).sum(axis=0) / counts.sum(axis=0)


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
