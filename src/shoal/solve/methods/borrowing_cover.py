"""Visits of lattice points: cells take uncovered records and borrow what they lack; wide lattices are walked by
proposals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import Floats, Ints, Records
from shoal.kernels.covering.borrowing import Covering, Visits, walk_lending
from shoal.kernels.covering.proposals import Rungs, propose_points
from shoal.progress import Progress
from shoal.solve.methods.base import TOLERANCE, round_costs
from shoal.solve.methods.lattice import (
    Keys,
    Ladder,
    Rows,
    lattice_key_rows,
    make_keys,
    part_costs,
    split_columns,
)
from shoal.solve.problem import Problem

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
class VisitTerms:
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


def terms_of(problem: Problem) -> VisitTerms:
    """Return the visits that every lattice point gets."""
    terms = DISTINCT_TERMS if problem.counts_values_only else SCARCE_TERMS
    borrowing = np.array(terms if problem.tallied else TERMS)
    markup, share = np.repeat(borrowing, len(REACHES), axis=0).T
    reach = np.tile(REACHES, len(borrowing))
    limit = np.where(reach < REACHES[-1], (1 + ROUNDING) * reach, np.inf)
    return VisitTerms(
        markup,
        share,
        limit,
        (1 + markup) * reach,
        np.repeat(np.arange(len(borrowing)), len(REACHES)),
    )


@dataclass
class LendingCover:
    """A cover of the table in the making: cells take uncovered records and are lent others by finished groups.

    Kernels number records such that equal ones follow each other, which is faster; `order` translates.
    """

    problem: Problem
    terms: VisitTerms
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
    ) -> LendingCover:
        """Begin with no record covered."""
        n = problem.table.records
        room = n // problem.k + 1
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
        costs = part_costs(problem, ladders, parts)
        return cls(problem, terms_of(problem), keys, costs, order, covering, left=n)

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
    ) -> None:
        """Visit lattice points in order; `costs` are their mean costs and `terms` the number of each visit's terms.

        The cost of the cheapest cell that waits for a later visit is kept in `waiting`, at the place that `places`
        gives for the point and its terms of borrowing.
        """
        limits = self.terms.limit[terms] * np.maximum(costs, LEAST)
        visits = Visits(
            steps=steps,
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


# Records that propose a point in a round. In large tables, where every visit takes longer, they are fewer, such that
# visits times records stay below MOST_LOOKS; but with too few proposals the cheapest quarter says little.
SEEDS, FEWEST_SEEDS = 1000, 200
DIVERSE_SEEDS = 600  # in place of SEEDS where more than k is required: a round covers fewer records
MOST_LOOKS = 150_000_000
SHARE = 0.25  # share of the proposals, by cost, that decides what a round visits
# Share of the records left that a round should cover. If it covers fewer, proposed cells must hold twice as many
# records from then on, so that the number of rounds stays small.
LEAST_SHARE = 0.05
MOST_COUNTS = 1 << 24  # counts of records per bin, kept on the way down, to bound memory
CHUNK = 256  # visits between two reports of progress


def walk_proposals(
    problem: Problem, ladders: list[Ladder], seed: int, progress: Progress
) -> tuple[Ints, int]:
    """Return the group of every record, −1 for those not covered, and the number of points visited."""
    parts = split_columns(ladders, len(problem.points.codes))
    keys = make_keys(problem, ladders, parts, seed)
    lending = LendingCover.of(problem, ladders, parts, keys)
    queue, n = _Queue(ladders, lending.terms), lending.left
    seeds_of_round = DIVERSE_SEEDS if problem.tallied else SEEDS
    most = max(FEWEST_SEEDS, min(seeds_of_round, MOST_LOOKS // (max(1, n) * lending.terms.kinds)))
    rungs, rng, least = _flatten(ladders), np.random.default_rng(seed), problem.k
    queue.add(np.zeros((1, len(ladders)), np.int32))  # where groups cost nothing
    _visit(lending, queue, queue.take(queue.costs[0]), parts, progress)
    while lending.left >= least:
        uncovered = lending.uncovered
        seeds = rng.permutation(uncovered)[:most]
        points, number = propose_points(rungs, problem.codes, uncovered, seeds, least, MOST_COUNTS)
        queue.add(points[np.argsort(-number, kind="stable")])
        visits = queue.take(float(np.quantile(queue.costs_of(points), SHARE)))
        _visit(lending, queue, visits, parts, progress)
        if len(uncovered) - lending.left < LEAST_SHARE * len(uncovered):
            least *= 2
    _visit(lending, queue, queue.take(np.inf), parts, progress)
    progress("covering records", n, n)
    return lending.group, len(queue.known)


class _Queue:
    """The points that were proposed, and the visits to them that are still to come."""

    def __init__(self, ladders: list[Ladder], terms: VisitTerms) -> None:
        self.ladders, self.terms = ladders, terms
        self.known: set[bytes] = set()
        self.points = np.empty((0, len(ladders)), np.int32)
        self.costs = np.empty(0)
        self.visits = np.empty((0, 2), np.int64)  # a point and its terms
        self.waiting = np.empty((0, terms.kinds))  # the cheapest cell that is still to come

    def costs_of(self, points: Ints) -> Floats:
        """What points cost a record on average."""
        costs = (ladder.costs[points[:, j]] for j, ladder in enumerate(self.ladders))
        return round_costs(sum(costs, np.zeros(len(points))))

    def add(self, points: Ints) -> None:
        """Add the visits to all points that were not proposed before."""
        fresh = []
        for i, point in enumerate(points):
            name = point.tobytes()
            if name not in self.known:
                self.known.add(name)
                fresh.append(i)
        numbers = len(self.points) + np.arange(len(fresh))
        self.points = np.concatenate([self.points, points[fresh]])
        self.costs = np.concatenate([self.costs, self.costs_of(points[fresh])])
        wanted = [
            np.column_stack([numbers, np.full(len(fresh), t)]) for t in range(self.terms.number)
        ]
        self.visits = np.concatenate([self.visits, *wanted])
        self.waiting = np.concatenate([self.waiting, np.zeros((len(fresh), self.terms.kinds))])

    def take(self, reach: float) -> Records:
        """Take out the visits that cost at most `reach`, markup included, in order of cost."""
        point, term = self.visits.T
        prices = round_costs(self.terms.price[term] * self.costs[point])
        within = prices <= reach + TOLERANCE
        chosen = self.visits[within][np.argsort(prices[within], kind="stable")]
        self.visits = self.visits[~within]
        return chosen


def _visit(
    lending: LendingCover,
    queue: _Queue,
    visits: Records,
    parts: list[list[int]],
    progress: Progress,
) -> None:
    n = len(lending.order)
    for start in range(0, len(visits), CHUNK):
        progress("covering records", n - lending.left, n)
        point, term = visits[start : start + CHUNK].T
        steps = lattice_key_rows(queue.points[point], queue.ladders, parts)
        places = point * lending.terms.kinds + lending.terms.borrowing[term]
        lending.visit(steps, queue.costs[point], term, places, queue.waiting.reshape(-1))


def _flatten(ladders: list[Ladder]) -> Rungs:
    """Lay the ladders out as one array each of rungs, codes and costs, as kernels read them."""
    tables = [rung for ladder in ladders for rung in ladder.rungs]
    widest = [max(int(rung.max()) + 1 for rung in ladder.rungs) for ladder in ladders]
    return Rungs(
        first=np.cumsum([0, *(len(ladder.rungs) for ladder in ladders)]),
        start=np.cumsum([0, *(len(table) for table in tables)])[:-1],
        bins=np.concatenate(tables).astype(np.int32),
        cost=np.concatenate([ladder.costs for ladder in ladders]),
        base=np.cumsum([0, *widest]),
    )
