"""Solve a counted table: set aside, group and refine what is left, leave out; the result is an assignment."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.encoding.encode import distinct_rows
from shoal.encoding.forms import Ints, Records
from shoal.errors import InputError, counted
from shoal.progress import Progress
from shoal.solve.counted.assignment import Assignment, join_assignments, pick_rows
from shoal.solve.counted.exact_groups import (
    COMFORTABLE,
    can_be_solved,
    complying_alone,
    records_brought_in,
    set_aside,
)
from shoal.solve.counted.parts import complete_in_parts, refine_in_parts, refined_parts
from shoal.solve.counted.remote import RemoteSolver
from shoal.solve.counted.rounds import (
    FinishedGroups,
    assignment_complies,
    can_borrow,
    solve_in_rounds,
    solve_part,
)
from shoal.solve.leaving_out import leave_out, remove_dearest
from shoal.solve.local_search.budget import Refine
from shoal.solve.local_search.schedule import MANY, refine
from shoal.solve.methods import Method
from shoal.solve.problem import Problem

SWEEPS = 4  # of refinement where groups were made in rounds, each with other cuts


@dataclass(frozen=True)
class Solution:
    """An assignment of all records of a counted table, and notes for people about the run."""

    assignment: Assignment
    notes: tuple[str, ...]


def solve(
    problem: Problem,
    method: Method,
    budget: Refine | None,
    *,
    seed: int,
    progress: Progress,
    most: int,
    secret: int = 0,
    elsewhere: RemoteSolver | None = None,
) -> Solution:
    """Assign every record of a counted problem to a group.

    At most `most` records are solved at once. What meets the requirement alone is set aside first; where more than
    that is left, it is solved in rounds, their parts `elsewhere` if that is ready. Where records are equal in all that
    a method sees, `secret` decides which of them go where, so that no group gets those of one sensitive value first.
    Methods that recode globally, or promise how close to the optimum they come, solve all records or none.

    Raises
    ------
    InputError
        Where such a method is given more than `most` records.
    """
    if not may_set_aside(method) and problem.table.records > most:
        raise InputError(too_many_sentence(method, problem.table.records, most))
    limits = (most, problem.most_left_out)
    problem = replace(problem, most_left_out=0)  # methods leave out no records of a part
    run = _Run(problem, method, budget, seed, progress, *limits, secret, elsewhere)
    comfortable = min(most, COMFORTABLE)
    if may_set_aside(method) and problem.table.records > comfortable:
        solved = run.beside_stock() if can_borrow(method.choose(comfortable)) else None
        return solved or run.with_lenders()
    return run.whole()


@dataclass(frozen=True)
class _Run:
    """A counted problem and how it is to be solved."""

    problem: Problem
    method: Method
    budget: Refine | None
    seed: int
    progress: Progress
    most: int
    most_left_out: int
    secret: int
    elsewhere: RemoteSolver | None

    @property
    def counts(self) -> Records:
        counts = self.problem.table.counts
        assert counts is not None
        return counts

    def whole(self) -> Solution:
        """Solve all records at once."""
        return self._solve(self.counts, self._nothing(), self._chance())

    def with_lenders(self) -> Solution:
        """Solve what cannot be set aside together with some of what can."""
        chance = self._chance()
        self.progress("setting aside", 0, 1)
        left = self.counts - set_aside(self.problem, self.most, chance)
        return self._solve(left, self._nothing(), chance)

    def beside_stock(self) -> Solution | None:
        """Set aside all that meets the requirement alone, as a stock to borrow from; None if the rest cannot do so."""
        self.progress("setting aside", 0, 1)
        aside = complying_alone(self.problem)
        if not can_be_solved(self.problem, self.counts - aside):
            return None
        stock = FinishedGroups.set_aside(self.problem, aside)
        solved = self._solve(self.counts - aside, stock, self._chance())
        return solved if assignment_complies(self.problem, solved.assignment.released()) else None

    def _nothing(self) -> FinishedGroups:
        return FinishedGroups.set_aside(self.problem, np.zeros_like(self.counts))

    def _chance(self) -> np.random.Generator:
        return np.random.default_rng([self.seed % 2**64, self.secret])

    def _solve(self, left: Records, stock: FinishedGroups, chance: np.random.Generator) -> Solution:
        """Group what is left, with records of the stock where it can borrow; all others are released exactly."""
        problem, method, most = self.problem, self.method, self.most
        how = (method, self.seed, self.progress, most, chance)
        notes = list(aside_notes(self.counts - left, problem))
        if left.sum() > most:
            other = self.elsewhere
            used = other if other is not None and other.is_ready() else None
            left, stock = solve_in_rounds(problem, left, stock, *how, elsewhere=used)
            notes += [rounds_note(problem, stock.kept), *([other.note] if other else [])]
        is_cut, found = stock.kept.rows.size > 0, stock.kept
        can_settle = is_cut and can_borrow(method.choose(most))
        if left.any() and (left.sum() <= most or not can_settle):
            self.progress("grouping", 0, 1)
            every = np.arange(left.size)
            solved = solve_part(problem, left, stock, every, *how, settles=not can_settle)
            left, stock = solved.left_of(left), stock.after(problem, solved)
            found = stock.kept
            if solved.forms is not None:
                found = Assignment.of(
                    solved.rows, np.ones_like(solved.rows), solved.groups, solved.forms
                )
            notes += solved.notes
        if left.any():
            found = complete_in_parts(problem, left, stock.kept, self.progress, most)
        if found.rows.size and self._may_refine(found):
            aside = stock.aside(self.counts.size)
            found, more = self._refined(found, aside, is_cut, chance)
            notes += more
        found = self._leave_out(found)
        exact = self.counts - np.bincount(found.rows, found.counts, self.counts.size)
        rows = np.flatnonzero(exact)
        if rows.size:
            place = distinct_rows(problem.codes[rows]).place
            found = join_assignments(
                found, Assignment.of(rows, exact[rows].astype(np.int64), place)
            )
        return Solution(found, tuple(notes))

    def _may_refine(self, found: Assignment) -> bool:
        chosen = self.method.choose(int(found.counts.sum()))
        return self.budget is not None and chosen.may_be_refined()

    def _refined(
        self, found: Assignment, aside: Records, is_cut: bool, chance: np.random.Generator
    ) -> tuple[Assignment, tuple[str, ...]]:
        """Refine what a method made, together with as many records of the stock as there is room for.

        There always is for a table of up to MANY records. On the 30,162 of Adult, choosing cells without those that
        are set aside, a tenth, lost 1.5 %.
        """
        self.progress("refining", 0, 1)
        room = max(MANY, min(self.most, COMFORTABLE)) - int(found.counts.sum())
        more = records_brought_in(self.problem, aside, max(0, room), chance)
        rows = np.flatnonzero(more)
        if rows.size:
            place = distinct_rows(self.problem.codes[rows]).place
            found = join_assignments(found, Assignment.of(rows, more[rows], place))
        assert self.budget is not None
        sweeps = SWEEPS if is_cut else 1
        return refined_parts(
            self.problem, found, self.budget, self.seed, self.progress, self.most, sweeps, chance
        )

    def _leave_out(self, found: Assignment) -> Assignment:
        """Leave out records that cost the others most, as many as may be."""
        if not self.most_left_out or not found.rows.size:
            return found
        self.progress("leaving out", 0, 1)
        rows, groups = np.repeat(found.rows, found.counts), np.repeat(found.groups, found.counts)
        forms = None if found.forms is None else np.repeat(found.forms, found.counts, axis=0)
        part, most = pick_rows(self.problem, rows), self.most_left_out

        def improve(rest: Records, groups: Ints) -> Ints:
            own = pick_rows(part, rest)
            work = refine if groups.size <= MANY else refine_in_parts
            return work(own, groups, self.seed, self.progress, Refine()).groups

        if self._may_refine(found):
            left = leave_out(part, groups, most, improve, self.progress)
        else:
            left = remove_dearest(part, groups, most)
        return Assignment.of(rows, np.ones_like(rows), left, forms)


def rounds_note(problem: Problem, found: Assignment) -> str:
    """Say how much was solved in rounds."""
    note = f"solved in parts: {counted(int(found.counts.sum()), 'record')} in parts, all others at once"
    more = "; with requirements beyond k, this loses more detail, so give more memory if you can"
    return note + more * bool(problem.tallied)


def may_set_aside(method: Method) -> bool:
    """Whether records may be released exactly without breaking what a method is chosen for."""
    return method.may_be_refined() and method.promise.startswith("none") and not _guarantees(method)


def too_many_sentence(method: Method, records: int, most: int) -> str:
    """Say that a method cannot solve so many records at once."""
    return (
        f"Method '{method.name}' needs all {counted(records, 'record')} at once, but memory suffices for about "
        f"{most:,}. Choose the method 'auto', or give more memory (--memory)."
    )


def aside_notes(aside: Records, problem: Problem) -> tuple[str, ...]:
    """Say how much was set aside."""
    number = int(aside.sum())
    if not number:
        return ()
    return (
        f"{number:,} of {counted(problem.table.records, 'record')} already have enough equal records and are "
        "released exactly",
    )


def _guarantees(method: Method) -> bool:
    return bool(getattr(method, "guarantee", False))
