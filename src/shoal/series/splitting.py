"""Groups inside a signature: cut again and again, each part with as many people of each value as of any other.

A cut sorts the people of each value by one quasi-identifier and gives the same number of each value to the lower part
(Xiao & Tao 2007, "split"). All parts are cut at once, each where it gains most.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.generalization.forms import Floats, Ints, Records, TreeForm
from shoal.kernels.shared.groups import group_costs
from shoal.problem import Problem
from shoal.progress import Progress

CUTS = (1 / 2, 1 / 3, 2 / 3, 1 / 4, 3 / 4)  # shares of a part that may become its lower part
FEW_VALUES = 10  # of a quasi-identifier: all bounds between them are tried


def split_people(
    problem: Problem, signature: Ints, width: Records, value: Ints, progress: Progress
) -> Ints:
    """A group for everybody who has a signature, −1 for the others.

    `width` is the number of values of each signature. A group holds people of one signature only.
    """
    groups = np.full(signature.size, -1, dtype=np.int32)
    people = np.flatnonzero(signature >= 0)
    used, place = np.unique(signature[people], return_inverse=True)
    wide: Records = width[used].astype(np.int64)
    part: Ints = place.reshape(-1).astype(np.int32)
    keys = [_order_of(problem, j)[problem.codes[people, j]] for j in range(len(problem.columns))]
    ties = np.argsort(np.lexsort(keys))
    rounds = 0
    while True:
        progress("grouping", rounds, rounds + 1)
        best = _best_cuts(problem, people, part, wide, value[people], keys, ties)
        if best is None:
            break
        part, wide = best
        rounds += 1
    groups[people] = part
    return groups


def cells_of(problem: Problem, people: Records, least: int) -> list[Ints]:
    """Nested cells of people who are near each other, the smallest first: numbers for all records, 0 for others.

    Cutting without regard to sensitive values makes them, as long as cells have `least` people on average.
    """
    part: Ints = np.zeros(people.size, dtype=np.int32)
    wide: Records = np.ones(1, dtype=np.int64)
    keys = [_order_of(problem, j)[problem.codes[people, j]] for j in range(len(problem.columns))]
    ties, alike = np.argsort(np.lexsort(keys)), np.zeros(people.size, dtype=np.int32)
    found: list[Ints] = []
    while people.size and part.size >= least * wide.size:
        cells = np.zeros(problem.table.records, dtype=np.int32)
        cells[people] = part
        found.append(cells)
        best = _best_cuts(problem, people, part, wide, alike, keys, ties)
        if best is None:
            break
        part, wide = best
    return found[::-1]


def _order_of(problem: Problem, j: int) -> Records:
    """A number for each code of a quasi-identifier such that codes near each other have near numbers."""
    form = problem.columns[j].form
    if not isinstance(form, TreeForm):
        return np.arange(form.size)
    paths = []
    for leaf in range(form.size):
        path, node = [leaf], leaf
        while form.parent[node] != node:
            node = int(form.parent[node])
            path.append(node)
        paths.append(tuple(reversed(path)))
    place = np.empty(form.size, dtype=np.int64)
    place[sorted(range(form.size), key=paths.__getitem__)] = np.arange(form.size)
    return place


def _costs(problem: Problem, people: Records, part: Ints) -> Floats:
    """What each part costs, all its people together."""
    groups = np.full(problem.table.records, -1, dtype=np.int32)
    groups[people] = part
    closures, counts = problem.closures(groups)
    return group_costs(problem.arrays, closures, counts).sum(axis=0)


def _best_cuts(
    problem: Problem,
    people: Records,
    part: Ints,
    wide: Records,
    value: Ints,
    keys: list[Records],
    ties: Records,
) -> tuple[Ints, Records] | None:
    """Cut every part that can be cut where that costs least; None where no part can be cut to advantage."""
    copies = np.bincount(part) // wide
    least = -(-problem.k // wide)
    if not (copies >= 2 * least).any():
        return None
    before = _costs(problem, people, part)
    cost, lower = before.copy(), np.zeros(people.size, dtype=np.bool_)
    can = copies >= 2 * least
    for key in keys:
        rank = rank_among(part, value, key, ties)
        for asked in _sizes(part, value, key, copies):
            size = np.clip(asked, least, copies - least)
            is_lower = can[part] & (rank < size[part])
            found = _costs(problem, people, 2 * part + ~is_lower)
            both = np.zeros(2 * copies.size)
            both[: found.size] = found
            after = both.reshape(-1, 2).sum(axis=1)
            better = can & (after < cost - 1e-12 * (1 + np.abs(cost)))
            cost = np.where(better, after, cost)
            lower = np.where(better[part], is_lower, lower)
    if not lower.any():
        return None
    names, fresh = np.unique(2 * part + lower, return_inverse=True)
    return fresh.reshape(-1).astype(np.int32), wide[names // 2]


def _sizes(part: Ints, value: Ints, key: Records, copies: Records) -> Iterator[Records]:
    """How many people of each value may become the lower part of each part, by a quasi-identifier.

    Beside some shares: as many as leave nobody above a bound in the lower part, or nobody below it in the upper one.
    """
    for share in CUTS:
        yield np.round(share * copies).astype(np.int64)
    bounds = np.unique(key)[:-1]
    if bounds.size >= FEW_VALUES:
        return
    pairs, pair = np.unique(part * (int(value.max()) + 1) + value, return_inverse=True)
    owner = pairs // (int(value.max()) + 1)
    start = np.searchsorted(owner, np.arange(copies.size))
    for bound in bounds:
        below = np.bincount(pair.reshape(-1), weights=key <= bound, minlength=pairs.size)
        yield np.minimum.reduceat(below, start).astype(np.int64)
        yield np.maximum.reduceat(below, start).astype(np.int64)


def rank_among(part: Ints, value: Ints, key: Records, ties: Records) -> Records:
    """The place of everybody among those of the same part and value, by a quasi-identifier."""
    order = np.lexsort((ties, key, value, part))
    begins = np.ones(order.size, dtype=np.bool_)
    begins[1:] = (part[order][1:] != part[order][:-1]) | (value[order][1:] != value[order][:-1])
    start = np.maximum.accumulate(np.where(begins, np.arange(order.size), 0))
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size) - start
    return rank
