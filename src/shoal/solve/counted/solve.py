"""Solve a counted table: set aside, group and refine what is left, leave out; the result is an assignment."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.encoding.encode import distinct_rows
from shoal.encoding.forms import Ints, Records
from shoal.errors import InputError, counted
from shoal.progress import Progress
from shoal.solve.counted.assignment import (
    Assignment,
    join_assignments,
    pick_rows,
    shuffled_records,
)
from shoal.solve.counted.exact_groups import COMFORTABLE, records_brought_in, set_aside
from shoal.solve.counted.parts import refine_in_parts, refined_parts
from shoal.solve.counted.remote import RemoteSolver, SolverJob
from shoal.solve.counted.rounds import Rounds
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

    At most `most` records are solved at once, and as many that lend. What meets the requirement alone is set aside
    first; where more than that is left, it is solved in rounds, their parts `elsewhere` if that is ready. Where records
    are equal in all that a method sees, `secret` decides which of them go where, so that no group gets those of one
    sensitive value first.
    Methods that recode globally, or promise how close to the optimum they come, solve all records or none.

    Raises
    ------
    InputError
        Where such a method is given more than `most` records.
    """
    if not may_set_aside(method) and problem.table.records > most:
        raise InputError(too_many_sentence(method, problem.table.records, most))
    most_left_out = problem.most_left_out
    problem = replace(problem, most_left_out=0)  # methods leave out no records of a part
    run = _Run(problem, method, budget, seed, progress, most, most_left_out, secret, elsewhere)
    return run.solution()


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

    def solution(self) -> Solution:
        """Group and refine what cannot be set aside; all other records are released exactly."""
        problem, counts = self.problem, self.problem.table.counts
        assert counts is not None
        chance = np.random.default_rng([self.seed % 2**64, self.secret])
        aside = np.zeros_like(counts)
        if may_set_aside(self.method):
            self.progress("setting aside", 0, 1)
            aside = set_aside(problem, self.most, chance)
        left: Records = counts - aside
        notes, kept = list(aside_notes(aside, problem)), join_assignments([])
        other = self.elsewhere
        if left.sum() > 2 * self.most:  # as many again may be there to lend
            used = other if other is not None and other.is_ready() else None
            how = (problem, self.method, self.seed, self.progress, self.most, chance, used)
            left, kept = Rounds(*how).solve(left)
            notes += [rounds_note(problem, kept), *([other.note] if other else [])]
        found = kept
        if left.any():
            self.progress("grouping", 0, 1)
            rows = shuffled_records(problem, np.arange(left.size), left, chance)
            job = SolverJob(pick_rows(problem, rows), self.method, self.seed)
            solved = job.solve(self.progress)
            notes += solved.notes
            found = Assignment.of(rows, np.ones_like(rows), solved.groups, solved.forms)
            if kept.rows.size:
                found = join_assignments([kept, found])
        if found.rows.size and self._may_refine(found):
            found, more = self._refined(found, aside, kept.rows.size > 0, chance)
            notes += more
        found = self._leave_out(found)
        exact = _in_exact_groups(problem, counts - found.of_rows(counts.size))
        return Solution(
            join_assignments([found, exact]) if exact.rows.size else found, tuple(notes)
        )

    def _may_refine(self, found: Assignment) -> bool:
        chosen = self.method.choose(int(found.counts.sum()))
        return self.budget is not None and chosen.may_be_refined()

    def _refined(
        self, found: Assignment, aside: Records, is_cut: bool, chance: np.random.Generator
    ) -> tuple[Assignment, tuple[str, ...]]:
        """Refine what a method made, together with as many that are set aside as there is room for.

        There always is for a table of up to MANY records. On the 30,162 of Adult, choosing cells without those that
        are set aside, a tenth, lost 1.5 %.
        """
        self.progress("refining", 0, 1)
        room = max(MANY, min(self.most, COMFORTABLE)) - int(found.counts.sum())
        more = records_brought_in(self.problem, aside, max(0, room), chance)
        found = join_assignments([found, _in_exact_groups(self.problem, more)])
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


def _in_exact_groups(problem: Problem, records: Records) -> Assignment:
    """So many records of each row, in a group for each combination of quasi-identifiers."""
    rows = np.flatnonzero(records)
    return Assignment.of(rows, records[rows], distinct_rows(problem.codes[rows]).place)


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
