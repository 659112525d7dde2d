"""Sequential clustering (GT10 Algorithms 1 to 3; spec §5.1 and §5.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.encoding.forms import Ints, Records
from shoal.kernels.clustering.agglomerative import DIFFERENCE, sequential_pass
from shoal.kernels.clustering.mend import unite_offenders
from shoal.kernels.shared.rules import Rules, count_groups, keeps_limits
from shoal.kernels.shared.state import State, pack
from shoal.progress import Progress
from shoal.solve.methods.agglomerative import merge_small
from shoal.solve.methods.base import (
    TOLERANCE,
    Method,
    Partition,
    check_tallies,
    least_problems,
    state_of,
)
from shoal.solve.problem import Problem

# Groups that are tried as a partner for one that misses the requirement: more find a better partner, fewer take
# less time.
TRIES = 32


def kinds_of(problem: Problem) -> Ints:
    """Number the records by their combination of counted sensitive values, in ascending order of values."""
    if not problem.tallied:
        return np.zeros(problem.table.records, np.int32)
    return np.unique(problem.values, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)


def least_diverse(rules: Rules) -> int:
    """The least number of records with which a group can keep all limits but k, as every ℓ, p and α in them say."""
    entropies = np.ceil(np.exp(rules.entropy) - TOLERANCE)
    caps = [rules.cap[first:stop].max() for first, stop in pairwise(rules.start)]
    shares = [math.ceil(1 / cap - TOLERANCE) for cap in caps]
    return int(max([1, *rules.distinct, *entropies, *rules.depth, *shares]))


def deal_evenly(kinds: Ints, parts: int, rng: np.random.Generator) -> Ints:
    """Give every record a part, at random, such that each part has ⌊p/parts⌋ or ⌈p/parts⌉ records of a kind with p.

    Which parts get one more is drawn anew for every kind.
    """
    order = rng.permutation(kinds.size)
    order = order[np.argsort(kinds[order], kind="stable")]
    dealt = np.empty(kinds.size, np.int32)
    for same in np.split(order, 1 + np.flatnonzero(np.diff(kinds[order]))):
        turns = rng.choice(parts, min(parts, same.size), replace=False)
        dealt[same] = np.resize(turns, same.size)
    return dealt


def deal_in_turn(kinds: Ints, parts: int) -> Ints:
    """Give every record a part: records in order of kind go to one part after the other."""
    dealt = np.empty(kinds.size, np.int32)
    dealt[np.argsort(kinds, kind="stable")] = np.arange(kinds.size) % parts
    return dealt


def unite(
    problem: Problem, records: Records, dealt: Ints, rng: np.random.Generator
) -> tuple[Ints, int]:
    """Unite parts of some records until all keep the limits other than k.

    Returns the part of every record, numbered from 0 without gaps, and how many parts missed a limit at first.
    """
    dealt = np.unique(dealt, return_inverse=True)[1].astype(np.int32)
    sizes = np.bincount(dealt)
    check_tallies(problem, sizes.size)
    tally = np.zeros((sizes.size, problem.tallied), np.int32)
    count_groups(problem.values[records], dealt, tally)
    found = unite_offenders(problem.rules, dealt, tally, sizes, TRIES, rng)
    return np.unique(dealt, return_inverse=True)[1].astype(np.int32), int(found)


CHUNK = 4096  # records between two reports of progress


@dataclass(frozen=True)
class Sequential(Method):
    """Move records between the groups of a random partition until no move helps.

    Starts from ⌊n / k0⌋ even groups with k0 = ⌊α·k⌋; a record that is alone moves anyway, groups above ω·k
    are split in half at random after each pass. Small groups left at the end are merged with their
    closest. No guarantee. O(passes × n² / (α·k)) in time, O(n) in memory.

    Under a requirement beyond k, the start and the splits deal every sensitive value out evenly, a record
    moves only if both groups still meet the requirement, and a split that breaks it is not made. The first
    groups have at least twice the records that can meet it at all, or none could be spared. Small groups then
    keep their records, so a second run asks this only of groups of k and more and merges
    whatever misses the requirement at the end; the better of the two is kept.

    Parameters
    ----------
    alpha
        Size of the first groups as a share of k.
    omega
        Size, as a multiple of k, above which a group is split.
    restarts
        Random starts; the best result is kept.
    tolerance
        Stop when a pass ends with less than this share of the cost gained over the one before.
    printed
        Under a requirement beyond k, follow GT10's Algorithm 2 to the letter: first groups of ⌊α·k⌋ whatever the
        requirement, a single group where one of them misses it, one run in which every group keeps it
        throughout. Loses more; for comparisons.
    """

    alpha: float = 0.5
    omega: float = 1.5
    restarts: int = 1
    tolerance: float = 0.001
    printed: bool = False

    name = "sequential"
    source = "GT10 §6.3, Alg. 1"
    recoding = "local"
    promise = "none"
    growth = "n² per pass"
    seconds = 7.07
    summary = "moves records between groups of a random start until no move helps"

    def problems(self) -> list[str]:
        problems = least_problems("restarts", self.restarts, 1)
        problems += least_problems("tolerance", self.tolerance, 0)
        if not 0 < self.alpha <= 1:
            problems.append(f"The 'alpha' parameter must be in (0, 1]. Got {self.alpha} instead.")
        if not 1 < self.omega <= 2:
            problems.append(f"The 'omega' parameter must be in (1, 2]. Got {self.omega} instead.")
        return problems

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        kinds = kinds_of(problem)
        both = problem.tallied and not self.printed
        runs = (
            self._run(problem, kinds, firm, np.random.default_rng((seed, restart)), progress)
            for restart in range(self.restarts)
            for firm in ((1, problem.k) if both else (1,))
        )
        return min(runs, key=lambda run: problem.cost(run.groups))

    def _run(
        self,
        problem: Problem,
        kinds: Ints,
        firm: int,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Partition:
        n, k = problem.table.records, problem.k
        spare = 2 * least_diverse(problem.rules) if problem.tallied and not self.printed else 1
        parts = max(1, n // max(spare, int(self.alpha * k)))
        groups, missed = _start(problem, kinds, parts, rng)
        notes: tuple[str, ...] = ()
        if missed:
            outcome = (
                "so all records are one group" if self.printed else "and were united with others"
            )
            notes = (
                f"{missed:,} of {parts:,} even groups at the start missed the requirement {outcome}.",
            )
        if missed and self.printed:
            return Partition(np.zeros(n, np.int32), notes)
        last = np.inf
        while True:
            state = state_of(problem, groups)
            moves = _pass(problem, state, firm, progress)
            groups, count = pack(state)
            _split_large(problem, kinds, groups, count, self.omega * k, rng)
            cost = state.cost.sum() + problem.objective.offset.sum()
            if not moves or last - cost <= self.tolerance * abs(cost):
                break
            last = cost
        state = state_of(problem, groups)
        merge_small(problem, state, DIFFERENCE, True, progress)
        return Partition(pack(state)[0], notes)


def _start(problem: Problem, kinds: Ints, parts: int, rng: np.random.Generator) -> tuple[Ints, int]:
    """Make random groups of equal size and unite those that miss a limit other than k; also say how many did."""
    if not problem.tallied:
        return (rng.permutation(kinds.size) % parts).astype(np.int32), 0
    return unite(problem, np.arange(kinds.size), deal_evenly(kinds, parts, rng), rng)


def _pass(problem: Problem, state: State, firm: int, progress: Progress) -> int:
    """Go over all records once and return the number of moves."""
    n, moves = problem.table.records, 0
    for start in range(0, n, CHUNK):
        progress("moving records", start, n)
        moves += sequential_pass(
            problem.arrays,
            problem.pairs,
            problem.rules,
            state,
            problem.codes,
            problem.classes,
            problem.objective.monotone,
            firm,
            start,
            min(n, start + CHUNK),
        )
    return moves


def _split_large(
    problem: Problem, kinds: Ints, groups: Ints, count: int, limit: float, rng: np.random.Generator
) -> None:
    """Split every group above the limit in half at random, in place, unless a half would miss a limit."""
    sizes = np.bincount(groups, minlength=count)
    for g in np.flatnonzero(sizes > limit):
        records = np.flatnonzero(groups == g)
        if problem.tallied:
            dealt = deal_evenly(kinds[records], 2, rng)
            half = records[dealt == 1]
            if not (_is_diverse(problem, half) and _is_diverse(problem, records[dealt == 0])):
                continue
        else:
            half = rng.permutation(records)[: sizes[g] // 2]
        groups[half] = count
        count += 1


def _is_diverse(problem: Problem, records: Records) -> bool:
    """Whether some records, at least one, keep all limits but k as a group."""
    counts = np.bincount(problem.values[records].reshape(-1), minlength=problem.tallied)
    return records.size > 0 and bool(keeps_limits(problem.rules, counts, records.size))
