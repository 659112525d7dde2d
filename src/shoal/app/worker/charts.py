"""The chart of a column: numbers in ranges, dates by year, quarter or month, codes and categories as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

LEAST = 10  # records that must share a value before it is shown
BARS = 8
BINS = 12
# Months that one bar covers, and how it is called; the first with which a column fits into `BINS` bars is used.
PERIODS = ((1, "{year}-{month:02}"), (3, "{year}-Q{quarter}"), (12, "{year}"))


def bars_of(values: pa.ChunkedArray, is_code: bool = False) -> list[dict[str, Any]]:
    """The bars of a column's chart; numbers that are codes are never put into ranges."""
    known = values.drop_null()
    kind = known.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    is_date = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    if is_number and is_code:
        known, is_number = known.cast(pa.large_string()), False
    is_ordered = is_number or is_date
    if is_ordered and len(known) and pc.count_distinct(known).as_py() > BINS:
        return _by_period(known) if is_date else _by_range(known)
    found = _counted(known, is_ordered)
    return (is_code and _by_prefix(known, found)) or found


def _by_period(known: pa.ChunkedArray) -> list[dict[str, Any]]:
    """Dates by month, quarter, year or several years, so that few bars show all of them."""
    months = pc.year(known).to_numpy() * 12 + pc.month(known).to_numpy() - 1
    low, high = int(months.min()), int(months.max())
    width, label = next(
        (own for own in PERIODS if high // own[0] - low // own[0] < BINS), PERIODS[-1]
    )
    first, last = low // width, high // width
    several = max(1, -(-(last - first + 1) // BINS))  # more than one only for years
    counts = np.bincount(months // width - first)
    found = []
    for start in range(0, counts.size, several):
        years, month = divmod((first + start) * width, 12)
        text = label.format(year=years, month=month + 1, quarter=month // 3 + 1)
        if several > 1:
            text = f"{text}–{years + several - 1}"
        found.append({"label": text, "records": int(counts[start : start + several].sum())})
    return found


def _by_range(known: pa.ChunkedArray) -> list[dict[str, Any]]:
    """Ranges of equal width, with round bounds so that they do not show anybody's value."""
    found = []
    numbers = known.to_numpy().astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return []
    width = _round_width((numbers.max() - numbers.min()) / BINS)
    is_whole = pa.types.is_integer(known.type)
    width = max(1.0, width) if is_whole else width
    first = np.floor(numbers.min() / width)
    counts = np.bincount((np.floor(numbers / width) - first).astype(np.int64))
    for place, count in enumerate(counts):
        low = (first + place) * width
        high = low + width - 1 if is_whole else low + width
        label = f"{low:,.10g}–{high:,.10g}" if is_whole else f"{low:,.6g} to {high:,.6g}"
        found.append({"label": label, "records": int(count)})
    return found


def _round_width(least: float) -> float:
    """The smallest of 1, 2, 5, 10, … (0.1, 0.2, …) that is not below a width."""
    power = 10.0 ** np.floor(np.log10(least)) if least > 0 else 1.0
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= least))


def _counted(known: pa.ChunkedArray, is_ordered: bool = False) -> list[dict[str, Any]]:
    """The most frequent values, in their own order if they have one, and all others together."""
    try:
        counted = pc.value_counts(known).to_pylist()
    except pa.ArrowException:  # lists and other nested values
        return []
    counted.sort(key=lambda item: -item["counts"])
    named = [item for item in counted[:BARS] if item["counts"] >= LEAST]
    rest = counted[len(named) :]
    if is_ordered:
        named.sort(key=lambda item: item["values"])
    found = [{"label": str(item["values"])[:40], "records": int(item["counts"])} for item in named]
    return found + _rest(rest, "other" if named else "different", "value")


def _rest(items: Sequence[dict[str, Any]], which: str, noun: str) -> list[dict[str, Any]]:
    if not items:
        return []
    label = f"{len(items):,} {which} {noun}{'s' * (len(items) > 1)}"
    return [{"label": label, "records": sum(item["counts"] for item in items), "is_rest": True}]


def _by_prefix(known: pa.ChunkedArray, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Codes by their first characters, if the most frequent codes are less than half of all; else nothing."""
    rest = sum(own["records"] for own in found if own.get("is_rest"))
    if 2 * rest < len(known) or not (
        pa.types.is_string(known.type) or pa.types.is_large_string(known.type)
    ):
        return []
    longest = int(pc.max(pc.utf8_length(known)).as_py() or 0)
    for length in range(min(longest - 1, 6), 0, -1):
        starts = pc.value_counts(pc.utf8_slice_codeunits(known, 0, length)).to_pylist()
        if len(starts) > BINS:
            continue
        named = [item for item in starts if item["counts"] >= LEAST]
        named.sort(key=lambda item: str(item["values"]))
        bars = [{"label": f"{item['values']}…", "records": int(item["counts"])} for item in named]
        others = [item for item in starts if item["counts"] < LEAST]
        return (bars + _rest(others, "other", "beginning")) if len(bars) > 1 else []
    return []
