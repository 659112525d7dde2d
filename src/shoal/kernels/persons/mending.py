"""Groups that have too few persons, or too little variety among them, are united with others or handed out."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import allocating, inner, kernel
from shoal.kernels.persons.counting import keeps
from shoal.kernels.shared.rows import totals_with_group, totals_with_record
from shoal.kernels.shared.state import add, close, members_of, merge, unlink

EPSILON = 1e-9  # costs that differ by less than this count as equal


@inner
def closest(x, w, g, row, scratch):
    """Return the closest group whose union with g complies, −1 for none, the cost that this adds, and the closest."""
    s = x.s
    totals_with_group(x.c, x.pairs, s.closures, s.counts, s.size.size, g, row, scratch)
    best, least, nearest, nearby = -1, np.inf, -1, np.inf
    for h in range(s.size.size):
        more = row[h] - s.cost[h] - s.cost[g]
        if h == g or s.size[h] == 0:
            continue
        if more < nearby - EPSILON:
            nearest, nearby = h, more
        if more < least - EPSILON and keeps(x.q, w, s, h, g, -1, -1):
            best, least = h, more
    return best, least, nearest


@inner
def best_place(x, w, complying, i, row, scratch):
    """Return the complying group that still complies with record i at least cost, −1 for none, and the cost added."""
    s = x.s
    totals_with_record(
        x.c, x.pairs, s.closures, s.counts, s.size.size, x.codes[i], x.classes[i], row, scratch
    )
    best, least = -1, np.inf
    for h in range(s.size.size):
        more = row[h] - s.cost[h]
        if complying[h] and more < least - EPSILON:
            if w.total.size == 0 or keeps(x.q, w, s, h, -1, -1, i):
                best, least = h, more
    return best, least


@allocating
def hand_out(x, w, complying, g, row, scratch):
    """Move the records of group g, one after the other, to their best places; those without one stay."""
    s = x.s
    for i in members_of(s, g):
        h, _ = best_place(x, w, complying, i, row, scratch)
        if h >= 0:
            unlink(s, i)
            s.counts[x.classes[i], g] -= 1.0
            add(x.c, s, x.codes, x.classes, i, h)
    close(x.c, s, x.codes, g)


@kernel
def mend_persons(x, w, groups, may_hand_out):
    """Mend each of `groups` that does not comply: by the union that costs least, or by handing out its records.

    Handing out is estimated as the sum of what each record would add if it were the only one. Where no union complies,
    the closest group is taken: in the end there is one group.
    """
    s = x.s
    row, scratch = np.empty(s.size.size), np.empty(s.size.size)
    complying = np.zeros(s.size.size, np.bool_)
    for g in range(s.size.size):
        complying[g] = s.size[g] > 0 and keeps(x.q, w, s, g, -1, -1, -1)
    for g in groups:
        if s.size[g] == 0 or complying[g]:
            continue
        best, more, nearest = closest(x, w, g, row, scratch)
        apart = -s.cost[g] if may_hand_out else np.inf
        if may_hand_out:
            for i in members_of(s, g):
                apart += best_place(x, w, complying, i, row, scratch)[1]
                if apart >= more - EPSILON:
                    break
        if apart < more - EPSILON:
            hand_out(x, w, complying, g, row, scratch)
            complying[g] = s.size[g] > 0 and keeps(x.q, w, s, g, -1, -1, -1)
            continue
        partner = best if best >= 0 else nearest
        if partner >= 0:
            merge(x.c, s, partner, g)
            complying[partner] = keeps(x.q, w, s, partner, -1, -1, -1)
