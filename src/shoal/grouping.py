"""From a plan to groups: a method, then refinement, by records or by persons."""

from __future__ import annotations

from dataclasses import replace

from shoal.counted.refining import refine_in_memory
from shoal.methods import Partition
from shoal.persons import group_persons
from shoal.plan import Plan
from shoal.problem import Problem
from shoal.progress import Progress, Watch
from shoal.refine import Refine
from shoal.settings import Settings


def group(plan: Plan, watch: Watch) -> Partition:
    """Group and refine, by records or by persons."""
    problem, settings = plan.problem, plan.settings
    method, seed, people = settings.method, settings.seed, plan.people
    if people is not None:
        budget = _budget(settings) if settings.refine else None
        return watch(
            "grouping",
            lambda: group_persons(problem, people, method, budget, seed, watch.progress),
        )
    partition = watch("grouping", lambda: method.partition(problem, seed, watch.progress))
    if settings.refine and method.choose(problem.table.records).may_be_refined():
        partition = watch("refining", lambda: _refine(problem, partition, settings, watch.progress))
    return partition


def _budget(settings: Settings) -> Refine:
    return settings.refine if isinstance(settings.refine, Refine) else Refine()


def _refine(
    problem: Problem, partition: Partition, settings: Settings, progress: Progress
) -> Partition:
    """Improve what a method made."""
    budget = _budget(settings)
    found = refine_in_memory(problem, partition.groups, settings.seed, progress, budget)
    notes = (*partition.notes, *found.notes)
    return replace(partition, groups=found.groups, notes=notes, duals=found.duals)
