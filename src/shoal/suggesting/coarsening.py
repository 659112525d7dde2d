"""How wide the bins of a sensitive number must be for its values to repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.generalization.forms import Floats
from shoal.generalization.models import is_ordered
from shoal.suggesting.models import numbers_of
from shoal.suggesting.profile import Profile
from shoal.suggesting.reading import LEAST

RARE = 0.05  # share of records that may have a coarse value of fewer than LEAST records
MOST_STEPS = 200  # bins from which the search for a step begins
FEWEST_BINS = 3  # fewer tell nothing


def coarse_options(profile: Profile) -> Mapping[str, Any] | None:
    """Options of an interval whose bins nearly all hold ten records, None where there is none that tells something.

    The bins are the narrowest of 1, 2 or 5 times a power of ten. Large values that would stand alone become one value.
    """
    if not is_ordered(profile.typed) or pa.types.is_temporal(profile.typed):
        return None
    numbers = numbers_of(profile)
    if numbers is None or numbers.size < FEWEST_BINS * LEAST or not np.isfinite(numbers).all():
        return None
    for step in _steps(numbers, profile.is_whole):
        high = _high(numbers, step)
        bins = np.floor(np.minimum(numbers, high) / step)
        counts = np.unique(bins, return_counts=True)[1]
        if counts.size < FEWEST_BINS:
            return None
        if counts[counts < LEAST].sum() <= RARE * numbers.size:
            has_top = bool((numbers > high).any())
            return {"step": step} | ({"high": high} if has_top else {})
    return None


def widest(options: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The options for columns that are coarsened alike: the widest bins, and the same end for all."""
    step = max(found["step"] for found in options)
    ends = [found["high"] for found in options if "high" in found]
    if not ends:
        return {"step": step}
    return {"step": step, "high": _plain(np.ceil(max(ends) / step) * step)}


def _steps(numbers: Floats, is_whole: bool) -> list[int | float]:
    low, high = np.quantile(numbers, (0.05, 0.95))
    width = (high - low) / MOST_STEPS
    if not (0 < width < np.inf):
        return []
    power = int(np.floor(np.log10(width)))
    found = [float(f"{m}e{power + p}") for p in range(5) for m in (1, 2, 5)]
    steps = [_plain(step) for step in found if step >= width]
    return [step for step in steps if step >= 2] if is_whole else steps


def _high(numbers: Floats, step: float) -> int | float:
    """The largest end of a bin that at least ten records reach or exceed."""
    reached = np.partition(numbers, -LEAST)[-LEAST]
    return _plain(np.floor(reached / step) * step)


def _plain(number: float) -> int | float:
    """A whole number as such, others without the dust of binary fractions."""
    rounded = float(f"{number:.10g}")
    return int(rounded) if rounded == int(rounded) else rounded
