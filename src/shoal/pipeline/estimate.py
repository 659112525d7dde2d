"""What a run will take, said before it: about how many seconds, and which kernels are compiled first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from shoal.kernels.compile.ahead import Ahead, Signature, missing, worthwhile
from shoal.kernels.compile.cache import telling
from shoal.pipeline.plan import Plan
from shoal.progress import Progress
from shoal.settings.settings import Settings
from shoal.solve.counted.aside import solved_at_once
from shoal.solve.counted.parts import PART
from shoal.solve.local_search.budget import Refine
from shoal.solve.local_search.schedule import CARVE, CHOOSE, MANY, costly_step
from shoal.solve.measures.additive import ADDITIVE
from shoal.solve.methods.base import MEASURED
from shoal.solve.methods.lattice import make_ladders, size_of

REFINING = 3.0  # seconds of quick refinement for so many records, about what `lowest_loss` takes beyond `cover`
REQUIREMENTS = 3.0  # times longer where sensitive values are counted
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
    compiles: bool  # whether kernels are compiled first, which is in the seconds


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
    seconds *= REQUIREMENTS if settings.requirements else 1.0
    first = sum(kernel.seconds for kernel in missing_kernels(settings, records)) / PROCESSES
    return Estimate(
        combinations=size_of(make_ladders(plan.problem)),
        least=0.3 + (scanned + seconds + first) / SPREAD,
        most=1.0 + (scanned + seconds + first) * SPREAD,
        compiles=first > 0,
    )


STAGE = "compiling kernels, once"
CERTIFICATE = "certificate"
SERIES = "series"
SUPPRESSION = "suppression"
BY_PERSONS = " by persons"  # other kernels instead, where persons are counted
OWN_WAY_BY_PERSONS = ("mondrian", "exact")  # methods that have such
WITH_LIMITS = ", with requirements"  # a part's other kernels, for what is asked beyond k

_wanted_later: ContextVar[tuple[str, ...]] = ContextVar("wanted later", default=())


def parts_of(settings: Settings, records: int) -> tuple[str, ...]:
    """Return the parts of a job on so many records, as `kernels/signatures.json` calls them."""
    parts = [SERIES] if settings.series else _parts_of_groups(settings, records)
    if settings.suppression_limit:
        parts.append(f"{SUPPRESSION}{BY_PERSONS}" if settings.person else SUPPRESSION)
    parts += _wanted_later.get()
    if settings.requirements:
        parts += [f"{part}{WITH_LIMITS}" for part in parts]
    return tuple(parts)


def _parts_of_groups(settings: Settings, records: int) -> list[str]:
    """What a method needs, and refinement after it."""
    chosen = settings.method.choose(records)
    own_way = settings.person and chosen.name in OWN_WAY_BY_PERSONS
    parts = [f"{chosen.name}{BY_PERSONS}" if own_way else chosen.name]
    if settings.refine and chosen.may_be_refined():
        budget = settings.refine if isinstance(settings.refine, Refine) else Refine()
        parts.append("refine")
        measure = ADDITIVE.get(settings.objective)
        repacks = measure is not None and measure.monotone
        at_once = records if settings.person or records <= MANY else PART
        if step := costly_step(at_once, budget, repacks):
            parts.append(step)
        # Where shares are limited, cells are chosen and carved in turn.
        if step == CHOOSE and not all(item.counts_kinds for item in settings.requirements):
            parts.append(CARVE)
        if budget.goes_on:
            parts.append("refine longer")
    if settings.person and chosen.recoding == "local" and chosen.name != "exact":
        parts.append("persons")
    return parts


def missing_kernels(settings: Settings, records: int) -> list[Signature]:
    """Return the kernels that a job needs and that are not compiled yet."""
    return missing(parts_of(settings, records))


@contextmanager
def compiling_for(
    settings: Settings, records: int, progress: Progress, back: Callable[[], None]
) -> Iterator[None]:
    """Compile what a job needs while it runs, by processes of their own if that is much, and tell when it waits.

    A job waits for the kernel that it needs next, after which `back` is called, and at its end for those that are
    wanted later. A kernel that no process compiles is compiled by the job itself.
    """
    wanted = missing_kernels(settings, records)

    def tell(done: int, total: int) -> None:
        progress(STAGE, done, total)

    def wait(kernel: str, file: str) -> None:
        progress(STAGE, work.done, max(1, len(wanted)))
        if work.wait_for(file):
            back()

    with Ahead(wanted, tell, worthwhile(wanted)) as work, telling(wait):
        yield
        work.finish()


@contextmanager
def wanting(*parts: str) -> Iterator[None]:
    """Let jobs also compile what is needed after them."""
    token = _wanted_later.set(parts)
    try:
        yield
    finally:
        _wanted_later.reset(token)
