"""Slow twin of choosing cells anew: what a choice costs, and the best one that small changes lead to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

GAIN = 1e-9


@dataclass(frozen=True)
class Pool:
    """Records by the rivals that they lie in, and what they would cost outside the pool."""

    costs: list[float]  # of rivals, ascending
    lies_in: list[set[int]]
    outside: list[float]
    k: int


def price(pool: Pool, choice: set[int]) -> tuple[float, list[int | None]]:
    """What a choice of rivals costs, and the rival of each record, None for outside."""
    places: list[int | None] = []
    for rivals, outside in zip(pool.lies_in, pool.outside, strict=True):
        best = min(rivals & choice, default=None)
        places.append(None if best is None or pool.costs[best] >= outside else best)
    for rival in sorted(choice):
        lacking = pool.k - places.count(rival)
        for other in (*range(len(pool.costs) - 1, -1, -1), None):
            spare = inf if other is None else places.count(other) - pool.k
            for at, place in enumerate(list(places)):
                if (
                    place == other != rival
                    and rival in pool.lies_in[at]
                    and min(lacking, spare) > 0
                ):
                    places[at] = rival
                    lacking -= 1
                    spare -= 1
        if lacking > 0:
            return inf, places
    return sum(
        outside if place is None else pool.costs[place]
        for place, outside in zip(places, pool.outside, strict=True)
    ), places


def improve(pool: Pool, choice: set[int]) -> set[int]:
    """Take rivals in or out, or exchange two, while that gains."""
    rivals = range(len(pool.costs))

    def gains(other: set[int]) -> bool:
        return price(pool, other)[0] < price(pool, choice)[0] - GAIN

    changed = True
    while changed:
        changed = False
        for a in rivals:
            if gains(choice ^ {a}):
                choice, changed = choice ^ {a}, True
        if changed:
            continue
        for a in rivals:
            for b in rivals:
                if a in choice and b not in choice and gains(choice ^ {a, b}):
                    choice, changed = choice ^ {a, b}, True
    return choice


def rivals_of(
    costs: Sequence[float],
    lies_in: Sequence[set[int]],
    cells: Sequence[int],
    pool: set[int],
    k: int,
) -> set[int]:
    """The pool's open cells, and all others without records that k of its records lie in, some of them cheaper."""
    records = [at for at, cell in enumerate(cells) if cell in pool]
    found = set(pool)
    for c in set(range(len(costs))) - set(cells):
        within = [at for at in records if c in lies_in[at]]
        if len(within) >= k and any(costs[c] < costs[cells[at]] for at in within):
            found.add(c)
    return found


LITTLE = 1e-12
Lack = Callable[[Sequence[int]], float]


def price_diverse(pool: Pool, choice: set[int], lack: Lack) -> tuple[float, list[int | None]]:
    """The same as `price` where groups may lack something beyond k, which they draw or shed records for."""
    places = price(replace(pool, k=0), choice)[1]
    for rival in sorted(choice):
        if _lacks(pool, places, rival, lack):
            _draw(pool, places, rival, lack)
            if len(_group(places, rival)) < pool.k:
                return inf, places
        if _lacks(pool, places, rival, lack):
            _shed(pool, places, rival, choice, lack)
        if _lacks(pool, places, rival, lack):
            return inf, places
    return sum(
        outside if place is None else pool.costs[place]
        for place, outside in zip(places, pool.outside, strict=True)
    ), places


def _group(places: list[int | None], rival: int | None) -> list[int]:
    return [at for at, place in enumerate(places) if place == rival]


def _lacks(pool: Pool, places: list[int | None], rival: int, lack: Lack) -> bool:
    group = _group(places, rival)
    return len(group) < pool.k or lack(group) > 0


def _draw(pool: Pool, places: list[int | None], rival: int, lack: Lack) -> None:
    """Take in what brings the group closer to its limits, then what brings it closer to k."""

    def whole(group: list[int]) -> float:
        return max(0, pool.k - len(group)) / pool.k + lack(group)

    def may_leave(other: int | None, at: int) -> bool:
        left = [i for i in _group(places, other) if i != at]
        if other is None or len(left) < pool.k:
            return other is None
        return lack(left) <= 0 or (other > rival and lack([*left, at]) > 0)

    for strict in (True, False):
        if strict and lack(_group(places, rival)) <= 0:
            continue
        for other in (*range(len(pool.costs) - 1, -1, -1), None):
            for at, place in enumerate(list(places)):
                own = _group(places, rival)
                if place != other or other == rival or rival not in pool.lies_in[at]:
                    continue
                step = 1 / pool.k if strict and len(own) < pool.k else 0
                closer = whole([*own, at]) < whole(own) - step - LITTLE
                if whole(own) > 0 and closer and may_leave(other, at):
                    places[at] = rival


def _shed(pool: Pool, places: list[int | None], rival: int, choice: set[int], lack: Lack) -> None:
    """Let records of values in excess go to the next cheapest chosen rival, or outside."""
    targets: dict[int, int | None] = {}
    for at in _group(places, rival):
        later = min((c for c in pool.lies_in[at] & choice if c > rival), default=None)
        if later is not None and pool.costs[later] <= pool.outside[at]:
            targets[at] = later
        elif pool.outside[at] < inf:
            targets[at] = None
    for target in (*range(rival + 1, len(pool.costs)), None):
        for at in [at for at, to in targets.items() if to == target]:
            own = _group(places, rival)
            left = [i for i in own if i != at]
            if lack(own) > 0 and len(left) >= pool.k and lack(left) < lack(own) - LITTLE:
                places[at] = target
