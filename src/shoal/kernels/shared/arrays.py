"""Sorting and selecting as plain loops, because NumPy's functions take many times as long to compile."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner

CLOSE = 4  # integers are sorted by counting if they span at most this many times their number
RUN = 12  # stretches of this many are sorted by insertion before they are merged
SHORT = 24  # arrays of up to this many numbers are sorted by insertion


@inner
def sort_stably(values, order, spare):
    """Fill `order` with the places of `values` in ascending order, by a stable merge sort.

    `order` and `spare` are int64 arrays of the same length as `values`; `spare` is scratch.
    """
    n = values.size
    for low in range(0, n, RUN):  # runs of a few, sorted by insertion
        for at in range(low, min(low + RUN, n)):
            value, to = values[at], at
            while to > low and values[order[to - 1]] > value:
                order[to] = order[to - 1]
                to -= 1
            order[to] = at
    width = RUN
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            if middle == high or values[order[middle - 1]] <= values[order[middle]]:
                for at in range(low, high):
                    spare[at] = order[at]
                continue
            a, b = low, middle
            for at in range(low, high):
                if a < middle and (b >= high or values[order[a]] <= values[order[b]]):
                    spare[at] = order[a]
                    a += 1
                else:
                    spare[at] = order[b]
                    b += 1
        for at in range(n):
            order[at] = spare[at]
        width *= 2


@allocating
def order_of(values):
    """Return the places of `values` in ascending order; equal values keep their order (a stable argsort)."""
    order = np.empty(values.size, np.int64)
    sort_stably(values, order, np.empty(values.size, np.int64))
    return order


@allocating
def order_of_codes(codes):
    """Return the places of integers in ascending order, as `order_of` does; close ones are sorted by counting."""
    n = codes.size
    low = high = codes[0] if n > 0 else 0
    for code in codes:
        low, high = min(low, code), max(high, code)
    if high - low > CLOSE * n:
        return order_of(codes)
    place, order = np.zeros(high - low + 2, np.int64), np.empty(n, np.int64)
    for code in codes:
        place[code - low + 1] += 1
    for at in range(1, place.size):
        place[at] += place[at - 1]
    for i in range(n):
        order[place[codes[i] - low]] = i
        place[codes[i] - low] += 1
    return order


@allocating
def taken(values, places):
    """Return a new array of the values at some places."""
    found = np.empty(places.size, values.dtype)
    for at in range(places.size):
        found[at] = values[places[at]]
    return found


@allocating
def taken_rows(rows, places):
    """Return a new array of the rows at some places."""
    found = np.empty((places.size, rows.shape[1]), rows.dtype)
    for at in range(places.size):
        for j in range(rows.shape[1]):
            found[at, j] = rows[places[at], j]
    return found


@allocating
def taken_columns(rows, places):
    """Return the rows at some places, turned so that each column becomes a row of the new array."""
    columns = np.empty((rows.shape[1], places.size), rows.dtype)
    for at in range(places.size):
        for j in range(rows.shape[1]):
            columns[j, at] = rows[places[at], j]
    return columns


@inner
def sink(values, at, size):
    """Restore the max-heap of the first `size` values after the one at place `at` was replaced (sift down)."""
    number = values[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and values[child + 1] > values[child]:
            child += 1
        if values[child] <= number:
            break
        values[at] = values[child]
        at = child
    values[at] = number


@inner
def sort_numbers(values):
    """Sort integers in place: by insertion where they are few, otherwise by heapsort."""
    n = values.size
    if n <= SHORT:
        for end in range(1, n):
            number, at = values[end], end
            while at > 0 and values[at - 1] > number:
                values[at] = values[at - 1]
                at -= 1
            values[at] = number
        return
    for at in range(n // 2 - 1, -1, -1):
        sink(values, at, n)
    for last in range(n - 1, 0, -1):
        values[0], values[last] = values[last], values[0]
        sink(values, 0, last)


@inner
def least_at(values, begin, end):
    """Return the first place of the least of values[begin:end]."""
    best, least = begin, values[begin]
    for at in range(begin + 1, end):
        if values[at] < least:
            best, least = at, values[at]
    return best


@inner
def largest_at(values, begin, end):
    """Return the first place of the largest of values[begin:end]."""
    best, largest = begin, values[begin]
    for at in range(begin + 1, end):
        if values[at] > largest:
            best, largest = at, values[at]
    return best


@inner
def copy_column(source, i, target, j):
    """Copy column i of an array to column j of another one, or of the same, that has as many rows."""
    for row in range(source.shape[0]):
        target[row, j] = source[row, i]


@inner
def equal_columns(first, i, second, j):
    """Return whether column i of an array equals column j of another one that has as many rows."""
    for row in range(first.shape[0]):
        if first[row, i] != second[row, j]:
            return False
    return True
