"""What a run will take, said before it: how many ways to generalize there are, and about how many seconds."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.kernels.compilation import is_cached
from shoal.methods.ladders import make_ladders
from shoal.methods.lattice import size_of
from shoal.plan import Plan

MEASURED = 40_000  # records, of Adult with 9 quasi-identifiers, on two cores of 2020
SECONDS = {
    "auto": 1.5,
    "cover": 1.5,
    "sequential": 8.1,
    "agglomerative": 8.0,
    "k_member": 2.4,
    "mondrian": 0.1,
    "hilbert": 0.4,
    "bottom_up": 21.0,
    "top_down": 0.9,
    "two_means": 2.3,
    "forest": 3.2,
    "incognito": 0.5,
}  # of a method alone for so many records, by `python -m benchmarks growth`
REFINING = 2.0  # seconds of quick refinement for so many records
REQUIREMENTS = 3.0  # times longer where sensitive values are counted
COMPILING = 60.0  # seconds of a first run
BLOCK = 50_000  # records; quadratic methods cut larger tables into parts
SPREAD = 2.5  # how far a guess may be off, either way


@dataclass(frozen=True)
class Estimate:
    """A guess at the work before a run."""

    combinations: float  # of generalization levels
    least: float  # seconds
    most: float
    compiles: bool  # whether kernels are compiled first, which is in the seconds


def estimate(plan: Plan) -> Estimate:
    """Guess how long a run takes, from measurements of other tables."""
    settings, records = plan.settings, plan.problem.table.records
    share = records / MEASURED
    seconds = SECONDS.get(settings.method.name, 3.0) * share
    if settings.method.growth.startswith("n²"):
        seconds *= min(max(share, 0.05), BLOCK / MEASURED)
    if settings.refine and settings.method.may_be_refined():
        limit = getattr(settings.refine, "seconds", None)
        seconds += limit or REFINING * share
    seconds *= REQUIREMENTS if settings.requirements else 1.0
    compiles = not is_cached()
    first = COMPILING if compiles else 0.0
    return Estimate(
        combinations=size_of(make_ladders(plan.problem)),
        least=0.3 + seconds / SPREAD + first / SPREAD,
        most=1.0 + seconds * SPREAD + first * SPREAD,
        compiles=compiles,
    )
