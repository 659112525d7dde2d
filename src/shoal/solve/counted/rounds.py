"""Rounds: what is too much to be solved at once is cut into parts, and the best groups of each round are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.encoding.forms import Records
from shoal.progress import Progress
from shoal.solve.counted.assignment import (
    Assignment,
    costs_of,
    join_assignments,
    pick_rows,
    shuffled_records,
)
from shoal.solve.counted.exact_groups import can_be_solved
from shoal.solve.counted.parts import NOWHERE, TablePart, column_order, cut_into_parts
from shoal.solve.counted.remote import (
    FEW_THREADS,
    RemoteSolver,
    SolverJob,
    in_threads,
    unpack_groups,
)
from shoal.solve.methods import Method
from shoal.solve.problem import Problem

KEPT = 0.2  # share of a round's records that stay in groups which might gain from reaching across a cut, at most


@dataclass(frozen=True)
class Rounds:
    """How parts are cut and solved: `elsewhere`, or in threads."""

    problem: Problem
    method: Method
    seed: int
    progress: Progress
    most: int  # records that are solved at once
    chance: np.random.Generator
    elsewhere: RemoteSolver | None = None

    def solve(self, left: Records) -> tuple[Records, Assignment]:
        """Group records until few enough are left: what is left of each row, and the groups that are kept."""
        lines = [column_order(self.problem, j) for j in range(len(self.problem.columns))]
        used, kept = np.zeros(len(lines)), join_assignments([])
        records = self.problem.table.records
        while left.sum() > self.most:
            self.progress("solving in rounds", int(records - left.sum()), records)
            parts = [
                part
                for part in cut_into_parts(lines, left, self.most, used)
                if can_be_solved(pick_rows(self.problem, part.rows), left[part.rows])
            ]
            best = self._best(parts, self._solved(parts, left), left)
            if not best.rows.size:
                break
            left, kept = left - best.of_rows(left.size), join_assignments([kept, best])
        return left, kept

    def _solved(self, parts: list[TablePart], left: Records) -> list[Assignment]:
        """Group what is left in each part by itself."""
        draws = self.chance.spawn(len(parts))

        def rows_of(number: int) -> Records:
            rows = parts[number].rows
            return rows[shuffled_records(self.problem, rows, left[rows], draws[number])]

        def job(rows: Records) -> SolverJob:
            return SolverJob(pick_rows(self.problem, rows), self.method, self.seed)

        def work(number: int, progress: Progress) -> Assignment:
            rows = rows_of(number)
            groups = job(rows).solve(progress).groups
            return Assignment.of(rows, np.ones_like(rows), groups)

        numbers = range(len(parts))
        if self.elsewhere is None:
            return in_threads(numbers, work, "solving in rounds", self.progress, FEW_THREADS)
        rows = list(map(rows_of, numbers))
        groups = map(unpack_groups, self.elsewhere.solve([job(own).packed() for own in rows]))
        return [
            Assignment.of(own, np.ones_like(own), found)
            for own, found in zip(rows, groups, strict=True)
        ]

    def _best(self, parts: list[TablePart], found: list[Assignment], left: Records) -> Assignment:
        """The groups that would gain least from reaching across a cut: those that cost less, and some others.

        They are as few as let what is left be solved at once, which must be able to meet the requirement.
        """
        costs = [
            costs_of(self.problem, one) / max(part.across, NOWHERE)
            for one, part in zip(found, parts, strict=True)
        ]
        shares, solved = np.concatenate([np.zeros(0), *costs]), join_assignments(found)
        sizes, order = solved.sizes, np.argsort(shares, kind="stable")
        safe = float(sizes[shares <= 1].sum())
        wanted = min(left.sum() - self.most, max(safe, KEPT * left.sum()))
        number = min(order.size, int(np.searchsorted(np.cumsum(sizes[order]), wanted)) + 1)
        while number > 0:
            stays = np.zeros(shares.size, dtype=bool)
            stays[order[:number]] = True
            best = solved.pick(stays[solved.groups])
            if can_be_solved(self.problem, left - best.of_rows(left.size)):
                return best
            number //= 2
        return join_assignments([])
