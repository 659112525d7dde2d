"""Whether a group keeps its requirement when persons are counted in place of records.

A person counts once in a group, and once for every sensitive value that they have there. Counting goes through the
members of a group; what was met already is stamped, so that nothing has to be cleared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.rules import EPSILON, distance_of, entropy_of, is_recursive

CLOCK, HEADS, MEMBERS, ASKED = 0, 1, 2, 3  # indices of the counters in Crowd.number


@bundle
class Crowd(NamedTuple):
    """Who each record belongs to, and room to count a group.

    number[CLOCK] is the stamp of the group that is counted, number[HEADS] its persons so far, number[MEMBERS] its
    records, number[ASKED] the stamp of the search for a matching.
    """

    person: np.ndarray  # int64[n], the person of each record
    values: np.ndarray  # int32[n, tallies], the sensitive value of each record in each tally
    pair: np.ndarray  # int64[n, tallies], a number for person and value together
    number: np.ndarray  # int64[4]
    seen: np.ndarray  # int64[persons], the stamp of the last group in which they were met
    had: np.ndarray  # int64[pairs], the same for a person with a value
    members: np.ndarray  # int64[n], the records of the group
    counts: np.ndarray  # int64[values], the persons who have each value
    total: np.ndarray  # int64[tallies], the sum of these counts
    asked: np.ndarray  # int64[persons], the stamp of the last search that asked them
    via: np.ndarray  # int64[persons], the value that asked them
    partner: np.ndarray  # int64[persons], the value that they stand for, −1 for none
    owner: np.ndarray  # int64[values], the person who stands for each
    queue: np.ndarray  # int64[values + 1]


def make_crowd(person, values, pair, persons, pairs, tallied):
    """Make room to count the groups of so many persons, pairs of person and value, and values."""
    return Crowd(
        person=person,
        values=values,
        pair=pair,
        number=np.zeros(4, np.int64),
        seen=np.zeros(persons, np.int64),
        had=np.zeros(pairs, np.int64),
        members=np.zeros(person.size, np.int64),
        counts=np.zeros(tallied, np.int64),
        total=np.zeros(values.shape[1], np.int64),
        asked=np.zeros(persons, np.int64),
        via=np.zeros(persons, np.int64),
        partner=np.zeros(persons, np.int64),
        owner=np.zeros(tallied, np.int64),
        queue=np.zeros(tallied + 1, np.int64),
    )


@inner
def begin_group(w):
    """Begin to count a group."""
    w.number[CLOCK] += 1
    w.number[HEADS] = 0
    w.number[MEMBERS] = 0
    for v in range(w.counts.size):
        w.counts[v] = 0
    for t in range(w.total.size):
        w.total[t] = 0


@inner
def count_member(w, i):
    """Count record i as a member."""
    clock, p = w.number[CLOCK], w.person[i]
    w.members[w.number[MEMBERS]] = i
    w.number[MEMBERS] += 1
    if w.seen[p] != clock:
        w.seen[p] = clock
        w.number[HEADS] += 1
    for t in range(w.total.size):
        if w.had[w.pair[i, t]] != clock:
            w.had[w.pair[i, t]] = clock
            w.counts[w.values[i, t]] += 1
            w.total[t] += 1


@inner
def count_group(w, s, g, without):
    """Count the members of group g, except record `without`."""
    m = s.head[g]
    while m >= 0:
        if m != without:
            count_member(w, m)
        m = s.after[m]


@inner
def find_person(w, t, v):
    """Find a person for value v of tally t, moving others to other values of theirs; return whether there is one."""
    w.number[ASKED] += 1
    w.queue[0] = v
    first, last = 0, 1
    while first < last:
        u = w.queue[first]
        first += 1
        for at in range(w.number[MEMBERS]):
            i = w.members[at]
            p = w.person[i]
            if w.values[i, t] != u or w.asked[p] == w.number[ASKED]:
                continue
            w.asked[p] = w.number[ASKED]
            w.via[p] = u
            if w.partner[p] >= 0:
                w.queue[last] = w.partner[p]
                last += 1
                continue
            while u != v:  # go back, giving each value on the way its new person
                before = w.owner[u]
                w.partner[p], w.owner[u] = u, p
                p, u = before, w.via[before]
            w.partner[p], w.owner[u] = u, p
            return True
    return False


@inner
def are_different(q, w, t):
    """Return whether as many different persons as tally t needs have as many different values."""
    for at in range(w.number[MEMBERS]):
        w.partner[w.person[w.members[at]]] = -1
    found = 0
    for v in range(q.start[t], q.start[t + 1]):
        if w.counts[v] > 0 and find_person(w, t, v):
            found += 1
            if found >= q.distinct[t]:
                return True
    return False


@inner
def suffices(q, w):
    """Return whether the group that was counted keeps the requirement."""
    heads = w.number[HEADS]
    if heads < q.k:
        return False
    for t in range(w.total.size):
        if q.capped[t]:
            for v in range(q.start[t], q.start[t + 1]):
                if w.counts[v] > q.cap[v] * heads + EPSILON:
                    return False
        if q.distinct[t] > 1 and not are_different(q, w, t):
            return False
        if q.entropy[t] > 0.0 and entropy_of(q, t, w.counts, w.total[t]) < q.entropy[t] - EPSILON:
            return False
        if q.depth[t] > 0 and not is_recursive(q, t, w.counts):
            return False
        if q.distance[t] < np.inf:
            if distance_of(q, t, w.counts, w.total[t]) > q.distance[t] + EPSILON:
                return False
    return True


@inner
def keeps(q, w, s, g, other, without, extra):
    """Return whether group g, united with group `other`, less record `without`, plus record `extra`, would comply.

    Each of the last three is −1 for none.
    """
    begin_group(w)
    count_group(w, s, g, without)
    if other >= 0:
        count_group(w, s, other, without)
    if extra >= 0:
        count_member(w, extra)
    return suffices(q, w)


@kernel
def subsets_comply(q, w, records):
    """Return whether each subset of the first few records, a bit mask, complies as one group: bool[2ⁿ]."""
    found = np.zeros(1 << records, np.bool_)
    for subset in range(1, found.size):
        begin_group(w)
        for i in range(records):
            if subset >> i & 1:
                count_member(w, i)
        found[subset] = suffices(q, w)
    return found


@kernel
def complying_groups(q, w, order, bounds):
    """Return whether the groups order[bounds[g]:bounds[g + 1]] comply, and the persons in each."""
    found = np.zeros(bounds.size - 1, np.bool_)
    heads = np.zeros(bounds.size - 1, np.int64)
    for g in range(found.size):
        begin_group(w)
        for at in range(bounds[g], bounds[g + 1]):
            count_member(w, order[at])
        found[g] = suffices(q, w)
        heads[g] = w.number[HEADS]
    return found, heads


@kernel
def missing_groups(q, w, s):
    """Return which groups have members and do not comply: bool[groups]."""
    found = np.zeros(s.size.size, np.bool_)
    for g in range(s.size.size):
        found[g] = s.size[g] > 0 and not keeps(q, w, s, g, -1, -1, -1)
    return found
