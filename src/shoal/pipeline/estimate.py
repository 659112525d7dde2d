"""What a run will take: about how many seconds, and which kernels are compiled first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from shoal.kernels.compile.ahead import (
    DEFAULT,
    LARGER,
    PERSON,
    REQUIREMENTS,
    Ahead,
    Signature,
    uncompiled,
    worker_count,
)
from shoal.kernels.compile.ahead import SECONDS as SECONDS_OF_A_KERNEL
from shoal.kernels.compile.cache import on_compile
from shoal.pipeline.plan import Plan
from shoal.progress import COMPILING, Progress
from shoal.settings.settings import Settings
from shoal.solve.counted.exact_groups import solved_at_once
from shoal.solve.local_search.schedule import FEW
from shoal.solve.measures.additive import ADDITIVE
from shoal.solve.methods.base import MEASURED
from shoal.solve.methods.lattice import lattice_size, make_ladders

REFINING = 3.0  # seconds of quick refinement for so many records, about what `lowest_loss` takes beyond `cover`
LIMITED = 3.0  # times longer where sensitive values are counted
# Seconds in which an engine encodes, counts, joins, writes and audits a million records; `python -m benchmarks scale`.
SCANNED, MILLION = 5.0, 1_000_000
PROCESSES = 2  # that compile at once, at least on most machines
SPREAD = 2.5  # how far a guess may be off, either way


@dataclass(frozen=True)
class Estimate:
    """A guess at the work before a run."""

    combinations: float  # of generalization levels
    least: float  # seconds
    most: float
    compiles: (
        bool  # whether kernels of the default method are compiled first, which is in the seconds
    )


def estimate_run(plan: Plan[Any]) -> Estimate:
    """Guess how long a run takes, from measurements of other tables."""
    settings, records = plan.settings, plan.problem.table.records
    scanned = 0.0
    if plan.problem.table.counts is not None:
        scanned, records = SCANNED * records / MILLION, solved_at_once(plan.problem)
    share = records / MEASURED
    seconds = settings.method.seconds_for(records)
    if settings.refine and settings.method.choose(records).may_be_refined():
        limit = getattr(settings.refine, "seconds", None)
        seconds += limit or REFINING * share
    seconds *= LIMITED if settings.requirements else 1.0
    first = SECONDS_OF_A_KERNEL * len(kernels_ahead(settings, records)) / PROCESSES
    return Estimate(
        combinations=lattice_size(make_ladders(plan.problem)),
        least=0.3 + (scanned + seconds + first) / SPREAD,
        most=1.0 + (scanned + seconds + first) * SPREAD,
        compiles=first > 0,
    )


def kernels_ahead(settings: Settings, records: int) -> list[Signature]:
    """Return the kernels that a job will call and that are not compiled yet, for the default method alone.

    A job with another method compiles each kernel when it first calls it.
    """
    if settings.series or not settings.refine or settings.method.choose(records).name != "cover":
        return []
    measure = ADDITIVE.get(settings.objective)
    chooses = records > FEW and measure is not None and measure.monotone
    lists = [DEFAULT, LARGER] if chooses else [DEFAULT]
    lists += [REQUIREMENTS] if settings.requirements else []
    lists += [PERSON] if settings.person else []
    return uncompiled(lists)


@contextmanager
def compiling_for(
    settings: Settings, records: int, progress: Progress, back: Callable[[], None]
) -> Iterator[None]:
    """Let processes compile what a job needs while it runs, and report when the job waits.

    A job waits for the kernel that it calls next, and `back` is called after that. A kernel that no process has begun
    to compile is compiled by the job itself.
    """
    wanted = kernels_ahead(settings, records)

    def tell(done: int, total: int) -> None:
        progress(COMPILING, done, total)

    def wait(kernel: str, types: tuple[Any, ...]) -> None:
        tell(work.done, max(1, len(wanted)))
        if work.wait_for(Signature(kernel, types)):
            back()

    with Ahead(wanted, tell, worker_count(wanted)) as work, on_compile(wait):
        yield
