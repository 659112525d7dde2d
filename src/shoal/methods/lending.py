"""Visits of lattice points at which cells take uncovered records, and borrow what they lack from finished groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.generalization.forms import Floats, Ints, Records
from shoal.kernels.covering.borrowing import Covering, walk_lending
from shoal.methods.ladders import Ladder
from shoal.methods.lattice import Keys, Rows, part_costs
from shoal.problem import Problem

# The terms of borrowing, in the order in which a lattice point is visited under them. Of each pair, the first number
# is what borrowing may add to what a cell's own records pay, as a share of it; the second is how many records a cell
# may borrow for each record of its own. Where requirements count sensitive values, records with the rare ones are
# scarce and must last, so that a cell that borrows them comes much later.
TERMS = ((0.0, 0.0), (0.05, 0.5), (0.15, 0.5))
SCARCE_TERMS = ((0.0, 0.0), (0.2, 0.05), (0.8, 0.2))

# Where hierarchies are uneven, cells of a lattice point differ in cost. Every point is visited again and again, at
# so many times its mean cost, and cells that cost more than that wait; at the last visit none does.
REACHES = (1.0, 1.1, 1.2, 1.4, 1.7)

# Share of a limit by which a cell may cost more: costs of cells are sums of single-precision numbers, which are right
# to about 1e-7 of themselves each.
ROUNDING = 1e-5
LEAST = 1e-12  # stands for a mean cost of 0, since an infinite limit times 0 would be no number


@dataclass(frozen=True)
class Terms:
    """The visits that every lattice point gets: one under each of the terms of borrowing and with each reach.

    Each field has an entry per visit.
    """

    markup: Floats  # what borrowing may add to what a cell's own records pay, as a share of it
    share: Floats  # records that a cell may borrow for each of its own
    limit: Floats  # what a record may cost in a cell, in mean costs of the point
    price: Floats  # the cost at which the visit is due, in mean costs of the point
    borrowing: Records  # the number of the terms of borrowing

    @property
    def number(self) -> int:
        """The number of visits to a lattice point."""
        return len(self.price)

    @property
    def kinds(self) -> int:
        """The number of terms of borrowing."""
        return int(self.borrowing.max()) + 1


def terms_of(problem: Problem) -> Terms:
    """The terms under which lattice points of a problem are visited."""
    borrowing = np.array(SCARCE_TERMS if problem.tallied else TERMS)
    markup, share = np.repeat(borrowing, len(REACHES), axis=0).T
    reach = np.tile(REACHES, len(borrowing))
    limit = np.where(reach < REACHES[-1], (1 + ROUNDING) * reach, np.inf)
    return Terms(
        markup,
        share,
        limit,
        (1 + markup) * reach,
        np.repeat(np.arange(len(borrowing)), len(REACHES)),
    )


@dataclass
class Lending:
    """A cover of the table in the making: cells take uncovered records and are lent others by finished groups.

    Kernels number records such that equal ones follow each other, which is faster; `order` translates.
    """

    problem: Problem
    terms: Terms
    keys: Keys
    costs: npt.NDArray[np.float32]  # what records pay in the parts of a cell, by row of keys
    order: Ints  # the record that has each number in `covering`
    covering: Covering
    left: int  # records that no group covers yet
    covered: int = 0  # records that a group covers
    groups: int = 0  # groups made so far

    @classmethod
    def of(
        cls, problem: Problem, ladders: list[Ladder], parts: list[list[int]], keys: Keys
    ) -> Lending:
        """Begin with no record covered."""
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
        return cls(
            problem,
            terms_of(problem),
            keys,
            part_costs(problem, ladders, parts),
            order,
            covering,
            n,
        )

    @property
    def uncovered(self) -> Ints:
        """The records that no group covers yet."""
        return self.order[self.covering.uncovered[: self.left]]

    @property
    def group(self) -> Ints:
        """The group of every record, −1 for none."""
        group = np.empty_like(self.covering.group)
        group[self.order] = self.covering.group
        return group

    def visit(
        self, steps: Rows, costs: Floats, terms: Records, places: Records, waiting: Floats
    ) -> None:
        """Visit lattice points in order; `costs` are their mean costs and `terms` the number of each visit's terms.

        The cost of the cheapest cell that waits for a later visit is kept in `waiting`, at the place that `places`
        gives for the point and its terms of borrowing.
        """
        limits = self.terms.limit[terms] * np.maximum(costs, LEAST)
        self.left, self.covered, self.groups = walk_lending(
            self.problem.rules,
            self.covering,
            self.keys,
            self.costs,
            steps,
            limits,
            self.terms.markup[terms],
            self.terms.share[terms],
            places,
            waiting,
            self.left,
            self.covered,
            self.groups,
        )
