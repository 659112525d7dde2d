"""Greedy cover of the table by cells of the generalization lattice (spec §5.10; GiT09 §6.3)."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.generalization.forms import Floats, Ints
from shoal.kernels.borrowing import Covering, walk_lending
from shoal.kernels.cells import count_full_cells, walk_cells
from shoal.kernels.mondrian import split_records
from shoal.methods.base import Method, Partition
from shoal.methods.greedy_cover import covered_with_guarantee
from shoal.methods.ladders import Ladder, make_ladders
from shoal.methods.settle import settle
from shoal.problem import Problem
from shoal.progress import Progress

Keys = npt.NDArray[np.uint64]
CHUNK = 256  # lattice points between two reports of progress
MOST_STEPS = 2_000_000  # lattice points times columns that are looked at when not all points can be
KEY_BYTES = 200_000_000  # keys kept at once: fewer, larger parts are faster
# What borrowing may add to what a cell's own records pay, as a share of it, and how many records each of them
# may borrow. Where sensitive values are scarce they must last, and a cell that takes them comes much later.
TERMS = ((0.0, 0.0), (0.05, 0.5), (0.15, 0.5))
SCARCE_TERMS = ((0.0, 0.0), (0.2, 0.05), (0.8, 0.2))
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
        The largest lattice to walk whole. Longer ladders are thinned to fit; where that does not suffice
        only the cheapest points are visited and the records left are cut by `mondrian`.
    guarantee
        Choose cells one at a time by cost per record newly covered, as GiT09 §6.3 does: at most
        2(1 + ln 2k) times the optimum over suppression and hierarchies for `suppressed`, `tree`, `lm`,
        `monotone_entropy` and `entropy` on monotone trees. Slower, and in practice it loses more.
    """

    max_points: int = 200_000
    guarantee: bool = False

    name = "cover"
    source = "GiT09 §6.3, fast form"
    recoding = "local"
    promise = "none; with guarantee, 2(1 + ln 2k) × optimum"
    growth = "n"
    summary = (
        "greedy cover by cells of the lattice; the default: lowest loss, near-linear in records"
    )

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
        shorter = _thin(ladders, self.max_points)
        lattice, costs = _cheapest_first([ladder.costs for ladder in shorter], self.max_points)
        keys, steps = _part_keys(problem, shorter, lattice, seed)
        if problem.tallied or problem.table.records * len(steps) * len(TERMS) <= MOST_LOOKS:
            record_group = _walk_lending(problem, keys, steps, costs, progress)
        else:
            record_group = _walk(problem, keys, steps, _stretches(costs), progress)
        groups, rest = int(record_group.max()) + 1, np.flatnonzero(record_group < 0)
        notes = []
        if [len(a.rungs) for a in shorter] != [len(a.rungs) for a in ladders]:
            notes.append(f"ladders were thinned to fit {self.max_points:,} lattice points")
        if rest.size >= problem.k and np.prod([float(len(a.rungs)) for a in shorter]) > len(steps):
            cut = split_records(
                problem.arrays,
                problem.rules,
                problem.codes,
                problem.classes,
                problem.values,
                rest,
                False,
            )
            record_group[rest] = cut + groups
            notes.append(
                f"the lattice is too large to walk whole: {rest.size:,} records were cut by mondrian"
            )
        return Partition(settle(problem, record_group, progress), tuple(notes))


def _thin(ladders: list[Ladder], limit: int) -> list[Ladder]:
    """Drop every second middle rung of the longest ladder until the lattice fits or nothing is left to drop."""
    shorter = list(ladders)
    while np.prod([float(len(ladder.rungs)) for ladder in shorter]) > limit:
        longest = max(range(len(shorter)), key=lambda j: len(shorter[j].rungs))
        rungs, costs = shorter[longest].rungs, shorter[longest].costs
        if len(rungs) <= 2:
            break
        kept = [0, *range(2, len(rungs) - 1, 2), len(rungs) - 1]
        shorter[longest] = Ladder(tuple(rungs[i] for i in kept), costs[kept])
    return shorter


def _cheapest_first(costs: list[Floats], limit: int) -> tuple[Ints, Floats]:
    """Lattice points (a rung number per column) in ascending order of cost, at most `limit`, and their costs."""
    sizes = [len(c) for c in costs]
    if np.prod([float(size) for size in sizes]) <= limit:
        rungs = np.indices(sizes, dtype=np.int32).reshape(len(sizes), -1)
        total = np.round(sum(c[rung] for c, rung in zip(costs, rungs, strict=True)), 9)
        order = np.argsort(total, kind="stable")
        return np.ascontiguousarray(rungs[:, order].T), total[order]
    limit = min(limit, MOST_STEPS // len(sizes))
    points = [np.zeros(len(sizes), dtype=np.int32)]
    found = [0.0 + sum(float(c[0]) for c in costs)]
    heap: list[tuple[float, int, int]] = []  # cost, point it is one step from, column of that step
    last = [0]
    while len(found) <= limit:
        point = points[-1]
        for j in range(last[-1], len(sizes)):  # each point is reached once: columns rise in order
            if point[j] + 1 < sizes[j]:
                step = float(costs[j][point[j] + 1] - costs[j][point[j]])
                heapq.heappush(heap, (found[-1] + step, len(points) - 1, j))
        if not heap:
            break
        cost, origin, j = heapq.heappop(heap)
        following = points[origin].copy()
        following[j] += 1
        points.append(following)
        found.append(cost)
        last.append(j)
    return np.array(points), np.round(found, 9)


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
    steps: npt.NDArray[np.int64],
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
    steps: npt.NDArray[np.int64],
    costs: Floats,
    progress: Progress,
) -> Ints:
    """The group of every record, −1 for those not covered, with borrowing.

    Every lattice point is visited once under each of the terms, in order of price.
    """
    n = problem.table.records
    terms: tuple[tuple[float, float], ...] = SCARCE_TERMS if problem.tallied else TERMS
    if n * len(steps) * len(terms) > MOST_LOOKS:
        terms = terms[:1]
    markups, shares = np.array(terms).T
    prices = np.outer(1 + markups, costs).reshape(-1)
    visits = np.lexsort((np.arange(prices.size), np.round(prices, 9)))
    room = n // problem.k + 1
    covering = Covering(
        problem.values,
        problem.points.of_record,
        np.full(n, -1, np.int32),
        np.arange(n, dtype=np.int32),
        np.empty(n, np.int32),
        np.zeros((room, problem.tallied), np.int32),
        np.zeros(room, np.int64),
        np.zeros(room),
    )
    left, covered, groups = n, 0, 0
    for start in range(0, visits.size, CHUNK):
        progress("covering records", start, visits.size)
        chosen = visits[start : start + CHUNK]
        left, covered, groups = walk_lending(
            problem.rules,
            covering,
            keys,
            steps[chosen % len(steps)],
            costs[chosen % len(steps)],
            markups[chosen // len(steps)],
            shares[chosen // len(steps)],
            left,
            covered,
            groups,
        )
    progress("covering records", visits.size, visits.size)
    return covering.group


def _part_keys(
    problem: Problem, ladders: list[Ladder], lattice: Ints, seed: int
) -> tuple[Keys, npt.NDArray[np.int64]]:
    """Keys for every combination of rungs within parts of the columns, and the row per lattice point and part.

    A cell's key is the xor of one random number per column, rung and bin; xor-ing whole parts in advance
    leaves two or three look-ups per record and lattice point.
    """
    rng = np.random.default_rng(seed)
    codes = problem.points.codes
    sizes = [len(ladder.rungs) for ladder in ladders]
    parts = _split_columns(sizes, KEY_BYTES // (8 * max(1, len(codes))))
    keys: list[Keys] = []
    steps = np.empty((len(lattice), len(parts)), dtype=np.int64)
    for p, part in enumerate(parts):
        rows = np.zeros((1, len(codes)), dtype=np.uint64)
        index = np.zeros(len(lattice), dtype=np.int64)
        for j in part:
            own = []
            for rung in ladders[j].rungs:
                numbers = rng.integers(0, 2**64, size=int(rung.max()) + 1, dtype=np.uint64)
                own.append(numbers[rung][codes[:, j]])
            rows = (rows[:, None, :] ^ np.array(own)[None, :, :]).reshape(-1, len(codes))
            index = index * sizes[j] + lattice[:, j]
        steps[:, p] = index + sum(len(k) for k in keys)
        keys.append(rows)
    return np.concatenate(keys), steps


def _split_columns(sizes: list[int], most_rows: int) -> list[list[int]]:
    """Share columns among as few parts as keep the rows of keys in all parts below a limit."""
    parts: list[list[int]] = []
    for number in range(2, len(sizes) + 2):
        parts = [[] for _ in range(number)]
        rows = [1.0] * number
        for j in sorted(range(len(sizes)), key=lambda j: -sizes[j]):
            least = rows.index(min(rows))
            parts[least].append(j)
            rows[least] *= sizes[j]
        if sum(rows) <= most_rows:
            break
    return parts
