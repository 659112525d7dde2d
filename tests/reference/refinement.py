"""Slow twins of what refinement is made of: who could go where, along which chains, and which cells would gain.

Records are numbers; groups are lists of records in places of their own, empty ones where none is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import ceil, inf

import reference
import reference.splitting
from reference import Closure, Column, Group, Meets, Objective

Change = tuple[int, int, int]  # a record, the group it leaves, the group it joins


def cost(objective: Objective, group: Group) -> float:
    return reference.splitting.total(objective, group) if group else 0.0


# Reach


def held_values(column: Column, values: Sequence[object]) -> Closure:
    """What a group covers without a change of its slots: null stretches an interval up to its end, a set by itself."""
    present = frozenset(values)
    if None in present and column.model == "subset":
        return present
    if None in present and len(present) > 1 and column.model in ("interval", "order"):
        low = min(place for place, value in enumerate(column.domain) if value in present)
        return frozenset([None, *column.domain[low:]])
    return reference.closure(column, values)


def covers(columns: Sequence[Column], group: Group, i: int) -> bool:
    """Whether a record could join a group and leave its closure as it is."""
    return all(
        column.values[i] in held_values(column, [column.values[m] for m in group])
        for column in columns
    )


def takers(columns: Sequence[Column], groups: Sequence[Group], g: int) -> list[int]:
    """The other groups that cover a record of group g."""
    return [
        h
        for h, group in enumerate(groups)
        if group and h != g and any(covers(columns, group, i) for i in groups[g])
    ]


def led_to(columns: Sequence[Column], groups: Sequence[Group], g: int) -> list[int]:
    """The groups that a chain from group g leads to, itself included."""
    found = [g]
    for last in found:  # which grows on the way
        found += [h for h in takers(columns, groups, last) if h not in found]
    return found


def supplies(objective: Objective, groups: Sequence[Group], k: int) -> list[dict[int, float]]:
    """For each group, the price of all groups with records to spare from which a chain leads to it."""
    found: list[dict[int, float]] = [{} for _ in groups]
    for source, group in enumerate(groups):
        if len(group) > k:
            for g in led_to(objective.columns, groups, source):
                found[g][source] = cost(objective, group) / len(group)
    return found


# Moves


def places(
    objective: Objective, groups: Sequence[Group], i: int, diverse: Meets
) -> dict[int, float]:
    """What record i would add to each other group that keeps all limits but k with it."""
    return {
        g: cost(objective, [*group, i]) - cost(objective, group)
        for g, group in enumerate(groups)
        if group and i not in group and diverse([*group, i])
    }


def saved_without(objective: Objective, group: Group, i: int) -> float:
    """What a group costs less without one of its records."""
    return cost(objective, group) - cost(objective, [m for m in group if m != i])


# Rounding


def round_cells(
    cells: Sequence[Sequence[tuple[int, float]]],
    order: Sequence[int],
    records: Sequence[Group],
    k: int,
    fussy: float,
) -> list[Group]:
    """Groups from cells: (distinct record, share of it) each; records are those of each distinct one."""
    free = [list(equal) for equal in records]
    groups = []
    for c in order:
        if sum(len(free[p]) for p, _ in cells[c]) < k:
            continue
        group: Group = []
        for p, share in sorted(cells[c], key=lambda part: -part[1]):
            wanted = max(0, ceil(share * len(records[p]) - fussy), k - len(group))
            group += free[p][:wanted]
            free[p] = free[p][wanted:]
        groups.append(group)
    return groups


# Carving


def cells_of(keys: Sequence[int]) -> list[Group]:
    """Records of equal keys."""
    found: dict[int, Group] = defaultdict(list)
    for i, key in enumerate(keys):
        found[key].append(i)
    return list(found.values())


def direct_gains(
    keys: Sequence[int], here: Sequence[float], price: Sequence[float], group: Group, k: int
) -> Iterator[float]:
    """What each cell would gain of k or more records that cost more elsewhere and that their groups can spare."""
    size = Counter(group)
    for cell in cells_of(keys):
        spare = {g: size[g] - k for g in size}
        gain, taken = 0.0, 0
        for i in sorted(cell, key=lambda i: -price[i]):
            if price[i] > here[i] and spare[group[i]] > 0:
                spare[group[i]] -= 1
                gain += price[i] - here[i]
                taken += 1
        yield gain if taken >= k else -inf
