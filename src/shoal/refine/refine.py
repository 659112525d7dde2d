"""The schedule of refinement: neighbourhoods in turn to a local optimum, then new starts while there is time."""

from __future__ import annotations

from shoal.generalization.forms import Ints
from shoal.kernels.state import offending
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine.budget import Clock, Refine
from shoal.refine.carve import Carver
from shoal.refine.chains import reach_of, shift_all
from shoal.refine.moves import dissolve_all, most_movers, move_all
from shoal.refine.partition import Refined
from shoal.refine.relax import Relaxation
from shoal.refine.ruin import ruin_and_recreate
from shoal.refine.splits import split_all
from shoal.refine.swaps import swap_all

FIRST, EVERY, MOST = 6, 4, 22  # passes of the relaxation before a partition is made of it
RELAXED = 0.6  # share of the budget that it may take


def refine(
    problem: Problem, groups: Ints, seed: int, progress: Progress, budget: Refine
) -> tuple[Ints, tuple[str, ...]]:
    """Improve a partition: (groups, notes).

    The result meets the requirement and never costs more. A partition that does not meet it is left as it is,
    for the audit to find.
    """
    clock = Clock(budget, progress)
    refined = Refined.of(problem, groups)
    if offending(problem.rules, refined.search.s).any():
        return groups, ()
    best = descend(refined, seed, progress)
    if budget.seconds or budget.steps:
        if Relaxation.suits(problem):
            best = relax(best, seed, progress, clock)
        ruin_and_recreate(best, seed, progress, clock)
    looked, records = most_movers(refined), problem.table.records
    few = f"refinement moved single records among the {looked:,} dearest only"
    return best.refined.groups, (few,) if looked < records else ()


def descend(refined: Refined, seed: int, progress: Progress) -> Carver:
    """Improve a partition until no neighbourhood gains much."""
    move_all(refined, progress)
    dissolve_all(refined)
    split_all(refined)
    swap_all(refined)
    carver = Carver.of(refined, reach_of(refined), seed)
    shift_all(refined, carver.reach)
    carver.carve_all(progress)
    dissolve_all(refined)
    shift_all(refined, carver.reach)
    return carver


def relax(best: Carver, seed: int, progress: Progress, clock: Clock) -> Carver:
    """Make partitions of what the relaxed problem covers records by; returns the best of them and the given one."""
    problem = best.refined.problem
    relaxation = Relaxation(problem, best.refined.search.price)
    passes = 0
    while passes < MOST and clock.goes_on("relaxing", RELAXED):
        if not relaxation.advance(lambda: clock.goes_on("relaxing")):
            break
        clock.tick()
        passes += 1
        if passes >= FIRST and (passes - FIRST) % EVERY == 0 and clock.goes_on("relaxing"):
            found = descend(Refined.of(problem, relaxation.round()), seed, progress)
            best = min(best, found, key=lambda carver: carver.refined.cost)
            clock.tick()
    return best
