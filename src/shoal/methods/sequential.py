"""Sequential clustering (GT10 Algorithms 1 to 3; spec §5.1 and §5.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.generalization.forms import Ints, Records
from shoal.kernels.clustering.agglomerative import DIFFERENCE
from shoal.kernels.clustering.sequential import sequential_pass
from shoal.kernels.shared.rules import keeps_limits
from shoal.kernels.shared.state import State, pack
from shoal.methods.agglomerative import merge_small
from shoal.methods.base import Method, Partition, least_problems, state_of
from shoal.methods.deal import deal_evenly, kinds_of, least_diverse, unite
from shoal.problem import Problem
from shoal.progress import Progress

CHUNK = 4096  # records between two reports of progress


@dataclass(frozen=True)
class Sequential(Method):
    """Move records between the groups of a random partition until no move helps.

    Starts from ⌊n / k0⌋ even groups with k0 = ⌊α·k⌋; a record that is alone moves anyway, groups above ω·k
    are split in half at random after each pass. Small groups left at the end are merged with their
    closest. No guarantee. O(passes × n² / (α·k)) in time, O(n) in memory.

    Under a requirement beyond k, the start and the splits deal every sensitive value out evenly, a record
    moves only if both groups go on keeping the requirement, and a split that breaks it is not made. The first
    groups have at least twice the records that can keep it at all, or none could be spared. Small groups then
    hold on to their records, so a second run asks this only of groups of k and more and merges
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
