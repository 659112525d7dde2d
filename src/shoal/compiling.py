"""Kernels that a job needs are compiled before its work begins, by several processes, and a user is told so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shoal.counted.refining import PART
from shoal.kernels.ahead import Ahead, worthwhile
from shoal.kernels.machine_code import telling
from shoal.kernels.signatures import Signature, missing
from shoal.measures.additive import MONOTONE
from shoal.privacy import LDiversity, PSensitive, Requirement
from shoal.progress import Progress
from shoal.refine import CARVE, CHOOSE, Refine, costly_step
from shoal.refine.refine import MANY
from shoal.settings import Settings

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
        repacks = settings.objective in MONOTONE
        at_once = records if settings.person or records <= MANY else PART
        if step := costly_step(at_once, budget, repacks):
            parts.append(step)
        if step == CHOOSE and any(map(_limits_shares, settings.requirements)):
            parts.append(CARVE)
        if budget.goes_on:
            parts.append("refine longer")
    if settings.person and chosen.recoding == "local" and chosen.name != "exact":
        parts.append("persons")
    return parts


def _limits_shares(requirement: Requirement) -> bool:
    """Whether more than the number of distinct values is asked for; then cells are chosen and carved in turn."""
    distinct = isinstance(requirement, LDiversity) and requirement.kind == "distinct"
    return not (distinct or isinstance(requirement, PSensitive))


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
