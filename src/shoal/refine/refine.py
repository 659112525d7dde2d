"""The schedule of refinement: neighbourhoods in turn to a local optimum, then perturbation while there is time."""

from __future__ import annotations

import time

from shoal.generalization.forms import Ints
from shoal.kernels.state import offending
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine.budget import Refine
from shoal.refine.carve import Carver
from shoal.refine.chains import reach_of, shift_all
from shoal.refine.moves import dissolve_all, most_movers, move_all
from shoal.refine.partition import Refined
from shoal.refine.ruin import ruin_and_recreate


def refine(
    problem: Problem, groups: Ints, seed: int, progress: Progress, budget: Refine
) -> tuple[Ints, tuple[str, ...]]:
    """Improve a partition: (groups, notes).

    The result meets the requirement and never costs more. A partition that does not meet it is left as it is,
    for the audit to find.
    """
    start = time.perf_counter()
    refined = Refined.of(problem, groups)
    if offending(problem.rules, refined.search.s).any():
        return groups, ()
    reach = reach_of(refined)
    move_all(refined, progress)
    dissolve_all(refined)
    shift_all(refined, reach)
    carver = Carver.of(refined, reach, seed)
    carver.carve_all(progress)
    dissolve_all(refined)
    shift_all(refined, reach)
    if budget.seconds or budget.steps:
        ruin_and_recreate(carver, seed, progress, budget, start)
    looked, records = most_movers(refined), problem.table.records
    few = f"refinement moved single records among the {looked:,} dearest only"
    return refined.groups, (few,) if looked < records else ()
