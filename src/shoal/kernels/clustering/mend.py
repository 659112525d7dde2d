"""Groups that do not meet the requirement are united with others, or handed out, at least cost."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.groups import totals_with_group, totals_with_record
from shoal.kernels.shared.rules import complies, shortfall
from shoal.kernels.shared.state import (
    add,
    close,
    group_complies,
    members_of,
    merge,
    stays_diverse_with,
    unlink,
)

EPSILON = 1e-9  # costs that differ by less than this count as equal


@allocating
def closest_partner(c, pairs, q, s, g, row, scratch):
    """Return the closest group whose union with g meets the requirement, −1 for none, and the cost that this adds."""
    totals_with_group(c, pairs, s.closures, s.counts, s.size.size, g, row, scratch)
    best, least = -1, np.inf
    united = np.empty(s.tally.shape[1], np.int32)
    for h in range(s.size.size):
        more = row[h] - s.cost[h] - s.cost[g]
        if h == g or s.size[h] == 0 or more >= least - EPSILON:
            continue
        for v in range(united.size):
            united[v] = s.tally[h, v] + s.tally[g, v]
        if complies(q, united, s.size[h] + s.size[g]):
            best, least = h, more
    return best, least


@inner
def best_place(c, pairs, q, s, complying, codes, classes, i, row, scratch):
    """Return the complying group that still complies with record i at least cost, −1 for none, and the cost added."""
    totals_with_record(
        c, pairs, s.closures, s.counts, s.size.size, codes[i], classes[i], row, scratch
    )
    best, least = -1, np.inf
    for h in range(s.size.size):
        more = row[h] - s.cost[h]
        if complying[h] and more < least - EPSILON and stays_diverse_with(q, s, i, h):
            best, least = h, more
    return best, least


@allocating
def hand_out(c, pairs, q, s, complying, codes, classes, g, row, scratch):
    """Move the records of group g, one after the other, to their best places; those without one stay."""
    for i in members_of(s, g):
        h, _ = best_place(c, pairs, q, s, complying, codes, classes, i, row, scratch)
        if h >= 0:
            unlink(s, i)
            s.counts[classes[i], g] -= 1.0
            add(c, s, codes, classes, i, h)
    close(c, s, codes, g)


@allocating
def mend_group(c, pairs, q, s, complying, codes, classes, g, row, scratch):
    """Merge an offending group with its closest partner or hand out its records, whichever is estimated to cost less.

    The cost of handing out is estimated as the sum of what each record would add to its best place if it were the
    only one. Returns whether anything could be done.
    """
    partner, more = closest_partner(c, pairs, q, s, g, row, scratch)
    apart = -s.cost[g]
    for i in members_of(s, g):
        apart += best_place(c, pairs, q, s, complying, codes, classes, i, row, scratch)[1]
        if apart >= more - EPSILON:
            break
    if apart < more - EPSILON:
        hand_out(c, pairs, q, s, complying, codes, classes, g, row, scratch)
        return True
    if partner >= 0:
        merge(c, s, partner, g)
        complying[partner] = True
    return partner >= 0


@kernel
def mend_groups(c, pairs, q, s, codes, classes, groups):
    """Mend each of `groups` that still does not comply; return how many could be mended."""
    row, scratch = np.empty(s.size.size), np.empty(s.size.size)
    complying = np.zeros(s.size.size, np.bool_)
    for g in range(s.size.size):
        complying[g] = s.size[g] > 0 and group_complies(q, s, g)
    mended = 0
    for g in groups:
        if s.size[g] > 0 and not complying[g]:
            mended += mend_group(c, pairs, q, s, complying, codes, classes, g, row, scratch)
    return mended


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
