"""The schedule of refinement: neighbourhoods in turn to a local optimum, then perturbation while there is time."""

from __future__ import annotations

import time

from shoal.generalization.forms import Ints
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine.budget import Refine
from shoal.refine.carve import Carver
from shoal.refine.moves import dissolve_all, move_all
from shoal.refine.partition import Refined
from shoal.refine.ruin import ruin_and_recreate


def refine(
    problem: Problem, groups: Ints, seed: int, progress: Progress, budget: Refine
) -> tuple[Ints, tuple[str, ...]]:
    """Improve a partition that meets the requirement: (groups, notes).

    The result meets it too and never costs more.
    """
    start = time.perf_counter()
    refined = Refined.of(problem, groups)
    before = refined.cost
    move_all(refined, progress)
    dissolve_all(refined)
    carver = Carver.of(refined, seed)
    carver.carve_all(progress)
    move_all(refined, progress)
    dissolve_all(refined)
    if budget.seconds or budget.steps:
        ruin_and_recreate(carver, seed, progress, budget, start)
    return refined.groups, _notes(problem, before, refined.cost)


def _notes(problem: Problem, before: float, after: float) -> tuple[str, ...]:
    """What refinement gained, if anything."""
    offset = float(problem.objective.offset.sum())
    start, end = before + offset, after + offset
    if before - after <= 1e-9 * max(1.0, abs(start)):
        return ()
    return (f"refinement lowered the objective by {100 * (start - end) / abs(start):.1f} %",)
