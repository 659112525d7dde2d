"""Histograms of the table and of the release that reveal nothing about fewer than k people beyond the release.

Bins come from the release: round numbers or periods between its lowest and highest bound, or values. Originals are
counted in them only as far as `safe_bins` allows. The first and the last bin are open, so that extremes are not shown.

Released records are spread over bins as a reader of the release would estimate: a range or period by its length. Those
whose value may be any are counted as hidden: to spread them like the others would make a few that are shown look many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.assess import Result
from shoal.assess.comparison import Comparison
from shoal.assess.safe_bins import (
    Numbers,
    join_ordered,
    join_others,
    spread_from_narrow,
    spread_shares,
)
from shoal.assess.scales import (
    MOST_BINS,
    BinEdge,
    Scale,
    cuts_between,
    main_range,
    periods_on_line,
    released_labels,
    scale_of,
    scale_of_order,
)
from shoal.encoding.encode import Column
from shoal.encoding.forms import STAR, RangeForm
from shoal.encoding.models import Calendar
from shoal.encoding.models.base import is_ordered

OTHER = "other"
MISSING = "missing"
HIDDEN = "hidden (*)"


@dataclass(frozen=True)
class Histogram(Result):
    """Records by bin of one column.

    Attributes
    ----------
    ordered
        Whether bins are numbers, dates or ordered categories, in ascending order. Other values are sorted from the
        most frequent to the least, with all that are rare or too many in a last bin "other".
    unchanged
        Whether the column is released unchanged; then `after` counts records and `before` is empty.
    before
        Originals by bin; empty if these counts would reveal something about fewer than k people.
    after
        Released records by bin; these are estimates unless the column is unchanged. Those whose value may be any are
        in a last bin "hidden (*)".
    """

    column: str
    ordered: bool
    unchanged: bool
    labels: tuple[str, ...]
    before: tuple[int, ...]
    after: tuple[float, ...]

    @property
    def differing(self) -> float:
        """The share of records that would have to change bins to make both sides equal; 0 without `before`.

        Records whose value is hidden do not count.
        """
        told = np.array([label != HIDDEN for label in self.labels], dtype=np.bool_)
        before, after = (np.array(own)[told[: len(own)]] for own in (self.before, self.after))
        if not before.sum() or not after.sum():
            return 0.0
        return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)

    @property
    def hidden(self) -> float:
        """The share of released records whose value may be any."""
        found = dict(zip(self.labels, self.after, strict=True)).get(HIDDEN, 0.0)
        return found / sum(self.after) if found else 0.0


def draw_quasi_identifier(comparison: Comparison, j: int) -> Histogram:
    """Count originals and released records by bins of quasi-identifier j, as far as k allows.

    Originals are not counted if the table still has records that were left out, because these must not be counted.
    Columns that are printed differently from their closures are shown as printed.
    """
    column = comparison.table.columns[j]
    if j in comparison.printed:
        printed = comparison.printed[j]
        return _draw_texts(column.name, printed.texts, printed.sizes)
    closures, place = np.unique(comparison.of_column(j), axis=1, return_inverse=True)
    sizes: Numbers = np.bincount(
        place.reshape(-1), weights=comparison.sizes, minlength=closures.shape[1]
    )
    closures = closures[:, sizes > 0].astype(np.int32)
    sizes = sizes[sizes > 0]
    known = comparison.table.records == comparison.records >= comparison.k
    counts = column.counts if known else np.zeros_like(column.counts)
    if isinstance(column.form, RangeForm):
        return _draw_ranges(column, column.form, counts, closures, sizes, comparison.k)
    if isinstance(column.model, Calendar):
        return _draw_periods(column, column.model, counts, closures, sizes, comparison.k)
    return _draw_values(column, counts, closures, sizes, comparison.k)


def draw_unchanged(comparison: Comparison, name: str) -> Histogram:
    """Count the released records by bins of a column that is released unchanged."""
    values = comparison.table.sensitive[name].values
    counts = comparison.count(comparison.released[name], len(values) + 1)
    present = np.flatnonzero(counts[: len(values)])
    there = values.take(present)
    known: Numbers = counts[present].astype(np.float64)
    ordered = is_ordered(values.type)
    if not ordered:
        bins = _by_frequency(released_labels(there), known)
    elif present.size > MOST_BINS:
        scale = scale_of(there)
        cuts = scale.round(0, present.size - 1)
        totals = np.bincount(scale.places(cuts), weights=known, minlength=len(cuts) + 1)
        labels = [scale.label(left, right) for left, right in pairwise([None, *cuts, None])]
        bins = [(label, n) for label, n in zip(labels, totals.tolist(), strict=True) if n]
    else:
        bins = list(zip(released_labels(there), known.tolist(), strict=True))
    missing = counts[len(values) :].sum()
    bins += [(MISSING, float(missing))] if missing else []
    return Histogram(name, ordered, True, *_columns(bins, ()))


def _by_frequency(labels: Sequence[str], totals: Numbers) -> list[tuple[str, float]]:
    """Bins of single values, most frequent first; if there are too many, the last ones share a bin."""
    order = sorted(range(len(labels)), key=lambda i: (-totals[i], labels[i]))
    bins = [(labels[i], float(totals[i])) for i in order]
    if len(bins) > MOST_BINS:
        bins[MOST_BINS - 1 :] = [(OTHER, sum(n for _, n in bins[MOST_BINS - 1 :]))]
    return bins


def _columns(
    bins: Sequence[tuple[str, float]], before: Sequence[float]
) -> tuple[tuple[str, ...], tuple[int, ...], tuple[float, ...]]:
    labels, after = [label for label, _ in bins], [n for _, n in bins]
    return tuple(labels), tuple(round(n) for n in before), tuple(after)


def _draw_ranges(
    column: Column, form: RangeForm, counts: Numbers, closures: Numbers, sizes: Numbers, k: int
) -> Histogram:
    """Bins of an ordered column: by value if there are few, else by round numbers; missing values come last."""
    known = len(form.labels)
    printed = np.unique(closures[:, closures[1] < known])
    if not printed.size:  # nothing but missing and hidden values
        return _draw_texts(column.name, form.text(closures), sizes)
    frequent = np.flatnonzero(counts[:known] >= k)
    if not form.has_scale:
        scale: Scale = scale_of_order(form, np.union1d(printed, frequent))
    else:
        scale = scale_of(form.values)
    by_round = _Line(scale, scale.round(int(printed[0]), int(printed[-1])), form, closures, sizes)
    candidates = [by_round]
    if 0 < np.count_nonzero(counts[:known]) <= MOST_BINS:
        cuts = scale.around(np.union1d(printed, frequent))
        candidates.insert(0, _Line(scale, cuts, form, closures, sizes, by_value=True))
    for line in candidates:
        found = _counted(column.name, line, counts, k)
        if found is not None:
            return found
    is_exact = bool((closures[0] == closures[1]).all())
    if is_exact and printed.size <= MOST_BINS:
        by_round = _Line(scale, scale.around(printed), form, closures, sizes)
    return _uncounted(column.name, by_round)


def _draw_periods(
    column: Column, model: Calendar, counts: Numbers, closures: Numbers, sizes: Numbers, k: int
) -> Histogram:
    """Bins of a calendar: a few whole periods, like years or months; missing values come last."""
    days = periods_on_line(model, column.form, closures, counts)
    if not (days.closures[1] < len(days.form.labels)).any():  # only missing and hidden values
        return _draw_texts(column.name, column.form.text(closures), sizes)
    cuts = cuts_between(model, *main_range(days, sizes))
    line = _Line(scale_of(days.form.values), cuts, days.form, days.closures, sizes)
    return _counted(column.name, line, days.counts, k) or _uncounted(column.name, line)


def _counted(name: str, line: _Line, counts: Numbers, k: int) -> Histogram | None:
    """A histogram that counts originals; None if they may only be counted in a single bin."""
    held = line.count(counts)
    joined = join_ordered(held, line.first, line.last, line.sizes, k)
    totals = np.array([held[one].sum() for one in joined])
    if np.count_nonzero(totals) < 2:
        return None
    spread = line.spread(joined, totals)
    return _shown(name, True, line.names(joined), totals, spread, line.hidden, True)


def _uncounted(name: str, line: _Line) -> Histogram:
    """A histogram of the release only."""
    bins = [[i] for i in range(line.bins)]
    nothing = np.zeros(line.bins)
    spread = line.spread(bins, nothing)
    return _shown(name, True, line.names(bins), nothing, spread, line.hidden, False)


class _Line:
    """An ordered column cut into bins; the last bin is for missing values if there may be any."""

    def __init__(
        self,
        scale: Scale,
        cuts: Sequence[BinEdge],
        form: RangeForm,
        closures: Numbers,
        sizes: Numbers,
        by_value: bool = False,
    ) -> None:
        self.scale, self.cuts, self.by_value = scale, cuts, by_value
        self.closures, self.sizes = closures, sizes
        self.places, self.ranges = scale.places(cuts), len(cuts) + 1
        self.bins = self.ranges + form.has_null
        known = len(form.labels)
        self.is_range = (
            closures[1] < known
        )  # otherwise null alone, or null with values, which may be anything
        place = np.append(self.places, self.bins - 1)
        low = np.where(self.is_range | (closures[0] == form.null), closures[0], 0)
        self.first = np.where(self.is_range | (closures[0] == form.null), place[low], 0)
        self.last = place[np.minimum(closures[1], known)]
        self.is_hidden = ~self.is_range & (self.first < self.last)

    @property
    def hidden(self) -> float:
        """Released records whose value may be any."""
        return float(self.sizes[self.is_hidden].sum())

    def count(self, counts: Numbers) -> Numbers:
        """Originals in each bin, given those of each code."""
        known = self.places.size
        held = np.bincount(self.places, weights=counts[:known], minlength=self.ranges)
        return np.append(held, counts[known:])

    def names(self, joined: Sequence[Sequence[int]]) -> list[str]:
        """The labels of joined bins."""
        ends = [None, *self.cuts, None]
        found = []
        for one in joined:
            inner = [i for i in one if i < self.ranges]
            label = self.scale.label(ends[inner[0]], ends[inner[-1] + 1]) if inner else MISSING
            found.append(label if len(inner) in (0, len(one)) else f"{label}, or {MISSING}")
        return found

    def spread(self, joined: Sequence[Sequence[int]], totals: Numbers) -> Numbers:
        """Released records by joined bins.

        A closure that overlaps several bins is spread over them by the length of the overlap or, if bins are values,
        evenly over those with any originals. A closure that may be anything is not.
        """
        place = np.repeat(np.arange(len(joined)), [len(one) for one in joined])
        at, first, last = np.arange(len(joined)), place[self.first], place[self.last]
        touched = ((at >= first[:, None]) & (at <= last[:, None])).astype(np.float64)
        if self.by_value:
            weights = (totals > 0).astype(np.float64).tolist()
            return self._told(spread_shares(touched, weights))
        wide = self.is_range & (first < last)
        low, high = self.scale.numbers[self.closures[:, wide]].astype(np.float64) / 4
        if self.scale.is_whole(np.unique(self.closures[:, wide])):
            high = high + 1 / 4
        cuts = [self.cuts[one[0] - 1].at for one in joined[1:] if one[0] < self.ranges]
        edges = (
            np.array(cuts, dtype=np.float64) / 4
        )  # scaled, because lengths may not be finite otherwise
        edges = np.concatenate([[-np.inf], edges, [np.inf] * (at.size - edges.size)])
        length = np.minimum(high[:, None], edges[1:]) - np.maximum(low[:, None], edges[:-1])
        touched[wide] *= np.maximum(length, 0.0)
        return self._told(spread_shares(touched, [1.0] * at.size))

    def _told(self, parts: Numbers) -> Numbers:
        """Released records by bin, given the shares of each closure."""
        found: Numbers = self.sizes[~self.is_hidden] @ parts[~self.is_hidden]
        return found


def _draw_values(
    column: Column, counts: Numbers, closures: Numbers, sizes: Numbers, k: int
) -> Histogram:
    """Bins of an unordered column: frequent values, and one bin for all others."""
    form = column.form
    names = [*form.labels, *([MISSING] if form.has_null else [])]
    frequent = sorted(np.flatnonzero(counts >= k).tolist(), key=lambda c: (-counts[c], names[c]))
    few = len(frequent) <= MOST_BINS and counts[frequent].sum() == counts.sum()
    named = frequent if few else frequent[: MOST_BINS - 1]
    if not named:
        return _draw_texts(column.name, form.text(closures), sizes)
    part = np.full(form.size, len(named))
    part[named] = np.arange(len(named))
    covered = form.sums(closures, np.eye(len(named) + 1)[part])
    held = np.bincount(part, weights=counts, minlength=len(named) + 1)
    joined = join_others(held, covered > 0, sizes, k)
    totals = np.array([held[one].sum() for one in joined])
    if np.count_nonzero(totals) < 2:
        return _draw_texts(column.name, form.text(closures), sizes)
    values = np.column_stack([covered[:, one].sum(axis=1) for one in joined])
    is_hidden = covered.sum(axis=1) == form.size
    spread = spread_from_narrow((values * (totals > 0))[~is_hidden], sizes[~is_hidden])
    labels = [*(names[named[one[0]]] for one in joined[:-1]), OTHER]
    hidden = float(sizes[is_hidden].sum())
    return _shown(column.name, False, labels, totals, spread, hidden, True)


def _draw_texts(name: str, released: Sequence[str | None], sizes: Numbers) -> Histogram:
    """The texts in the release, most frequent first: all that may be shown if originals may not be counted."""
    texts = [{None: MISSING, STAR: HIDDEN}.get(text, text or "") for text in released]
    return Histogram(name, False, False, *_columns(_by_frequency(texts, sizes), ()))


def _shown(
    name: str,
    ordered: bool,
    labels: Sequence[str],
    totals: Numbers,
    spread: Numbers,
    hidden: float,
    tells: bool,
) -> Histogram:
    """A histogram of the bins that are not empty, and of hidden records."""
    kept = [i for i in range(len(labels)) if totals[i] or spread[i] > 1e-9]
    bins = [(labels[i], float(spread[i])) for i in kept]
    before = [float(totals[i]) for i in kept] if tells else []
    if hidden:
        bins, before = [*bins, (HIDDEN, hidden)], [*before, *([0.0] if tells else [])]
    return Histogram(name, ordered, False, *_columns(bins, before))
