"""GT10's Algorithm 1 with two choices the paper leaves open: when a large group is split, and when to stop."""

from __future__ import annotations

import numpy as np

from shoal.encoding.forms import Ints
from shoal.kernels.clustering.agglomerative import DIFFERENCE, sequential_pass
from shoal.kernels.shared.state import State, fill, make_state, pack
from shoal.progress import silent
from shoal.solve.methods.agglomerative import merge_small
from shoal.solve.methods.base import state_of
from shoal.solve.problem import Problem


def stopped_early(problem: Problem, least_gain: float, seed: int = 0) -> Ints:
    """Groups of sequential clustering whose passes end when one gains less than `least_gain` per cell.

    α = 0.5 and ω = 1.5 as in the paper; a group is split as soon as it is too large, not after the pass.
    """
    n, k = problem.table.records, problem.k
    rng = np.random.default_rng(seed)
    state = state_of(problem, (rng.permutation(n) % (n // (k // 2))).astype(np.int32))
    gain = np.inf
    while gain >= least_gain:
        before = state.cost.sum()
        for i in range(n):
            if _move(problem, state, i):
                g = state.group[i]
                if state.size[g] > 1.5 * k:
                    state = _split(problem, state, g, rng)
        gain = (before - state.cost.sum()) / (n * len(problem.columns))
    state = state_of(problem, pack(state)[0])
    merge_small(problem, state, DIFFERENCE, True, silent)
    return pack(state)[0]


def _move(problem: Problem, state: State, i: int) -> int:
    """Let record i go where it costs least: 1 if it moved."""
    monotone = problem.objective.monotone
    shared = problem.arrays, problem.pairs, problem.rules
    return sequential_pass(*shared, state, problem.codes, problem.classes, monotone, 1, i, i + 1)


def _split(problem: Problem, state: State, g: int, rng: np.random.Generator) -> State:
    """Halve group g at random."""
    groups, room = state.group.copy(), state.size.size
    records = rng.permutation(np.flatnonzero(groups == g))
    free = np.flatnonzero(state.size == 0)
    groups[records[: records.size // 2]] = free[0] if free.size else room
    made = make_state(
        problem.arrays, problem.values, problem.tallied, room if free.size else 2 * room
    )
    fill(problem.arrays, made, problem.codes, problem.classes, groups)
    return made
