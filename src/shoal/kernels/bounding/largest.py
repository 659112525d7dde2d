"""The sum of the largest of numbers that stand for several records each."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import inner


@inner
def top_sum(values, weights, size, k):
    """Return the sum of the k largest of the first `size` values, each counted `weights` times (by quickselect).

    Reorders `values` and `weights`.
    """
    low, high, need, total = 0, size, k, 0.0
    while need > 0 and low < high:
        first, middle, last = values[low], values[(low + high) // 2], values[high - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        above, at, end = low, low, high  # order: larger, equal, unseen, smaller
        heavier, equal, part = 0, 0, 0.0
        while at < end:
            value, weight = values[at], weights[at]
            if value > pivot:
                values[at], weights[at] = values[above], weights[above]
                values[above], weights[above] = value, weight
                heavier += weight
                part += weight * value
                above += 1
                at += 1
            elif value == pivot:
                equal += weight
                at += 1
            else:
                end -= 1
                values[at], weights[at] = values[end], weights[end]
                values[end], weights[end] = value, weight
        if heavier >= need:
            high = above
            continue
        total += part + min(equal, need - heavier) * pivot
        need -= min(need, heavier + equal)
        low = end
    return total


@inner
def keep_top(values, weights, size, held, total, top, value, weight):
    """Insert a number into a descending list of the largest ones, which keeps as few as make up `top` records.

    The list is values[:size] with `weights`, of `held` records in all, whose sum is `total`. Returns these three
    anew.
    """
    at = size
    while at > 0 and values[at - 1] < value:
        values[at], weights[at] = values[at - 1], weights[at - 1]
        at -= 1
    values[at], weights[at] = value, weight
    size += 1
    held += weight
    total += weight * value
    while held - weights[size - 1] >= top:
        size -= 1
        held -= weights[size]
        total -= weights[size] * values[size]
    return size, held, total


@inner
def mean_of_top(duals, weights, top, floor, order, low, high, values, heavy):
    """Return the mean of the members' largest duals, over `top` records.

    If even the largest dual is at most `floor`, that one is returned: the cell is not wanted anyway. `values` and
    `heavy` are scratch.
    """
    largest = -np.inf
    for at in range(low, high):
        i = order[at]
        values[at - low] = duals[i]
        heavy[at - low] = weights[i]
        largest = max(largest, duals[i])
    if largest <= floor or top == 1:
        return largest
    return top_sum(values, heavy, high - low, top) / top
