"""The schedule of refinement: whichever neighbourhood gained most for its work lately is tried next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.encoding.forms import Floats, Ints
from shoal.kernels.shared.state import offending
from shoal.progress import Progress
from shoal.solve.local_search.budget import LEAST, Meter, Refine
from shoal.solve.local_search.carve import Carve, Ruin, Shared
from shoal.solve.local_search.moves import Moves, most_movers
from shoal.solve.local_search.relax import Relax
from shoal.solve.local_search.repack import Repack, can_repack
from shoal.solve.local_search.state import Neighbourhood, SearchState
from shoal.solve.problem import Problem

MANY = 100_000  # records; more are refined in parts
# Refinement ends when at the present rate a whole budget would gain less than this share of the cost.
SLOPE = 0.03
LITTLE = 1e-3  # the same as long as little work is done, or where the user gave the budget
AGAIN = 0.7  # what a neighbourhood is expected to gain the next time, as a share of what it gained lately
FAR = 1e300


class RefinementResult(NamedTuple):
    """What refinement returns: the group of every record, notes for people, and a start for the certificate."""

    groups: Ints
    notes: tuple[str, ...] = ()
    duals: Floats | None = None  # a number per record, where the relaxed problem was solved in part


def refine(
    problem: Problem, groups: Ints, seed: int, progress: Progress, budget: Refine
) -> RefinementResult:
    """Improve a partition.

    The result meets the requirement and never costs more. A partition that does not meet it is left as it is,
    for the audit to find.
    """
    now = SearchState.of(problem, groups)
    if offending(problem.rules, now.search.s).any():
        return RefinementResult(groups)
    meter = Meter(budget, problem.table.records * len(problem.columns), progress)
    kinds = neighbourhoods_of(problem, np.random.default_rng([seed, 1]), meter)
    now = search(now, kinds, meter)
    looked = most_movers(now)
    few = f"refinement moved single records among the {looked:,} dearest only"
    duals = [kind.duals for kind in kinds if isinstance(kind, Relax) and not problem.tallied]
    return RefinementResult(
        now.groups, (few,) if looked < problem.table.records else (), *duals[:1]
    )


def neighbourhoods_of(
    problem: Problem, rng: np.random.Generator, meter: Meter
) -> list[Neighbourhood]:
    """The neighbourhoods that suit a problem, in the order in which they are first tried."""
    common, shared = (problem, rng, meter), Shared()
    moves, carving = Moves(*common), [Carve(*common, shared), Ruin(*common, shared)]
    if not can_repack(problem):
        return [moves, *carving]
    repack = Repack(*common)
    relaxing = [Relax(*common, repack, moves, diverse=False)]
    if problem.tallied:
        relaxing.append(Relax(*common, repack, moves))
    return [moves, *relaxing, repack, *carving]


def search(now: SearchState, kinds: list[Neighbourhood], meter: Meter) -> SearchState:
    """Try neighbourhoods until the budget is spent or none of them is expected to gain enough."""
    while meter.left > 0:
        best = max(kinds, key=lambda kind: kind.rate)
        enough = SLOPE if meter.done > LEAST and not meter.is_patient else LITTLE
        if best.rate * meter.allowance < enough * now.cost:
            break
        before, done, expected = now.cost, meter.done, min(best.rate, FAR)
        now = best.step(now)
        rate = (before - now.cost) / (meter.done - done + 1)
        if TRACE: print(f"    {best.name:15s} {before:.6g} -> {now.cost:.6g} ({1 - now.cost/max(before,1e-9):.3%}) work {(meter.done-done)/1e9:.2f}")
        best.rate = AGAIN * (rate + (expected if expected < FAR else rate)) / 2
    return now

TRACE = False
