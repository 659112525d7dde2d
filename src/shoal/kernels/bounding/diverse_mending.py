"""Groups that keep the requirements, made of records of a cell that were picked without regard to them."""

from __future__ import annotations

import numpy as np

from shoal.kernels.bounding.diverse_slopes import set_gradient
from shoal.kernels.compilation import inner

MOST_STEPS = 80  # steps after which a group is given up
PART = 30  # a step changes a group by this part of its records, and by one record at least


@inner
def mend(q, t, cell, kinds):
    """Add and remove picked records, those of least worth first, until all limits are kept; return whether they are."""
    for _ in range(MOST_STEPS):
        if not set_gradient(q, t, cell, kinds):
            return True
        records = 0.0
        for m in range(kinds):
            records += cell.picked[m]
        step = max(1.0, records / PART)
        best, ratio, amount = -1, np.inf, 0.0
        for m in range(kinds):
            slope, low, high = cell.slope[m], cell.begin[m], cell.begin[m + 1]
            if slope > 0.0:
                left = cell.held[high] - cell.held[low] - cell.picked[m]
                if left > 0.0:
                    price = -cell.z[place_of(cell, m, cell.picked[m])] / slope
                    if price < ratio:
                        best, ratio, amount = m, price, min(step, left)
            elif slope < 0.0 and cell.picked[m] > 0.0 and records > q.k:
                less = min(step, cell.picked[m], records - q.k)
                price = cell.z[place_of(cell, m, cell.picked[m] - less)] / -slope
                if price < ratio:
                    best, ratio, amount = m, price, -less
        if best < 0:
            return False
        cell.picked[best] += amount
    return False


@inner
def place_of(cell, m, number):
    """Return the place of the record of a value that has so many better ones before it, the value's end if none has."""
    low, high = cell.begin[m], cell.begin[m + 1]
    held = cell.held[low] + number
    while low < high:
        middle = (low + high) // 2
        if cell.held[middle + 1] <= held:
            low = middle + 1
        else:
            high = middle
    return low
