"""What it would cost to make a group of the records that want into a cell, before any of them moves."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import allocating, inner
from shoal.kernels.refining.carving_cells import HERE, LOOKED, TAKEN
from shoal.kernels.refining.chains import is_open
from shoal.kernels.refining.search import may_exchange
from shoal.kernels.shared.rules import lacking, lacking_with
from shoal.kernels.shared.state import stays_diverse_without


@inner
def look_at(x, buffers, g):
    """Set what group g can spare and what dissolving it would gain, unless that was done for the cell at hand."""
    if buffers.looked[g] != buffers.number[LOOKED]:
        buffers.looked[g] = buffers.number[LOOKED]
        buffers.spare[g] = max(0, x.s.size[g] - x.q.k)
        buffers.worth[g] = x.rest[g]


@inner
def has_supply(x, buffers, reach, i):
    """Return whether the group of record i can still be supplied along its stored chain; if so, mark that as used up.

    The record that comes must be able to take the place of i.
    """
    g = x.s.group[i]
    source = reach.source[g]
    look_at(x, buffers, source)
    if buffers.spare[source] <= 0 or source == g or not is_open(x, reach, g):
        return False
    if not may_exchange(x, g, i, reach.via[g]):
        return False
    to = g
    while to != source:
        if reach.spent[to] == buffers.number[LOOKED]:
            return False
        to = reach.origin[to]
    while g != source:
        reach.spent[g] = buffers.number[LOOKED]
        g = reach.origin[g]
    buffers.spare[source] -= 1
    return True


@inner
def price_of_padding(x, buffers, reach, padding, need, most):
    """Return the estimated cost of adding `need` records of `padding`; infinite if it exceeds `most` first.

    The records are tried in order; those whose groups cannot spare them are skipped.
    """
    cost = 0.0
    for i in padding:
        if need == 0 or cost >= most:
            break
        g = x.s.group[i]
        look_at(x, buffers, g)
        if buffers.spare[g] > 0 and stays_diverse_without(x.q, x.s, i):
            buffers.spare[g] -= 1
            cost += buffers.here[i] - x.price[i]
            need -= 1
        elif reach.value[g] > -np.inf and has_supply(x, buffers, reach, i):
            cost += buffers.here[i] - reach.value[g]
            need -= 1
    return cost if need <= 0 else np.inf


@allocating
def price_of_diversity(x, buffers, reach, wants, padding, most):
    """Return the estimated cost of making the TAKEN records a group that complies; infinite if it exceeds `most` first.

    Records of `padding` that bring it closer are added in order. If that does not suffice, TAKEN records of the value
    that is most in excess are left where they are, those that gain least first.
    """
    counts, size, cost = np.zeros(x.s.tally.shape[1], np.int32), 0, 0.0
    for i in wants:
        if buffers.place[i] == TAKEN:
            size += 1
            for t in range(x.s.values.shape[1]):
                counts[x.s.values[i, t]] += 1
    lack = lacking(x.q, counts, max(1, size))
    kept = np.full(counts.size, -1.0)
    for i in padding:
        if lack <= 0.0 or cost >= most:
            break
        g = x.s.group[i]
        look_at(x, buffers, g)
        now = lacking_with(x.q, x.s.values, i, counts, size, kept)
        if now >= lack:
            continue
        if buffers.spare[g] > 0 and stays_diverse_without(x.q, x.s, i):
            buffers.spare[g] -= 1
            cost += buffers.here[i] - x.price[i]
        elif reach.value[g] > -np.inf and has_supply(x, buffers, reach, i):
            cost += buffers.here[i] - reach.value[g]
        else:
            continue
        lack, size = now, size + 1
        for t in range(x.s.values.shape[1]):
            counts[x.s.values[i, t]] += 1
        kept[:] = -1.0
    at = wants.size - 1
    while lack > 0.0 and cost < most and size > x.q.k and at >= 0:
        i = wants[at]
        at -= 1
        if buffers.place[i] != TAKEN or not is_in_excess(x, i, counts, size):
            continue
        buffers.place[i] = HERE
        cost += x.price[i] - buffers.here[i]
        size -= 1
        for t in range(x.s.values.shape[1]):
            counts[x.s.values[i, t]] -= 1
        lack = lacking(x.q, counts, size)
    return cost if lack <= 0.0 else np.inf


@inner
def is_in_excess(x, i, counts, size):
    """Return whether a group with these counts has no value, in some tally, further above its share than record i's."""
    for t in range(x.s.values.shape[1]):
        near = x.q.distance[t] < np.inf  # then frequent values may be frequent
        own = x.s.values[i, t]
        extra = counts[own] / size - (x.q.share[own] if near else 0.0)
        for v in range(x.q.start[t], x.q.start[t + 1]):
            if counts[v] / size - (x.q.share[v] if near else 0.0) > extra:
                return False
    return True
