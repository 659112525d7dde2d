"""Paired tests over tables: each table counts once, however many splits, sizes of groups or records it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
LEVEL = 0.05
EQUAL = 1e-12  # differences below this are ties: sums of the same numbers in another order


@dataclass(frozen=True)
class Paired:
    """Differences over tables: their mean, how many are above zero, and p before and after Holm's correction."""

    mean: float
    better: int
    tables: int
    p: float
    corrected: float

    @property
    def verdict(self) -> str:
        if self.corrected >= LEVEL:
            return "undecided"
        return "higher" if self.mean > 0 else "lower"


def paired(differences: Sequence[Sequence[float]]) -> list[Paired]:
    """Test several rows of differences, a number per table in each, as one family."""
    p = [signed_rank(row) for row in differences]
    return [
        Paired(float(np.mean(row)), sum(one > EQUAL for one in row), len(row), own, corrected)
        for row, own, corrected in zip(differences, p, holm(p), strict=True)
    ]


def signed_rank(differences: Sequence[float]) -> float:
    """Two-sided exact p of Wilcoxon's signed-rank test; zeros are left out, ties share their mean rank.

    Under the hypothesis every sign is a fair coin. The distribution of the sum of positive ranks is found by
    adding one rank after the other; ranks are doubled, so that those of ties are whole numbers.
    """
    values = np.array([one for one in differences if abs(one) > EQUAL])
    if not values.size:
        return 1.0
    doubled = np.rint(2 * mean_ranks(np.abs(values))).astype(int)
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[: ways.size - rank].copy()
    found = int(doubled[values > 0].sum())
    tail = min(ways[: found + 1].sum(), ways[found:].sum()) / ways.sum()
    return float(min(1.0, 2 * tail))


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 1, the smallest value first; equal values share the mean of theirs."""
    close = np.abs(values[:, None] - values[None, :]) <= EQUAL
    lower = (values[None, :] < values[:, None]) & ~close
    return lower.sum(axis=1) + (close.sum(axis=1) + 1) / 2


def holm(p: Sequence[float]) -> list[float]:
    """Corrected p values: below a level they may all be rejected with that chance of any error."""
    corrected, least = [1.0] * len(p), 0.0
    for place, which in enumerate(np.argsort(p, kind="stable")):
        least = max(least, min(1.0, (len(p) - place) * p[which]))
        corrected[which] = least
    return corrected
