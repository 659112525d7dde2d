"""Slow twins of how the groups of a series are improved: people are numbers, groups are lists of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Cost = Callable[[Sequence[int]], float]  # of a group


def grown(
    people: Sequence[int], value: Sequence[int], k: int, cost: Cost, first: int
) -> list[list[int]]:
    """People of one signature in groups with as many of each value; the first group begins with a given one of them."""
    kinds = len({value[i] for i in people})
    least = -(-k // kinds)
    left, found, beginner = list(people), [], people[first]
    for g in range(len(people) // kinds // least):
        if g:
            last = beginner
            beginner = max(left, key=lambda i: (cost([last, i]), -left.index(i)))
        group = [beginner]
        left.remove(beginner)
        need = dict.fromkeys((value[i] for i in people), least)
        need[value[beginner]] -= 1
        _complete(group, left, need, value, cost)
        found.append(group)
    while left:
        one = left.pop(0)
        group = min(found, key=lambda own: cost([*own, one]) - cost(own))
        group.append(one)
        need = dict.fromkeys((value[i] for i in people), 1)
        need[value[one]] -= 1
        _complete(group, left, need, value, cost)
    return found


def _complete(
    group: list[int], left: list[int], need: dict[int, int], value: Sequence[int], cost: Cost
) -> None:
    while any(need.values()):
        able = [i for i in left if need[value[i]] > 0]
        best = min(able, key=lambda i: cost([*group, i]))
        group.append(best)
        left.remove(best)
        need[value[best]] -= 1


def exchanges(
    groups: Sequence[Sequence[int]],
    i: int,
    value: Sequence[int],
    signature: Sequence[int],
    is_new: Sequence[bool],
    cost: Cost,
) -> list[float]:
    """What every exchange of person i that may be changes of the cost."""
    own = next(group for group in groups if i in group)
    rest = [m for m in own if m != i]
    found = []
    for group in groups:
        for j in group:
            both_new = is_new[i] and is_new[j]
            if (
                group is own
                or value[i] != value[j]
                or not (signature[i] == signature[j] or both_new)
            ):
                continue
            others = [m for m in group if m != j]
            after = cost([*rest, j]) + cost([*others, i])
            found.append(after - cost(own) - cost(group))
    return found
