"""The schedule of refinement: neighbourhoods in turn to a local optimum, then new starts while there is time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shoal.encoding.forms import Floats, Ints
from shoal.kernels.shared.state import offending
from shoal.progress import Progress
from shoal.solve.local_search.budget import Clock, Refine
from shoal.solve.local_search.descent import (
    SearchState,
    carve_groups,
    local_descent,
    most_movers,
    move_single_records,
    reach_of,
    ruin_and_recreate,
)
from shoal.solve.local_search.relax import Relaxation
from shoal.solve.local_search.repack import PoolOptions, can_repack, choose_quickly, repack_all
from shoal.solve.methods.integer_program import polish
from shoal.solve.problem import Problem

# Passes of the relaxed problem before it is rounded for the first time, between two roundings, and in all. A local
# search follows every rounding, so that more roundings leave less of the budget for passes.
FIRST, EVERY, MOST = 6, 4, 22
UNRELAXED = 0.3  # share of the budget that the search before the relaxed problem may take
RELAXED = 0.6  # share of the budget that may be spent when its last pass begins
KICKS = 10  # random choices of cells that repacking starts from in each pool while it perturbs
LITTLE = 1e-4  # share of the cost: gains below this are not worth another try of the same kind


def search_on(refined: SearchState, seed: int, progress: Progress, clock: Clock) -> SearchState:
    """Search on as long as the budget lasts, and return the best partition found."""
    problem = refined.problem
    if not Relaxation.suits(problem):
        ruin_and_recreate(carve_groups(refined, seed, progress), seed, progress, clock)
        return refined
    relaxation = Relaxation(problem, refined.search.price)
    rng = np.random.default_rng([seed, 2])

    def start(groups: Ints, share: float = 1.0) -> SearchState:
        """Improve a partition to a local optimum."""
        found = SearchState.of(problem, groups)
        if not can_repack(problem):
            local_descent(found, seed, progress)
            return found
        move_single_records(found, reach_of(found), progress)
        return _repack(found, relaxation.cells(), 0, rng, progress, clock, share)

    best = start(refined.groups, UNRELAXED) if can_repack(problem) else refined
    best = _relax(best, relaxation, start, clock)
    before = np.inf
    while clock.goes_on("perturbing"):
        if can_repack(problem) and best.cost < (1 - LITTLE) * before:
            before = best.cost
            best = _repack(best, relaxation.cells(), KICKS, rng, progress, clock)
            if clock.goes_on("carving"):
                carve_groups(best, seed, progress)
        else:
            ruin_and_recreate(carve_groups(best, seed, progress), seed, progress, clock)
    return best


def _relax(
    best: SearchState, relaxation: Relaxation, start: Callable[[Ints], SearchState], clock: Clock
) -> SearchState:
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
    refined: SearchState,
    cells: Ints,
    kicks: int,
    rng: np.random.Generator,
    progress: Progress,
    clock: Clock,
    share: float = 1.0,
) -> SearchState:
    """Repack all groups again and again, as long as that gains and less than a share of the budget is spent."""
    before = np.inf
    while refined.cost < (1 - LITTLE) * before and clock.goes_on("choosing cells", share):
        before = refined.cost
        groups = repack_all(
            refined,
            cells,
            PoolOptions(kicks=kicks),
            rng,
            lambda: clock.goes_on("choosing cells", share),
        )
        refined = SearchState.of(refined.problem, groups)
        move_single_records(refined, reach_of(refined), progress)
        clock.tick()
    return refined


# Records of a table on which the costly steps gain next to nothing: carving 0.1 % of the loss, on samples of 200 to
# 1,000 records of Adult. At the first run they would take seconds to compile.
FEW = 1_000
# Records of a table beyond which the relaxed problem takes too long for a quick refinement.
MANY = 100_000

# Whoever gives refinement at least so many seconds can wait a few more for an integer program, on a small table.
POLISHING_SECONDS = 10

CHOOSE, CARVE = "choose", "carve"


class RefinementResult(NamedTuple):
    """What refinement returns: the group of every record, notes for people, and a start for the certificate."""

    groups: Ints
    notes: tuple[str, ...] = ()
    duals: Floats | None = None  # a number per record, where the relaxed problem was solved in part
    bound: float | None = None  # the least that any partition costs, where that is known


def costly_step(records: int, budget: Refine, repacks: bool) -> str | None:
    """Which costly step follows the descent of so many records; None for few.

    Where cells can be repacked, these are chosen anew, and otherwise groups are carved out of others.
    """
    if records <= FEW and not budget.goes_on:
        return None
    return CHOOSE if repacks and records <= MANY else CARVE


def refine(
    problem: Problem, groups: Ints, seed: int, progress: Progress, budget: Refine
) -> RefinementResult:
    """Improve a partition.

    The result meets the requirement and never costs more. A partition that does not meet it is left as it is,
    for the audit to find.
    """
    clock = Clock(budget, progress)
    refined = SearchState.of(problem, groups)
    if offending(problem.rules, refined.search.s).any():
        return RefinementResult(groups)
    records = problem.table.records
    step = costly_step(records, budget, can_repack(problem))
    # Before cells are chosen anew, splits gain nothing and take time to compile; few records are not always chosen for.
    splits = step != CHOOSE or records <= FEW
    local_descent(refined, seed, progress, step == CARVE, splits)
    looked, duals = most_movers(refined), None
    if step == CHOOSE:
        refined, duals = choose_quickly(refined, seed, progress)
    groups, bound = refined.groups, None
    if budget.goes_on:
        refined = search_on(refined, seed, progress, clock)
        groups = refined.groups
        if budget.steps or (budget.seconds or 0) >= POLISHING_SECONDS:
            groups, bound = polish(problem, groups, progress)
    few = f"refinement moved single records among the {looked:,} dearest only"
    return RefinementResult(groups, (few,) if looked < records else (), duals, bound)
