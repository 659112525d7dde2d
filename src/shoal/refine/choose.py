"""Choosing cells anew, as far as a quick refinement has time for it."""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.generalization.forms import Floats
from shoal.kernels.shared.forms import TREE
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine.chains import reach_of
from shoal.refine.descent import settle_down
from shoal.refine.partition import Refined
from shoal.refine.relax import Relaxation
from shoal.refine.repack import repack_all

# Passes of the relaxed problem before it is rounded, where all columns are trees, and their step, see `Ascent`. On
# Adult, 30,162 records of nine columns, a pass takes 0.9 s. Four with a step of 1.2 lower the loss by 1.8 to 3.5 %, as
# much as five to six with 0.6, the step that is better for many; one or two lower it less than none. Over ranges and
# sets a pass takes twice as long, and cells are chosen without.
PASSES, STEP = 4, 1.2
# The same where more than k is required, if so many passes look at fewer points than these.
DIVERSE_PASSES, DIVERSE_STEP, DIVERSE_LOOKS = 6, 0.6, 150_000_000


def choose_quickly(
    refined: Refined, seed: int, progress: Progress
) -> tuple[Refined, Floats | None]:
    """Cover records by other cells of the relaxed problem; returns a partition that costs no more.

    Also returns the dual variables of the relaxed problem, a number per record, if it was tightened.
    """
    problem, rng = refined.problem, np.random.default_rng([seed, 3])
    relaxation = Relaxation(
        problem, refined.search.price, DIVERSE_STEP if problem.tallied else STEP
    )

    def go_on(stage: str, done: int = 0, total: int = 1) -> bool:
        progress(f"refining: {stage}", done, total)
        return True

    def chosen(start: Refined) -> Refined:
        cells = relaxation.cells()
        groups = repack_all(start, cells, 0, rng, lambda: go_on("choosing cells"))
        found = Refined.of(problem, groups)
        settle_down(found, reach_of(found), progress)
        return found

    passes = _passes(problem, relaxation)
    if not passes:
        return chosen(refined), None
    for done in range(passes):
        relaxation.advance(partial(go_on, "relaxing", done, passes))
    found = chosen(Refined.of(problem, relaxation.round()))
    return found if found.cost < refined.cost else chosen(refined), relaxation.duals


def _passes(problem: Problem, relaxation: Relaxation) -> int:
    """How many passes of the relaxed problem there is time for."""
    if not (problem.arrays.form == TREE).all():
        return 0
    if not problem.tallied:
        return PASSES
    return DIVERSE_PASSES if DIVERSE_PASSES * relaxation.looks <= DIVERSE_LOOKS else 0
