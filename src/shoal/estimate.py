"""What a run will take, said before it: how many ways to generalize there are, and about how many seconds."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.compiling import missing_kernels
from shoal.counted.aside import solved_at_once
from shoal.methods.exact import MOST_RECORDS
from shoal.methods.ladders import make_ladders
from shoal.methods.lattice import size_of
from shoal.plan import Outlook

MEASURED = 40_000  # records of Adult with 8 quasi-identifiers, k = 10, on two cores
SECONDS = {
    "auto": 1.76,
    "cover": 1.76,
    "sequential": 7.07,
    "agglomerative": 7.97,
    "k_member": 2.22,
    "mondrian": 0.09,
    "hilbert": 0.12,
    "bottom_up": 4.01,
    "top_down": 0.28,
    "two_means": 1.0,
    "forest": 11.8,
    "enhanced_pk": 2.2,
    "greedy_pk": 3.1,
    "incognito": 0.43,
    "non_homogeneous": 0.58,
}  # of a method alone for so many records, by `python -m benchmarks growth`
UNKNOWN = 3.0  # of a method of the user's own
EXACT = 0.8  # seconds of `exact` for as many records as it takes; one fewer takes a third
REFINING = 3.0  # seconds of quick refinement for so many records, about what `lowest_loss` takes beyond `cover`
REQUIREMENTS = 3.0  # times longer where sensitive values are counted
# Seconds in which an engine encodes, counts, joins, writes and audits a million records; `python -m benchmarks scale`.
SCANNED, MILLION = 5.0, 1_000_000
PROCESSES = 2  # that compile at once, at least on most machines
BLOCK = 50_000  # records; quadratic methods cut larger tables into parts
SPREAD = 2.5  # how far a guess may be off, either way


@dataclass(frozen=True)
class Estimate:
    """A guess at the work before a run."""

    combinations: float  # of generalization levels
    least: float  # seconds
    most: float
    compiles: bool  # whether kernels are compiled first, which is in the seconds


def estimate(plan: Outlook) -> Estimate:
    """Guess how long a run takes, from measurements of other tables."""
    settings, records = plan.settings, plan.problem.table.records
    scanned = 0.0
    if plan.problem.table.counts is not None:
        scanned, records = SCANNED * records / MILLION, solved_at_once(plan.problem)
    share = records / MEASURED
    if settings.method.name == "exact":
        seconds = EXACT * 3.0 ** (min(records, MOST_RECORDS) - MOST_RECORDS)
    else:
        seconds = SECONDS.get(settings.method.name, UNKNOWN) * share
    if settings.method.growth.startswith("n²"):
        seconds *= min(max(share, 0.05), BLOCK / MEASURED)
    if settings.refine and settings.method.choose(records).may_be_refined():
        limit = getattr(settings.refine, "seconds", None)
        seconds += limit or REFINING * share
    seconds *= REQUIREMENTS if settings.requirements else 1.0
    first = sum(kernel.seconds for kernel in missing_kernels(settings, records)) / PROCESSES
    return Estimate(
        combinations=size_of(make_ladders(plan.problem)),
        least=0.3 + (scanned + seconds + first) / SPREAD,
        most=1.0 + (scanned + seconds + first) * SPREAD,
        compiles=first > 0,
    )
