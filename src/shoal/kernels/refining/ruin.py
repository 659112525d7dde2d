"""Ruin and recreate (large neighbourhood search): unite a few neighbouring groups and carve them anew."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, kernel
from shoal.kernels.refining.carving import carve_at
from shoal.kernels.refining.carving_cells import LatticeCells, price_rare
from shoal.kernels.refining.neighbourhoods import dissolve
from shoal.kernels.refining.search import GAIN, finish, keep_if_better, reprice, undo
from shoal.kernels.shared.arrays import least_at
from shoal.kernels.shared.groups import totals_with_record
from shoal.kernels.shared.state import close, link, members_of, merge, unlink


@allocating
def nearest_groups(x, i, number):
    """Return up to `number` groups to which record i adds least cost, its own group first."""
    s = x.s
    room = s.size.size
    added, scratch = np.empty(room), np.empty(room)
    totals_with_record(
        x.c, x.pairs, s.closures, s.counts, room, x.codes[i], x.classes[i], added, scratch
    )
    for g in range(room):
        added[g] = added[g] - s.cost[g] if s.size[g] > 0 else np.inf
    added[s.group[i]] = -np.inf
    found = np.empty(number, np.int64)
    for at in range(number):
        found[at] = least_at(added, 0, room)
        if added[found[at]] == np.inf:
            return found[:at]
        added[found[at]] = np.inf
    return found


@allocating
def cells_of(x, lattice, pool):
    """Return the cells of the lattice for a few records alone, each of which counts as a point.

    Cells with fewer than k of these records are priced out.
    """
    keys = np.empty((lattice.keys.shape[0], pool.size), lattice.keys.dtype)
    costs = np.empty((lattice.keys.shape[0], pool.size), lattice.costs.dtype)
    for at in range(pool.size):
        p = lattice.column[pool[at]]
        for row in range(keys.shape[0]):
            keys[row, at] = lattice.keys[row, p]
            costs[row, at] = lattice.costs[row, p]
    weights, records = np.empty(pool.size, np.int32), np.empty(pool.size, np.int32)
    first = np.empty(pool.size + 1, np.int64)
    first[0] = 0
    for at in range(pool.size):
        weights[at], records[at], first[at + 1] = 1, pool[at], at + 1
    price_rare(keys, costs, weights, x.q.k)
    least = np.empty(keys.shape[0], np.float32)
    for row in range(keys.shape[0]):
        least[row] = costs[row, least_at(costs[row], 0, pool.size)]
    return LatticeCells(
        keys=keys,
        costs=costs,
        least=least,
        first=first,
        records=records,
        column=lattice.column,
        top=np.zeros(pool.size),
        best=np.zeros(pool.size),
        at=np.zeros(pool.size, np.float32),
        key=np.zeros(pool.size, np.uint64),
        scratch=lattice.scratch,
    )


@allocating
def put_back(x, groups):
    """Return to an earlier partition, given as the group of each record."""
    s = x.s
    changed = np.zeros(s.size.size, np.bool_)
    for i in range(groups.size):
        if s.group[i] != groups[i]:
            changed[s.group[i]] = changed[groups[i]] = True
            s.counts[x.classes[i], s.group[i]] -= 1.0
            unlink(s, i)
            link(s, i, groups[i])
            s.counts[x.classes[i], groups[i]] += 1.0
    for g in range(changed.size):
        if changed[g]:
            close(x.c, s, x.codes, g)
            if s.size[g] > 0:
                reprice(x, g)


@allocating
def records_of(s, groups):
    """Return the records of some groups, group by group."""
    size = 0
    for g in groups:
        size += s.size[g]
    found, at = np.empty(size, np.int64), 0
    for g in groups:
        for i in members_of(s, g):
            found[at] = i
            at += 1
    return found


@allocating
def ruin(x, lattice, reach, steps, record, near, united):
    """Unite the first `united` of the `near` groups closest to a record and carve new groups out of all `near` ones.

    Records of the united group that no new group takes go where they add least cost. If the partition got more
    expensive, the earlier one is restored. Returns what was gained.
    """
    s = x.s
    groups = nearest_groups(x, record, near)
    if groups.size < 2:
        return 0.0
    earlier, before = s.group.copy(), 0.0
    for g in range(s.size.size):
        before += s.cost[g] if s.size[g] > 0 else 0.0
    pool = records_of(s, groups)
    whole = groups[0]
    for g in groups[1:united]:
        merge(x.c, s, whole, g)
    reprice(x, whole)
    carve_at(x, cells_of(x, lattice, pool), reach, steps)
    added, scratch = np.empty(s.size.size), np.empty(s.size.size)
    if dissolve(x, whole, added, scratch):
        keep_if_better(x)
    else:
        finish(x)
        undo(x)
    after = 0.0
    for g in range(s.size.size):
        after += s.cost[g] if s.size[g] > 0 else 0.0
    if after <= before + GAIN:
        return before - after
    put_back(x, earlier)
    return 0.0


@kernel
def ruin_all(x, lattice, reach, steps, records, near, united):
    """Ruin around each of some records; return what was gained in all."""
    gained = 0.0
    for at in range(records.size):
        gained += ruin(x, lattice, reach, steps, records[at], near[at], united[at])
    return gained
