"""What a report says of a release, as numbers and short texts: aggregates and released values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from shoal import __version__
from shoal.bounds import Certificate
from shoal.errors import InputError
from shoal.evaluation.comparison import Comparison
from shoal.evaluation.distributions import Distributions, compare_distributions
from shoal.evaluation.risk import Risks
from shoal.generalization.forms import Floats
from shoal.measures import MEASURES, column_losses, loss
from shoal.measures.catalogue import NEEDS_SENSITIVE
from shoal.privacy import Audit
from shoal.refine import Refine
from shoal.report import words
from shoal.report.reproduce import settings_text
from shoal.settings import Settings
from shoal.table import open_frame
from shoal.table.closed import Closed
from shoal.table.frames import arrow_values

MEASURED = ("lm", "gcp", "mi", "cm", "c_avg", "dm")  # beside the objective
SAMPLE, MOST_SAMPLED = 10, 12  # records and columns


class Released(Protocol):
    """What must be known of a release."""

    @property
    def data(self) -> Any: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def closed(self) -> Closed: ...
    @property
    def risk(self) -> Risks: ...
    @property
    def comparison(self) -> Comparison: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def seconds(self) -> Mapping[str, float]: ...


@dataclass(frozen=True)
class Promise:
    """A requirement that the audit has proved."""

    name: str
    meaning: str
    required: str
    reached: str


@dataclass(frozen=True)
class Roles:
    """What became of the table's columns."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """A measure of information loss on the whole release."""

    name: str
    meaning: str
    value: float


@dataclass(frozen=True)
class ColumnLoss:
    """What a quasi-identifier lost: by the objective, and as shares of its cells."""

    name: str
    model: str
    weight: float
    loss: float
    exact: float
    general: float
    hidden: float


@dataclass(frozen=True)
class SizeClass:
    """Groups of `least` to `most` records."""

    least: int
    most: int
    groups: int
    records: int


@dataclass(frozen=True)
class Sizes:
    """How large groups are."""

    smallest: int
    median: int
    largest: int
    classes: tuple[SizeClass, ...]


@dataclass(frozen=True)
class Sample:
    """A few released records, by column."""

    columns: dict[str, list[str | None]]
    more: int  # columns that are not shown


@dataclass(frozen=True)
class Facts:
    """Everything that a report shows."""

    version: str
    written: datetime
    records: int
    left_out: int
    groups: int
    k: int
    reads_the_same: bool  # whether the records of a group do
    promises: tuple[Promise, ...]
    roles: Roles
    method: str
    refined: str
    notes: tuple[str, ...]
    seconds: dict[str, float]
    objective: Measured
    measures: tuple[Measured, ...]
    columns: tuple[ColumnLoss, ...]
    sizes: Sizes
    risks: Risks
    distributions: Distributions
    certificate: Certificate | None
    no_certificate: str  # why there is none
    sample: Sample
    settings: str
    remarks: tuple[str, ...]


def gather(release: Released, certificate: Certificate | None, reason: str, folder: Path) -> Facts:
    """Compute what a report in `folder` says; `reason` is why there is no certificate."""
    settings, closed = release.settings, release.closed
    objective, *others = [
        Measured(name, words.MEASURES.get(name, MEASURES[name][0]), _loss(closed, settings, name))
        for name in dict.fromkeys((settings.objective, *MEASURED))
        if settings.sensitive or name not in NEEDS_SENSITIVE
    ]
    text, remarks = settings_text(settings, folder)
    return Facts(
        version=__version__,
        written=datetime.now(UTC).replace(microsecond=0),
        records=release.audit.records,
        left_out=closed.left_out,
        groups=release.audit.groups,
        k=settings.k,
        reads_the_same=settings.method.homogeneous,
        promises=_promises(release),
        roles=_roles(release),
        method=settings.method.name,
        refined=_refined(settings),
        notes=tuple(release.notes),
        seconds=dict(release.seconds),
        objective=objective,
        measures=tuple(others),
        columns=_column_losses(closed, settings),
        sizes=_sizes(closed, settings.k),
        risks=release.risk,
        distributions=compare_distributions(release.comparison, pairs=False),
        certificate=certificate,
        no_certificate=reason,
        sample=_sample(release.data),
        settings=text,
        remarks=tuple(remarks),
    )


def _loss(closed: Closed, settings: Settings, measure: str) -> float:
    return loss(closed, measure, k=settings.k, weights=settings.weights, w=settings.w)


def _promises(release: Released) -> tuple[Promise, ...]:
    """k and what was required beyond it, each with what the least safe group reaches."""
    settings, audit = release.settings, release.audit
    required = [
        item for item in settings.requirements for _ in item.over(settings.sensitive)
    ]  # in the order of the proofs
    return (
        Promise(
            f"k = {settings.k:,}",
            words.promise_of_k(settings.k, settings.method.homogeneous),
            f"at least {settings.k:,}",
            f"{audit.k:,}",
        ),
        *(
            Promise(
                proof.requirement,
                words.promise_of(item),
                f"at {'least' if item.rising else 'most'} {proof.required:.4g}",
                f"{proof.reached:.4g}",
            )
            for item, proof in zip(required, audit.proofs, strict=True)
        ),
    )


def _roles(release: Released) -> Roles:
    settings = release.settings
    names = tuple(settings.quasi_identifiers)
    bounds = {f"{name}_{end}" for name in names for end in ("min", "max")}
    known = {*names, *settings.sensitive, *(bounds if settings.render == "bounds" else ())}
    released = open_frame(release.data).columns
    unchanged = tuple(name for name in released if name not in known)
    return Roles(names, settings.sensitive, settings.identifiers, unchanged)


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
    records = closed.table.records
    for column, widths in zip(closed.table.columns, closed.widths, strict=True):
        exact = float(closed.sizes[widths == 1].sum()) / records
        whole = (widths == column.form.size) & (widths > 1)
        hidden = float(closed.sizes[whole].sum()) / records
        weight = float(settings.weights.get(column.name, 1.0))
        found.append(
            ColumnLoss(
                column.name,
                column.model.name,
                weight,
                losses[column.name],
                exact,
                max(0.0, 1 - exact - hidden),
                hidden,
            )
        )
    return tuple(found)


def _sizes(closed: Closed, k: int) -> Sizes:
    sizes: Floats = np.bincount(closed.groups[closed.is_released]).astype(np.float64)
    sizes = sizes[sizes > 0]
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


def _sample(data: Any) -> Sample:
    frame = open_frame(data)
    shown = frame.columns[:MOST_SAMPLED]
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
