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

# Records of a table that carving gains next to nothing on: 0.1 % of the loss, on samples of 200 to 1,000 records of
# Adult. At the first run it would take seconds to compile.
FEW = 1_000


def is_carved(records: int, budget: Refine) -> bool:
    """Whether groups of so many records are carved out of others and records shifted along chains."""
    return records > FEW or budget.goes_on


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
    records = problem.table.records
    descend(refined, seed, progress, carves=is_carved(records, budget))
    looked = most_movers(refined)
    if budget.goes_on:
        refined = search_on(refined, seed, progress, clock)
    few = f"refinement moved single records among the {looked:,} dearest only"
    return refined.groups, (few,) if looked < records else ()
