"""Groups of records dealt out at random that miss a limit go together with others until none does."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import kernel
from shoal.kernels.shared.rules import shortfall


@kernel
def unite_offenders(q, groups, tally, sizes, tries, rng):
    """Unite groups that miss a limit other than k with others until none is left, in place; returns their number.

    Each goes with that of a few random groups (`tries`) whose union is closest to the limits, the smallest of
    equals: two groups that lack the same stay wrong together, and one that has it to spare is soon found.
    """
    count = sizes.size
    into = np.arange(count)  # where a group's records are now; present ones come first in `present`
    present = np.arange(count)
    place = np.arange(count)
    left = count
    united = np.empty(tally.shape[1], tally.dtype)
    found = 0
    for a in range(count):
        first = True
        while into[a] == a and left > 1 and shortfall(q, tally[a], sizes[a]) > 0.0:
            found += first
            first = False
            best, least = -1, np.inf
            for _ in range(min(tries, 4 * left)):
                b = present[int(rng.random() * left)]
                if b == a:
                    continue
                united[:] = tally[a] + tally[b]
                lack = shortfall(q, united, sizes[a] + sizes[b])
                if lack < least or (lack == least and sizes[b] < sizes[best]):
                    best, least = b, lack
            if best < 0:
                continue
            tally[a] += tally[best]
            sizes[a] += sizes[best]
            into[best] = a
            left -= 1
            last = present[left]
            present[place[best]], place[last] = last, place[best]
    for g in range(count):
        root = g
        while into[root] != root:
            root = into[root]
        into[g] = root
    for i in range(groups.size):
        groups[i] = into[groups[i]]
    return found
