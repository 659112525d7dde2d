"""A column's distribution as a few bars; no value that fewer than ten records have is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

LEAST = 10  # records that a value must have to be named
BARS = 8
BINS = 12


def bars_of(values: pa.ChunkedArray) -> list[dict[str, Any]]:
    """Bars of a column: bins of numbers and dates with many values, else the most frequent values."""
    known = values.drop_null()
    kind = known.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    is_date = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    if (is_number or is_date) and len(known) and pc.count_distinct(known).as_py() > BINS:
        return _binned(known, is_date)
    return _counted(known)


def _binned(known: pa.ChunkedArray, is_date: bool) -> list[dict[str, Any]]:
    """Bins of equal width; bounds are rounded, so that they are nobody's value."""
    if is_date:
        years = pc.year(known).to_numpy()
        counts = np.bincount(years - years.min())
        several = max(1, -(-counts.size // BINS))
        found = []
        for start in range(0, counts.size, several):
            first = int(years.min()) + start
            label = str(first) if several == 1 else f"{first}–{first + several - 1}"
            found.append({"label": label, "records": int(counts[start : start + several].sum())})
        return found
    numbers = known.to_numpy().astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    width = _round_width((numbers.max() - numbers.min()) / BINS)
    is_whole = pa.types.is_integer(known.type)
    width = max(1.0, width) if is_whole else width
    first = np.floor(numbers.min() / width)
    counts = np.bincount((np.floor(numbers / width) - first).astype(np.int64))
    found = []
    for place, count in enumerate(counts):
        low = (first + place) * width
        high = low + width - 1 if is_whole else low + width
        label = f"{low:,.10g}–{high:,.10g}" if is_whole else f"{low:,.6g} to {high:,.6g}"
        found.append({"label": label, "records": int(count)})
    return found


def _round_width(least: float) -> float:
    """The least of 1, 2, 5, 10, … (0.1, 0.2, …) that is not below a width."""
    power = 10.0 ** np.floor(np.log10(least)) if least > 0 else 1.0
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= least))


def _counted(known: pa.ChunkedArray) -> list[dict[str, Any]]:
    try:
        counted = pc.value_counts(known).to_pylist()
    except pa.ArrowException:  # lists and other nested values
        return []
    counted.sort(key=lambda item: -item["counts"])
    named = [item for item in counted[:BARS] if item["counts"] >= LEAST]
    found = [{"label": str(item["values"])[:40], "records": int(item["counts"])} for item in named]
    rest = counted[len(named) :]
    if rest:
        label = f"{len(rest):,} {'other' if named else 'different'} value{'s' * (len(rest) > 1)}"
        found.append(
            {"label": label, "records": sum(item["counts"] for item in rest), "is_rest": True}
        )
    return found
