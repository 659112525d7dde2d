"""The schedule of refinement: neighbourhoods in turn to a local optimum, then new starts while there is time."""

from __future__ import annotations

from shoal.generalization.forms import Ints
from shoal.kernels.shared.state import offending
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine.budget import Clock, Refine
from shoal.refine.descent import descend
from shoal.refine.moves import most_movers
from shoal.refine.partition import Refined
from shoal.refine.restarts import search_on


def refine(
    problem: Problem, groups: Ints, seed: int, progress: Progress, budget: Refine
) -> tuple[Ints, tuple[str, ...]]:
    """Improve a partition; returns the group of every record and notes for people.

    The result meets the requirement and never costs more. A partition that does not meet it is left as it is,
    for the audit to find.
    """
    clock = Clock(budget, progress)
    refined = Refined.of(problem, groups)
    if offending(problem.rules, refined.search.s).any():
        return groups, ()
    descend(refined, seed, progress)
    looked, records = most_movers(refined), problem.table.records
    if budget.seconds or budget.steps:
        refined = search_on(refined, seed, progress, clock)
    few = f"refinement moved single records among the {looked:,} dearest only"
    return refined.groups, (few,) if looked < records else ()
