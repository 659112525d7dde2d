"""Unite groups of records dealt out at random that miss a limit with others, until no group misses one."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import kernel
from shoal.kernels.shared.rules import shortfall


@kernel
def unite_offenders(q, groups, tally, sizes, tries, rng):
    """Unite groups that miss a limit other than k with others until none does, in place; return how many missed one.

    Each is united with one of `tries` random groups: the one for which the union comes closest to the limits, the
    smallest among equals. Two groups that lack the same values still miss the limit together, but a group with
    enough of them is soon found. `tally` (int[groups, values]) and `sizes` are changed as well.
    """
    count = sizes.size
    into = np.empty(count, np.int64)  # the group into which each was united
    present = np.empty(count, np.int64)  # present[:left] are the groups that still exist
    place = np.empty(count, np.int64)
    for g in range(count):
        into[g] = present[g] = place[g] = g
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
                for v in range(united.size):
                    united[v] = tally[a, v] + tally[b, v]
                lack = shortfall(q, united, sizes[a] + sizes[b])
                if lack < least or (lack == least and sizes[b] < sizes[best]):
                    best, least = b, lack
            if best < 0:
                continue
            for v in range(united.size):
                tally[a, v] += tally[best, v]
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
