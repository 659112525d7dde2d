"""The way of a table: read, encode, problem, partition, refine, close and render, audit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from shoal.compiling import compiling_for
from shoal.errors import raise_problems
from shoal.examine import examine, examine_table, open_table
from shoal.generalization import Model
from shoal.kernels.groups import count_outside
from shoal.measures import compile_measure
from shoal.measures import loss as measure_loss
from shoal.methods import Method, Partition
from shoal.methods.suppress import suppress
from shoal.plan import Plan, encode_source, prepare
from shoal.privacy import Audit, Requirement, group_notes
from shoal.privacy.persons import count_persons
from shoal.problem import Problem
from shoal.progress import Progress, silent
from shoal.refine import Refine
from shoal.refine import refine as refine_groups
from shoal.release import Release
from shoal.settings import Settings, make_settings
from shoal.table.closed import Closed
from shoal.table.frames import Frame
from shoal.table.order import shuffled
from shoal.table.render import read_release, render
from shoal.table.source import Input

T = TypeVar("T")


def anonymize(
    table: Any,
    *,
    settings: Settings | str | os.PathLike[str] | None = None,
    quasi_identifiers: Mapping[str, Model | None] | Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    identifiers: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    others: str | None = None,
    allow: Sequence[str] | None = None,
    k: int | None = None,
    requirements: Sequence[Requirement] | None = None,
    suppression_limit: float | None = None,
    objective: str | None = None,
    w: float | None = None,
    weights: Mapping[str, float] | None = None,
    method: str | Method | None = None,
    refine: Refine | str | float | None = None,
    seed: int | None = None,
    keep_order: bool | None = None,
    render: str | None = None,
    title: str | None = None,
    input: Input | Mapping[str, Any] | None = None,
    order_seed: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Make a table releasable: every record reads like at least k − 1 others.

    Similar records are grouped and their quasi-identifiers replaced by the least general values that cover
    the group. The result is returned only after an independent audit has proved the requirement on it.

    Parameters
    ----------
    table
        A pandas, polars or Arrow frame, or the path of a CSV, Parquet, JSON-lines or Excel file.
    settings
        A `Settings` object or the path of a TOML file; the other parameters replace what it says.
    quasi_identifiers
        The columns an attacker may know, with a generalization model each; or a list, in which case
        numbers and dates get intervals and the rest suppression. A column left out is NOT protected.
    sensitive
        Columns released unchanged, which requirements are about.
    identifiers
        Columns removed.
    keep
        Columns released as they are, which nothing protects. Those that betray a quasi-identifier, hold free
        text or single out records are refused unless allowed.
    others
        What becomes of columns that are not named: "refuse" (default) the table, "drop" or "keep" them.
    allow
        Kept and sensitive columns that may be released although they betray something, and identifiers that
        repeat although they tell no persons apart.
    k
        The least number of records that must read the same. Larger is safer and costs more.
    requirements
        What the sensitive values of every group must look like beside, like `[shoal.LDiversity(2)]`; see
        `shoal.requirements()`. Without any, all records of a group may share a sensitive value.
    suppression_limit
        The largest share of records that may be left out of the release where they cost the others more
        than themselves, by the values of the whole table (default 0). They count as fully suppressed in every
        measure, and measures know of the values of released records only.
    objective
        The measure to minimize (default "lm"), see `shoal.measures()`.
    w
        The share of `mi` in objective "wmi" (default 0.5).
    weights
        How much each quasi-identifier matters (default 1).
    method
        The name of a method (default "auto") or a method with options, like `shoal.Mondrian(strict=False)`.
    refine
        How long to improve the groups by local search: "quick" (default) for a few seconds, False for not at
        all, a number of seconds, or `shoal.Refine(steps=…)`. With seconds, two runs may differ. Methods other
        than local recoding are left as they are, and so are `enhanced_pk` and the optimum of a handful of records.
    seed
        Makes the groups repeatable (default 0). The order of records is fresh chance all the same, and so is
        what `non_homogeneous` draws.
    keep_order
        Keep the order of records, which can itself identify them. By default they are shuffled.
    render
        "text" (default), or "bounds": two columns of numbers or dates per interval.
    title
        What the release is about, for its report.
    input
        How to read the table's file, like `{"encoding": "cp1252", "missing": ["?"]}`; see `shoal.Input`.
    order_seed
        Makes the order of released records repeatable, for tests only: whoever knows it may undo the shuffle.
    progress
        A function called with (stage, done, total); raise `shoal.Cancelled` in it to stop.

    Returns
    -------
    Release
        The released table with its losses, groups and settings.

    Examples
    --------
    >>> import pandas as pd, shoal
    >>> people = pd.DataFrame({"age": [31, 33, 52, 58], "sex": ["f", "f", "m", "m"], "ill": list("abca")})
    >>> release = shoal.anonymize(people, quasi_identifiers=["age", "sex"], sensitive=["ill"], k=2)
    >>> sorted(set(release.data["age"]))
    ['[31, 33]', '[52, 58]']
    """
    settings = make_settings(
        settings,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        identifiers=identifiers,
        keep=keep,
        others=others,
        allow=allow,
        k=k,
        requirements=requirements,
        suppression_limit=suppression_limit,
        objective=objective,
        w=w,
        weights=weights,
        method=method,
        refine=refine,
        seed=seed,
        keep_order=keep_order,
        render=render,
        title=title,
        input=input,
    )
    watch = _Watch(progress or silent)
    source = watch("reading", lambda: open_table(table, settings.input))
    plan = watch("encoding", lambda: prepare(source, settings))
    with compiling_for(settings, plan.problem.table.records, watch.progress, watch.again):
        return _release(plan, watch, order_seed)


def audit(
    table: Any,
    *,
    settings: Settings | str | os.PathLike[str] | None = None,
    quasi_identifiers: Mapping[str, Model | None] | Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int | None = None,
    requirements: Sequence[Requirement] | None = None,
    input: Input | Mapping[str, Any] | None = None,
) -> Audit:
    """Prove that a table, ours or not, keeps its requirements.

    Parameters
    ----------
    table
        A frame or the path of a file.
    settings
        Settings that name the quasi-identifiers and k; the other parameters replace what they say.
    quasi_identifiers
        The columns that must read the same.
    sensitive
        The columns that requirements beyond k are about.
    k
        For how many records at least they must read the same.
    requirements
        What the sensitive values of every group must look like beside.
    input
        How to read the table's file; see `shoal.Input`.

    Raises
    ------
    AuditFailed
        If a group is smaller than k or misses a requirement, or an identifier is still in the table.

    Examples
    --------
    >>> import pandas as pd, shoal
    >>> shoal.audit(pd.DataFrame({"age": ["*", "*", "*"]}), quasi_identifiers=["age"], k=3)
    Audit(records=3, groups=1, k=3)
    """
    promised = make_settings(
        settings,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        k=k,
        requirements=requirements,
        input=input,
    )
    return examine_table(table, promised, keeps_sheet=input is not None).prove()


def loss(
    table: Any,
    release: Any,
    measure: str,
    *,
    settings: Settings | str | os.PathLike[str] | None = None,
    quasi_identifiers: Mapping[str, Model | None] | Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    k: int | None = None,
    aggregate: str | None = None,
    w: float | None = None,
) -> float:
    """Compute a measure of information loss on any release of a table, records in the same order.

    Parameters
    ----------
    table
        A frame or the path of a file.
    release
        A release of it, ours or not, whose records stand in the same order.
    measure
        One of `shoal.measures()`.
    settings
        Settings that name roles and models; the other parameters replace what they say.
    quasi_identifiers
        The columns that were generalized, with their models.
    sensitive
        For measures that look at sensitive values.
    weights
        How much each quasi-identifier matters (default 1).
    k
        For measures that depend on it.
    aggregate
        "sum" or "mean" over records, for measures that have both.
    w
        The share of `mi` in measure "wmi" (default 0.5).

    Examples
    --------
    >>> import pandas as pd, shoal
    >>> table = pd.DataFrame({"n": [1, 2, 3, 3]})
    >>> release = pd.DataFrame({"n": ["*", "*", "3", "3"]})
    >>> models = {"n": shoal.Suppression()}
    >>> shoal.loss(table, release, "entropy", quasi_identifiers=models, aggregate="sum")
    3.0
    """
    promised = make_settings(
        settings,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        weights=weights,
        w=w,
        k=k or (None if settings else 1),
        requirements=(),
    )
    encoded = encode_source(open_table(table, promised.input), promised)
    closed = read_release(encoded, open_table(release, promised.input).data)
    arrays = compile_measure("suppressed", encoded.columns).arrays
    outside = count_outside(arrays, closed.closures, closed.groups, encoded.codes)
    raise_problems(
        f"{count} records lie outside their released value of column '{name}'; "
        "give a release of this table with records in the same order (keep_order)."
        for name, count in zip(encoded.names, outside, strict=True)
        if count
    )
    return measure_loss(
        closed, measure, k=promised.k, weights=promised.weights, aggregate=aggregate, w=promised.w
    )


def _release(plan: Plan, watch: _Watch, order_seed: int | None) -> Release:
    """Do the work on a table whose kernels are compiled."""
    problem, settings = plan.problem, plan.settings
    partition = watch(
        "grouping", lambda: settings.method.partition(problem, settings.seed, watch.progress)
    )
    chosen = settings.method.choose(problem.table.records)
    if settings.refine and chosen.may_be_refined():
        partition = watch("refining", lambda: _refine(problem, partition, settings, watch.progress))
    groups = watch(
        "leaving out", lambda: suppress(problem, partition.groups, settings.suppression_limit)
    )
    frame, closed = watch("closing", lambda: plan.close(groups, partition.closing))
    released = watch("rendering", lambda: _render(frame, closed, plan, order_seed))
    audit = watch("auditing", lambda: examine(released, closed.table, settings).prove())
    persons = count_persons(frame, closed.groups, plan.told_apart, settings.k)
    notes = (*partition.notes, *group_notes(problem.rules, problem.values))
    return Release(
        data=released.to_native(),
        settings=plan.spelled_out,
        audit=replace(audit, persons=persons),
        closed=closed,
        is_released=groups >= 0,
        removed=plan.roles.removed,
        dialect=plan.source.dialect,
        notes=notes,
        seconds=watch.seconds,
    )


def _refine(
    problem: Problem, partition: Partition, settings: Settings, progress: Progress
) -> Partition:
    """Improve what a method made."""
    budget = settings.refine if isinstance(settings.refine, Refine) else Refine()
    groups, notes = refine_groups(problem, partition.groups, settings.seed, progress, budget)
    return replace(partition, groups=groups, notes=(*partition.notes, *notes))


def _render(frame: Frame, closed: Closed, plan: Plan, order_seed: int | None) -> Frame:
    """Render in input order where the user chose so, otherwise shuffled."""
    records = closed.table.records
    order = np.arange(records) if plan.settings.keep_order else shuffled(records, order_seed)
    return render(frame, closed, order, plan.roles.unchanged, plan.settings.render)


class _Watch:
    """Runs one stage after the other, reporting and timing each."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.stage = ""
        self.seconds: dict[str, float] = {}

    def again(self) -> None:
        """Say once more which stage this is, after something else was said."""
        self.progress(self.stage, 0, 1)

    def __call__(self, stage: str, work: Callable[[], T]) -> T:
        self.stage = stage
        self.progress(stage, 0, 1)
        start = time.perf_counter()
        result = work()
        self.seconds[stage] = time.perf_counter() - start
        return result
