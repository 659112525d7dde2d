"""The lattice of ladders: ever coarser bins of each quasi-identifier, its points in order of cost, a key per
cell.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import accumulate
from math import prod

import numpy as np
import numpy.typing as npt

from shoal.encoding.encode import Column
from shoal.encoding.forms import Floats, Form, Ints, RangeForm, TreeForm
from shoal.kernels.shared.forms import LINEAR, RANGE
from shoal.kernels.shared.groups import close_groups, group_costs, members
from shoal.solve.methods.base import TOLERANCE, round_costs
from shoal.solve.problem import Problem

# Widths of bins, in mean distances of neighbouring values, and ten, a hundred, … times as much. Neighbouring widths
# differ by a factor of about 1.5: closer ones would make a larger lattice, wider ones dearer cells.
GROWTH = (2, 3, 5, 8, 12)


@dataclass(frozen=True)
class Ladder:
    """The ladder of one column: rungs, of which each sorts the codes into coarser bins, by ascending cost.

    A rung is a bin number per code; `costs` says what closing its bins costs a record on average.
    """

    rungs: tuple[Ints, ...]
    costs: Floats


def make_ladders(problem: Problem) -> list[Ladder]:
    """Make a ladder for every column, its rungs ordered by what they cost under the objective."""
    return [_ladder(j, column, problem) for j, column in enumerate(problem.columns)]


def _ladder(j: int, column: Column, problem: Problem) -> Ladder:
    rungs = _rungs(column.form, column.counts, _positions(j, problem))
    shares = records_by_code(problem, j) / problem.table.records
    costs = np.array([(shares * rung_costs(problem, j, rung)).sum() for rung in rungs])
    order = np.argsort(costs, kind="stable")
    return Ladder(tuple(rungs[i] for i in order), costs[order])


def records_by_code(problem: Problem, j: int) -> Floats:
    """The records of each class that have each code in column j: float64[classes, codes]."""
    size = problem.columns[j].form.size
    joint = problem.classes * size + problem.codes[:, j]
    counts = np.bincount(joint, minlength=problem.class_count * size)
    return counts.reshape(problem.class_count, size).astype(np.float64)


def _positions(j: int, problem: Problem) -> Floats:
    """Place the values of a column on a line: as far apart as the objective says, or evenly."""
    c, values = problem.arrays, len(problem.columns[j].form.labels)
    costs = c.cost[0, c.start[j] : c.start[j] + values]
    is_spread = c.form[j] == RANGE and c.kind[j] == LINEAR and costs[-1] > costs[0]
    return costs if is_spread else np.arange(values, dtype=np.float64)


def _rungs(form: Form, counts: Floats, positions: Floats) -> list[Ints]:
    if isinstance(form, TreeForm):
        return tree_rungs(form)
    if isinstance(form, RangeForm):
        return _binned_rungs(positions, form)
    # values of like frequency share a bin: frequent ones can then stay apart from the rare
    rank = np.empty(form.size)
    rank[np.argsort(-counts, kind="stable")] = np.arange(form.size)
    return _binned_rungs(rank[: len(form.labels)], form)


def tree_rungs(form: TreeForm) -> list[Ints]:
    """The rungs of a tree: rung h puts a value into the bin of its highest ancestor of height at most h."""
    rungs = []
    for h in range(int(form.heights[-1]) + 1):
        node = np.arange(form.entries, dtype=np.int32)
        for inner in range(form.entries - 1, -1, -1):
            parent = form.parent[inner]
            if form.heights[parent] <= h:
                node[inner] = node[parent]
        rungs.append(node[: form.size].copy())
    return rungs


def _binned_rungs(positions: Floats, form: Form) -> list[Ints]:
    """The rungs of values on a line: each value alone, bins of growing width, all but null together, all together.

    Bins of each width begin at the lowest value and again half a width lower, so that values on either side of
    a border meet in bins of no more than twice the width they need.
    """
    m = len(form.labels)
    rungs = [np.arange(form.size, dtype=np.int32)]
    spread = positions - positions.min()
    gap = float(spread.max()) / max(1, m - 1)
    for width in widths(m):
        for shift in (0.0, 0.5):
            bins = np.floor(spread / (gap * width) + shift + TOLERANCE).astype(np.int32)
            rungs.append(_with_null(bins, form))
    if form.has_null:
        rungs.append(_with_null(np.zeros(m, dtype=np.int32), form))
    if form.size > 1:
        rungs.append(np.zeros(form.size, dtype=np.int32))
    return rungs


def _with_null(bins: Ints, form: Form) -> Ints:
    return np.append(bins, bins.max() + 1).astype(np.int32) if form.has_null else bins


def widths(values: int) -> list[int]:
    """The widths of bins: 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, … below the number of values."""
    found: list[int] = []
    scale = 1
    while not found or found[-1] < values:
        found.extend(step * scale for step in GROWTH)
        scale *= 10
    return [w for w in dict.fromkeys(found) if w < values]


def rung_costs(problem: Problem, j: int, rung: Ints) -> Floats:
    """What closing every bin of a rung costs a record of each class, by code: float64[classes, codes]."""
    seen, first = np.unique(problem.codes[:, j], return_index=True)
    _, bins = np.unique(rung[seen], return_inverse=True)
    order, bounds = members(bins.astype(np.int32), int(bins.max()) + 1)
    closures = close_groups(problem.arrays, problem.codes, first[order], bounds)
    costs = np.zeros((problem.class_count, len(rung)))
    for y in range(problem.class_count):
        counts = np.zeros((problem.class_count, len(bounds) - 1))
        counts[y] = 1.0
        costs[y, seen] = group_costs(problem.arrays, closures, counts)[j, bins]
    return costs


Keys = npt.NDArray[np.uint64]  # random numbers that tell cells apart
Rows = npt.NDArray[np.int64]  # numbers of rows of keys

# Lattice points times columns that are listed where not all points can be: the list is made in plain Python,
# which is slow.
MOST_STEPS = 2_000_000
# Bytes of keys that are kept at once. The more there is room for, the fewer look-ups a record takes at each point.
KEY_BYTES = 200_000_000


@dataclass(frozen=True)
class Lattice:
    """Lattice points, cheapest first, and the keys by which records find their cell at each of them.

    The cell of the distinct record p at point s has the key that is the xor of keys[steps[s], p].
    """

    ladders: list[Ladder]
    parts: list[list[int]]  # columns that share rows of keys
    keys: Keys  # [rows, distinct records]
    steps: Rows  # [points, parts], a row of keys each
    costs: Floats  # of the points, mean over records


def make_lattice(
    problem: Problem,
    ladders: list[Ladder],
    max_points: int,
    seed: int,
    key_bytes: int = KEY_BYTES,
) -> Lattice:
    """Make the lattice of ladders, with ladders thinned and the dearest points left out to keep `max_points`."""
    shorter = _thin(ladders, max_points)
    points, costs = cheapest_first([ladder.costs for ladder in shorter], max_points)
    parts = split_columns(shorter, len(problem.points.codes), key_bytes)
    keys = make_keys(problem, shorter, parts, seed)
    return Lattice(shorter, parts, keys, lattice_key_rows(points, shorter, parts), costs)


def can_walk(ladders: list[Ladder], max_points: int) -> bool:
    """Whether the lattice has at most `max_points` points once ladders are thinned."""
    return lattice_size(_thin(ladders, max_points)) <= max_points


def make_lattice_of_groups(
    problem: Problem, ladders: list[Ladder], groups: Ints, looks: int, seed: int, key_bytes: int
) -> Lattice:
    """Make the points where groups stand, for a lattice that is too large: those that hold most records.

    There are so many that rows of keys times points times distinct records stay below `looks`.
    """
    rungs, records = rungs_of_groups(problem, ladders, groups)
    points, place = np.unique(rungs, axis=0, return_inverse=True)
    parts = split_columns(ladders, len(problem.points.codes), key_bytes)
    most = max(1, looks // (len(parts) * len(problem.points.codes)))
    held = np.bincount(place.reshape(-1), records)
    points = points[np.argsort(-held, kind="stable")[:most]]
    costs = round_costs(sum(ladder.costs[points[:, j]] for j, ladder in enumerate(ladders)))
    order = np.argsort(costs, kind="stable")
    keys = make_keys(problem, ladders, parts, seed)
    return Lattice(
        ladders, parts, keys, lattice_key_rows(points[order], ladders, parts), costs[order]
    )


def rungs_of_groups(problem: Problem, ladders: list[Ladder], groups: Ints) -> tuple[Ints, Ints]:
    """The lowest rung of each ladder at which all records of a group share a bin, and the records of each group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    rungs = np.empty((len(starts), len(ladders)), dtype=np.int32)
    for j, ladder in enumerate(ladders):
        codes = problem.codes[order, j]
        for at, rung in reversed(list(enumerate(ladder.rungs))):  # all share the last
            bins = rung[codes]
            shared = np.minimum.reduceat(bins, starts) == np.maximum.reduceat(bins, starts)
            rungs[shared, j] = at
    return rungs, np.diff(starts, append=len(order))


def lattice_size(ladders: list[Ladder]) -> float:
    """The number of points in the lattice of these ladders."""
    return float(np.prod([float(len(ladder.rungs)) for ladder in ladders]))


def _thin(ladders: list[Ladder], limit: int) -> list[Ladder]:
    """Drop every second middle rung of the longest ladder until the lattice fits or nothing is left to drop."""
    shorter = list(ladders)
    while lattice_size(shorter) > limit:
        longest = max(range(len(shorter)), key=lambda j: len(shorter[j].rungs))
        rungs, costs = shorter[longest].rungs, shorter[longest].costs
        if len(rungs) <= 2:
            break
        kept = [0, *range(2, len(rungs) - 1, 2), len(rungs) - 1]
        shorter[longest] = Ladder(tuple(rungs[i] for i in kept), costs[kept])
    return shorter


def cheapest_first(costs: list[Floats], limit: int) -> tuple[Ints, Floats]:
    """Lattice points (a rung number per column) in ascending order of cost, at most `limit`, and their costs."""
    sizes = [len(c) for c in costs]
    if np.prod([float(size) for size in sizes]) <= limit:
        rungs = np.indices(sizes, dtype=np.int32).reshape(len(sizes), -1)
        total = round_costs(sum(c[rung] for c, rung in zip(costs, rungs, strict=True)))
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
    return np.array(points), round_costs(found)


def make_keys(problem: Problem, ladders: list[Ladder], parts: list[list[int]], seed: int) -> Keys:
    """Keys for every combination of rungs within parts of the columns.

    A cell's key is the xor of one random number per column, rung and bin; xor-ing whole parts in advance
    leaves two or three look-ups per record and lattice point, but more where there are many columns.
    """
    rng = np.random.default_rng(seed)
    codes = problem.points.codes
    rows = [prod(len(ladders[j].rungs) for j in part) for part in parts]
    keys = np.empty((sum(rows), len(codes)), dtype=np.uint64)
    for part, first in zip(parts, accumulate(rows, initial=0), strict=False):
        keys[first] = 0
        filled = 1
        for j in part:
            own = np.empty((len(ladders[j].rungs), len(codes)), dtype=np.uint64)
            for at, rung in enumerate(ladders[j].rungs):
                numbers = rng.integers(0, 2**64, size=int(rung.max()) + 1, dtype=np.uint64)
                own[at] = numbers[rung][codes[:, j]]
            for row in reversed(range(filled)):  # the last first, as each makes room for several
                to = first + row * len(own)
                np.bitwise_xor(own, keys[first + row], out=keys[to : to + len(own)])
            filled *= len(own)
    return keys


def lattice_key_rows(points: Ints, ladders: list[Ladder], parts: list[list[int]]) -> Rows:
    """The row of keys of every lattice point (a rung number per column) in each part."""
    rows = np.empty((len(points), len(parts)), dtype=np.int64)
    before = 0
    for p, part in enumerate(parts):
        index, size = np.zeros(len(points), dtype=np.int64), 1
        for j in part:
            index = index * len(ladders[j].rungs) + points[:, j]
            size *= len(ladders[j].rungs)
        rows[:, p] = index + before
        before += size
    return rows


def split_columns(
    ladders: list[Ladder], distinct: int, key_bytes: int = KEY_BYTES
) -> list[list[int]]:
    """Share the columns among as few parts as possible, such that the keys of all parts fit into `key_bytes`."""
    sizes, most_rows = (
        [len(ladder.rungs) for ladder in ladders],
        key_bytes // (8 * max(1, distinct)),
    )
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


def part_costs(
    problem: Problem, ladders: list[Ladder], parts: list[list[int]]
) -> npt.NDArray[np.float32]:
    """What each distinct record costs in the columns of a part, by row of keys.

    A record's cost in a cell is the sum over the parts.
    """
    codes, classes = problem.points.codes, problem.points.classes
    costs = []
    for part in parts:
        rows = np.zeros((1, len(codes)), dtype=np.float32)
        for j in part:
            own = [rung_costs(problem, j, rung)[classes, codes[:, j]] for rung in ladders[j].rungs]
            more = np.array(own, dtype=np.float32)
            rows = (rows[:, None, :] + more[None, :, :]).reshape(-1, len(codes))
        costs.append(rows)
    return np.concatenate(costs)
