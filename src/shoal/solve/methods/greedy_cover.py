"""The greedy cover with its guarantee (GiT09 §6.3; spec §5.10): what `cover` does with `guarantee`."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import Floats, Ints
from shoal.errors import InputError
from shoal.kernels.covering import greedy_cover as kernels
from shoal.kernels.shared.groups import members
from shoal.kernels.shared.state import make_state, pack
from shoal.progress import Progress
from shoal.solve.methods.base import Partition, guarantee_notes
from shoal.solve.methods.lattice import make_ladders, records_by_code, rung_costs
from shoal.solve.problem import Problem

MOST_WORK = 1_000_000_000  # lattice points × distinct records, to bound time
MOST_CELLS = 20_000_000  # cells that are kept, to bound memory
CHUNK = 50  # sets between two reports of progress
BUFFER = 1_000_000  # room for cells listed between two reports of progress

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ChosenCells:
    """What phase 1 chose: cells in order, and for each record the number of the set that first covered it."""

    rungs: kernels.RungCodes
    cells: kernels.CandidateCells
    chosen: Longs
    set_of: Longs


def covered_with_guarantee(problem: Problem, seed: int, progress: Progress) -> Partition:
    """Cover the table greedily by sets of k … 2k − 1 records, then let every record stay in one of them.

    The paper always takes the set S with the least d(S) / (records of S not yet covered), where d(S) is what
    the closure of S costs a record, among all subsets of the table. That is the same as to take the cell
    (all records below one closure c) of at least k records with the least d(c) / min(2k − 1, uncovered
    records in it), and of its records up to 2k − 1 uncovered ones, filled to k with others. For S lies in the
    cell of its own closure and covers no more of it, so no ratio of a set is below the least of the cells;
    and the records taken have a closure within c, so their d is at most d(c) where costs never fall as
    closures grow. Every step is thus one of the paper's, and Theorem 6.6 holds: at most 2(1 + ln 2k) times
    the optimum. Phase 2 is the paper's too (see `kernels.pad`) and keeps groups below 2k records. Park and
    Shim (2007) and Kenig and Tassa (2012) make covers polynomial by closures, too.

    Time is O(lattice points × distinct records) and memory O(cells of at least k records), which takes
    seconds for ten million, a minute for 400 million and minutes at the limit of 1,000 million.

    Raises
    ------
    InputError
        If lattice and table are too large.
    """
    cover = choose_until_covered(problem, seed, progress)
    records, points = problem.table.records, problem.points
    state = make_state(problem.arrays, problem.values, problem.tallied, records // problem.k + 1)
    kernels.part_cover(
        problem.arrays,
        problem.codes,
        problem.classes,
        cover.rungs,
        cover.cells,
        *members(points.of_record, len(points.weights)),
        problem.k,
        cover.chosen,
        *members(cover.set_of, len(cover.chosen)),
        state,
    )
    return Partition(pack(state)[0], guarantee_notes(problem))


def choose_until_covered(problem: Problem, seed: int, progress: Progress) -> ChosenCells:
    """Choose cells until every record is covered (phase 1)."""
    rungs = _rungs(problem, seed)
    cells = _cells(problem, rungs, progress)
    n, points = problem.table.records, problem.points
    left = points.weights.astype(np.int64)
    chosen, set_of = np.empty(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    by_point = members(points.of_record, len(left))
    fresh, own = (np.ascontiguousarray(rows.T) for rows in (rungs.fresh, rungs.key))
    sets = 0
    while left.any():
        progress("covering records", n - int(left.sum()), n)
        sets = kernels.choose_cells(
            rungs, fresh, own, cells, left, *by_point, problem.k, chosen, set_of, sets, CHUNK
        )
    progress("covering records", n, n)
    return ChosenCells(rungs, cells, chosen[:sets], set_of)


def _rungs(problem: Problem, seed: int) -> kernels.RungCodes:
    """The set that each rung puts each point into; its key is the xor of the random numbers of its values."""
    rng = np.random.default_rng(seed)
    start, keys, fresh = [0], [], []
    costs: list[Floats] = []
    whole = np.zeros(len(problem.columns) + 1, dtype=np.uint64)
    for j, (column, ladder) in enumerate(zip(problem.columns, make_ladders(problem), strict=True)):
        codes = problem.points.codes[:, j]
        numbers = rng.integers(1, 2**64, size=column.form.size, dtype=np.uint64)
        numbers[column.counts == 0] = 0  # sets with the same records are the same
        whole[: j + 1] ^= np.bitwise_xor.reduce(numbers)
        for rung in ladder.rungs:
            sets = np.zeros(int(rung.max()) + 1, dtype=np.uint64)
            np.bitwise_xor.at(sets, rung, numbers)
            keys.append(sets[rung][codes])
            lower = np.reshape(keys[start[-1] : -1], (-1, len(codes)))
            fresh.append((lower != keys[-1]).all(axis=0))
        costs.extend(np.maximum(0.0, set_costs(problem, j, ladder.rungs))[:, codes])
        start.append(len(keys))
    return kernels.RungCodes(
        start=np.array(start),
        key=np.array(keys),
        fresh=np.array(fresh),
        cost=np.array(costs),
        whole=whole,
    )


def set_costs(problem: Problem, j: int, rungs: tuple[Ints, ...]) -> Floats:
    """What the set of each rung and code costs a record in column j, on average and beyond its own value."""
    records = records_by_code(problem, j)
    own = rung_costs(problem, j, np.arange(records.shape[1], dtype=np.int32))
    costs = np.zeros((len(rungs), records.shape[1]))
    for rung, cost in zip(rungs, costs, strict=True):
        beyond = (records * (rung_costs(problem, j, rung) - own)).sum(axis=0)
        number = np.bincount(rung, records.sum(axis=0))
        cost[:] = (np.bincount(rung, beyond) / np.maximum(1, number))[rung]
    return costs


def _cells(
    problem: Problem, rungs: kernels.RungCodes, progress: Progress
) -> kernels.CandidateCells:
    """All cells with at least k records."""
    k, weights = problem.k, problem.points.weights
    lattice = prod(np.diff(rungs.start).tolist())
    if lattice * len(weights) > MOST_WORK:
        raise _too_large(f"{lattice:,} lattice points × {len(weights):,} distinct records")
    most = problem.table.records // k  # cells at a lattice point
    step = max(1, BUFFER // most)
    kinds = (np.uint64, np.int64, np.float64, np.int64)
    room = [np.empty(step * most, dtype=kind) for kind in kinds]
    found, total = [], 0
    for first in range(0, lattice, step):
        progress("listing cells", first, lattice)
        stop = min(lattice, first + step)
        count = kernels.list_cells(rungs, weights, k, first, stop, *room)
        found.append([part[:count].copy() for part in room])
        total += count
        if total > MOST_CELLS:
            raise _too_large(f"more than {MOST_CELLS:,} cells of at least {k} records")
    key, place, cost, left = (np.concatenate(parts) for parts in zip(*found, strict=True))
    ratio = cost / np.minimum(2 * k - 1, left)
    heap = np.argsort(ratio, kind="stable")
    return kernels.CandidateCells(
        key=key,
        place=place,
        cost=cost,
        left=left,
        ratio=ratio,
        heap=heap,
        table=kernels.hash_cells(key),
    )


def _too_large(size: str) -> InputError:
    return InputError(
        f"The table has {size}, too many for guarantee=True; choose guarantee=False, the method 'forest', "
        "or hierarchies with fewer levels."
    )
