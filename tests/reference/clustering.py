"""Slow twins of agglomerative, bottom_up, k_member and sequential: every choice weighed anew, nothing cached.

`cost(group)` is what a group, a list of records, costs in all; `lack(group)` how far it is from what is required
beyond k, 0 where it meets it. Choices go to the first of equals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import inf, log
from typing import Any

Group = list[int]
Cost = Callable[[Sequence[int]], float]


def none_lacking(group: Sequence[int]) -> float:
    return 0.0


def lacking(kind: str, l: float, values: Sequence[Any]) -> Cost:
    """How far a group's values are from l-diversity of a kind, or from l-closeness to all values."""

    def lack(group: Sequence[int]) -> float:
        counts, size = Counter(values[i] for i in group), len(group)
        match kind:
            case "frequency":
                gap = sum(max(0.0, count - size / l) for count in counts.values())
            case "distinct":
                gap = max(0.0, l - len(counts))
            case "closeness":
                shares = Counter(values)
                gap = sum(abs(counts[v] / size - shares[v] / len(values)) for v in shares) / 2 - l
            case _:
                gap = log(l) + sum(count / size * log(count / size) for count in counts.values())
        return gap if gap > 1e-9 else 0.0

    return lack


def distance(cost: Cost, a: Group, b: Group, kind: str) -> float:
    union = cost([*a, *b])
    if kind == "union":
        return union
    added = union - (cost(b) + cost(a))
    return added if kind == "difference" else added / (len(a) + len(b))


def agglomerative(
    cost: Cost, groups: list[Group], k: int, kind: str = "difference", lack: Cost = none_lacking
) -> list[Group]:
    """Merge the closest pair with a group in it that misses the requirement until there is none."""
    while True:
        best, pair = inf, None
        for a, first in enumerate(groups):
            if not first or (len(first) >= k and not lack(first)):
                continue
            for b, second in enumerate(groups):
                if b != a and second and (gap := distance(cost, first, second, kind)) < best:
                    best, pair = gap, (min(a, b), max(a, b))
        if pair is None:
            return [group for group in groups if group]
        a, b = pair
        groups[a], groups[b] = [*groups[a], *groups[b]], []


def bottom_up(
    cost: Cost, groups: list[Group], k: int, kind: str, lack: Cost = none_lacking
) -> list[Group]:
    """One round: every group that misses the requirement merges with its closest."""
    for a, group in enumerate(groups):
        if not group or (len(group) >= k and not lack(group)):
            continue
        others = [b for b, other in enumerate(groups) if other and b != a]
        if others:
            b = min(others, key=lambda b: distance(cost, groups[a], groups[b], kind))
            groups[a], groups[b] = [*groups[a], *groups[b]], []
    return [group for group in groups if group]


def k_member(
    cost: Cost, records: Group, k: int, seed: int, rest: Group, lack: Cost = none_lacking
) -> list[Group]:
    """Groups of k and, where those lack something, more, each from the record farthest from the last seed.

    In order of `rest`, others join where they cost least and do no harm; all else merges with its closest.
    """
    left, groups = list(records), []
    while len(left) >= k:
        seed = max(left, key=lambda i: cost([seed, i]))
        group = [seed]
        left.remove(seed)
        while len(group) < k or lack(group):
            helpful = [i for i in left if len(group) < k or lack([*group, i]) < lack(group)]
            if not helpful:
                break
            best = min(helpful, key=lambda i: cost([*group, i]))
            group.append(best)
            left.remove(best)
        groups.append(group)
    lost = []
    for i in sorted(left, key=rest.index):
        takers = [group for group in groups if not lack([*group, i])]
        if takers:
            min(takers, key=lambda group: cost([*group, i]) - cost(group)).append(i)
        else:
            lost.append(i)
    return agglomerative(cost, [*groups, lost], k, lack=lack)


def sequential(
    cost: Cost, groups: list[Group], lack: Cost = none_lacking, firm: int = 1
) -> list[Group]:
    """One pass over all records: each moves to the group where it costs least, if that gains or it is alone.

    Neither group may lack anything afterwards, if it has at least `firm` records.
    """
    for i in sorted(i for group in groups for i in group):
        own = next(g for g, group in enumerate(groups) if i in group)
        rest = [j for j in groups[own] if j != i]
        saved = cost(groups[own]) - (cost(rest) if rest else 0.0)
        others = [
            g
            for g, group in enumerate(groups)
            if group and g != own and (len(group) + 1 < firm or not lack([*group, i]))
        ]
        if not others or (len(rest) >= firm and lack(rest)):
            continue
        added = {g: cost([*groups[g], i]) - cost(groups[g]) for g in others}
        best = min(others, key=added.__getitem__)
        if not rest or added[best] < saved - 1e-9:
            groups[own] = rest
            groups[best].append(i)
    return [group for group in groups if group]


def merge_small(cost: Cost, groups: list[Group], k: int) -> list[Group]:
    """Unite the two closest groups below k until one is left, then that one with its closest (GT10 Alg. 2, 16-19)."""
    groups = [list(group) for group in groups]
    while small := [group for group in groups if len(group) < k]:
        others = small if len(small) > 1 else groups
        pairs = [(a, b) for a in small for b in others if a is not b]
        a, b = min(pairs, key=lambda pair: distance(cost, *pair, "difference"))
        groups = [group for group in groups if group is not a and group is not b] + [a + b]
    return groups


def leaving_out(
    cost: Cost, whole: Cost, groups: list[Group], k: int, most: int, lack: Cost = none_lacking
) -> set[int]:
    """The records left out in rounds, those first that gain most at a round's start; whole([i]) is i suppressed."""
    of_record = {i: set(group) for group in groups for i in group}
    gone: set[int] = set()

    def gain(i: int) -> float:
        group = sorted(of_record[i] - gone)
        rest = [m for m in group if m != i]
        if i in gone or len(rest) < k or lack(rest):
            return -inf
        return cost(group) - cost(rest) - whole([i])

    while len(gone) < most:
        gains = {i: gain(i) for i in sorted(of_record)}
        before = len(gone)
        for i in sorted(gains, key=lambda i: -round(max(-1.0, gains[i]), 9)):
            if gains[i] > 1e-9 and len(gone) < most and gain(i) > 1e-9:
                gone.add(i)
        if len(gone) == before:
            break
    return gone


def without_outliers(
    cost: Cost,
    price: Callable[[int], float],
    groups: list[Group],
    meets: Callable[[Group], bool],
    most: int,
) -> list[Group]:
    """Groups that are dissolved, or lose a record or exchange it for another's, where that gains; last those left out.

    The record that takes the place of one left out costs least there beyond what it costs in its own group.
    """
    groups = [list(group) for group in [*groups, []]]

    def total(groups: list[Group]) -> float:
        return sum(cost(group) for group in groups[:-1] if group) + sum(map(price, groups[-1]))

    def gains(changed: list[Group]) -> bool:
        may_be = all(meets(group) for group in changed[:-1] if group) and len(changed[-1]) <= most
        return may_be and total(changed) < total(groups) - 1e-9

    def moved(groups: list[Group], i: int, to: int) -> list[Group]:
        changed = [[m for m in group if m != i] for group in groups]
        changed[to].append(i)
        return changed

    def dissolved(g: int) -> list[Group]:
        changed = groups
        for i in sorted(groups[g]):
            added = {
                h: cost([*own, i]) - cost(own)
                for h, own in enumerate(changed[:-1])
                if own and h != g and meets([*own, i])
            }
            best = min(added, key=lambda h: round(added[h], 9), default=-1)
            changed = moved(changed, i, best if added.get(best, inf) <= price(i) + 1e-9 else -1)
        return changed

    def exchanged(g: int) -> Iterator[list[Group]]:
        def gain(i: int) -> float:
            rest = [m for m in groups[g] if m != i]
            return round(cost(groups[g]) - (cost(rest) if rest else 0.0) - price(i), 9)

        for i in sorted(sorted(groups[g]), key=lambda i: -gain(i)):
            rest = [m for m in groups[g] if m != i]
            if gain(i) <= 1e-9:
                return
            changed = moved(groups, i, -1)
            yield changed
            if rest:
                others = {
                    j: round(cost([*rest, j]) - cost(own) / len(own), 9)
                    for h, own in enumerate(groups[:-1])
                    for j in own
                    if h != g and meets([m for m in own if m != j])
                }
                if others:
                    yield moved(changed, min(sorted(others), key=others.__getitem__), g)

    for g in range(len(groups) - 1):
        while groups[g] and len(groups[-1]) < most:
            found = next((own for own in chain([dissolved(g)], exchanged(g)) if gains(own)), None)
            if found is None:
                break
            groups = found
    return groups
