"""Greedy cover of the table by cells of the generalization lattice (spec §5.10; GiT09 §6.3), and `auto`, which
chooses it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.encoding.forms import Ints
from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition, least_problems, round_costs
from shoal.solve.methods.borrowing_cover import LendingCover, terms_of, walk_proposals
from shoal.solve.methods.completion import complete_groups
from shoal.solve.methods.exact import Exact
from shoal.solve.methods.greedy_cover import covered_with_guarantee
from shoal.solve.methods.lattice import Lattice, lattice_size, make_ladders, make_lattice
from shoal.solve.problem import Problem

CHUNK = 256  # lattice points between two reports of progress
# Lattice points times terms of borrowing times records of a whole walk; beyond, only proposed points are visited.
MOST_LOOKS = 4_000_000_000
# The same where more than k is required: records stay uncovered for longer, so that every visit takes longer. On Adult
# the whole walk takes three times as long and loses as much.
MOST_DIVERSE_LOOKS = 100_000_000


@dataclass(frozen=True)
class Cover(Method):
    """Take, from the cheapest lattice point up, every cell that still contains k uncovered records.

    Every quasi-identifier has a ladder from the value itself to `*`; a lattice point picks a rung of each.
    Points are visited in order of their mean cost, and at each one every cell whose records not yet covered
    meet the requirement becomes a group, unless it costs more than the point does on average, as happens where
    hierarchies are uneven: then it waits until its own cost is due. A cell that lacks a little borrows records from
    groups that can spare them. Where there are too many points, only those are visited that records propose: in
    rounds, some of the records left look for a cheap cell of at least k. The few records left at the end join where
    they cost least. Time is O(points visited × records), memory O(records × columns).

    Parameters
    ----------
    max_points
        The largest lattice to walk whole; in a larger one, or where a table of very many records makes that
        too long, only the points that records propose are visited, and the release says so.
    guarantee
        Choose cells one at a time by cost per record newly covered, as GiT09 §6.3 does: at most
        2(1 + ln 2k) times the optimum over suppression and hierarchies for `suppressed`, `tree`, `lm`,
        `monotone_entropy` and `entropy` on monotone trees. Slower, and in practice it loses more.
    """

    max_points: int = 30_000
    guarantee: bool = False

    name = "cover"
    source = "GiT09 §6.3, fast form"
    recoding = "local"
    promise = "none; with guarantee, 2(1 + ln 2k) × optimum"
    growth = "n"
    seconds = 1.76
    summary = "covers all records with small sets of similar ones, cheapest first; lowest loss"

    def problems(self) -> list[str]:
        return least_problems("max_points", self.max_points, 1)

    def honours_requirements(self) -> bool:
        return not self.guarantee

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        if self.guarantee:
            return covered_with_guarantee(problem, seed, progress)
        record_group, notes = self._cover(problem, seed, progress)
        return Partition(complete_groups(problem, record_group, progress), notes)

    def _cover(
        self, problem: Problem, seed: int, progress: Progress
    ) -> tuple[Ints, tuple[str, ...]]:
        """The group of every record, −1 for those not covered."""
        ladders = make_ladders(problem)
        points = lattice_size(ladders)
        looks = problem.table.records * points * terms_of(problem).kinds
        most = MOST_DIVERSE_LOOKS if problem.tallied else MOST_LOOKS
        if points <= self.max_points and looks <= most:
            return _walk(
                problem, make_lattice(problem, ladders, self.max_points, seed), progress
            ), ()
        found, visited = walk_proposals(problem, ladders, seed, progress)
        return found, (
            f"not every combination of levels was tried: {visited:,} of {points:,.0f}, those that records "
            "proposed",
        )


def _walk(problem: Problem, lattice: Lattice, progress: Progress) -> Ints:
    """Walk the whole lattice and return the group of every record, −1 for those not covered.

    Every lattice point is visited under each of the terms, in order of price.
    """
    steps, costs = lattice.steps, lattice.costs
    lending = LendingCover.of(problem, lattice.ladders, lattice.parts, lattice.keys)
    terms, waiting = lending.terms, np.zeros((lending.terms.kinds, len(steps)))
    visits = np.argsort(round_costs(np.outer(terms.price, costs)), axis=None, kind="stable")
    for start in range(0, visits.size, CHUNK):
        progress("covering records", start, visits.size)
        term, point = np.divmod(visits[start : start + CHUNK], len(steps))
        places = terms.borrowing[term] * len(steps) + point
        lending.visit(steps[point], costs[point], term, places, waiting.reshape(-1))
    progress("covering records", visits.size, visits.size)
    return lending.group


FEW_RECORDS = 12  # up to so many records the optimum, whose time grows like 3ⁿ, is found at once


@dataclass(frozen=True)
class Auto(Method):
    """Take the best method for the table: `exact` for a handful of records, `cover` for all others.

    A note says which one it was. Refinement, which follows by default, starts from what it made; an optimum is left as
    it is.
    """

    name = "auto"
    source = "ours"
    recoding = "local"
    promise = "none; the optimum for a handful of records"
    growth = "n"
    seconds = 1.76
    summary = "the default: chooses the best method for the table and says which"

    def choose(self, records: int) -> Method:
        """Return the method for a table of so many records."""
        return Exact() if records <= FEW_RECORDS else Cover()

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        chosen = self.choose(problem.table.records)
        found = chosen.partition(problem, seed, progress)
        return replace(found, notes=(f"chose {chosen.name}", *found.notes))
