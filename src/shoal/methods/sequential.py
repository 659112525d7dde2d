"""Sequential clustering (GT10 Algorithm 1; spec §5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.generalization.forms import Ints
from shoal.kernels.agglomerative import DIFFERENCE
from shoal.kernels.sequential import sequential_pass
from shoal.kernels.state import State, pack
from shoal.methods.agglomerative import merge_small
from shoal.methods.base import Method, Partition, least_problems, state_of
from shoal.problem import Problem
from shoal.progress import Progress

CHUNK = 4096  # records between two reports of progress


@dataclass(frozen=True)
class Sequential(Method):
    """Move records between the groups of a random partition until no move helps.

    Starts from ⌊n / k0⌋ even groups with k0 = ⌊α·k⌋; a record that is alone moves anyway, groups above ω·k
    are split in half at random after each pass. Small groups left at the end are merged with their
    closest. No guarantee. O(passes × n² / (α·k)) in time, O(n) in memory.

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
    """

    alpha: float = 0.5
    omega: float = 1.5
    restarts: int = 1
    tolerance: float = 0.001

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
        runs = (
            self._run(problem, np.random.default_rng((seed, restart)), progress)
            for restart in range(self.restarts)
        )
        return Partition(min(runs, key=problem.cost))

    def _run(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Ints:
        n, k = problem.table.records, problem.k
        parts = max(1, n // max(1, int(self.alpha * k)))
        groups = (rng.permutation(n) % parts).astype(np.int32)
        last = np.inf
        while True:
            state = state_of(problem, groups)
            moves = _pass(problem, state, progress)
            groups, count = pack(state)
            _split_large(groups, count, self.omega * k, rng)
            cost = state.cost.sum() + problem.objective.offset.sum()
            if not moves or last - cost <= self.tolerance * abs(cost):
                break
            last = cost
        state = state_of(problem, groups)
        merge_small(problem, state, DIFFERENCE, True, progress)
        return pack(state)[0]


def _pass(problem: Problem, state: State, progress: Progress) -> int:
    """Go over all records once and return the number of moves."""
    n, moves = problem.table.records, 0
    for start in range(0, n, CHUNK):
        progress("moving records", start, n)
        moves += sequential_pass(
            problem.arrays,
            problem.pairs,
            state,
            problem.codes,
            problem.classes,
            problem.objective.monotone,
            start,
            min(n, start + CHUNK),
        )
    return moves


def _split_large(groups: Ints, count: int, limit: float, rng: np.random.Generator) -> None:
    """Split every group above the limit in half at random, in place."""
    sizes = np.bincount(groups, minlength=count)
    for g in np.flatnonzero(sizes > limit):
        half = rng.permutation(np.flatnonzero(groups == g))[: sizes[g] // 2]
        groups[half] = count
        count += 1
