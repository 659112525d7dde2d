"""What refinement does with more time: new starts from the relaxed problem, and perturbation of the best found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.generalization.forms import Ints
from shoal.progress import Progress
from shoal.refine.budget import Clock
from shoal.refine.chains import reach_of
from shoal.refine.descent import carve, descend, settle_down
from shoal.refine.partition import Refined
from shoal.refine.relax import Relaxation
from shoal.refine.repack import Pools, can_repack, repack_all
from shoal.refine.ruin import ruin_and_recreate

# Passes of the relaxed problem before it is rounded for the first time, between two roundings, and in all. A local
# search follows every rounding, so that more roundings leave less of the budget for passes.
FIRST, EVERY, MOST = 6, 4, 22
UNRELAXED = 0.3  # share of the budget that the search before the relaxed problem may take
RELAXED = 0.6  # share of the budget that may be spent when its last pass begins
KICKS = 10  # random choices of cells that repacking starts from in each pool while it perturbs
LITTLE = 1e-4  # share of the cost: gains below this are not worth another try of the same kind


def search_on(refined: Refined, seed: int, progress: Progress, clock: Clock) -> Refined:
    """Search on as long as the budget lasts, and return the best partition found."""
    problem = refined.problem
    if not Relaxation.suits(problem):
        ruin_and_recreate(carve(refined, seed, progress), seed, progress, clock)
        return refined
    relaxation = Relaxation(problem, refined.search.price)
    rng = np.random.default_rng([seed, 2])

    def start(groups: Ints, share: float = 1.0) -> Refined:
        """Improve a partition to a local optimum."""
        found = Refined.of(problem, groups)
        if not can_repack(problem):
            descend(found, seed, progress)
            return found
        settle_down(found, reach_of(found), progress)
        return _repack(found, relaxation.cells(), 0, rng, progress, clock, share)

    best = start(refined.groups, UNRELAXED) if can_repack(problem) else refined
    best = _relax(best, relaxation, start, clock)
    before = np.inf
    while clock.goes_on("perturbing"):
        if can_repack(problem) and best.cost < (1 - LITTLE) * before:
            before = best.cost
            best = _repack(best, relaxation.cells(), KICKS, rng, progress, clock)
            if clock.goes_on("carving"):
                carve(best, seed, progress)
        else:
            ruin_and_recreate(carve(best, seed, progress), seed, progress, clock)
    return best


def _relax(
    best: Refined, relaxation: Relaxation, start: Callable[[Ints], Refined], clock: Clock
) -> Refined:
    """Solve the relaxed problem step by step, round it a few times; return the best partition, or the given one."""
    passes, due = 0, FIRST
    while passes < MOST and clock.goes_on("relaxing", RELAXED):
        if not relaxation.advance(lambda: clock.goes_on("relaxing")):
            break
        clock.tick()
        passes += 1
        if passes == due and clock.goes_on("relaxing"):
            best = min(best, start(relaxation.round()), key=lambda found: found.cost)
            clock.tick()
            due += EVERY
    return best


def _repack(
    refined: Refined,
    cells: Ints,
    kicks: int,
    rng: np.random.Generator,
    progress: Progress,
    clock: Clock,
    share: float = 1.0,
) -> Refined:
    """Repack all groups again and again, as long as that gains and less than a share of the budget is spent."""
    before = np.inf
    while refined.cost < (1 - LITTLE) * before and clock.goes_on("choosing cells", share):
        before = refined.cost
        groups = repack_all(
            refined, cells, Pools(kicks=kicks), rng, lambda: clock.goes_on("choosing cells", share)
        )
        refined = Refined.of(refined.problem, groups)
        settle_down(refined, reach_of(refined), progress)
        clock.tick()
    return refined
