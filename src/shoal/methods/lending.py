"""Visits of lattice points at which cells take uncovered records, and borrow what they lack from finished groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.generalization.forms import Floats, Ints
from shoal.kernels.borrowing import Covering, walk_lending
from shoal.methods.lattice import Keys, Rows
from shoal.problem import Problem

# What borrowing may add to what a cell's own records pay, as a share of it, and how many records each of them
# may borrow. Where sensitive values are scarce they must last, and a cell that takes them comes much later.
TERMS = ((0.0, 0.0), (0.05, 0.5), (0.15, 0.5))
SCARCE_TERMS = ((0.0, 0.0), (0.2, 0.05), (0.8, 0.2))


def terms_of(problem: Problem) -> Floats:
    """Terms under which every lattice point is visited: a markup and a share each."""
    return np.array(SCARCE_TERMS if problem.tallied else TERMS)


@dataclass
class Lending:
    """Records that have a group or not yet, between visits; equal records are numbered in sequence, for speed."""

    problem: Problem
    keys: Keys
    order: Ints  # the record of each number
    covering: Covering
    left: int
    covered: int = 0
    groups: int = 0

    @classmethod
    def of(cls, problem: Problem, keys: Keys) -> Lending:
        """All records still uncovered."""
        n = problem.table.records
        room = n // problem.k + 1
        order = np.argsort(problem.points.of_record, kind="stable").astype(np.int32)
        covering = Covering(
            problem.values[order],
            problem.points.of_record[order],
            np.full(n, -1, np.int32),
            np.arange(n, dtype=np.int32),
            np.empty(n, np.int32),
            np.zeros((room, problem.tallied), np.int32),
            np.zeros(room, np.int64),
            np.zeros(room),
        )
        return cls(problem, keys, order, covering, n)

    @property
    def uncovered(self) -> Ints:
        return self.order[self.covering.uncovered[: self.left]]

    @property
    def group(self) -> Ints:
        """The group of every record, −1 for none."""
        group = np.empty_like(self.covering.group)
        group[self.order] = self.covering.group
        return group

    def visit(self, steps: Rows, costs: Floats, terms: Floats) -> None:
        """Visit lattice points in order, each under its terms."""
        self.left, self.covered, self.groups = walk_lending(
            self.problem.rules,
            self.covering,
            self.keys,
            steps,
            costs,
            np.ascontiguousarray(terms[:, 0]),
            np.ascontiguousarray(terms[:, 1]),
            self.left,
            self.covered,
            self.groups,
        )
