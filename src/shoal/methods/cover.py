"""Greedy cover of the table by cells of the generalization lattice (spec §5.10; GiT09 §6.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.generalization.forms import Floats, Ints
from shoal.kernels.cells import count_full_cells, walk_cells
from shoal.methods.base import Method, Partition
from shoal.methods.greedy_cover import covered_with_guarantee
from shoal.methods.ladders import make_ladders
from shoal.methods.lattice import Keys, Rows, make_lattice, size_of
from shoal.methods.lending import Lending, terms_of
from shoal.methods.proposals import walk_proposals
from shoal.methods.settle import settle
from shoal.problem import Problem
from shoal.progress import Progress

CHUNK = 256  # lattice points between two reports of progress
MOST_LOOKS = 4_000_000_000  # visits times records, beyond which nothing is borrowed


@dataclass(frozen=True)
class Cover(Method):
    """Take, from the cheapest lattice point up, every cell that still holds k uncovered records.

    Every quasi-identifier has a ladder from the value itself to `*`; a lattice point picks a rung of each.
    Points are visited in order of their mean cost, among equals the one with most full cells first, and at
    each one every cell whose records not yet covered meet the requirement becomes a group. A cell that lacks
    a little borrows records from groups that can spare them, unless the table is too large for that. The few
    records left at the end join where they cost least. Time is O(lattice points × records), memory O(records).

    Parameters
    ----------
    max_points
        The largest lattice to walk whole. In a larger one only the points that records propose are
        visited: those where some of them have a cheap cell of k. The release says so.
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
    summary = "greedy cover by cells of the lattice: lowest loss, near-linear in records"

    def problems(self) -> list[str]:
        if self.max_points < 1:
            return [
                f"The 'max_points' parameter must be at least 1. Got {self.max_points} instead."
            ]
        return []

    def honours_requirements(self) -> bool:
        return not self.guarantee

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        if self.guarantee:
            return covered_with_guarantee(problem, seed, progress)
        ladders = make_ladders(problem)
        points = size_of(ladders)
        if points > self.max_points:
            record_group, visited = walk_proposals(problem, ladders, seed, progress)
            notes = (
                f"the lattice is too large to walk whole: of {points:.3g} points, "
                f"the {visited:,} that records proposed were visited",
            )
            return Partition(settle(problem, record_group, progress), notes)
        lattice = make_lattice(problem, ladders, self.max_points, seed)
        keys, steps, costs = lattice.keys, lattice.steps, lattice.costs
        if (
            problem.tallied
            or problem.table.records * len(steps) * len(terms_of(problem)) <= MOST_LOOKS
        ):
            record_group = _walk_lending(problem, keys, steps, costs, progress)
        else:
            record_group = _walk(problem, keys, steps, _stretches(costs), progress)
        return Partition(settle(problem, record_group, progress))


def _stretches(costs: Floats) -> list[tuple[int, int, bool]]:
    """Cut the walk into stretches (start, stop, whether all its points cost the same)."""
    ends = [*(np.flatnonzero(np.diff(costs)) + 1).tolist(), len(costs)]
    found, start, single = [], 0, 0  # points from `single` to `start` have costs of their own
    for stop in ends:
        tied = stop - start > 1
        if start > single and (tied or start - single >= CHUNK):
            found.append((single, start, False))
            single = start
        if tied:
            found.append((start, stop, True))
            single = stop
        start = stop
    if single < len(costs):
        found.append((single, len(costs), False))
    return found


def _walk(
    problem: Problem,
    keys: Keys,
    steps: Rows,
    stretches: list[tuple[int, int, bool]],
    progress: Progress,
) -> Ints:
    """The group of every record, −1 for those not covered."""
    weights, k = problem.points.weights, problem.k
    group = np.full(len(weights), -1, dtype=np.int32)
    active = np.arange(len(weights), dtype=np.int32)
    columns = active.copy()
    groups = 0
    for start, stop, tied in stretches:
        progress("covering records", start, len(steps))
        stretch = steps[start:stop]
        if tied:  # a cell that is not full now will not be later
            full = count_full_cells(keys, stretch, columns, active, weights, k)
            stretch = stretch[np.argsort(-full, kind="stable")[: np.count_nonzero(full)]]
        active, groups = walk_cells(keys, stretch, columns, active, weights, k, group, groups)
        if not active.size:
            break
        if active.size < keys.shape[1] // 2:  # keep only the keys still needed, close together
            keys = np.ascontiguousarray(keys[:, columns[active]])
            columns[active] = np.arange(active.size)
    progress("covering records", len(steps), len(steps))
    return group[problem.points.of_record]


def _walk_lending(
    problem: Problem,
    keys: Keys,
    steps: Rows,
    costs: Floats,
    progress: Progress,
) -> Ints:
    """The group of every record, −1 for those not covered, with borrowing.

    Every lattice point is visited once under each of the terms, in order of price.
    """
    terms = terms_of(problem)
    if problem.table.records * len(steps) * len(terms) > MOST_LOOKS:
        terms = terms[:1]
    prices = np.outer(1 + terms[:, 0], costs).reshape(-1)
    visits = np.lexsort((np.arange(prices.size), np.round(prices, 9)))
    lending = Lending.of(problem, keys)
    for start in range(0, visits.size, CHUNK):
        progress("covering records", start, visits.size)
        term, point = np.divmod(visits[start : start + CHUNK], len(steps))
        lending.visit(steps[point], costs[point], terms[term])
    progress("covering records", visits.size, visits.size)
    return lending.covering.group
