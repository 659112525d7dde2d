"""The schedule of refinement: neighbourhoods in turn to a local optimum, then new starts while there is time."""

from __future__ import annotations

from typing import NamedTuple

from shoal.generalization.forms import Floats, Ints
from shoal.kernels.shared.state import offending
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine.budget import Clock, Refine
from shoal.refine.choose import choose_quickly
from shoal.refine.descent import descend
from shoal.refine.moves import most_movers
from shoal.refine.partition import Refined
from shoal.refine.repack import can_repack
from shoal.refine.restarts import search_on

# Records of a table on which the costly steps gain next to nothing: carving 0.1 % of the loss, on samples of 200 to
# 1,000 records of Adult. At the first run they would take seconds to compile.
FEW = 1_000
# Records of a table beyond which the relaxed problem takes too long for a quick refinement.
MANY = 100_000

CHOOSE, CARVE = "choose", "carve"


class Outcome(NamedTuple):
    """What refinement returns: the group of every record, notes for people, and a start for the certificate."""

    groups: Ints
    notes: tuple[str, ...] = ()
    duals: Floats | None = None  # a number per record, where the relaxed problem was solved in part


def costly_step(records: int, budget: Refine, repacks: bool) -> str | None:
    """Which costly step follows the descent of so many records; None for few.

    Where cells can be repacked, these are chosen anew, and otherwise groups are carved out of others.
    """
    if records <= FEW and not budget.goes_on:
        return None
    return CHOOSE if repacks and records <= MANY else CARVE


def refine(
    problem: Problem, groups: Ints, seed: int, progress: Progress, budget: Refine
) -> Outcome:
    """Improve a partition.

    The result meets the requirement and never costs more. A partition that does not meet it is left as it is,
    for the audit to find.
    """
    clock = Clock(budget, progress)
    refined = Refined.of(problem, groups)
    if offending(problem.rules, refined.search.s).any():
        return Outcome(groups)
    records = problem.table.records
    step = costly_step(records, budget, can_repack(problem))
    # Before cells are chosen anew, splits gain nothing and take time to compile; few records are not always chosen for.
    splits = step != CHOOSE or records <= FEW
    descend(refined, seed, progress, step == CARVE, splits)
    looked, duals = most_movers(refined), None
    if step == CHOOSE:
        refined, duals = choose_quickly(refined, seed, progress)
    if budget.goes_on:
        refined = search_on(refined, seed, progress, clock)
    few = f"refinement moved single records among the {looked:,} dearest only"
    return Outcome(refined.groups, (few,) if looked < records else (), duals)
