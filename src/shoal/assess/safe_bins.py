"""Which bins of a quasi-identifier may be counted in a report, so that no count or difference is about few people.

Anyone who has the release knows, for every set of bins, how many records are certainly inside it: those whose closure
is inside. If the count of originals in the set is published too, the difference is the number of people who are
inside although their released record does not show it. This number must be 0 or at least k for every union of bins.
The complement of a union is a union too, so this also limits how many people are outside although their record may be
inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
Bins = list[list[int]]  # the numbers of the finest bins that each bin combines


def join_ordered(counts: Numbers, first: Numbers, last: Numbers, sizes: Numbers, k: int) -> Bins:
    """Join neighbouring bins until they may be counted.

    `counts` are the originals in each bin. For each closure, `first` and `last` are the first and last bin that it
    overlaps, and `sizes` is the number of records that have it. Empty bins may stay. If nothing else helps, one bin is
    left.
    """
    bins = [[i] for i in range(counts.size)]
    while len(bins) > 1:
        place = np.repeat(np.arange(len(bins)), [len(one) for one in bins])
        number = len(bins)
        n = np.array([counts[one].sum() for one in bins])
        inside = np.zeros((number, number))  # by first and last bin
        np.add.at(inside, (place[first], place[last]), sizes)
        inside = np.cumsum(np.cumsum(inside[::-1], axis=0)[::-1], axis=1)
        below = np.concatenate([[0.0], np.cumsum(n)])
        held = below[None, 1:] - below[:-1, None]
        run = _shortest(_reveals(held, inside, k))
        if run is None:
            break
        i, j = run
        if j - i == number - 1:
            return [list(range(counts.size))]
        left = n[i - 1] if i > 0 else np.inf
        right = n[j + 1] if j < number - 1 else np.inf
        at = i - 1 if left <= right else j
        bins[at : at + 2] = [[*bins[at], *bins[at + 1]]]
    return bins


def _shortest(bad: npt.NDArray[np.bool_]) -> tuple[int, int] | None:
    """The shortest run of bins (rows first, columns last) that is marked."""
    first, last = np.nonzero(np.triu(bad))
    if not first.size:
        return None
    best = int(np.argmin(last - first))
    return int(first[best]), int(last[best])


def join_others(counts: Numbers, touched: Numbers, sizes: Numbers, k: int) -> Bins:
    """Move bins into the last one, the bin of all other values, until all may be counted.

    `counts` are the originals in each of at most 16 bins, `touched` says which closure (row) overlaps which bin, and
    `sizes` is the number of records that have each closure.
    """
    bins = [[i] for i in range(counts.size)]
    while len(bins) > 1:
        number = len(bins)
        n = np.array([counts[one].sum() for one in bins])
        marks = np.column_stack([touched[:, one].any(axis=1) for one in bins])
        sets = marks @ (1 << np.arange(number))
        inside = _sums_of_subsets(np.bincount(sets, weights=sizes, minlength=1 << number))
        alone = np.zeros(1 << number)
        alone[1 << np.arange(number)] = n
        bad = np.flatnonzero(_reveals(_sums_of_subsets(alone), inside, k))
        if not bad.size:
            break
        fewest = min(bad.tolist(), key=lambda union: (int(union).bit_count(), union))
        has_others = bool(fewest >> (number - 1) & 1)
        movable = [b for b in range(number - 1) if bool(fewest >> b & 1) != has_others]
        if not movable:
            return [list(range(counts.size))]
        least = min(movable, key=lambda b: (n[b], -b))
        bins[-1] = [*bins[least], *bins[-1]]
        del bins[least]
    return bins


def _reveals(held: Numbers, inside: Numbers, k: int) -> npt.NDArray[np.bool_]:
    """Whether a union of bins holds too few originals, or too few that the release does not place there."""
    apart = held - inside
    return ((held > 0) & (held < k)) | ((apart != 0) & (apart < k))


def _sums_of_subsets(values: Numbers) -> Numbers:
    """For every set, as bits of its index, the sum over all of its subsets."""
    total, number = values.astype(np.float64), values.size.bit_length() - 1
    for bit in range(number):
        halves = total.reshape(-1, 2, 1 << bit)
        halves[:, 1] += halves[:, 0]
    return total


def spread_shares(touched: Numbers, weights: Sequence[float]) -> Numbers:
    """Spread each closure (row) over the bins it overlaps by the weights of the bins, evenly if all weights are 0."""
    part = touched * np.asarray(weights, dtype=np.float64)
    return _normalized(np.where(part.sum(axis=1, keepdims=True) > 0, part, touched > 0))


def _normalized(parts: Numbers) -> Numbers:
    total: Numbers = parts.sum(axis=1, keepdims=True)
    return np.divide(parts, total, out=np.zeros(parts.shape), where=total > 0)


def spread_from_narrow(covered: Numbers, sizes: Numbers) -> Numbers:
    """Released records by bin, as a reader of the release would estimate.

    `covered` is closures × bins: the number of values of each bin that a closure covers. A closure is spread over the
    bins it overlaps like the records of narrower closures there or, if there are none, by the values it covers.
    """
    total = np.zeros(covered.shape[1])
    widths = np.count_nonzero(covered, axis=1)
    for width in np.unique(widths):
        own = widths == width
        like_others = (covered[own] > 0) * total
        is_told = like_others.sum(axis=1, keepdims=True) > 0
        total = total + sizes[own] @ _normalized(np.where(is_told, like_others, covered[own]))
    return total
