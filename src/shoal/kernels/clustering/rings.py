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
