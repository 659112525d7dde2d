"""Compute what a report says of a release, our own or not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.auditing.verdict import Places
from shoal.evaluation.comparison import Comparison
from shoal.evaluation.distributions import Distributions
from shoal.evaluation.risk import Risks
from shoal.evaluation.scales import texts_of
from shoal.evaluation.singled import Kept, values_of
from shoal.generalization.forms import Ints
from shoal.measures import MEASURES, column_losses, loss
from shoal.measures.catalogue import NEEDS_SENSITIVE
from shoal.privacy import Verdict
from shoal.refine import Refine
from shoal.report import words
from shoal.report.cells import cells_of, cells_of_texts, sentence_of
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
from shoal.table.closed import Closed
from shoal.table.frames import Frame
from shoal.table.render import bound_names
from shoal.version import __version__

MEASURED = ("lm", "gcp", "mi", "cm", "c_avg", "dm")  # beside the objective
LINKING = ("pmi", "wmi")  # measures of how sensitive values and originals go together
COUNTING = ("c_avg",)  # measures that look at no original value
SAMPLE, MOST_SAMPLED = 10, 12  # records and columns


class Reported(Protocol):
    """What must be known of a release."""

    @property
    def shown(self) -> Frame: ...
    def alone_in(self, columns: Sequence[str]) -> list[Kept]: ...
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
    settings, closed, comparison = release.settings, release.closed, release.comparison
    tells_before = comparison.table.records == comparison.records
    measured = [
        _measured(closed, settings, name)
        for name in dict.fromkeys((settings.objective, *MEASURED))
        if (settings.sensitive or name not in NEEDS_SENSITIVE)
        and (tells_before or name in COUNTING)
    ]
    made = release.making is not None
    text, remarks = settings_text(settings, folder, whole=made)
    roles = _roles(release)
    return Facts(
        title=settings.title,
        version=__version__,
        written=datetime.now(UTC).replace(microsecond=0),
        records=release.verdict.audit.records,
        left_out=closed.left_out,
        groups=release.verdict.audit.groups,
        k=settings.k,
        reads_the_same=settings.method.homogeneous,
        promises=_promises(release),
        persons=release.verdict.audit.persons,
        person=release.verdict.audit.person,
        by_person=release.verdict.audit.by_person,
        roles=roles,
        kept=tuple(release.alone_in(roles.kept)),
        method=settings.method.name if made else "",
        refined=_refined(settings, release.closed.table.records) if made else "",
        making=release.making,
        objective=measured[0] if tells_before else None,
        measures=tuple(measured[tells_before:]),
        columns=_column_losses(release, tells_before),
        sizes=_sizes(release.verdict.sizes, settings.k),
        risks=risks,
        tells_before=tells_before,
        histograms=distributions.histograms,
        sample=_sample(release, roles) if release.verdict.is_proved and settings.k > 1 else None,
        settings=text,
        remarks=tuple(remarks),
    )


def _measured(closed: Closed, settings: Settings, name: str) -> Measured:
    value = loss(closed, name, k=settings.k, weights=settings.weights, w=settings.w)
    meaning = words.MEASURES.get(name, MEASURES[name][0])
    return Measured(name, meaning, value, 2 if name in LINKING else 3)


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
            words.promise_of_k(
                settings.k, settings.method.homogeneous, verdict.audit.by_person is not None
            ),
            f"at least {settings.k:,}",
            f"{verdict.audit.smallest:,}",
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
    released = release.shown.columns
    bounds = [bound for name in names if name not in released for bound in bound_names(name)]
    replaced = tuple(name for name in settings.pseudonyms if name in released)
    known = {*names, *settings.sensitive, *bounds, *replaced}
    kept = tuple(name for name in released if name not in known)
    nobodys = release.verdict.audit.unnamed
    if release.making is None:
        nobodys = tuple(name for name in kept if name not in settings.keep)
    return Roles(
        quasi_identifiers=names,
        sensitive=settings.sensitive,
        removed=tuple(release.removed),
        replaced=replaced,
        kept=kept,
        unnamed=tuple(name for name in kept if name in nobodys),
        allowed=tuple(name for name in released if name in settings.allow and name not in replaced),
        coarsened={
            name: words.coarseness(model)
            for name, model in settings.coarsen.items()
            if name in released
        },
    )


def _refined(settings: Settings, records: int) -> str:
    """How the method's groups were improved."""
    if not settings.refine or not settings.method.choose(records).may_be_refined():
        return "groups as the method made them"
    budget = settings.refine
    if isinstance(budget, Refine) and budget.seconds is None and budget.steps is None:
        return "then improved by a quick local search"
    return "then improved by local search"


def _column_losses(release: Reported, is_known: bool) -> tuple[ColumnLoss, ...]:
    settings, comparison = release.settings, release.comparison
    losses = column_losses(release.closed, settings.objective, w=settings.w) if is_known else {}
    found = []
    for j, column in enumerate(comparison.table.columns):
        if j in comparison.printed:
            cells = cells_of_texts(column.form, comparison.printed[j])
        else:
            cells = cells_of(column.form, comparison.of_column(j), comparison.sizes)
        found.append(
            ColumnLoss(
                name=column.name,
                sentence=sentence_of(cells),
                model=column.model.name,
                weight=float(settings.weights.get(column.name, 1.0)),
                loss=losses.get(column.name),
                exact=cells.exact,
                general=cells.general,
                hidden=cells.hidden,
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


def _sample(release: Reported, roles: Roles) -> Sample:
    """A few released records, the same ones in whatever order the release is; no columns that nobody named."""
    frame = release.shown
    hidden = (*roles.unnamed, *roles.replaced)
    shown = [name for name in frame.columns if name not in hidden][:MOST_SAMPLED]
    columns = [_ranks(frame, name) for name in shown]
    order = np.lexsort(columns[::-1])
    places = np.unique(np.linspace(0, order.size - 1, min(SAMPLE, order.size)).astype(np.int64))
    few = frame.select(shown)[order[places].tolist()]
    return Sample({name: _texts(few, name) for name in shown}, len(frame.columns) - len(shown))


def _ranks(frame: Frame, name: str) -> Ints:
    """The place of each record's text among the texts of a column, missing ones last."""
    values = values_of(frame, name).combine_chunks()
    try:
        encoded = values.dictionary_encode()
    except (pa.ArrowException, TypeError):
        nested = [None if value is None else str(value) for value in values.to_pylist()]
        encoded = pa.array(nested, type=pa.large_string()).dictionary_encode()
    texts = texts_of(encoded.dictionary)
    rank = np.empty(len(texts) + 1, dtype=np.int32)
    rank[sorted(range(len(texts)), key=lambda i: texts[i])] = np.arange(len(texts))
    rank[-1] = len(texts)
    return rank[np.asarray(pc.fill_null(encoded.indices, -1))]


def _texts(frame: Frame, name: str) -> list[str | None]:
    """A released column as text, None where it is missing."""
    values = values_of(frame, name)
    try:
        return [None if value is None else str(value) for value in values.to_pylist()]
    except (ValueError, OverflowError):
        return values.cast(pa.string()).to_pylist()  # dates beyond the years that Python knows
