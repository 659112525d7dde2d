"""Visits of lattice points at which cells take uncovered records, and borrow what they lack from finished groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.generalization.forms import Floats, Ints, Records
from shoal.kernels.covering.borrowing import Covering, Visits, walk_lending
from shoal.methods.ladders import Ladder
from shoal.methods.lattice import Keys, Rows, part_costs
from shoal.problem import Problem

# Terms of borrowing: what it may add to what a cell's own records pay, as a share of that, and how many records a
# cell may borrow for each of its own. Under the terms for scarce sensitive values, cells that borrow are visited
# much later, so that groups which can do without borrowing are formed first.
TERMS = ((0.0, 0.0), (0.05, 0.5), (0.15, 0.5))
SCARCE_TERMS = ((0.0, 0.0), (0.1, 0.05), (0.8, 0.2))
# Where nothing is asked for but a number of distinct values, one borrowed record often suffices, and more terms lose
# about 1 % less on Adult; otherwise they take half as long again for nothing.
DISTINCT_TERMS = ((0.0, 0.0), (0.05, 0.05), (0.2, 0.1), (0.8, 0.2))

# If hierarchies are uneven, the cells of a lattice point differ in cost. So every point is visited several times,
# once for each of these multiples of its mean cost: cells that cost more than that have to wait for a later visit,
# and at the last visit none has to.
REACHES = (1.0, 1.1, 1.2, 1.4, 1.7)
ROUNDING = 1e-5  # relative error of single-precision costs
LEAST = 1e-12  # stands for a mean cost of 0, since infinity times 0 is no number


@dataclass(frozen=True)
class Terms:
    """The visits that every lattice point gets: one for each pair of terms of borrowing and reach."""

    markup: Floats  # [visits], what borrowing may add to the cost, as a share of it
    share: Floats  # [visits], records that a cell may borrow for each of its own
    limit: Floats  # [visits], the highest cost of a cell, as a multiple of the point's mean cost
    price: Floats  # [visits], by which visits are ordered, as a multiple of the point's mean cost
    borrowing: Records  # [visits], the index of the terms of borrowing

    @property
    def number(self) -> int:
        """The number of visits to a lattice point."""
        return len(self.price)

    @property
    def kinds(self) -> int:
        """The number of terms of borrowing."""
        return int(self.borrowing.max()) + 1


def terms_of(problem: Problem) -> Terms:
    """Return the visits that every lattice point gets."""
    terms = DISTINCT_TERMS if problem.counts_values_only else SCARCE_TERMS
    borrowing = np.array(terms if problem.tallied else TERMS)
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


@dataclass(frozen=True)
class Stock:
    """Groups that stand before a cover begins and may lend records; sizes and counts include records not to be lent."""

    group: Ints  # the standing group of each record, −1 for records that are to be covered
    size: Records  # of each standing group
    tally: Ints  # [standing groups, values], members by sensitive value
    price: Floats  # what each standing group costs a record of it


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
        cls,
        problem: Problem,
        ladders: list[Ladder],
        parts: list[list[int]],
        keys: Keys,
        stock: Stock | None = None,
    ) -> Lending:
        """Begin with no record covered, or with those of the stock."""
        n, standing = problem.table.records, 0 if stock is None else stock.size.size
        room = standing + n // problem.k + 1
        order = np.argsort(problem.points.of_record, kind="stable").astype(np.int32)
        covering = Covering(
            values=problem.values[order],
            columns=problem.points.of_record[order],
            group=np.full(n, -1, np.int32),
            uncovered=np.arange(n, dtype=np.int32),
            covered=np.empty(n, np.int32),
            tally=np.zeros((room, problem.tallied), np.int32),
            known=np.zeros((room, problem.tallied), np.int8),
            size=np.zeros(room, np.int64),
            price=np.zeros(room),
        )
        left = n if stock is None else _begin(covering, order, stock)
        costs = part_costs(problem, ladders, parts)
        return cls(
            problem, terms_of(problem), keys, costs, order, covering, left, n - left, standing
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
        self,
        steps: Rows,
        costs: Floats,
        terms: Records,
        places: Records,
        waiting: Floats,
        key_rows: Rows | None = None,
    ) -> None:
        """Visit lattice points in order; `costs` are their mean costs and `terms` the number of each visit's terms.

        The cost of the cheapest cell that waits for a later visit is kept in `waiting`, at the place that `places`
        gives for the point and its terms of borrowing. Unless `key_rows` are given, rows of keys are those of costs.
        """
        limits = self.terms.limit[terms] * np.maximum(costs, LEAST)
        visits = Visits(
            steps=steps,
            key_rows=steps if key_rows is None else key_rows,
            limits=limits,
            markups=self.terms.markup[terms],
            shares=self.terms.share[terms],
            places=places,
            waiting=waiting,
        )
        self.left, self.covered, self.groups = walk_lending(
            self.problem.rules,
            self.covering,
            self.keys,
            self.costs,
            visits,
            self.left,
            self.covered,
            self.groups,
        )


def _begin(covering: Covering, order: Ints, stock: Stock) -> int:
    """Cover the records of a stock; returns how many are still uncovered."""
    group, standing = stock.group[order], stock.size.size
    covering.group[:] = group
    uncovered, covered = np.flatnonzero(group < 0), np.flatnonzero(group >= 0)
    covering.uncovered[: uncovered.size] = uncovered
    covering.covered[: covered.size] = covered
    covering.size[:standing], covering.tally[:standing] = stock.size, stock.tally
    covering.price[:standing] = stock.price
    return int(uncovered.size)
