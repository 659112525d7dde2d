"""Groups of a series: people of the same value change places, and near groups are made anew."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.refining.neighbourhoods import change_of_swap, price_swaps
from shoal.kernels.refining.search import GAIN, free_group, keep_if_better, touch, transfer
from shoal.kernels.shared.arrays import least_at, taken, taken_columns
from shoal.kernels.shared.forms import open_closure, total_cost, widen_closure
from shoal.kernels.shared.groups import totals_with_each, totals_with_group, totals_with_record
from shoal.kernels.shared.state import members_of


@kernel
def exchange_people(x, people, near, value, signature, is_new, holds):
    """Exchange each of `people` with the best of a near group, if that lowers the cost; return the exchanges.

    Who changes places has the same sensitive value. Between groups of one signature everybody may change places,
    between others only two newcomers may, who then change signatures, too. `signature` is that of each person and
    is kept up to date; `holds` says which values each signature has.
    """
    room = x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    closure = np.empty((x.s.closures.shape[0], 1), np.int32)
    counts = np.empty((x.s.counts.shape[0], 1))
    exchanges = 0
    for i in people:
        own = x.s.group[i]
        if own < 0 or not price_swaps(x, i, added, scratch, closure, counts):
            continue
        for g in range(room):
            if added[g] < np.inf and not may_go(x, i, g, value, signature, is_new, holds):
                added[g] = np.inf
        for _ in range(near):
            g = least_at(added, 0, room)
            if added[g] == np.inf:
                break
            added[g] = np.inf
            partner = best_counterpart(x, i, g, value, signature, is_new)
            if partner >= 0:
                transfer(x, partner, own)
                transfer(x, i, g)
                if keep_if_better(x) > 0.0:
                    signature[i], signature[partner] = signature[partner], signature[i]
                    exchanges += 1
                    break
    return exchanges


@inner
def may_go(x, i, g, value, signature, is_new, holds):
    """Return whether somebody of group g may change places with person i, as far as signatures tell."""
    there = signature[x.s.head[g]]
    return there == signature[i] or (is_new[i] and holds[there, value[i]])


@allocating
def best_counterpart(x, i, g, value, signature, is_new):
    """Return the member of group g whose exchange with person i lowers the cost most, −1 if none does."""
    best, least = -1, -GAIN
    for partner in members_of(x.s, g):
        if value[partner] != value[i]:
            continue
        if signature[partner] != signature[i] and not (is_new[i] and is_new[partner]):
            continue
        change = change_of_swap(x, i, partner)
        if change < least:
            best, least = partner, change
    return best


@bundle
class PersonPool(NamedTuple):
    """People of one signature who are grouped anew, and the groups that they make."""

    columns: np.ndarray  # int32[r, people], the codes
    classes: np.ndarray  # int32[people]
    kind: np.ndarray  # int64[people], the place of their value in the signature
    place: np.ndarray  # int64[people], their new group, −1 for none
    closures: np.ndarray  # int32[slots, groups + 1] of the new groups, the last for trials
    counts: np.ndarray  # float64[classes, groups + 1]
    need: np.ndarray  # int64[values], how many people of each value the group under way needs
    out: np.ndarray  # float64[people], what it would cost with each of them
    scratch: np.ndarray  # float64[people]


@kernel
def regroup_near(x, groups, near, tries, value, signature, width):
    """Group the people of each of `groups` and of `near` others anew, where that gains; return how often it did.

    The others are those of the same signature with which a group costs least. `value` and `signature` are those of
    each person, `width` is the number of values of each signature. The first of the new groups begins with one of the
    first `tries` members of the old one; the best beginning counts.
    """
    room = x.s.size.size
    united, scratch = np.empty(room), np.empty(room)
    chosen = np.empty(near + 1, np.int64)
    gains = 0
    for g in groups:
        if x.s.size[g] == 0:
            continue
        taken = near_groups(x, g, near, signature, united, scratch, chosen)
        people = people_of(x, chosen[:taken])
        wide = width[signature[people[0]]]
        least = -(-x.q.k // wide)
        if people.size < 2 * least * wide:
            continue
        pool = make_person_pool(x, people, value, wide, people.size // wide // least)
        best = -GAIN
        for h in chosen[:taken]:
            best += x.s.cost[h]
        found = np.empty(0, np.int64)
        for first in range(min(tries, x.s.size[g])):
            cost = regroup_pool(x, pool, least, first)
            if cost < best:
                best, found = cost, pool.place.copy()
        if found.size > 0 and regroup_people(x, people, found, chosen[:taken]):
            gains += 1
    return gains


@inner
def near_groups(x, g, near, signature, united, scratch, chosen):
    """Fill `chosen` with group g and the groups of its signature with which it costs least; return their number."""
    s = x.s
    own = signature[s.head[g]]
    totals_with_group(x.c, x.pairs, s.closures, s.counts, united.size, g, united, scratch)
    for h in range(united.size):
        if h == g or s.size[h] == 0 or signature[s.head[h]] != own:
            united[h] = np.inf
        else:
            united[h] -= s.cost[h]
    chosen[0] = g
    taken = 1
    while taken <= near:
        h = least_at(united, 0, united.size)
        if united[h] == np.inf:
            break
        united[h] = np.inf
        chosen[taken] = h
        taken += 1
    return taken


@allocating
def people_of(x, groups):
    """Return the members of some groups, group after group."""
    total = 0
    for g in groups:
        total += x.s.size[g]
    found = np.empty(total, np.int64)
    at = 0
    for g in groups:
        for i in members_of(x.s, g):
            found[at] = i
            at += 1
    return found


@allocating
def make_person_pool(x, people, value, wide, groups):
    """Return people who are in no new group yet, with room for so many groups."""
    size, columns = people.size, taken_columns(x.codes, people)
    classes, kind = taken(x.classes, people), np.empty(people.size, np.int64)
    known = np.full(wide, -1, np.int64)
    for at in range(size):
        i = people[at]
        for place in range(wide):
            if known[place] < 0:
                known[place] = value[i]
            if known[place] == value[i]:
                kind[at] = place
                break
    return PersonPool(
        columns,
        classes,
        kind,
        np.full(size, -1, np.int64),
        np.empty((x.s.closures.shape[0], groups + 1), np.int32),
        np.zeros((x.s.counts.shape[0], groups + 1)),
        np.zeros(wide, np.int64),
        np.empty(size),
        np.empty(size),
    )


@allocating
def regroup_pool(x, pool, least, first):
    """Group a pool anew and return what all of it costs.

    A group begins with the person who is dearest beside the last one's beginner, and takes the cheapest person whose
    value it still needs, until it has `least` of each. Whole sets that are left, one person of each value, join the
    group where the first of them is cheapest.
    """
    groups = pool.counts.shape[1] - 1
    pool.place[:] = -1
    pool.counts[:] = 0.0
    beginner = first
    for g in range(groups):
        if g > 0:
            beginner = dearest_beside(x, pool, beginner)
        pool.need[:] = least
        join_group(x, pool, beginner, g)
        complete(x, pool, g)
    added, scratch = np.empty(groups), np.empty(groups)
    for at in range(pool.place.size):
        if pool.place[at] < 0:
            g = cheapest_group(x, pool, at, added, scratch)
            pool.need[:] = 1
            join_group(x, pool, at, g)
            complete(x, pool, g)
    cost = 0.0
    for g in range(groups):
        cost += total_cost(x.c, pool.closures, pool.counts, g)
    return cost


@inner
def join_group(x, pool, at, g):
    """Put a person into a new group."""
    empty = True
    for y in range(pool.counts.shape[0]):
        empty &= pool.counts[y, g] == 0.0
    if empty:
        open_closure(x.c, pool.closures, g, pool.columns[:, at])
    else:
        widen_closure(x.c, pool.closures, g, pool.columns[:, at])
    pool.counts[pool.classes[at], g] += 1.0
    pool.place[at] = g
    pool.need[pool.kind[at]] -= 1


@inner
def complete(x, pool, g):
    """Let the cheapest people of the values that a new group needs join it."""
    missing = 0
    for kind in range(pool.need.size):
        missing += pool.need[kind]
    for _ in range(missing):
        weigh_people(x, pool, g)
        best, least = -1, np.inf
        for at in range(pool.place.size):
            if pool.place[at] < 0 and pool.need[pool.kind[at]] > 0 and pool.out[at] < least:
                best, least = at, pool.out[at]
        join_group(x, pool, best, g)


@inner
def weigh_people(x, pool, g):
    """Fill `out` with what a new group would cost with each person of the pool."""
    totals_with_each(
        x.c,
        x.pairs,
        pool.columns,
        pool.classes,
        pool.place.size,
        pool.closures,
        pool.counts,
        g,
        pool.out,
        pool.scratch,
    )


@inner
def dearest_beside(x, pool, other):
    """Return the person without a group who costs most together with another person."""
    trial = pool.counts.shape[1] - 1
    open_closure(x.c, pool.closures, trial, pool.columns[:, other])
    pool.counts[pool.classes[other], trial] = 1.0
    weigh_people(x, pool, trial)
    pool.counts[pool.classes[other], trial] = 0.0
    best, most = -1, -np.inf
    for at in range(pool.place.size):
        if pool.place[at] < 0 and pool.out[at] > most:
            best, most = at, pool.out[at]
    return best


@inner
def cheapest_group(x, pool, at, added, scratch):
    """Return the new group to which a person adds least cost."""
    size = added.size
    totals_with_record(
        x.c,
        x.pairs,
        pool.closures,
        pool.counts,
        size,
        pool.columns[:, at],
        pool.classes[at],
        added,
        scratch,
    )
    for g in range(size):
        added[g] -= total_cost(x.c, pool.closures, pool.counts, g)
    return least_at(added, 0, size)


@allocating
def regroup_people(x, people, place, groups):
    """Move people of `groups` to new ones, which take their numbers and free ones; return whether that gained."""
    count = 0
    for g in place:
        count = max(count, g + 1)
    number = np.empty(count, np.int64)
    for g in range(count):
        number[g] = groups[g] if g < groups.size else free_group(x)
        if number[g] < 0:
            return False
        touch(x, number[g])
    for at in range(people.size):
        if x.s.group[people[at]] != number[place[at]]:
            transfer(x, people[at], number[place[at]])
    return keep_if_better(x) > 0.0
