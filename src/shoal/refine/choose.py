"""Choosing cells anew, as far as a quick refinement has time for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.generalization.forms import Floats
from shoal.kernels.shared.forms import SET, TREE
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine.chains import reach_of
from shoal.refine.descent import settle_down
from shoal.refine.partition import Refined
from shoal.refine.relax import Relaxation
from shoal.refine.repack import MOST, Work, repack_all

# Passes of the relaxed problem before it is rounded, where all columns are trees or ranges, see `Ascent`. On Adult,
# 30,162 records of nine columns, a pass takes 0.9 s. Four lower the loss by 1.8 to 3.5 %, over ranges by 4 to 7 %; one
# or two lower it less than none. Where a walk over ranges looks at more points than these, cells are chosen without.
PASSES, RANGED_LOOKS = 4, 150_000_000
# There are other passes where more than k is required, and cells are chosen in rounds: with so many cells in a pool, so
# many random choices to start again from, and with exchanges or not. Small pools gain most for the time, after rounding
# without exchanges. On Adult all this takes up to 6 seconds.
ROUNDS = (5, 0, False), (5, 0, True), (14, 0, True), (14, 2, True), (14, 3, True), (14, 5, True)
ONCE = ((MOST, 0, True),)
WORSE = 1.25  # times the cost of the partition: a rounded one above this is not worth choosing cells for


class Effort(NamedTuple):
    """How much is done where more than k is required."""

    most_passes: int  # of the relaxed problem
    # Points that these may look at; if that does not suffice for FEWEST_PASSES, there are none.
    looks: int
    # Records and sensitive values that the choice of cells may look at, and how many more for each point that the
    # first walk of the relaxed problem looked at.
    work: int
    work_by_look: int


FEWEST_PASSES = 4
# Where a number of distinct values is required, and where shares of values are limited, which takes longer to weigh.
DISTINCT = Effort(8, 320_000_000, 400_000_000, 0)
SHARES = Effort(4, 500_000_000, 40_000_000, 4)


def choose_quickly(
    refined: Refined, seed: int, progress: Progress
) -> tuple[Refined, Floats | None]:
    """Cover records by other cells of the relaxed problem; returns a partition that costs no more.

    Also returns the dual variables of the relaxed problem, a number per record, if it was tightened.
    """
    problem, rng = refined.problem, np.random.default_rng([seed, 3])
    effort = DISTINCT if problem.counts_values_only else SHARES
    relaxation = Relaxation(problem, refined.search.price)
    most_work = effort.work + effort.work_by_look * relaxation.looks

    def go_on(stage: str, done: int = 0, total: int = 1) -> bool:
        progress(f"refining: {stage}", done, total)
        return True

    def chosen(start: Refined, rounds: Sequence[tuple[int, int, bool]]) -> Refined:
        cells, work, found = relaxation.cells(), Work(most_work), start
        for most, kicks, exchanges in rounds if problem.tallied else ONCE:
            if work.is_left:
                choosing = partial(go_on, "choosing cells")
                groups = repack_all(found, cells, kicks, rng, choosing, most, exchanges, work)
                found = Refined.of(problem, groups)
        settle_down(found, reach_of(found), progress)
        return found

    passes = _passes(problem, relaxation, effort)
    if not passes:
        return chosen(refined, ROUNDS[1:]), None
    for done in range(passes):
        relaxation.advance(partial(go_on, "relaxing", done, passes))
    rounded = Refined.of(problem, relaxation.round())
    if problem.tallied and rounded.cost <= WORSE * refined.cost:
        settle_down(rounded, reach_of(rounded), progress)
    if not problem.tallied or rounded.cost <= WORSE * refined.cost:
        rounded = chosen(rounded, ROUNDS)
    best = rounded if rounded.cost < refined.cost else chosen(refined, ROUNDS[1:])
    return best, relaxation.duals


def _passes(problem: Problem, relaxation: Relaxation, effort: Effort) -> int:
    """How many passes of the relaxed problem there is time for."""
    form, looks = problem.arrays.form, relaxation.looks
    if problem.tallied:
        passes = min(effort.most_passes, effort.looks // max(1, looks))
        return passes if passes >= FEWEST_PASSES and (form == TREE).all() else 0
    if (form == TREE).all():
        return PASSES
    is_short = looks <= RANGED_LOOKS and not relaxation.spares
    return PASSES if is_short and not (form == SET).any() else 0
