"""Slow twins of agglomerative, bottom_up, k_member and sequential: every choice weighed anew, nothing cached.

`cost(group)` is what a group, a list of records, costs in all. Choices go to the first of equals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

Group = list[int]
Cost = Callable[[Sequence[int]], float]


def distance(cost: Cost, a: Group, b: Group, kind: str) -> float:
    union = cost([*a, *b])
    if kind == "union":
        return union
    added = union - (cost(b) + cost(a))
    return added if kind == "difference" else added / (len(a) + len(b))


def agglomerative(cost: Cost, groups: list[Group], k: int, kind: str = "difference") -> list[Group]:
    """Merge the closest pair with a group below k in it until there is none."""
    while True:
        best, pair = inf, None
        for a, first in enumerate(groups):
            if not first or len(first) >= k:
                continue
            for b, second in enumerate(groups):
                if b != a and second and (gap := distance(cost, first, second, kind)) < best:
                    best, pair = gap, (min(a, b), max(a, b))
        if pair is None:
            return [group for group in groups if group]
        a, b = pair
        groups[a], groups[b] = [*groups[a], *groups[b]], []


def bottom_up(cost: Cost, groups: list[Group], k: int, kind: str) -> list[Group]:
    """One round: every group below k merges with its closest."""
    for a, group in enumerate(groups):
        if not group or len(group) >= k:
            continue
        others = [b for b, other in enumerate(groups) if other and b != a]
        if others:
            b = min(others, key=lambda b: distance(cost, groups[a], groups[b], kind))
            groups[a], groups[b] = [*groups[a], *groups[b]], []
    return [group for group in groups if group]


def k_member(cost: Cost, records: Group, k: int, seed: int, rest: Group) -> list[Group]:
    """Groups of k, each from the record farthest from the last seed; in order of `rest`, others join cheapest."""
    left, groups = list(records), []
    while len(left) >= k:
        seed = max(left, key=lambda i: cost([seed, i]))
        group = [seed]
        left.remove(seed)
        while len(group) < k:
            best = min(left, key=lambda i: cost([*group, i]))
            group.append(best)
            left.remove(best)
        groups.append(group)
    for i in sorted(left, key=rest.index):
        best_group = min(groups, key=lambda group: cost([*group, i]) - cost(group))
        best_group.append(i)
    return groups


def sequential(cost: Cost, groups: list[Group]) -> list[Group]:
    """One pass over all records: each moves to the group where it costs least, if that gains or it is alone."""
    for i in sorted(i for group in groups for i in group):
        own = next(g for g, group in enumerate(groups) if i in group)
        rest = [j for j in groups[own] if j != i]
        saved = cost(groups[own]) - (cost(rest) if rest else 0.0)
        others = [g for g, group in enumerate(groups) if group and g != own]
        if not others:
            continue
        added = {g: cost([*groups[g], i]) - cost(groups[g]) for g in others}
        best = min(others, key=added.__getitem__)
        if not rest or added[best] < saved - 1e-9:
            groups[own] = rest
            groups[best].append(i)
    return [group for group in groups if group]
