"""The schedule of refinement: whichever neighbourhood gained most for its work lately is tried next."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from shoal.encoding.forms import Floats, Ints
from shoal.kernels.shared.state import offending
from shoal.progress import Progress
from shoal.solve.local_search.budget import Meter, Refine
from shoal.solve.local_search.carve import Carve
from shoal.solve.local_search.moves import Moves
from shoal.solve.local_search.program import RECORDS, Program
from shoal.solve.local_search.regroup import Regroup
from shoal.solve.local_search.relax import Relax
from shoal.solve.local_search.repack import Repack
from shoal.solve.local_search.state import Neighbourhood, SearchState
from shoal.solve.problem import Problem

MANY = 100_000  # records; more are refined in parts
# Quick refinement ends when a whole budget of work would gain less than this share of the cost at the present rate:
# LITTLE before the least budget is spent, SLOPE after that. With LITTLE at 0.02, samples of 3,000 and 10,000 records of
# Adult lose 1 to 2 % more; at 0.005 tables take longer and lose as much. With SLOPE at 0.06, a table of 40 columns
# loses 1 % more.
LITTLE, SLOPE = 0.01, 0.02
PER_STEP = 3e6  # units of work, whatever a step does
TIE = 1e-9  # share of the cost below which the cost and its bound count as equal


class RefinementResult(NamedTuple):
    """What refinement returns: the group of every record, notes for people, and a start for the certificate."""

    groups: Ints
    notes: tuple[str, ...] = ()
    duals: Floats | None = None  # a number per record, where the relaxed problem was solved in part
    bound: float | None = None  # the least that any partition costs, where that is known


def refine(
    problem: Problem,
    groups: Ints,
    seed: int,
    progress: Progress,
    budget: Refine,
    parts: int = 1,
) -> RefinementResult:
    """Improve a partition of a table, or of one of so many parts, which share the least budget.

    The result meets the requirement and never costs more. A partition that does not meet it is left as it is,
    for the audit to find.
    """
    now = SearchState.of(problem, groups)
    if offending(problem.rules, now.search.s).any():
        return RefinementResult(groups)
    meter = Meter(budget, problem.table.records * len(problem.columns), progress, parts)
    kinds = neighbourhoods_of(problem, seed, meter)
    now = search(now, kinds, meter)
    duals = next((kind.duals for kind in kinds if isinstance(kind, Relax)), None)
    bound = max(kind.bound for kind in kinds) + float(problem.objective.offset.sum())
    return RefinementResult(now.groups, (), duals, bound if isfinite(bound) else None)


def neighbourhoods_of(problem: Problem, seed: int, meter: Meter) -> list[Neighbourhood]:
    """The neighbourhoods that suit a problem, in the order in which they are first tried."""
    common = problem, np.random.default_rng([seed, 1]), meter
    moves, carve = Moves(*common), Carve(*common)
    if problem.class_count > 1 or not problem.objective.monotone:
        return [moves, carve]  # what a cell costs a record depends on the record, or on its group
    repack = Repack(*common)
    relax = Relax(*common, repack, moves)
    kinds: list[Neighbourhood] = [moves, relax, repack, carve, Regroup(*common, repack)]
    if meter.is_brief or problem.table.records > RECORDS:
        return kinds
    return [*kinds, Program(*common, repack)]


def search(now: SearchState, kinds: list[Neighbourhood], meter: Meter) -> SearchState:
    """Try neighbourhoods until the budget is spent, none is expected to gain enough, or the optimum is proven."""
    while meter.left > 0 and now.cost > (1 + TIE) * max(kind.bound for kind in kinds):
        best = max(kinds, key=lambda kind: kind.hope(now.cost))
        enough = SLOPE if meter.done > meter.least else LITTLE
        if best.hope(now.cost) * meter.pace < enough * now.cost and not meter.is_patient:
            break
        before, done = now.cost, meter.done
        now = best.step(now)
        meter.add(PER_STEP)
        best.learn_rate(now.cost, before - now.cost, meter.done - done)
    return now
