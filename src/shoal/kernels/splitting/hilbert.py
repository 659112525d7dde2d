"""The Hilbert index, the best cut of an order into runs (GT10 §6.2.3), and windows of a ring (Wong et al. 2010)."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.arrays import copy_column, equal_columns
from shoal.kernels.shared.forms import closure_cost, open_closure, widen_closure

WORD = 62  # bits of an index per int64 word, so that words stay positive


@inner
def follow_curve(point, bits):
    """Turn coordinates into the Hilbert index in place; the bits of the index are dealt over the coordinates in turn.

    From the largest box down (Skilling 2004), each half of a box is reflected, or its axes are swapped, so that the
    curve inside starts where the last box ended; the boxes are then numbered by Gray code.
    """
    for level in range(bits - 1, 0, -1):
        half, below = 1 << level, (1 << level) - 1
        for j in range(point.size):
            if point[j] & half:
                point[0] ^= below
            else:
                swapped = (point[0] ^ point[j]) & below
                point[0] ^= swapped
                point[j] ^= swapped
    for j in range(1, point.size):
        point[j] ^= point[j - 1]
    turned = 0
    for level in range(bits - 1, 0, -1):
        if point[-1] >> level & 1:
            turned ^= (1 << level) - 1
    for j in range(point.size):
        point[j] ^= turned


@kernel
def hilbert_words(points, bits):
    """Return the Hilbert index of each row of int64 coordinates below 2^bits: int64[words, points], high word first."""
    n, r = points.shape
    words = np.zeros((-(-r * bits // WORD), n), np.int64)
    for i in range(n):
        point = points[i].copy()
        follow_curve(point, bits)
        place = 0
        for level in range(bits - 1, -1, -1):
            for j in range(r):
                word = place // WORD
                words[word, i] = words[word, i] << 1 | (point[j] >> level & 1)
                place += 1
    return words


@kernel
def cut_order(c, codes, classes, k, spare, first, last, least, run):
    """Find the cheapest cuts of the first `end` records, for end = first … last − 1, into runs of k … 2k − 1 records.

    least[end] is what the first `end` records cost, infinite if they cannot be cut. run[end] is the size of their
    last run, the shortest of those that cost least, or 0 if the last record is left out of all runs, which costs
    spare[end − 1]. Entries below `first` must be filled already (dynamic programming).
    """
    closure = np.empty((c.slot[-1], 1), np.int32)
    priced = np.full((c.slot[-1], 1), -1, np.int32)  # the closure that `prices` are for
    prices, counts = np.zeros(c.cost.shape[0]), np.zeros(c.cost.shape[0])
    for end in range(first, last):
        least[end], run[end] = least[end - 1] + spare[end - 1], 0
        counts[:] = 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            i = end - size
            if size == 1:
                open_closure(c, closure, 0, codes[i])
            else:
                widen_closure(c, closure, 0, codes[i])
            counts[classes[i]] += 1.0
            if size < k or least[i] == np.inf:
                continue
            if not equal_columns(closure, 0, priced, 0):
                copy_column(closure, 0, priced, 0)
                for y in range(prices.size):
                    prices[y] = closure_cost(c, y, closure, 0)
            total = least[i]
            for y in range(prices.size):
                if counts[y] > 0.0:
                    total += counts[y] * prices[y]
            if total < least[end]:
                least[end], run[end] = total, size


@kernel
def draw_matching(size, k, rng):
    """Draw a random matching of the windows to the places of a ring; returns the window of each place.

    Window b covers the places b … b + k − 1 modulo `size`, so every place suits k windows and every window k
    places. The matching starts from a cyclic shift, and windows are then exchanged along random alternating cycles.
    """
    shift = rng.integers(0, k)
    window, holder = np.empty(size, np.int64), np.empty(size, np.int64)
    for place in range(size):
        window[place] = (place - shift) % size
        holder[window[place]] = place
    longest = 16 * k
    places, given = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for _ in range(size):
        place = rng.integers(0, size)
        free, steps = window[place], 0
        while steps < longest:
            places[steps], given[steps] = place, window[place]
            steps += 1
            wanted = (place - rng.integers(0, k)) % size
            if wanted == free:
                break
            window[place] = wanted
            place, holder[wanted] = holder[wanted], place
        if steps < longest or wanted == free:
            window[place], holder[free] = free, place
        else:  # the cycle got too long: all exchanges are undone
            holder[wanted] = place
            for step in range(steps - 1, -1, -1):
                window[places[step]] = given[step]
                holder[given[step]] = places[step]
    return window
