"""Solve a counted table: set aside, group and refine what is left, leave out; the result is an assignment."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.counted.aside import set_aside
from shoal.counted.assignment import Assignment, pick, records_of
from shoal.counted.rounds import solve_in_rounds
from shoal.errors import InputError
from shoal.generalization.forms import Ints, Records
from shoal.methods import Method, Partition
from shoal.methods.suppress import suppress
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine import Refine, refine
from shoal.table.rows import distinct_rows


@dataclass(frozen=True)
class Solved:
    """An assignment of all records of a counted table, and notes for people about the run."""

    assignment: Assignment
    notes: tuple[str, ...]


def solve(
    problem: Problem,
    method: Method,
    budget: Refine | None,
    *,
    seed: int,
    progress: Progress,
    most: int,
    suppression_limit: float = 0.0,
    secret: int = 0,
) -> Solved:
    """Assign every record of a counted problem to a group.

    At most `most` records are solved at once. What meets the requirement alone is set aside first; where more than
    that is left, it is solved in rounds. Where records are equal in all that a method sees, `secret` decides which of
    them go where, so that no group gets those of one sensitive value first. Methods that recode globally, or promise
    how close to the optimum they come, solve all records or none.

    Raises
    ------
    InputError
        Where such a method is given more than `most` records.
    """
    counts = problem.table.counts
    assert counts is not None
    progress("setting aside", 0, 1)
    chance = np.random.default_rng([seed % 2**64, secret])
    aside = np.zeros_like(counts)
    if may_set_aside(method):
        aside = set_aside(problem, most, chance)
    elif problem.table.records > most:
        raise InputError(too_many(method, problem.table.records, most))
    left: Records = counts - aside
    found, notes = Assignment.of(*_nothing()), list(aside_notes(aside, problem))
    if left.sum() > most:
        found, left = solve_in_rounds(problem, left, method, seed, progress, most, chance)
        notes.append(
            f"solved in rounds: {found.counts.sum():,} records in parts, the others at once"
            + (
                "; with requirements beyond k that loses much, so give more memory"
                * bool(problem.tallied)
            )
        )
    rest = records_of(problem, np.arange(left.size), left, chance)
    if rest.size:
        part = pick(problem, rest)
        partition = _grouped(part, method, budget, seed, progress)
        progress("leaving out", 0, 1)
        groups = suppress(part, partition.groups, suppression_limit, problem.table.records)
        notes += partition.notes
        found = joined(found, Assignment.of(rest, np.ones_like(rest), groups, partition.forms))
    exact = np.flatnonzero(aside)
    if exact.size:
        place = distinct_rows(problem.codes[exact]).place
        found = joined(found, Assignment.of(exact, aside[exact], place))
    return Solved(found, tuple(notes))


def may_set_aside(method: Method) -> bool:
    """Whether records may be released exactly without breaking what a method is chosen for."""
    return method.may_be_refined() and method.promise.startswith("none") and not _guarantees(method)


def too_many(method: Method, records: int, most: int) -> str:
    """Say that a method cannot solve so many records at once."""
    return (
        f"Method '{method.name}' needs all {records:,} records at once, and memory suffices for about {most:,}; "
        "choose the method 'auto', or give more memory (--memory)."
    )


def aside_notes(aside: Records, problem: Problem) -> tuple[str, ...]:
    """Say how much was set aside."""
    number = int(aside.sum())
    if not number:
        return ()
    return (
        f"{number:,} of {problem.table.records:,} records meet the requirement with their equals alone and are "
        "released exactly",
    )


def joined(one: Assignment, other: Assignment) -> Assignment:
    """Both assignments together; groups of the second get numbers of their own."""
    shift = int(one.groups.max(initial=-1)) + 1
    groups = np.where(other.groups >= 0, other.groups + shift, -1).astype(np.int32)
    forms = other.forms if not one.rows.size else one.forms if not other.rows.size else None
    return Assignment(
        np.concatenate([one.rows, other.rows]),
        np.concatenate([one.counts, other.counts]),
        np.concatenate([one.groups, groups]),
        forms,
    )


def _grouped(
    problem: Problem, method: Method, budget: Refine | None, seed: int, progress: Progress
) -> Partition:
    """Group records by a method and refine what it made."""
    progress("grouping", 0, 1)
    partition = method.partition(problem, seed, progress)
    if budget is None or not method.choose(problem.table.records).may_be_refined():
        return partition
    progress("refining", 0, 1)
    groups, notes = refine(problem, partition.groups, seed, progress, budget)
    return replace(partition, groups=groups, notes=(*partition.notes, *notes))


def _guarantees(method: Method) -> bool:
    return bool(getattr(method, "guarantee", False))


def _nothing() -> tuple[Records, Records, Ints]:
    return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32)
