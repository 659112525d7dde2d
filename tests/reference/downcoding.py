"""The slow, obvious twin of measuring downcoding: statements as sets of values, matching by trying all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from reference import Closure, Column

Statement = tuple[
    int, int, Closure
]  # column, group, and the part of its closure that some record lies in


def parts(column: Column, closed: Closure) -> list[Closure]:
    """What an attacker says of a closure of several values."""
    if len(closed) < 2:
        return []
    if column.model in ("interval", "order"):
        inside = [v for v in column.domain if v in closed]
        ends = [None] if None in closed else [inside[0], inside[-1]]
        return [frozenset([end]) for end in ends]
    if column.model == "subset":
        values = [None] if None in closed else [v for v in column.domain if v in closed]
        return [frozenset([value]) for value in values]
    inner = [s for s in column.allowed if s < closed]
    children = [s for s in inner if not any(s < other for other in inner)]
    children = [s for s in children if column.records_in(s)]
    children.sort(key=lambda s: -column.records_in(s))
    return children[:2] if len(children) > 1 else []


def statements(
    columns: Sequence[Column], closures: Sequence[Sequence[Closure]]
) -> Iterator[Statement]:
    """Of all groups; closures by column and group."""
    for j, column in enumerate(columns):
        for g, closed in enumerate(closures[j]):
            for part in parts(column, closed):
                yield j, g, part


def is_true(columns: Sequence[Column], groups: Sequence[list[int]], stated: Statement) -> bool:
    j, g, part = stated
    return any(columns[j].values[i] in part for i in groups[g])


def chance(
    columns: Sequence[Column], groups: Sequence[list[int]], closures: Any, stated: Statement
) -> float:
    j, g, part = stated
    share = columns[j].records_in(part) / columns[j].records_in(closures[j][g])
    return 1 - (1 - share) ** len(groups[g])


def all_at_once(
    columns: Sequence[Column], groups: Sequence[list[int]], stated: Sequence[Statement]
) -> bool:
    """Whether different records of a group fit its statements, by trying every way."""
    group = groups[stated[0][1]]
    some = stated[: len(group)]
    return any(
        all(columns[j].values[i] in part for i, (j, _, part) in zip(order, some, strict=True))
        for order in permutations(group, len(some))
    )
