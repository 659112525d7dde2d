"""Work in parts: rows are cut between values of a column, then settled or refined part by part."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.encoding.encode import distinct_rows
from shoal.encoding.forms import Floats, Ints, Records, SetForm, TreeForm
from shoal.errors import counted
from shoal.kernels.shared.groups import close_groups, group_costs
from shoal.progress import Progress
from shoal.solve.counted.assignment import Assignment, costs_of, join_all_assignments, pick_rows
from shoal.solve.counted.exact_groups import complies_as_one
from shoal.solve.counted.remote import FEW_THREADS, in_threads, thread_count
from shoal.solve.local_search.budget import Refine
from shoal.solve.local_search.schedule import MANY, RefinementResult, refine
from shoal.solve.methods.completion import complete_groups
from shoal.solve.problem import Problem

EVEN = 0.2  # share of the records of a part that a cut leaves on its smaller side, at least
MOST_PAIRED = (
    300  # values of a subset column of which all pairs are looked at; with more, it is not cut
)
NOWHERE = 1e-12  # stands for the cost of reaching across a cut where that is nothing


@dataclass(frozen=True)
class TablePart:
    """Rows that are solved together, and the least that reaching across one of the cuts around them costs a record."""

    rows: Records
    across: float = np.inf


@dataclass(frozen=True)
class ColumnOrder:
    """A column as a line on which the values below any node of a tree are neighbours."""

    places: Ints  # of each row
    across: Floats  # what a value and the next one cost together

    def of(self, rows: Records) -> ColumnOrder:
        """The line with some rows on it."""
        return ColumnOrder(self.places[rows], self.across)


def cut_into_parts(
    lines: list[ColumnOrder],
    left: Records,
    all_records: Records,
    most: int,
    used: Floats,
) -> list[TablePart]:
    """Cut rows into parts with at most `most` records that are left, between values of one column at a time.

    A part is cut where reaching across is dearest; what a column counts is divided by how often it was cut before,
    which `used` says and is told. Rows of which records are set aside are cut with them.
    """
    done: list[TablePart] = []
    waiting = [TablePart(np.flatnonzero(all_records))]
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
        waiting += [TablePart(rows[is_before], across), TablePart(rows[~is_before], across)]
    return done


def _best_cut(line: ColumnOrder, rows: Records, weights: Records) -> tuple[int, float]:
    """The value after which a part is best cut along a line, and how good that is: 0 where it cannot be cut."""
    total = np.bincount(line.places[rows], weights, line.across.size)
    reached = np.cumsum(total) / total.sum()
    smaller = np.minimum(reached, 1 - reached)
    worth = np.where(smaller > 0, np.minimum(smaller, EVEN) / EVEN * (line.across + NOWHERE), 0.0)
    worth = worth * (1 + 1e-6 * smaller)  # of equals, the most even
    return int(worth.argmax()), float(worth.max())


def column_order(problem: Problem, j: int) -> ColumnOrder:
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
    return ColumnOrder(rank[problem.codes[:, j]], across)


def _pair_costs(problem: Problem, j: int, one: Records, other: Records) -> Floats:
    """What two values of column j cost a record together."""
    codes = np.repeat(problem.codes[:1], 2 * one.size, axis=0)
    codes[:, j] = np.column_stack([one, other]).reshape(-1)
    members = np.arange(codes.shape[0], dtype=np.int32)
    closures = close_groups(problem.arrays, codes, members, np.arange(one.size + 1) * 2)
    counts = np.zeros((problem.class_count, one.size))
    counts[0] = 1.0
    return np.maximum(0.0, group_costs(problem.arrays, closures, counts)[j])


def complete_in_parts(
    problem: Problem, left: Records, found: Assignment, progress: Progress, most: int
) -> Assignment:
    """Give every record that is left a group, in parts of about `most` records with the groups that are there."""
    sizes = np.bincount(found.groups, found.counts).astype(np.int64)
    first = found.rows[np.unique(found.groups, return_index=True)[1]]
    present = left + np.bincount(first, sizes, left.size).astype(np.int64)
    lines = [column_order(problem, j) for j in range(len(problem.columns))]
    parts = cut_into_parts(lines, present, present, most, np.zeros(len(lines)))
    inside = _uniting(problem, left, found, first, parts)

    def work(part: tuple[Records, Records], progress: Progress) -> Assignment:
        return _settled(problem, left, found, *part, progress)

    done = in_threads(inside, work, "settling", progress, FEW_THREADS)
    touched = np.zeros(sizes.size, dtype=bool)
    for _, pieces in inside:
        touched[found.groups[pieces]] = True
    stays = ~touched[found.groups]
    rest = Assignment(found.rows[stays], found.counts[stays], found.groups[stays])
    return join_all_assignments([rest, *done])


def _uniting(
    problem: Problem, left: Records, found: Assignment, first: Records, parts: list[TablePart]
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
    return complies_as_one(pick_rows(problem, np.concatenate([rows, found.rows[pieces]])), counts)


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
        records,
        np.ones_like(records),
        complete_groups(pick_rows(problem, records), groups, progress),
    )


# Records that are refined at once where there are more than MANY.
PART = 60_000
# Records that are refined in all, those of the dearest groups; beyond, minutes would gain less than one percent.
MOST_REFINED = 300_000


def refine_in_parts(
    problem: Problem, groups: Ints, seed: int, progress: Progress, budget: Refine
) -> RefinementResult:
    """Refine the groups of a table whose records are in memory and too many to be refined at once.

    Parts are refined side by side, and cells are chosen anew in each: on the 299,285 records of the KDD census this
    loses 5.5 % less than refining all at once.
    """
    rows, chance = np.arange(groups.size), np.random.default_rng([seed, 4])
    start = Assignment.of(rows, np.ones_like(rows), groups)
    found, notes = refined_parts(problem, start, budget, seed, progress, PART, 1, chance)
    better = np.empty_like(groups)
    better[found.rows] = found.groups
    return RefinementResult(better, notes)


def refined_parts(
    problem: Problem,
    found: Assignment,
    budget: Refine,
    seed: int,
    progress: Progress,
    most: int,
    sweeps: int,
    chance: np.random.Generator,
) -> tuple[Assignment, tuple[str, ...]]:
    """Refine all groups, in parts where there are too many records; returns the assignment and notes for people."""
    records = int(found.counts.sum())
    is_whole = records <= MANY
    part = records if is_whole else min(PART, most)
    sweep = RefinementPass.of(problem, seed, chance, part)
    if is_whole and (problem.counts_values_only or not problem.tallied):
        sweeps = 1  # the second gains where shares of values are limited only
    for _ in range(sweeps):
        found = sweep.refine(found, budget, progress, sweeps)
    looked = min(records, MOST_REFINED)
    return found, () if is_whole else (
        f"large table: only the {counted(looked, 'record')} with the highest loss were tried in other groups",
    )


@dataclass(frozen=True)
class RefinementPass:
    """What a sweep of refinement needs: how often columns were cut before is told from one to the next."""

    problem: Problem
    lines: list[ColumnOrder]
    used: np.ndarray
    seed: int
    chance: np.random.Generator
    part: int = PART

    @classmethod
    def of(
        cls, problem: Problem, seed: int, chance: np.random.Generator, part: int
    ) -> RefinementPass:
        """Begin with no column cut."""
        lines = [column_order(problem, j) for j in range(len(problem.columns))]
        return cls(problem, lines, np.zeros(len(lines)), seed, chance, part)

    def refine(
        self, found: Assignment, budget: Refine, progress: Progress, sweeps: int = 1
    ) -> Assignment:
        """Refine the dearest groups of an assignment, in parts; the others stay as they are."""
        sizes = np.bincount(found.groups, found.counts)
        dearest = np.argsort(-costs_of(self.problem, found), kind="stable")
        is_dear = np.zeros(sizes.size, dtype=bool)
        is_dear[dearest[np.cumsum(sizes[dearest]) <= MOST_REFINED]] = True
        groups = np.flatnonzero(is_dear)
        first = found.rows[np.unique(found.groups, return_index=True)[1]][groups]
        weights = sizes[groups].astype(np.int64)
        lines = [line.of(first) for line in self.lines]
        parts = cut_into_parts(lines, weights, weights, self.part, self.used)
        part_of = np.full(sizes.size, -1)
        for number, part in enumerate(parts):
            part_of[groups[part.rows]] = number
        pieces = part_of[found.groups]
        order = np.argsort(pieces, kind="stable")
        bounds = np.searchsorted(pieces[order], np.arange(-1, len(parts) + 1))
        chosen = [order[a:b] for a, b in pairwise(bounds[1:])]
        jobs = list(
            zip((_some(found, own) for own in chosen), self.chance.spawn(len(parts)), strict=True)
        )
        budget = _shared(budget, len(jobs), sweeps)

        def work(job: tuple[Assignment, np.random.Generator], progress: Progress) -> Assignment:
            return _refined(self.problem, *job, budget, len(jobs), self.seed, progress)

        done = in_threads(jobs, work, "refining in parts", progress)
        return join_all_assignments([_some(found, order[: bounds[1]]), *done])


def _shared(budget: Refine, parts: int, sweeps: int) -> Refine:
    """The share of a budget that each part gets in each sweep."""
    if budget.seconds:
        at_once = min(parts, thread_count())
        return Refine(seconds=budget.seconds * at_once / (parts * sweeps))
    return Refine(steps=-(-budget.steps // (parts * sweeps)) if budget.steps else None)


def _some(found: Assignment, pieces: Records) -> Assignment:
    return Assignment(found.rows[pieces], found.counts[pieces], found.groups[pieces])


def _refined(
    problem: Problem,
    found: Assignment,
    chance: np.random.Generator,
    budget: Refine,
    parts: int,
    seed: int,
    progress: Progress,
) -> Assignment:
    """Refine the groups of one of so many parts by themselves."""
    rows = np.repeat(found.rows, found.counts)
    seen = np.column_stack([problem.codes[rows], problem.classes[rows], problem.values[rows]])
    order = np.lexsort((chance.random(rows.size), distinct_rows(seen).place))
    rows = rows[order]
    groups = np.repeat(found.groups, found.counts)[order]
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    groups = refine(pick_rows(problem, rows), groups, seed, progress, budget, parts).groups
    return Assignment.of(rows, np.ones_like(rows), groups)
