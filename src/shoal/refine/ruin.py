"""Perturbation: neighbouring groups are united and carved anew, around one random record after the other."""

from __future__ import annotations

import time

import numpy as np

from shoal.kernels.ruin import ruin_all
from shoal.progress import Progress
from shoal.refine.budget import Refine
from shoal.refine.carve import Carver
from shoal.refine.moves import dissolve_all, move_all

BATCH = 32  # steps between two reports of progress, with the lattice in one order
MOVES = 16  # batches between two passes of moves
MOST_NEAR = 8  # groups that a step looks at
NOISE = 0.1  # share of its cost by which a lattice point may come later


def ruin_and_recreate(
    carver: Carver, seed: int, progress: Progress, budget: Refine, start: float
) -> None:
    """Perturb as long as the budget lasts; `start` is when refinement began."""
    refined = carver.refined
    rng = np.random.default_rng([seed, 1])
    steps, seconds = budget.steps or 0, budget.seconds or 0.0
    done = batch = 0
    while done < steps or time.perf_counter() - start < seconds:
        if budget.seconds is None:
            progress("refining: perturbing", done, steps)
        else:
            progress("refining: perturbing", int(time.perf_counter() - start), int(seconds) + 1)
        size = BATCH if budget.seconds is not None else min(BATCH, steps - done)
        later = 1 + NOISE * rng.random(len(carver.costs))
        order = np.argsort(carver.costs * later, kind="stable")
        near = rng.integers(2, MOST_NEAR + 1, BATCH)
        united = np.maximum(2, (near * rng.uniform(0.3, 1.0, BATCH)).astype(np.int64))
        records = rng.integers(0, refined.problem.table.records, BATCH)
        ruin_all(
            refined.search,
            carver.cells,
            carver.reach,
            carver.steps[order],
            records[:size],
            near[:size],
            united[:size],
        )
        done += size
        batch += 1
        if batch % MOVES == 0:
            move_all(refined, progress)
            dissolve_all(refined)
    move_all(refined, progress)
    dissolve_all(refined)
