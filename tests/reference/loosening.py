"""The slow, obvious twin of loosening: closures as sets of values, chances by counting, draws as they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reference import Closure, Column

Draws = Sequence[float]


def chance(needed: int, others: int, share: float) -> float:
    return min(share, share / (1 - share) * needed / max(1, others))


def loosened(
    column: Column, closures: Sequence[Closure], share: float, draw: Callable[..., Any]
) -> list[Closure]:
    """Closures of all groups of a column, loosened; `draw` gives numbers in [0, 1) in the shape it is asked for."""
    groups = len(closures)
    if column.model in ("suppression", "hierarchy"):
        return raised(closures, share, draw(groups))
    of_whole = draw(groups)
    mixed = [None in closed and len(closed) > 1 for closed in closures]
    hides = chance(sum(mixed), groups - sum(mixed), share)
    if column.model in ("interval", "order"):
        found = widened(column, closures, share, draw((2, groups)))
    else:
        found = grown(column, closures, share, draw((len(column.whole), groups)))
    return [
        column.whole if is_mixed or number < hides else closed
        for closed, is_mixed, number in zip(found, mixed, of_whole, strict=True)
    ]


def raised(closures: Sequence[Closure], share: float, draws: Draws) -> list[Closure]:
    """A node becomes the smallest larger one that some group has."""

    def above(closed: Closure) -> Closure | None:
        return min((other for other in closures if other > closed), key=len, default=None)

    found = []
    for closed, number in zip(closures, draws, strict=True):
        target = above(closed)
        if target is not None:
            needed = sum(other == target for other in closures)
            others = sum(above(other) == target for other in closures)
            if number < chance(needed, others, share):
                found.append(target)
                continue
        found.append(closed)
    return found


def widened(
    column: Column, closures: Sequence[Closure], share: float, draws: Sequence[Draws]
) -> list[Closure]:
    """Each end of a range becomes the next one outwards that the range of some group has."""
    place = {value: at for at, value in enumerate(column.domain)}  # order may not be that of values
    plain = [{place[v] for v in closed} for closed in closures if None not in closed]
    ranges = [closed for closed in plain if len(closed) > 1]

    def moved(end: Any, pick: Any, is_further: Callable[[Any, Any], bool], number: float) -> Any:
        def next_end(start: Any) -> Any:
            further = [pick(r) for r in ranges if is_further(pick(r), start)]
            return (max if pick is min else min)(further) if further else None

        target = next_end(end)
        if target is None:
            return end
        needed = sum(pick(r) == target for r in ranges)
        others = sum(next_end(pick(closed)) == target for closed in plain)
        return target if number < chance(needed, others, share) else end

    found = []
    for closed, down, up in zip(closures, *draws, strict=True):
        if None in closed:
            found.append(closed)
            continue
        low = moved(min(map(place.get, closed)), min, lambda a, b: a < b, down)
        high = moved(max(map(place.get, closed)), max, lambda a, b: a > b, up)
        found.append(frozenset(column.domain[low : high + 1]))
    return found


def grown(
    column: Column, closures: Sequence[Closure], share: float, draws: Sequence[Draws]
) -> list[Closure]:
    """A value joins sets without it, if sets of several values have it."""
    plain = [closed for closed in closures if None not in closed]
    found = []
    for g, closed in enumerate(closures):
        joining = set()
        for value, numbers in zip(column.domain, draws, strict=False):
            needed = sum(value in other for other in plain if len(other) > 1)
            others = sum(value not in other for other in plain)
            if None not in closed and numbers[g] < chance(needed, others, share):
                joining.add(value)
        found.append(closed | joining)
    return found
