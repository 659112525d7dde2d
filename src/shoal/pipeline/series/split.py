"""Groups inside a signature: drawn in secret, cut repeatedly, and kept separate from those of others."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from shoal.encoding.encode import fixed_seed
from shoal.encoding.forms import Floats, Ints, Records, TreeForm
from shoal.kernels.shared.groups import close_groups, count_classes, group_costs, members
from shoal.pipeline.plan import Plan

if TYPE_CHECKING:
    from shoal.pipeline.carriers.memory import Memory
from shoal.pipeline.series.history import History
from shoal.progress import Progress
from shoal.solve.problem import ClosingRules, Problem

CUTS = (1 / 2, 1 / 3, 2 / 3, 1 / 4, 3 / 4)  # shares of a part that may become its lower part
FEW_VALUES = 10  # of a quasi-identifier: all bounds between them are tried


def split_people(
    problem: Problem, signature: Ints, width: Records, value: Ints, progress: Progress
) -> Ints:
    """A group for everyone who has a signature, −1 for the others.

    `width` is the number of values of each signature. A group contains people of one signature only.
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


def nested_cells(problem: Problem, people: Records, least: int) -> list[Ints]:
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
    """A number for each code of a quasi-identifier, with near numbers for codes near each other."""
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
    """The cost of each part, with all its people together; a person may be in several."""
    order, bounds = members(part, int(part.max()) + 1)
    order = people[order]
    closures = close_groups(problem.arrays, problem.codes, order, bounds)
    counts = count_classes(problem.classes, problem.class_count, order, bounds)
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
    """Cut every part where that costs least; None if cutting no part reduces the cost."""
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

    Besides some shares, these are the sizes that put everyone below a bound in the lower part, or everyone above it in
    the upper one.
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
    """The place of each person among those of the same part and value, by a quasi-identifier."""
    order = np.lexsort((ties, key, value, part))
    begins = (np.diff([part[order], value[order]], prepend=-1) != 0).any(axis=0)
    start = np.maximum.accumulate(np.where(begins, np.arange(order.size), 0))
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size) - start
    return rank


_OWN_DRAWS = (
    2  # together with a seed, so that they are independent of the order drawn from the same seed
)
NOBODY = -1  # the set of a newcomer


def draw_order(history: History, seed: int, records: int) -> Records:
    """A random order of tonight's records, the same for the same history."""
    night = len(history.nights)
    fixed = fixed_seed()
    if fixed is not None:
        return np.random.default_rng([fixed, _OWN_DRAWS, night]).permutation(records)
    secret = sha256(f"draws\0{history.salt}\0{seed}\0{night}".encode()).digest()
    return np.random.default_rng(int.from_bytes(secret, "big")).permutation(records)


def turns_of(sets: Records, width: Records, drawn: Records) -> Records:
    """The turn of each person: people whose set has lost members come last, the others as drawn.

    A set is released together, with one person of each value. If one of them leaves, the rest must be left out to keep
    the balance. That they have different values is known already, so leaving out others would reveal more.
    `width` is the number of values of each person's signature.
    """
    lost = np.zeros(sets.size, dtype=np.int64)
    stays = sets != NOBODY
    if stays.any():
        _, place, present = np.unique(sets[stays], return_inverse=True, return_counts=True)
        lost[stays] = width[stays] - present[place.reshape(-1)]
    turn = np.empty(sets.size, dtype=np.int64)
    turn[np.lexsort((drawn, lost))] = np.arange(sets.size)
    return turn


def sets_of(groups: Ints, value: Ints, drawn: Records, first: int) -> Records:
    """A number from `first` on for the set of each person: one of each value of a group; −1 for those left out."""
    found = np.full(groups.size, NOBODY, dtype=np.int64)
    kept = np.flatnonzero(groups >= 0)
    copy = rank_among(groups[kept], value[kept], drawn[kept], drawn[kept])
    pairs = np.stack([groups[kept].astype(np.int64), copy])
    found[kept] = first + np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
    return found


def separate_signatures(plan: Plan[Memory], groups: Ints, signature: Ints) -> Ints:
    """Unite groups that look like one of another signature with the cheapest of their own, until there are none.

    People of a signature that has no other group are left out (−1).
    """
    groups = groups.copy()
    while (groups >= 0).any():
        kept = np.flatnonzero(groups >= 0)
        _, closed = plan.carrier.close_groups(plan, _packed(groups), ClosingRules())
        alike = _alike(closed.groups, groups[kept], signature[kept])
        if not alike.size:
            break
        for group in alike.tolist():
            people = np.flatnonzero(groups == group)
            if people.size:
                groups[people] = _partner(plan, groups, signature, people)
    return _packed(groups)


def _packed(groups: Ints) -> Ints:
    """Groups numbered without gaps; −1 stays."""
    found = groups.copy()
    is_placed = groups >= 0
    found[is_placed] = np.unique(groups[is_placed], return_inverse=True)[1].reshape(-1)
    return found


def _alike(read: Ints, groups: Ints, signature: Ints) -> Records:
    """Groups that look like one of another signature, all but those of the most frequent signature."""
    pairs, place, people = np.unique(
        np.stack([read, signature]), axis=1, return_inverse=True, return_counts=True
    )
    order = np.lexsort((-people, pairs[0]))
    is_less = np.empty(order.size, dtype=np.bool_)
    is_less[order] = np.diff(pairs[0][order], prepend=-1) == 0
    return np.unique(groups[is_less[place.reshape(-1)]])


def _partner(plan: Plan[Memory], groups: Ints, signature: Ints, people: Records) -> int:
    """The other group of the same signature with which the people of a group cost least, −1 for none."""
    others = np.flatnonzero((signature == signature[people[0]]) & (groups >= 0))
    others = others[groups[others] != groups[people[0]]]
    if not others.size:
        return -1
    names, place = np.unique(groups[others], return_inverse=True)
    joined = np.concatenate([others, np.tile(people, names.size)])
    alone: Ints = place.reshape(-1).astype(np.int32)
    both = np.concatenate([alone, np.repeat(np.arange(names.size, dtype=np.int32), people.size)])
    before, after = _costs(plan.problem, others, alone), _costs(plan.problem, joined, both)
    return int(names[np.argmin(np.subtract(after, before))])
