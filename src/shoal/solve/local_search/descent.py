"""Descent to a local optimum: moves, swaps, splits, chains and carving in turn; ruin and recreate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import Floats, Ints
from shoal.kernels.refining.carving import carve_points
from shoal.kernels.refining.carving_cells import (
    LatticeCells,
    make_carving_scratch,
    make_cells,
    price_out_rare,
)
from shoal.kernels.refining.chains import shift_chains
from shoal.kernels.refining.neighbourhoods import (
    dissolve_groups,
    move_records,
    split_groups,
    swap_records,
)
from shoal.kernels.refining.reach import Reach, find_supplies, list_all_pairs, make_reach
from shoal.kernels.refining.ruin import ruin_all
from shoal.kernels.refining.search import GAIN, Search, make_search
from shoal.kernels.shared.state import fill, make_state, pack
from shoal.progress import Progress
from shoal.solve.local_search.budget import Clock
from shoal.solve.methods.lattice import (
    Lattice,
    Rows,
    can_walk,
    make_ladders,
    make_lattice,
    make_lattice_of_groups,
    part_costs,
)
from shoal.solve.problem import Problem


@dataclass(frozen=True)
class SearchState:
    """A problem and its partition while refinement changes it; `search` is what the kernels work on."""

    problem: Problem
    search: Search

    @classmethod
    def of(cls, problem: Problem, groups: Ints) -> SearchState:
        """Start from a partition, with room for half as many groups more."""
        most, number = problem.table.records // problem.k, int(groups.max()) + 1
        room = max(number, min(most, number + number // 2 + 16)) + 1
        state = make_state(problem.arrays, problem.values, problem.tallied, room)
        fill(problem.arrays, state, problem.codes, problem.classes, groups)
        search = make_search(
            problem.arrays, problem.pairs, problem.rules, state, problem.codes, problem.classes
        )
        return cls(problem, search)

    @property
    def groups(self) -> Ints:
        """The group of every record, numbered without gaps."""
        return pack(self.search.s)[0]

    @property
    def cost(self) -> float:
        """The cost of all groups together, without the constants of the objective."""
        return float(self.search.s.cost[self.search.s.size > 0].sum())

    def dearest(self) -> Ints:
        """All records in descending order of what they cost, equal records of a group together."""
        order = np.lexsort((self.problem.points.of_record, -self.search.price))
        return order.astype(np.int32)


# Records times groups times columns that one pass looks at, to bound its time: beyond, only the dearest records are
# looked at.
MOST_MOVES = 2_500_000_000
WORK_BETWEEN_REPORTS = (
    100_000_000  # records times groups times columns between two reports of progress
)


def move_all(refined: SearchState, progress: Progress) -> int:
    """Move every record that costs less in another group, the dearest first; returns the number of moves.

    In a large table only the dearest records are looked at.
    """
    records = refined.dearest()[: most_movers(refined)]
    chunk, moves = max(1, WORK_BETWEEN_REPORTS // _work(refined)), 0
    for start in range(0, len(records), chunk):
        progress("refining: moves", start, len(records))
        moves += move_records(refined.search, records[start : start + chunk])
    return moves


def most_movers(refined: SearchState) -> int:
    """The number of records that one pass looks at."""
    return min(refined.problem.table.records, max(1, MOST_MOVES // _work(refined)))


def _work(refined: SearchState) -> int:
    """The work of looking for one record's best group: groups times columns."""
    return len(refined.search.s.size) * len(refined.problem.columns)


NEAR = 2  # nearest groups whose members a record tries to swap with
# Records times the work for each of them, to bound the time of a pass: groups times columns to find the nearest
# groups, and TRIAL for each pair of members that may be tried.
MOST_SWAPS, TRIAL = 500_000_000, 25


def _group_size(refined: SearchState) -> int:
    """The usual number of records in a group: about k, or more where more than k is required."""
    if not refined.problem.tallied:
        return refined.problem.k
    groups = max(1, int(np.count_nonzero(refined.search.s.size)))
    return max(refined.problem.k, refined.problem.table.records // groups)


def swap_all(refined: SearchState) -> int:
    """Swap records where that lowers the cost, the dearest first; returns the number of swaps.

    In a large table only the dearest records are looked at.
    """
    search, trials = len(refined.search.s.size), NEAR * _group_size(refined) ** 2
    most = max(1, MOST_SWAPS // (search * len(refined.problem.columns) + TRIAL * trials))
    return int(swap_records(refined.search, refined.dearest()[:most], NEAR))


def split_all(refined: SearchState) -> int:
    """Split groups of at least 2k records as long as that lowers the cost; returns the number of splits."""
    x, splits = refined.search, 0
    groups = np.flatnonzero((x.s.size >= 2 * x.q.k) & (x.s.cost > GAIN))
    while len(groups):  # few tables of few records have any, and these need not compile the kernel
        groups = split_groups(x, groups)
        splits += len(groups) // 2
    return splits


def dissolve_all(refined: SearchState) -> int:
    """Dissolve every group whose records cost less in other groups; returns the number of groups dissolved."""
    return int(dissolve_groups(refined.search, np.arange(len(refined.search.s.size))))


# Pairs of a group and a distinct record that its closure covers, for which there is room: so many for each distinct
# record, and so many in all, to bound memory.
PAIRS, MOST_PAIRS = 64, 50_000_000


def reach_of(refined: SearchState) -> Reach:
    """Make room for the list of records that the closure of each group covers already."""
    problem = refined.problem
    codes, place = problem.points.codes, problem.points.of_record
    pairs = min(MOST_PAIRS, PAIRS * len(codes))
    room = len(refined.search.s.size)
    return make_reach(problem.arrays, codes, place, room, pairs)


def shift_all(refined: SearchState, reach: Reach) -> int:
    """Shift records along chains as long as that lowers the cost; returns the number of chains."""
    list_all_pairs(refined.search, reach)
    return int(shift_chains(refined.search, reach))


MOST_LOOKS = 800_000_000  # lattice points times records of one pass, to bound time
# Rows of keys times lattice points times distinct records where a lattice has too many columns to be walked. On a table
# of 46 columns, twelve times the work at the cheapest points of the lattice gained a fiftieth of this.
MOST_WIDE_LOOKS = 1_600_000_000
MOST_POINTS = 20_000  # lattice points of one pass, however few the records
FEWEST_POINTS = (
    1_000  # with fewer, in very large tables, carving gains nearly nothing: it is left out
)
KEY_BYTES = 100_000_000  # bytes of lattice keys kept at once; costs of the same number of entries come with them
POINTS_BETWEEN_REPORTS = 128  # lattice points between two reports of progress


@dataclass
class Carver:
    """What carving needs from one pass to the next: the lattice, and which of its points are worth a visit."""

    refined: SearchState
    reach: Reach
    cells: LatticeCells
    steps: Rows
    costs: Floats  # of the points, mean over records
    # Whether a point, when last visited, had a cell of k records of which some cost more in their groups.
    full: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls, refined: SearchState, reach: Reach, seed: int, most_points: int = MOST_POINTS
    ) -> Carver:
        """Make the lattice of a partition's problem, with every point worth a visit."""
        problem = refined.problem
        points = min(most_points, MOST_LOOKS // problem.table.records)
        points = points if points >= FEWEST_POINTS else 1
        lattice = _lattice(refined, points, seed)
        costs = part_costs(problem, lattice.ladders, lattice.parts)
        price_out_rare(lattice.keys, costs, problem.points.weights, problem.k)
        column = problem.points.of_record
        first = np.append(0, np.cumsum(np.bincount(column)))
        records = np.argsort(column, kind="stable").astype(np.int32)
        scratch = make_carving_scratch(len(column), len(refined.search.s.size))
        cells = make_cells(lattice.keys, costs, first, records, column, scratch)
        return cls(
            refined,
            reach,
            cells,
            lattice.steps,
            lattice.costs,
            np.ones(len(lattice.steps), dtype=bool),
        )

    def carve_all(self, progress: Progress) -> int:
        """Carve at every point that is worth a visit, cheapest first; returns the number of groups carved."""
        points, carved, some = np.flatnonzero(self.full), 0, 1
        search = self.refined.search
        for start in range(0, len(points), POINTS_BETWEEN_REPORTS):
            progress("refining: carving", start, len(points))
            chunk = points[start : start + POINTS_BETWEEN_REPORTS]
            if some:
                find_supplies(search, self.reach)
            some, _, full = carve_points(search, self.cells, self.reach, self.steps[chunk])
            carved += some
            self.full[chunk] = full > 0
        return carved


def _lattice(refined: SearchState, points: int, seed: int) -> Lattice:
    """The cheapest points of the lattice, or where it has very many columns, those at which groups stand.

    The cheapest points of so large a lattice generalize two or three columns, and hardly any cell there has k records.
    """
    problem = refined.problem
    ladders = make_ladders(problem)
    if points == 1 or can_walk(ladders, points):
        return make_lattice(problem, ladders, points, seed, KEY_BYTES)
    looks = min(MOST_WIDE_LOOKS, points * len(problem.points.codes) * len(ladders))
    return make_lattice_of_groups(problem, ladders, refined.groups, looks, seed, KEY_BYTES)


def local_descent(
    refined: SearchState, seed: int, progress: Progress, carves: bool = True, splits: bool = True
) -> None:
    """Improve a partition by every neighbourhood in turn, the dearest of them if it `carves`."""
    move_all(refined, progress)
    dissolve_all(refined)
    if splits:
        split_all(refined)
    swap_all(refined)
    if carves:
        carve_groups(refined, seed, progress)


def carve_groups(
    refined: SearchState, seed: int, progress: Progress, points: int = MOST_POINTS
) -> Carver:
    """Carve groups out of others at up to so many lattice points, with chains of moves before and after."""
    carver = Carver.of(refined, reach_of(refined), seed, points)
    shift_all(refined, carver.reach)
    carver.carve_all(progress)
    dissolve_all(refined)
    shift_all(refined, carver.reach)
    return carver


def move_single_records(refined: SearchState, reach: Reach, progress: Progress) -> None:
    """Improve a partition by the neighbourhoods that move single records, after larger changes."""
    move_all(refined, progress)
    dissolve_all(refined)
    swap_all(refined)
    shift_all(refined, reach)


BATCH = 32  # random records in one step, for all of which lattice points come in the same order
MOVES = 16  # steps between two passes of moves over all records
MOST_NEAR = 8  # groups around a record that are looked at; between 2 and so many are drawn
NOISE = 0.1  # share of its cost by which a lattice point may come later, so that new groups differ from the old


def ruin_and_recreate(carver: Carver, seed: int, progress: Progress, clock: Clock) -> None:
    """Ruin and recreate as long as the budget lasts, with moves of single records in between."""
    refined = carver.refined
    rng = np.random.default_rng([seed, 1])
    batch = 0
    while clock.goes_on("perturbing"):
        later = 1 + NOISE * rng.random(len(carver.costs))
        order = np.argsort(carver.costs * later, kind="stable")
        near = rng.integers(2, MOST_NEAR + 1, BATCH)
        united = np.maximum(2, (near * rng.uniform(0.3, 1.0, BATCH)).astype(np.int64))
        records = rng.integers(0, refined.problem.table.records, BATCH)
        steps = carver.steps[order]
        ruin_all(refined.search, carver.cells, carver.reach, steps, records, near, united)
        clock.tick()
        batch += 1
        if batch % MOVES == 0:
            move_single_records(refined, carver.reach, progress)
    move_single_records(refined, carver.reach, progress)
