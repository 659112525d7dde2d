"""Ring generalization: a random assignment of windows of a ring to records (Wong et al. 2010)."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import kernel


@kernel
def draw_matching(size, k, rng):
    """Draw a random matching of the windows to the places of a ring; returns the window of each place.

    Window b covers the places b … b + k − 1 modulo `size`, so every place suits k windows and every window k
    places. The matching starts from a cyclic shift, and windows are then exchanged along random alternating cycles.
    """
    shift = rng.integers(0, k)
    window, holder = np.empty(size, np.int64), np.empty(size, np.int64)
    for p in range(size):
        window[p] = (p - shift) % size
        holder[window[p]] = p
    longest = 16 * k
    places, given = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for _ in range(size):
        p = rng.integers(0, size)
        free, steps = window[p], 0
        while steps < longest:
            places[steps], given[steps] = p, window[p]
            steps += 1
            wanted = (p - rng.integers(0, k)) % size
            if wanted == free:
                break
            window[p] = wanted
            p, holder[wanted] = holder[wanted], p
        if steps < longest or wanted == free:
            window[p], holder[free] = free, p
        else:  # the cycle got too long: all exchanges are undone
            holder[wanted] = p
            for step in range(steps - 1, -1, -1):
                window[places[step]] = given[step]
                holder[given[step]] = places[step]
    return window
