"""Ruin and recreate (large neighbourhood search): groups around a random record are united and carved anew."""

from __future__ import annotations

import numpy as np

from shoal.kernels.refining.ruin import ruin_all
from shoal.progress import Progress
from shoal.refine.budget import Clock
from shoal.refine.carve import Carver
from shoal.refine.descent import settle_down

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
            settle_down(refined, carver.reach, progress)
    settle_down(refined, carver.reach, progress)
