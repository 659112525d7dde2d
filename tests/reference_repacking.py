"""Slow twin of choosing cells anew: what a choice costs, and the best one that small changes lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
