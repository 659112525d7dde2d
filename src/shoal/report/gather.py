"""Compute what a report says of a release, our own or not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from shoal import __version__
from shoal.errors import InputError
from shoal.evaluation.comparison import Comparison
from shoal.evaluation.distributions import Distributions
from shoal.evaluation.risk import Risks
from shoal.measures import MEASURES, column_losses, loss
from shoal.measures.catalogue import NEEDS_SENSITIVE
from shoal.privacy import Verdict
from shoal.privacy.audit import Places
from shoal.refine import Refine
from shoal.report import words
from shoal.report.facts import (
    ColumnLoss,
    Facts,
    Making,
    Measured,
    Promise,
    Roles,
    Sample,
    SizeClass,
    Sizes,
)
from shoal.report.reproduce import settings_text
from shoal.settings import Settings
from shoal.table import open_frame
from shoal.table.closed import Closed
from shoal.table.frames import arrow_values
from shoal.table.render import bound_names

MEASURED = ("lm", "gcp", "mi", "cm", "c_avg", "dm")  # beside the objective
SAMPLE, MOST_SAMPLED = 10, 12  # records and columns


class Reported(Protocol):
    """What must be known of a release."""

    @property
    def data(self) -> Any: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def comparison(self) -> Comparison: ...
    @property
    def closed(self) -> Closed: ...
    @property
    def removed(self) -> Sequence[str]: ...
    @property
    def making(self) -> Making | None: ...


def gather(release: Reported, risks: Risks, distributions: Distributions, folder: Path) -> Facts:
    """Compute what a report in `folder` says."""
    settings, closed = release.settings, release.closed
    objective, *others = [
        Measured(name, words.MEASURES.get(name, MEASURES[name][0]), _loss(closed, settings, name))
        for name in dict.fromkeys((settings.objective, *MEASURED))
        if settings.sensitive or name not in NEEDS_SENSITIVE
    ]
    made = release.making is not None
    text, remarks = settings_text(settings, folder, whole=made)
    return Facts(
        version=__version__,
        written=datetime.now(UTC).replace(microsecond=0),
        records=release.verdict.audit.records,
        left_out=closed.left_out,
        groups=release.verdict.audit.groups,
        k=settings.k,
        reads_the_same=settings.method.homogeneous,
        promises=_promises(release),
        roles=_roles(release),
        method=settings.method.name if made else "",
        refined=_refined(settings) if made else "",
        making=release.making,
        objective=objective,
        measures=tuple(others),
        columns=_column_losses(closed, settings),
        sizes=_sizes(release.verdict.sizes, settings.k),
        risks=risks,
        distributions=distributions,
        sample=_sample(release) if release.verdict.is_proved and settings.k > 1 else None,
        settings=text,
        remarks=tuple(remarks),
    )


def _loss(closed: Closed, settings: Settings, measure: str) -> float:
    return loss(closed, measure, k=settings.k, weights=settings.weights, w=settings.w)


def _promises(release: Reported) -> tuple[Promise, ...]:
    """k and what was required beyond it, each with what the least safe group reaches."""
    settings, verdict = release.settings, release.verdict
    required = [
        item for item in settings.requirements for _ in item.over(settings.sensitive)
    ]  # in the order of the proofs
    of_k, *misses = verdict.misses
    return (
        Promise(
            f"k = {settings.k:,}",
            words.promise_of_k(settings.k, settings.method.homogeneous),
            f"at least {settings.k:,}",
            f"{verdict.audit.k:,}",
            of_k,
        ),
        *(
            Promise(
                proof.requirement,
                words.promise_of(item),
                f"at {'least' if item.rising else 'most'} {proof.required:.4g}",
                f"{proof.reached:.4g}",
                miss,
            )
            for item, proof, miss in zip(required, verdict.audit.proofs, misses, strict=True)
        ),
    )


def _roles(release: Reported) -> Roles:
    settings = release.settings
    names = tuple(settings.quasi_identifiers)
    released = open_frame(release.data).columns
    bounds = [bound for name in names if name not in released for bound in bound_names(name)]
    known = {*names, *settings.sensitive, *bounds}
    others = tuple(name for name in released if name not in known)
    return Roles(names, settings.sensitive, tuple(release.removed), others)


def _refined(settings: Settings) -> str:
    """How the method's groups were improved."""
    if not settings.refine or not settings.method.may_be_refined():
        return "groups as the method made them"
    budget = settings.refine
    if isinstance(budget, Refine) and budget.seconds is None and budget.steps is None:
        return "then improved by a quick local search"
    return "then improved by local search"


def _column_losses(closed: Closed, settings: Settings) -> tuple[ColumnLoss, ...]:
    found = []
    losses = column_losses(closed, settings.objective, w=settings.w)
    for column, widths in zip(closed.table.columns, closed.widths, strict=True):
        whole = (widths == column.form.size) & (widths > 1)
        exact, hidden, general = (
            float(closed.sizes[cells].sum()) / closed.table.records
            for cells in (widths == 1, whole, (widths > 1) & ~whole)
        )
        weight = float(settings.weights.get(column.name, 1.0))
        found.append(
            ColumnLoss(
                column.name,
                column.model.name,
                weight,
                losses[column.name],
                exact,
                general,
                hidden,
            )
        )
    return tuple(found)


def _sizes(sizes: Places, k: int) -> Sizes:
    edges = size_edges(int(sizes.min()), int(sizes.max()), k)
    classes = []
    for least, after in pairwise(edges):
        inside = sizes[(sizes >= least) & (sizes < after)]
        classes.append(SizeClass(least, after - 1, inside.size, int(inside.sum())))
    return Sizes(int(sizes.min()), int(np.median(sizes)), int(sizes.max()), tuple(classes))


def size_edges(smallest: int, largest: int, k: int) -> list[int]:
    """Where classes of group sizes begin, the last after the largest: fine from k to 2k, coarser above.

    Examples
    --------
    >>> size_edges(10, 66, 10)
    [10, 13, 15, 18, 20, 30, 50, 100]
    """
    edges = [1] if smallest < k else []
    edges += [k + -(-i * k // 4) for i in range(min(k, 4))] if k > 4 else range(k, 2 * k)
    times = (factor * 10**power for power in range(20) for factor in (2, 3, 5, 10))
    while edges[-1] <= largest:
        edges.append(max(edges[-1] + 1, next(times) * k))
    return edges


def _sample(release: Reported) -> Sample:
    """A few released records; of a release that was not made here only the columns whose role is known."""
    frame, roles = open_frame(release.data), _roles(release)
    unknown = () if release.making else roles.others
    shown = [name for name in frame.columns if name not in unknown][:MOST_SAMPLED]
    records = frame.shape[0]
    places = np.unique(np.linspace(0, records - 1, min(SAMPLE, records)).astype(np.int64))
    few = frame.select(shown)[places.tolist()]
    return Sample({name: _texts(few, name) for name in shown}, len(frame.columns) - len(shown))


def _texts(frame: Any, name: str) -> list[str | None]:
    """A released column as text, None where it is missing."""
    try:
        values = arrow_values(frame, name).to_pylist()
    except InputError:
        return ["…"] * frame.shape[0]  # objects that have no text of their own
    return [None if value is None else str(value) for value in values]
