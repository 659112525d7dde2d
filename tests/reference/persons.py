"""Plain definitions of what groups must keep when persons are counted, and slow twins of the kernels that keep it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from tables import Sample

import reference
from reference import Group, Meets, Objective
from shoal.audits.requirements.alpha import AlphaK
from shoal.audits.requirements.base import Requirement
from shoal.audits.requirements.closeness import TCloseness
from shoal.audits.requirements.diversity import LDiversity
from shoal.audits.requirements.sensitivity import PSensitive

TOLERANCE = 1e-9
Having = list[tuple[Any, Any]]  # persons and values, each pair once


def most_different(having: Having) -> int:
    """How many different persons have as many different values, by trying all choices."""
    values = sorted({value for _, value in having}, key=repr)

    @cache
    def most(at: int, used: frozenset[Any]) -> int:
        if at == len(values):
            return 0
        owners = {person for person, value in having if value == values[at]} - used
        taken = [1 + most(at + 1, used | {person}) for person in owners]
        return max([most(at + 1, used), *taken])

    return most(0, frozenset())


def is_kept(requirement: Requirement, having: Having, table: Having) -> bool:
    """Whether persons who have these values keep a requirement, by its definition."""
    persons, values = {person for person, _ in having}, [value for _, value in having]
    most = max(Counter(values).values())
    match requirement:
        case LDiversity(l=l, kind="frequency"):
            return len(persons) / most >= l - TOLERANCE
        case LDiversity(l=l, kind="distinct"):
            return most_different(having) >= l
        case LDiversity(l=l, kind="entropy"):
            return reference.perplexity(values) >= l - TOLERANCE
        case LDiversity(l=l, c=c):
            return reference.recursive_ratio(values, int(l)) < float(c or 0) - TOLERANCE
        case PSensitive(p=p, hierarchy=None):
            return most_different(having) >= p
        case PSensitive(p=p):  # the only hierarchy of these tests has the subtree of s and t
            return most_different([(who, _subtree(value)) for who, value in having]) >= p
        case AlphaK(alpha=alpha, values=named):
            meant = set(values if named is None else named)
            return all(values.count(v) / len(persons) <= alpha + TOLERANCE for v in meant)
        case TCloseness(t=t, ground=ground):
            whole = [value for _, value in table]
            distance = _distances(ground, whole)
            return reference.earth_movers_distance(values, whole, distance) <= t + 1e-7
    raise TypeError(requirement)


def _subtree(value: Any) -> Any:
    return "st" if value in ("s", "t") else value


def _distances(ground: str, whole: Sequence[Any]) -> Callable[[Any, Any], float]:
    if ground == "equal":
        return lambda a, b: float(a != b)
    if ground == "ordered":
        ranks = {value: at for at, value in enumerate(sorted(set(whole)))}
        return lambda a, b: abs(ranks[a] - ranks[b]) / max(1, len(ranks) - 1)
    return lambda a, b: 0.0 if a == b else 0.5 if {a, b} == {"s", "t"} else 1.0


def meets(
    sample: Sample, persons: Sequence[Any], k: int, requirements: Sequence[Requirement]
) -> Meets:
    """Whether records may be a group when their persons are counted."""
    secrets = dict(zip(sample.sensitive, sample.secrets, strict=True))

    def having(group: Sequence[int], name: str) -> Having:
        return list({(persons[i], secrets[name][i]): None for i in group})

    everybody = range(sample.records)

    @cache
    def is_met(group: tuple[int, ...]) -> bool:
        return len({persons[i] for i in group}) >= k and all(
            is_kept(requirement, having(group, name), having(everybody, name))
            for requirement in requirements
            for name in requirement.over(sample.sensitive)
        )

    return lambda group: bool(group) and is_met(tuple(sorted(group)))


# Twins


def mend(objective: Objective, groups: list[Group], small: list[int], meets: Meets) -> list[Group]:
    """One round: each of the small groups goes where it costs least; groups keep their places."""
    groups = [list(group) for group in groups]
    complying = [bool(group) and meets(group) for group in groups]
    for g in small:
        if not groups[g] or complying[g]:
            continue
        others = [h for h, group in enumerate(groups) if group and h != g]
        added = {h: _added(objective, groups[h], groups[g]) for h in others}
        able = {h: more for h, more in added.items() if meets(groups[h] + groups[g])}
        places = [_place(objective, groups, complying, i, meets) for i in groups[g]]
        apart = sum(more for _, more in places) - objective.group(groups[g])
        if apart < min(able.values(), default=np.inf) - TOLERANCE:
            for i in sorted(groups[g]):
                h, _ = _place(objective, groups, complying, i, meets)
                if h >= 0:
                    groups[g].remove(i)
                    groups[h].append(i)
            complying[g] = bool(groups[g]) and meets(groups[g])
        elif added:
            closest = _first_least(able or added)
            groups[closest] += groups[g]
            groups[g] = []
            complying[closest] = meets(groups[closest])
    return groups


def move(
    objective: Objective, groups: list[Group], records: Sequence[int], meets: Meets
) -> list[Group]:
    """Move each record to the group where it adds least, where that gains and both groups comply."""
    groups = [list(group) for group in groups]
    for i in records:
        own = next(g for g, group in enumerate(groups) if i in group)
        rest = [other for other in groups[own] if other != i]
        saved = objective.group(groups[own]) - (objective.group(rest) if rest else 0.0)
        if saved <= TOLERANCE or not meets(rest):
            continue
        added = {
            g: objective.joined(group, i)
            for g, group in enumerate(groups)
            if group and g != own and meets([*group, i])
        }
        if added and min(added.values()) < saved - TOLERANCE:
            best = _first_least(added)
            groups[own].remove(i)
            groups[best].append(i)
    return groups


def leave_out(objective: Objective, groups: list[Group], most: int, meets: Meets) -> list[Group]:
    """Leave out up to so many records that cost their group more than themselves, those that gain most first."""
    groups = [list(group) for group in groups]
    whole = [column.whole for column in objective.columns]

    def gain(i: int) -> float:
        own = next(group for group in groups if i in group)
        rest = [other for other in own if other != i]
        if not meets(rest):
            return -np.inf
        return objective.group(own) - objective.group(rest) - objective.record(whole, i)

    before, left = most + 1, most
    while 0 < left < before:
        before = left
        gains = {i: gain(i) for group in groups for i in group}
        for i in sorted(sorted(gains), key=lambda i: -round(gains[i], 9)):
            if left and gains[i] > TOLERANCE and gain(i) > TOLERANCE:
                next(group for group in groups if i in group).remove(i)
                left -= 1
    return groups


def _added(objective: Objective, one: Group, other: Group) -> float:
    return objective.group(one + other) - objective.group(one) - objective.group(other)


def _place(
    objective: Objective, groups: list[Group], complying: list[bool], i: int, meets: Meets
) -> tuple[int, float]:
    added = {
        h: objective.joined(group, i)
        for h, group in enumerate(groups)
        if complying[h] and meets([*group, i])
    }
    if not added:
        return -1, np.inf
    best = _first_least(added)
    return best, added[best]


def _first_least(costs: dict[int, float]) -> int:
    least = min(costs.values())
    return next(g for g, cost in costs.items() if cost <= least + TOLERANCE)
