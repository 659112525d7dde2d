"""Groups of different signatures must not read the same: together they would show some values more often."""

from __future__ import annotations

import numpy as np

from shoal.generalization.forms import Ints, Records
from shoal.kernels.shared.groups import close_groups, count_classes, group_costs, members
from shoal.plan import Plan
from shoal.problem import Closing


def part_signatures(plan: Plan, groups: Ints, signature: Ints) -> Ints:
    """Unite groups that read like one of another signature with the cheapest of their own, until none does.

    People of a signature that has no other group are left out (−1).
    """
    groups = groups.copy()
    while (groups >= 0).any():
        kept = np.flatnonzero(groups >= 0)
        _, closed = plan.close(_packed(groups), Closing())
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
    """Groups that read like one of another signature, all but those of the most frequent signature."""
    pairs, people = np.unique(np.stack([read, signature]), axis=1, return_counts=True)
    order = np.lexsort((-people, pairs[0]))
    is_first = np.ones(order.size, dtype=np.bool_)
    is_first[1:] = pairs[0][order][1:] != pairs[0][order][:-1]
    less = {(int(a), int(b)) for a, b in pairs[:, order[~is_first]].T}
    if not less:
        return np.zeros(0, dtype=np.int64)
    wrong = [
        (int(a), int(b)) in less for a, b in zip(read.tolist(), signature.tolist(), strict=True)
    ]
    return np.unique(groups[np.array(wrong)])


def _partner(plan: Plan, groups: Ints, signature: Ints, people: Records) -> int:
    """The other group of the same signature with which the people of a group cost least, −1 for none."""
    problem = plan.problem
    others = np.flatnonzero((signature == signature[people[0]]) & (groups >= 0))
    others = others[groups[others] != groups[people[0]]]
    if not others.size:
        return -1
    names, place = np.unique(groups[others], return_inverse=True)
    joined = np.concatenate([others, np.tile(people, names.size)])
    number = np.concatenate([place.reshape(-1), np.repeat(np.arange(names.size), people.size)])
    order, bounds = members(number.astype(np.int32), names.size)
    order = joined[order]
    closures = close_groups(problem.arrays, problem.codes, order, bounds)
    counts = count_classes(problem.classes, problem.class_count, order, bounds)
    both = group_costs(problem.arrays, closures, counts).sum(axis=0)
    order, bounds = members(place.reshape(-1).astype(np.int32), names.size)
    order = others[order]
    closures = close_groups(problem.arrays, problem.codes, order, bounds)
    counts = count_classes(problem.classes, problem.class_count, order, bounds)
    alone = group_costs(problem.arrays, closures, counts).sum(axis=0)
    return int(names[np.argmin(both - alone)])
