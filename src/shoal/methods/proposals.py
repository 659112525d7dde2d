"""Walk a lattice too large to walk whole: visit only the points that records propose, cheapest first.

In every round, some uncovered records look for a cheap cell of at least k uncovered records
(kernels/covering/proposals.py). The points found wait in a queue, once under each of the terms of borrowing, and
those that cost no more than the cheapest quarter of the proposals are visited, among equals those with most proposers
first. So every round covers about a quarter of the records left, and all rounds together cost a few times what the
first one does, whatever the number of columns.
"""

from __future__ import annotations

import numpy as np

from shoal.generalization.forms import Floats, Ints, Records
from shoal.kernels.covering.proposals import Rungs, propose_points
from shoal.methods.ladders import Ladder
from shoal.methods.lattice import rows_of
from shoal.methods.lending import Lending, Stock, Terms
from shoal.methods.rounding import TOLERANCE, rounded
from shoal.methods.wide import WideKeys
from shoal.problem import Problem
from shoal.progress import Progress

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
    problem: Problem,
    ladders: list[Ladder],
    seed: int,
    progress: Progress,
    stock: Stock | None = None,
) -> tuple[Ints, int]:
    """Return the group of every record, −1 for those not covered, and the number of points visited."""
    keys = WideKeys.of(problem, ladders, seed)
    lending = Lending.of(problem, ladders, keys.parts, keys.keys, stock)
    queue, n = _Queue(ladders, lending.terms), lending.left
    seeds_of_round = DIVERSE_SEEDS if problem.tallied else SEEDS
    most = max(FEWEST_SEEDS, min(seeds_of_round, MOST_LOOKS // (max(1, n) * lending.terms.kinds)))
    rungs, rng, least = _flatten(ladders), np.random.default_rng(seed), problem.k
    queue.add(np.zeros((1, len(ladders)), np.int32))  # where groups cost nothing
    _visit(lending, queue, queue.take(queue.costs[0]), keys, progress)
    while lending.left >= least:
        uncovered = lending.uncovered
        seeds = rng.permutation(uncovered)[:most]
        points, number = propose_points(rungs, problem.codes, uncovered, seeds, least, MOST_COUNTS)
        queue.add(points[np.argsort(-number, kind="stable")])
        visits = queue.take(float(np.quantile(queue.costs_of(points), SHARE)))
        _visit(lending, queue, visits, keys, progress)
        if len(uncovered) - lending.left < LEAST_SHARE * len(uncovered):
            least *= 2
    _visit(lending, queue, queue.take(np.inf), keys, progress)
    progress("covering records", n, n)
    return lending.group, len(queue.known)


class _Queue:
    """The points that were proposed, and the visits to them that are still to come."""

    def __init__(self, ladders: list[Ladder], terms: Terms) -> None:
        self.ladders, self.terms = ladders, terms
        self.known: set[bytes] = set()
        self.points = np.empty((0, len(ladders)), np.int32)
        self.costs = np.empty(0)
        self.visits = np.empty((0, 2), np.int64)  # a point and its terms
        self.waiting = np.empty((0, terms.kinds))  # the cheapest cell that is still to come

    def costs_of(self, points: Ints) -> Floats:
        """What points cost a record on average."""
        costs = (ladder.costs[points[:, j]] for j, ladder in enumerate(self.ladders))
        return rounded(sum(costs, np.zeros(len(points))))

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
        prices = rounded(self.terms.price[term] * self.costs[point])
        within = prices <= reach + TOLERANCE
        chosen = self.visits[within][np.argsort(prices[within], kind="stable")]
        self.visits = self.visits[~within]
        return chosen


def _visit(
    lending: Lending, queue: _Queue, visits: Records, keys: WideKeys, progress: Progress
) -> None:
    n = len(lending.order)
    for start in range(0, len(visits), CHUNK):
        progress("covering records", n - lending.left, n)
        point, term = visits[start : start + CHUNK].T
        steps = rows_of(queue.points[point], queue.ladders, keys.parts)
        places = point * lending.terms.kinds + lending.terms.borrowing[term]
        waiting, key_rows = queue.waiting.reshape(-1), keys.key_rows(steps)
        lending.visit(steps, queue.costs[point], term, places, waiting, key_rows)


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
