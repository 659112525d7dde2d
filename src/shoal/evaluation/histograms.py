"""Before and after as a picture may show it: few bins, and none that stands for fewer than k originals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
import pyarrow as pa

from shoal.evaluation.result import Result
from shoal.generalization.forms import Floats

MOST_BINS = 12
OTHER = "other"
MISSING = "missing"
_UNITS = ("Y", "M", "D", "h", "m", "s")


@dataclass(frozen=True)
class Histogram(Result):
    """Original and released records by bin of one column; the released ones are estimates.

    Bins of numbers and dates are in ascending order, those of other values from the most frequent down,
    with all values that are rare or too many in a last bin "other".
    """

    column: str
    ordered: bool
    labels: tuple[str, ...]
    before: tuple[int, ...]
    after: tuple[float, ...]


def draw_histogram(
    column: str,
    labels: Sequence[str],
    ordered: pa.Array | None,
    before: Floats,
    after: Floats,
    k: int,
) -> Histogram:
    """Count records by bin; no bin and no named value stands for fewer than k originals.

    `before` and `after` are counts by value, those of null last where there are any. A table of fewer than k
    records gives no bins at all.
    """
    names = [*labels, MISSING]
    bins = _frequent(names, before, k) if ordered is None else _ranges(ordered, before, k)
    totals = [round(float(before[codes].sum())) for _, codes in bins]
    shown = [i for i, total in enumerate(totals) if total >= k]
    return Histogram(
        column=column,
        ordered=ordered is not None,
        labels=tuple(bins[i][0] for i in shown),
        before=tuple(totals[i] for i in shown),
        after=tuple(float(after[bins[i][1]].sum()) for i in shown),
    )


def positions(values: pa.Array) -> Floats:
    """Ordered values as numbers, dates counted from the first."""
    if pa.types.is_temporal(values.type):
        moments = _moments(values)
        return (moments - moments[0]).astype(np.float64)
    return np.asarray(values.cast(pa.float64(), safe=False))


Bins = list[tuple[str, list[int]]]  # label and codes


def _frequent(labels: Sequence[str], before: Floats, k: int) -> Bins:
    """The most frequent values, and all others together."""
    order = np.argsort(-before, kind="stable").tolist()
    named = [code for code in order if before[code] >= k]
    if len(named) > MOST_BINS or len(named) < len(order):
        named = named[: MOST_BINS - 1]
    rest = order[len(named) :]
    while named and 0 < before[rest].sum() < k:  # few others could be told from the total
        rest = [named.pop(), *rest]
    bins = [(labels[code], [code]) for code in named]
    return [*bins, (OTHER, rest)] if before[rest].sum() else bins


def _ranges(values: pa.Array, before: Floats, k: int) -> Bins:
    """Ranges between round numbers, joined with the next until they hold k originals."""
    numbers, unit = _steps_of(values)
    known = before[: len(values)]
    step = _step(float(numbers[-1] - numbers[0]), bool((numbers % 1 == 0).all()))
    place = np.floor(numbers / step)
    bins: list[tuple[float, float, list[int]]] = []
    held = float(k)
    for number in np.unique(place):
        codes = np.flatnonzero(place == number).tolist()
        if held < k:
            low, _, joined = bins.pop()
            bins.append((low, number, [*joined, *codes]))
        else:
            held = 0.0
            bins.append((number, number, codes))
        held += float(known[codes].sum())
    if held < k and len(bins) > 1:
        (low, _, left), (_, high, right) = bins[-2:]
        bins[-2:] = [(low, high, [*left, *right])]
    whole = step >= 1 and bool((numbers % 1 == 0).all())
    named = [(_name(low * step, (high + 1) * step, whole, unit), c) for low, high, c in bins]
    nulls = list(range(len(values), before.size))
    if nulls and before[nulls].sum() >= k:
        named.append((MISSING, nulls))
    elif nulls:
        label, codes = named[-1]
        named[-1] = (f"{label} or {MISSING}", [*codes, *nulls])
    return named


def _steps_of(values: pa.Array) -> tuple[Floats, str | None]:
    """Ordered values as numbers that have round steps; dates as years, months … with the unit."""
    if not pa.types.is_temporal(values.type):
        return np.asarray(values.cast(pa.float64(), safe=False)), None
    moments = _moments(values)
    for unit in _UNITS:
        counted = moments.astype(f"datetime64[{unit}]").astype(np.int64)
        if counted[-1] - counted[0] >= MOST_BINS - 1:
            break
    return counted.astype(np.float64), unit


def _moments(values: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.datetime64]]:
    if pa.types.is_date32(values.type):
        return np.asarray(values).astype("datetime64[s]")
    plain = values.cast(pa.timestamp(values.type.unit))
    return np.asarray(plain).astype("datetime64[us]")


def _step(reach: float, whole: bool) -> float:
    """The least of 1, 2, 5, 10, … (0.1, 0.2, …) that cuts a range into few enough bins."""
    least = max(reach / (MOST_BINS - 1), 1.0 if whole else 0.0)
    if least == 0.0:
        return 1.0
    power = 10.0 ** floor(log10(least))
    return next(m * power for m in (1, 2, 5, 10, 20) if m * power >= least * (1 - 1e-12))


def _name(low: float, high: float, whole: bool, unit: str | None) -> str:
    """A range's name; whole numbers and dates have a last value, others end before the next range."""
    if not whole:
        return f"{low:.6g} to <{high:.6g}"
    ends = [int(low), ceil(high) - 1]
    if unit is None:
        first, last = (str(end) for end in ends)
    else:
        first, last = (str(moment) for moment in np.array(ends).astype(f"datetime64[{unit}]"))
    return first if first == last else f"{first} to {last}"
