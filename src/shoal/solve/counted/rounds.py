"""Rounds: a rest too large to be solved at once is cut into parts, whose good groups are kept and lend records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from shoal.encoding.encode import distinct_rows
from shoal.encoding.forms import Floats, Ints, Records
from shoal.progress import Progress
from shoal.solve.counted.assignment import (
    Assignment,
    costs_of,
    join_assignments,
    pick_rows,
    record_rows,
)
from shoal.solve.counted.exact_groups import (
    can_be_solved,
    complies_as_one,
    share_among_rows,
    which_comply,
)
from shoal.solve.counted.parts import NOWHERE, TablePart, column_order, cut_into_parts
from shoal.solve.counted.remote import (
    FEW_THREADS,
    RemoteSolver,
    SolverJob,
    in_threads,
    unpack_groups,
)
from shoal.solve.methods import Cover, Method, Partition
from shoal.solve.methods.borrowing_cover import Stock
from shoal.solve.problem import Problem

MOST_LENT = 2  # records that a group which stands may lend, as a multiple of k


@dataclass(frozen=True)
class FinishedGroups:
    """Groups that stand: first `exact` combinations that are set aside, then groups that rounds kept."""

    found: Assignment
    exact: int
    sizes: Records
    prices: Floats  # what each group costs a record of it
    first: Records  # a row of each group

    @classmethod
    def of(cls, problem: Problem, found: Assignment, exact: int) -> FinishedGroups:
        """Tell what groups are like that are numbered without gaps, each with a record at least."""
        if not found.rows.size:
            nothing = np.zeros(0, np.int64)
            return cls(found, 0, nothing, np.zeros(0), nothing)
        sizes = np.bincount(found.groups, found.counts).astype(np.int64)
        first = found.rows[np.unique(found.groups, return_index=True)[1]]
        return cls(found, exact, sizes, costs_of(problem, found), first)

    @classmethod
    def set_aside(cls, problem: Problem, aside: Records) -> FinishedGroups:
        """Begin with what is set aside of each row."""
        rows = np.flatnonzero(aside)
        place = distinct_rows(problem.codes[rows]).place
        number = int(place.max(initial=-1)) + 1
        return cls.of(problem, Assignment.of(rows, aside[rows], place), number)

    def with_kept(self, problem: Problem, kept: Assignment) -> FinishedGroups:
        """The same combinations set aside, with other groups kept."""
        own = self.found.groups < self.exact
        found = self.found
        aside = Assignment(found.rows[own], found.counts[own], found.groups[own])
        return FinishedGroups.of(problem, join_assignments(aside, kept), self.exact)

    @property
    def kept(self) -> Assignment:
        """The groups that rounds kept, numbered from 0."""
        own = self.found.groups >= self.exact
        found = self.found
        return Assignment(found.rows[own], found.counts[own], found.groups[own] - self.exact)

    def aside(self, rows: int) -> Records:
        """What is still set aside of each row."""
        own = self.found.groups < self.exact
        numbers = np.bincount(self.found.rows[own], self.found.counts[own], rows)
        return numbers.astype(np.int64)

    def after(self, problem: Problem, solved: GroupedRecords) -> FinishedGroups:
        """The groups that stand once those of a solution do, less what these were lent."""
        lent = np.bincount(solved.pieces[solved.pieces >= 0], minlength=self.found.rows.size)
        counts = self.found.counts - lent
        some = counts > 0
        rest = Assignment(self.found.rows[some], counts[some], self.found.groups[some])
        new = Assignment.of(solved.rows, np.ones_like(solved.rows), solved.groups)
        return FinishedGroups.of(problem, join_assignments(rest, new), self.exact)


@dataclass(frozen=True)
class GroupedRecords:
    """Records that have a group: the row of each, and the piece of what stands that lent it, −1 for none."""

    rows: Records
    pieces: Records
    groups: Ints
    notes: tuple[str, ...] = ()
    forms: Ints | None = None

    def only(self, chosen: np.ndarray) -> GroupedRecords:
        """Some of the records; groups are numbered anew."""
        groups = np.unique(self.groups[chosen], return_inverse=True)[1].astype(np.int32)
        return GroupedRecords(self.rows[chosen], self.pieces[chosen], groups)

    def left_of(self, left: Records) -> Records:
        """What remains to be solved of each row."""
        own = self.rows[self.pieces < 0]
        return left - np.bincount(own, minlength=left.size)


@dataclass(frozen=True)
class UngroupedRecords:
    """Records to be grouped: the row of each, the piece of what stands that may lend it, and what a method is asked."""

    rows: Records
    pieces: Records
    asked: SolverJob
    notes: tuple[str, ...] = ()

    def grouped(self, found: Partition) -> GroupedRecords:
        """The records that got a group."""
        used = found.groups >= 0
        return GroupedRecords(
            self.rows[used],
            self.pieces[used],
            found.groups[used],
            (*self.notes, *found.notes),
            found.forms if found.forms is None else found.forms[used],
        )


def ungrouped_records(
    problem: Problem,
    left: Records,
    standing: FinishedGroups,
    rows: Records,
    method: Method,
    seed: int,
    most: int,
    chance: np.random.Generator,
    settles: bool = True,
) -> UngroupedRecords:
    """The records of some rows that are left, with records that the groups that stand there may lend.

    At most `most` records may be lent. Only `cover` borrows, and it alone can leave records without a group which it
    has no good one for, unless it `settles` them; other methods group what is left.
    """
    own = record_rows(problem, rows, left[rows], chance)
    chosen = method.choose(own.size)
    notes = () if chosen is method else (f"chose {chosen.name}",)
    pieces, stock = _lenders(problem, left, standing, rows, most, chance)
    nobody = np.full(own.size, -1)
    if not can_borrow(chosen) or (settles and not pieces.size):
        return UngroupedRecords(
            own, nobody, SolverJob(pick_rows(problem, own), chosen, seed), notes
        )
    records = np.concatenate([own, standing.found.rows[pieces]])
    stock = replace(stock, group=np.concatenate([nobody.astype(np.int32), stock.group]))
    asked = SolverJob(pick_rows(problem, records), chosen, seed, stock, settles)
    return UngroupedRecords(records, np.concatenate([nobody, pieces]), asked, notes)


def solve_part(
    problem: Problem,
    left: Records,
    standing: FinishedGroups,
    rows: Records,
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
    settles: bool = True,
) -> GroupedRecords:
    """Group the records of some rows that are left; see `ungrouped_records`."""
    part = ungrouped_records(problem, left, standing, rows, method, seed, most, chance, settles)
    return part.grouped(part.asked.solve(progress))


def _lenders(
    problem: Problem,
    left: Records,
    standing: FinishedGroups,
    rows: Records,
    most: int,
    chance: np.random.Generator,
) -> tuple[Records, Stock]:
    """The piece of every record that may be lent, and the stock of groups that they are of."""
    is_here = np.zeros(left.size, dtype=bool)
    is_here[rows] = True
    lends = is_here[standing.first] & (standing.sizes > problem.k)
    groups, found = np.flatnonzero(lends), standing.found
    group_of = np.full(standing.sizes.size, -1, np.int32)
    group_of[groups] = np.arange(groups.size)
    pieces = np.flatnonzero(lends[found.groups])
    place, counts, sizes = (
        group_of[found.groups[pieces]],
        found.counts[pieces],
        standing.sizes[groups],
    )
    tally = np.zeros((groups.size, problem.tallied), np.int32)
    for values in problem.values[found.rows[pieces]].T:
        np.add.at(tally, (place, values), counts)
    wanted = np.minimum(sizes - problem.k, MOST_LENT * problem.k)
    if problem.tallied:  # of a group that was kept, the record that another lacks may be any
        wanted = np.where(groups < standing.exact, wanted, sizes)
    wanted = np.minimum(wanted, max(1, most // max(1, groups.size)))
    shares = share_among_rows(place, counts, wanted, chance.random())
    lent = np.repeat(np.arange(pieces.size), shares)
    codes, own = problem.codes, found.rows[pieces]
    seen = np.column_stack([codes[own], problem.classes[own], problem.values[own]])
    lent = lent[np.lexsort((chance.random(lent.size), distinct_rows(seen).place[lent]))]
    return pieces[lent], Stock(place[lent], sizes, tally, standing.prices[groups])


def can_borrow(method: Method) -> bool:
    """Whether a method can borrow from a stock."""
    return isinstance(method, Cover) and not method.guarantee


def assignment_complies(problem: Problem, found: Assignment) -> bool:
    """Whether all groups of an assignment meet the requirement."""
    groups = np.unique(found.groups, return_inverse=True)[1].astype(np.int32)
    return bool(which_comply(pick_rows(problem, found.rows), groups, found.counts).all())


KEPT = 0.2  # share of a round's records that stay in groups which might gain from reaching across a cut, at most


def solve_in_rounds(
    problem: Problem,
    left: Records,
    standing: FinishedGroups,
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
    elsewhere: RemoteSolver | None = None,
) -> tuple[Records, FinishedGroups]:
    """Group records in rounds until at most `most` are left; groups that are kept stand from then on.

    Parts are solved `elsewhere`, or in threads. Returns what is left of each row, and all groups that stand.
    """
    lines = [column_order(problem, j) for j in range(len(problem.columns))]
    used = np.zeros(len(lines))
    while left.sum() > most:
        progress(
            "solving in rounds", int(problem.table.records - left.sum()), problem.table.records
        )
        present = left + np.bincount(standing.first, minlength=left.size)
        parts = cut_into_parts(lines, left, present, most, used)
        how = (method, seed, progress, most, chance, elsewhere)
        kept = _round(problem, left, standing, parts, *how)
        if kept is None:
            break
        left, standing = kept.left_of(left), standing.after(problem, kept)
    return left, standing


def _round(
    problem: Problem,
    left: Records,
    standing: FinishedGroups,
    parts: list[TablePart],
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
    elsewhere: RemoteSolver | None,
) -> GroupedRecords | None:
    """Solve every part of what is left alone, and keep the groups that would gain least from reaching across a cut."""
    must_comply = not can_borrow(method.choose(most))
    if must_comply:
        parts = [
            part
            for part in parts
            if complies_as_one(pick_rows(problem, part.rows), left[part.rows])
        ]
    if not parts:
        return None

    def asked(job: tuple[TablePart, np.random.Generator]) -> UngroupedRecords:
        part, own = job
        how = (method, seed, most, own)
        return ungrouped_records(problem, left, standing, part.rows, *how, settles=False)

    def work(job: tuple[TablePart, np.random.Generator], progress: Progress) -> GroupedRecords:
        records = asked(job)
        return records.grouped(records.asked.solve(progress))

    jobs = list(zip(parts, chance.spawn(len(parts)), strict=True))
    if elsewhere is not None:
        found = _solved_elsewhere(elsewhere, map(asked, jobs))
    else:
        found = in_threads(jobs, work, "solving in rounds", progress, FEW_THREADS)
    shares = [_shares(problem, one, part) for one, part in zip(found, parts, strict=True)]
    shifts = np.cumsum([0, *(share.size for share in shares)])
    solved = GroupedRecords(
        np.concatenate([one.rows for one in found]),
        np.concatenate([one.pieces for one in found]),
        np.concatenate([one.groups + by for one, by in zip(found, shifts, strict=False)]),
    )
    return _kept(problem, left, solved, np.concatenate(shares), most, must_comply)


def _solved_elsewhere(
    elsewhere: RemoteSolver, parts: Iterable[UngroupedRecords]
) -> list[GroupedRecords]:
    """Solve parts in another place; what they hold is not kept here meanwhile."""
    bare, sent = [], []
    for part in parts:
        sent.append(part.asked.packed())
        bare.append((part.rows, part.pieces))
    found = [unpack_groups(groups) for groups in elsewhere.solve(sent)]
    return [
        GroupedRecords(rows[groups >= 0], pieces[groups >= 0], groups[groups >= 0])
        for (rows, pieces), groups in zip(bare, found, strict=True)
    ]


def _shares(problem: Problem, found: GroupedRecords, part: TablePart) -> Floats:
    """What each group of a part costs, as a share of what reaching across a cut would."""
    if not found.rows.size:
        return np.zeros(0)
    groups = Assignment.of(found.rows, np.ones_like(found.rows), found.groups)
    return costs_of(problem, groups) / max(part.across, NOWHERE)


def _kept(
    problem: Problem,
    left: Records,
    solved: GroupedRecords,
    shares: Floats,
    most: int,
    must_comply: bool,
) -> GroupedRecords | None:
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
