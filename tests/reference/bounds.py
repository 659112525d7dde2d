"""Slow, obvious twins of the kernels behind the certificate: all groups listed, all cells looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from reference import Closure, Column, Meets, Objective, close

Cell = tuple[int, ...]  # records


def groups(records: int, k: int) -> Iterator[tuple[int, ...]]:
    """All that at least k records can form."""
    for size in range(k, records + 1):
        yield from combinations(range(records), size)


def closed_cells(columns: Sequence[Column], k: int) -> dict[Cell, tuple[Closure, ...]]:
    """All records below the closure of some group, and that closure."""
    records = len(columns[0].values)
    found = {}
    for group in groups(records, k):
        closures = close(columns, group)
        cell = tuple(
            i
            for i in range(records)
            if all(
                column.values[i] in closed for column, closed in zip(columns, closures, strict=True)
            )
        )
        found[cell] = closures
    return found


def cheapest(columns: Sequence[Column], objective: Objective, k: int) -> list[float]:
    """What each record costs in the cheapest cell that holds it."""
    cells = closed_cells(columns, k)
    return [
        min(objective.record(closures, i) for cell, closures in cells.items() if i in cell)
        for i in range(len(columns[0].values))
    ]


def nearest(columns: Sequence[Column], objective: Objective, k: int) -> list[float]:
    """What each record costs with its (k − 1)-th nearest other record."""
    everyone = range(len(columns[0].values))
    return [
        sorted(objective.record(close(columns, [i, j]), i) for j in everyone)[k - 1]
        for i in everyone
    ]


def mean_of_largest(numbers: Sequence[float], k: int) -> float:
    return sum(sorted(numbers, reverse=True)[:k]) / k


def capped(numbers: Sequence[float], k: int, limit: float) -> list[float]:
    """Numbers under the highest cap with which the k largest are on average at most `limit`, by bisection."""
    low, high = min(0.0, limit), max(*numbers, limit)
    for _ in range(80):
        cap = (low + high) / 2
        if mean_of_largest([min(number, cap) for number in numbers], k) > limit:
            high = cap
        else:
            low = cap
    return [min(number, low) for number in numbers]


def largest_excess(numbers: Sequence[float], cost: float, meets: Meets) -> float:
    """The most by which the numbers of a group that meets a requirement exceed its cost."""
    everyone = groups(len(numbers), 1)
    return max(sum(numbers[i] - cost for i in group) for group in everyone if meets(group))
