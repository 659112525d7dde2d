"""Compute what a report says about a release, whether shoal made it or not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain, pairwise
from math import inf
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal import __version__
from shoal.assess.comparison import Comparison, PrintedColumn
from shoal.assess.distributions import Distributions
from shoal.assess.risk import Risks
from shoal.assess.scales import released_labels, scale_of
from shoal.assess.singling_out import KeptColumns, values_of
from shoal.audits.verdict import Examination, Places, Verdict
from shoal.encoding.closed import Closed
from shoal.encoding.forms import STAR, Floats, Form, Ints, RangeForm, SetForm
from shoal.encoding.frames import Frame
from shoal.encoding.render import bound_names
from shoal.errors import counted
from shoal.report.facts import (
    ColumnLoss,
    ColumnRoles,
    Facts,
    MeasuredLoss,
    Promise,
    RunFacts,
    Sample,
    SizeClass,
    Sizes,
)
from shoal.report.words import PROMISE_OF_SERIES, CellShares, promise_of_k, sentence_of
from shoal.settings.settings import Settings
from shoal.settings.toml import content_of
from shoal.solve.local_search.budget import Refine
from shoal.solve.measures import MEASURES, column_losses, compute_loss

_LISTS = ("domain", "rows", "values", "protected")
_MAKING = ("method", "output")  # sections
_MARK = "left out of this report: "
_MOST = 16_000  # characters

_NO_LISTS = (
    "Lists of values in the settings are left out here, because a report must not show values that the release "
    "hides. To keep them, use release.settings.save(…) or --save-settings."
)
_NO_FOLDERS = "Files in other folders than this report are shown by name only. Replace the name with the full path."
_NO_KEY = "The path of the key for pseudonyms is left out. Set it in key_file, or set SHOAL_KEY."
_NO_END = "These settings are too long for a report. To keep them all, use release.settings.save(…) or --save-settings."


def reported_settings(
    settings: Settings, folder: Path, whole: bool = True
) -> tuple[str, list[str]]:
    """The text of a settings file in `folder`, and remarks on what must be added to make the same release with it.

    Unless `whole`, only roles, models, requirements and the measure are included, not how to make a release.
    """
    import tomli_w

    content = content_of(settings, folder)
    if not whole:
        content = {name: part for name, part in content.items() if name not in _MAKING}
    key = content["columns"].pop("key_file", None)
    lists_of_tables = [own for own in content["requirement"].values() if isinstance(own, list)]
    entries = [*content["quasi_identifiers"].values(), *chain(*lists_of_tables)]
    lists, folders = sum(map(_hide_lists, entries)), sum(map(_hide_folder, entries))
    hidden = {_NO_LISTS: lists, _NO_FOLDERS: folders, _NO_KEY: key}
    remarks = [remark for remark, is_hidden in hidden.items() if is_hidden]
    text = tomli_w.dumps(content).strip()
    text = re.sub(rf'^(\w+) = "({_MARK}[\d, a-z]*)"$', r"# \1 \2", text, flags=re.MULTILINE)
    text = "".join(map(_visible, text))
    if len(text) > _MOST:
        lines = text[:_MOST].splitlines()[:-1]
        text = "\n".join([*lines, f"# and {text.count(chr(10)) + 1 - len(lines):,} more lines"])
        remarks.append(_NO_END)
    return text, remarks


def _visible(char: str) -> str:
    """A character, escaped as in TOML if it is invisible or would change the text direction."""
    if char.isprintable() or char == "\n":
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _hide_lists(entry: dict[str, Any]) -> bool:
    """Replace each list of values by their number; returns whether there was one."""
    lists = [key for key in _LISTS if isinstance(entry.get(key), list)]
    for key in lists:
        count = len(entry[key])
        entry[key] = f"{_MARK}{counted(count, 'value')}"
    return bool(lists)


def _hide_folder(entry: dict[str, Any]) -> bool:
    """Shorten the path of a file outside the folder to its name; returns whether there was one."""
    path = Path(entry.get("hierarchy", ""))
    outside = path.is_absolute() or ".." in path.parts
    if outside:
        entry["hierarchy"] = path.name
    return outside


Marks = npt.NDArray[np.bool_]


def shares_of_closures(form: Form, closures: Ints, sizes: Floats) -> CellShares:
    """Summarize closures, each of which `sizes` records have."""
    if not isinstance(form, RangeForm):
        widths = form.sizes(closures)
        hidden = widths == form.size
        if isinstance(form, SetForm):  # all values that the release contains, as for ranges
            hidden = (closures == np.bitwise_or.reduce(closures, axis=1)[:, None]).all(axis=0)
        return _cells(widths == 1, hidden & (widths > 1), sizes, None, "")
    known = len(form.labels)
    exact, star = closures[0] == closures[1], (closures[0] < known) & (closures[1] >= known)
    ranges = ~(exact | star)
    ends = closures[:, closures[1] < known]  # those in the release
    least, greatest = ends.min(initial=known), ends.max(initial=-1)
    whole = ranges & (closures[0] == least) & (closures[1] == greatest)
    if not form.has_scale:  # the number of categories or bins in a run may be private
        return _cells(exact, star | whole, sizes, None, "")
    scale = scale_of(form.values)
    widths = np.where(star, inf, 0.0)
    low, high = scale.numbers[closures[:, ranges]].astype(np.float64)
    with np.errstate(over="ignore"):  # ranges wider than the largest float are infinite
        widths[ranges] = high - low
    order = np.argsort(widths, kind="stable")
    reached = np.cumsum(sizes[order]) >= sizes.sum() / 2
    half = float(widths[order][np.argmax(reached)])
    return _cells(exact, star | whole, sizes, half, scale.unit)


def shares_of_texts(form: Form, printed: PrintedColumn) -> CellShares:
    """Summarize a released column whose closures differ from what is printed."""
    exact = [text is None or text in form.codes for text in printed.texts]
    hidden = [text == STAR for text in printed.texts]
    return _cells(np.array(exact), np.array(hidden), printed.sizes, None, "")


def _cells(exact: Marks, hidden: Marks, sizes: Floats, half: float | None, unit: str) -> CellShares:
    shares = [float(sizes[cells].sum() / sizes.sum()) for cells in (exact, hidden)]
    general = float(sizes[~(exact | hidden)].sum() / sizes.sum())
    return CellShares(shares[0], general, shares[1], half, unit)


MEASURED = ("lm", "gcp", "mi", "cm", "c_avg", "dm")  # in addition to the objective
LINKING = ("pmi", "wmi")  # measures that depend on which sensitive value belongs to which original
COUNTING = ("c_avg",)  # measures that do not depend on original values
SAMPLE, MOST_SAMPLED = 10, 12  # records and columns in the sample


class ReportSource(Protocol):
    """What a report needs to know about a release."""

    @property
    def shown(self) -> Frame: ...
    def alone_in(self, columns: Sequence[str]) -> list[KeptColumns]: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def examination(self) -> Examination: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def comparison(self) -> Comparison: ...
    @property
    def closed(self) -> Closed: ...
    @property
    def removed(self) -> Sequence[str]: ...
    @property
    def making(self) -> RunFacts | None: ...


def gather_facts(
    release: ReportSource, risks: Risks, distributions: Distributions, folder: Path
) -> Facts:
    """Compute everything that a report in `folder` shows."""
    settings, closed, comparison = release.settings, release.closed, release.comparison
    tells_before = comparison.table.records == comparison.records
    measured = [
        _measured(closed, settings, name)
        for name in dict.fromkeys((settings.objective, *MEASURED))
        if (settings.sensitive or not MEASURES[name].needs_sensitive)
        and (tells_before or name in COUNTING)
    ]
    made = release.making is not None
    text, remarks = reported_settings(settings, folder, whole=made)
    roles = _roles(release)
    return Facts(
        title=settings.title,
        version=__version__,
        written=datetime.now(UTC).replace(microsecond=0),
        audit=release.examination.audit,
        left_out=closed.left_out,
        k=settings.k,
        reads_the_same=settings.method.homogeneous,
        promises=promises_of(release.settings, release.examination),
        verdict=release.verdict,
        roles=roles,
        kept=tuple(release.alone_in(roles.kept)),
        method=settings.method.name if made else "",
        refined=_refined(settings, release.closed.table.records) if made else "",
        making=release.making,
        objective=measured[0] if tells_before else None,
        measures=tuple(measured[tells_before:]),
        columns=_column_losses(release, tells_before),
        sizes=sizes_of(release.examination.sizes, settings.k),
        risks=risks,
        tells_before=tells_before,
        histograms=distributions.histograms,
        sample=_sample(release, roles) if release.verdict.is_proved else None,
        settings=text,
        remarks=tuple(remarks),
    )


def _measured(closed: Closed, settings: Settings, name: str) -> MeasuredLoss:
    value = compute_loss(closed, name, k=settings.k, weights=settings.weights, w=settings.w)
    return MeasuredLoss(name, MEASURES[name].meaning, value, 2 if name in LINKING else 3)


def promises_of(settings: Settings, examination: Examination) -> tuple[Promise, ...]:
    """k and the requirements beyond it, each with what the least safe group reaches."""
    k, audit = settings.k, examination.audit
    of_k, *misses = examination.misses
    meaning = promise_of_k(k, settings.method.homogeneous, audit.by_person is not None)
    found = [Promise(f"k = {k:,}", meaning, f"at least {k:,}", f"{audit.smallest:,}", of_k)]
    # In the order of the proofs. The last one may be that of a series, which has no requirement.
    required = [item for item in settings.requirements for _ in item.over(settings.sensitive)]
    items = [*required, *[None] * (len(audit.proofs) - len(required))]
    for item, proof, miss in zip(items, audit.proofs, misses, strict=True):
        meaning = PROMISE_OF_SERIES if item is None else item.promise()
        limit = f"at {'least' if item is None or item.rising else 'most'} {proof.required:.4g}"
        found.append(Promise(proof.requirement, meaning, limit, f"{proof.reached:.4g}", miss))
    return tuple(found)


def _roles(release: ReportSource) -> ColumnRoles:
    settings = release.settings
    names = tuple(settings.quasi_identifiers)
    released = release.shown.columns
    bounds = [bound for name in names if name not in released for bound in bound_names(name)]
    replaced = tuple(name for name in settings.pseudonyms if name in released)
    known_columns = {*released, *release.removed}
    known = {*names, *settings.sensitive, *bounds, *replaced}
    kept = tuple(name for name in released if name not in known)
    nobodys = release.examination.audit.unnamed
    if release.making is None:
        nobodys = tuple(name for name in kept if name not in settings.keep)
    return ColumnRoles(
        quasi_identifiers=names,
        sensitive=settings.sensitive,
        removed=tuple(release.removed),
        replaced=replaced,
        kept=kept,
        unnamed=tuple(name for name in kept if name in nobodys),
        allowed={name: own for name, own in settings.allow.items() if name in known_columns},
        coarsened={n: own.coarseness() for n, own in settings.coarsen.items() if n in released},
    )


def _refined(settings: Settings, records: int) -> str:
    """How the method's groups were improved."""
    if not settings.refine or not settings.method.choose(records).may_be_refined():
        return "groups as the method made them"
    budget = settings.refine
    if isinstance(budget, Refine) and budget.seconds is None and budget.steps is None:
        return "then improved by a quick local search"
    return "then improved by local search"


def _column_losses(release: ReportSource, is_known: bool) -> tuple[ColumnLoss, ...]:
    settings, comparison = release.settings, release.comparison
    losses = column_losses(release.closed, settings.objective, w=settings.w) if is_known else {}
    found = []
    for j, column in enumerate(comparison.table.columns):
        if j in comparison.printed:
            cells = shares_of_texts(column.form, comparison.printed[j])
        else:
            cells = shares_of_closures(column.form, comparison.of_column(j), comparison.sizes)
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


def sizes_of(sizes: Places, k: int) -> Sizes:
    edges = size_edges(int(sizes.min()), int(sizes.max()), k)
    classes = []
    for least, after in pairwise(edges):
        inside = sizes[(sizes >= least) & (sizes < after)]
        classes.append(SizeClass(least, after - 1, inside.size, int(inside.sum())))
    return Sizes(int(sizes.min()), int(np.median(sizes)), int(sizes.max()), tuple(classes))


def size_edges(smallest: int, largest: int, k: int) -> list[int]:
    """The starts of the classes of group sizes and the end of the last: fine from k to 2k, coarser above.

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


def _sample(release: ReportSource, roles: ColumnRoles) -> Sample:
    """A few released records, which do not depend on the order of the release, without columns that have no role.

    Columns that identify people are not shown either, because more people may see the report than the release.
    """
    frame, verdict = release.shown, release.verdict
    hidden = {*roles.unnamed, *roles.replaced}
    if not verdict.is_protected:
        hidden |= set(verdict.unprotected.columns)
    shown = [name for name in frame.columns if name not in hidden][:MOST_SAMPLED]
    columns = [_ranks(frame, name) for name in shown]
    order = np.lexsort(columns[::-1])
    places = np.unique(np.linspace(0, order.size - 1, min(SAMPLE, order.size)).astype(np.int64))
    few = frame.select(shown)[order[places].tolist()]
    records = list(zip(*(_texts(few, name) for name in shown), strict=True))
    return Sample(shown, records, len(frame.columns) - len(shown))


def _ranks(frame: Frame, name: str) -> Ints:
    """The rank of each record's text among the texts of a column, missing values last."""
    values = values_of(frame, name).combine_chunks()
    try:
        encoded = values.dictionary_encode()
    except (pa.ArrowException, TypeError):
        nested = [None if value is None else str(value) for value in values.to_pylist()]
        encoded = pa.array(nested, type=pa.large_string()).dictionary_encode()
    texts = released_labels(encoded.dictionary)
    rank = np.empty(len(texts) + 1, dtype=np.int32)
    rank[sorted(range(len(texts)), key=lambda i: texts[i])] = np.arange(len(texts))
    rank[-1] = len(texts)
    return rank[np.asarray(pc.fill_null(encoded.indices, -1))]


def _texts(frame: Frame, name: str) -> list[str | None]:
    """A released column as texts, None for missing values."""
    values = values_of(frame, name)
    try:
        return [None if value is None else str(value) for value in values.to_pylist()]
    except (ValueError, OverflowError):
        return values.cast(pa.string()).to_pylist()  # dates outside the years that Python supports
