"""Slow twins of enhanced_pk and greedy_pk: sets of values and plain loops, every choice weighed anew.

`cost(group)` is what a group, a list of records, costs in all; `secrets` are the sensitive columns, `p` how many
values a group needs of each. Choices go to the first of equals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Group = list[int]


@dataclass(frozen=True)
class Case:
    """A table as the twins see it, and what its groups must keep to."""

    cost: Callable[[Sequence[int]], float]
    secrets: Sequence[Sequence[Any]]
    p: Sequence[int]
    k: int
    weights: Sequence[float] = ()  # of the columns; all the same where there are none

    @property
    def records(self) -> int:
        return len(self.secrets[0])

    def lacks(self, group: Group) -> list[int]:
        """How many values of each column a group lacks."""
        found = [len({column[i] for i in group}) for column in self.secrets]
        return [max(0, own - y) for own, y in zip(self.p, found, strict=True)]

    @property
    def w(self) -> Sequence[float]:
        return self.weights or [1] * len(self.secrets)

    def hom(self, group: Group) -> float:
        """TCM07 Definition 12."""
        return sum(x * w for x, w in zip(self.lacks(group), self.w, strict=True))

    def div(self, i: int, group: Group) -> float:
        """TCM07 Definition 11."""
        before, after = self.lacks(group), self.lacks([*group, i])
        return sum((x - y) * x * w for x, y, w in zip(before, after, self.w, strict=True))

    def added(self, i: int, group: Group) -> float:
        return self.cost([*group, i]) - self.cost(group) if group else 0.0

    def best_match(self, pool: Group, groups: list[Group]) -> tuple[int, int]:
        """Record and number of the group with the largest Div, of these the least increase of cost."""
        pairs = [(g, i) for g in range(len(groups)) for i in pool]
        g, i = min(
            pairs, key=lambda o: (-self.div(o[1], groups[o[0]]), self.added(o[1], groups[o[0]]))
        )
        return i, g

    def is_sensitive(self, group: Group) -> bool:
        return self.hom(group) == 0


def most_groups(column: Sequence[Any], p: int) -> int:
    """The largest number of groups that can each have p values of a column, by counting what there is to share out."""
    counts = Counter(column).values()
    enough = [m for m in range(len(column) + 1) if sum(min(f, m) for f in counts) >= p * m]
    return max(enough)


def partitions(records: int) -> Iterator[list[Group]]:
    """All ways to cut records into groups."""
    if records == 0:
        yield []
        return
    last = records - 1
    for groups in partitions(last):
        yield [*groups, [last]]
        for g in range(len(groups)):
            yield [[*own, last] if h == g else own for h, own in enumerate(groups)]


def take(i: int, pool: Group, group: Group) -> None:
    pool.remove(i)
    group.append(i)


def grow(case: Case, pool: Group, group: Group) -> None:
    """To k records, always by the one that leaves the cheapest group."""
    while len(group) < case.k and pool:
        take(min(pool, key=lambda i: case.cost([*group, i])), pool, group)


def diversify(case: Case, pool: Group, group: Group) -> bool:
    """Until p-sensitive; False where no record helps."""
    while not case.is_sensitive(group):
        if not any(case.div(i, group) for i in pool):
            return False
        i, _ = case.best_match(pool, [group])
        take(i, pool, group)
    return True


def join(case: Case, groups: list[Group], rest: Group) -> list[Group]:
    """Let records that are left join the group where they cost least."""
    groups = [group for group in groups if group]
    if not groups:
        return [sorted(rest)]
    for i in rest:
        min(groups, key=lambda group: case.added(i, group)).append(i)
    return groups


def greedy(case: Case, order: Group, rest: Group) -> list[Group]:
    """Spec §5.15; `order` is that of the pool, `rest` that in which leftovers join."""
    pool, groups = list(order), []
    while len(pool) >= case.k:
        last = groups[-1] if groups else None
        first = max(pool, key=lambda i: case.cost([*last, i])) if last else pool[0]
        group: Group = []
        take(first, pool, group)
        if not diversify(case, pool, group):
            break
        grow(case, pool, group)
        if len(group) < case.k:
            break
        groups.append(group)
    placed = {i for group in groups for i in group}
    return join(case, groups, [i for i in rest if i not in placed])


def enhanced(case: Case, order: Group, rest: Group) -> list[Group]:
    """Spec §5.14; `order` is that of the pool, `rest` that in which leftovers join."""
    asked = [(column, own) for column, own in zip(case.secrets, case.p, strict=True) if own > 1]
    asked = asked or [([None] * case.records, 1)]
    bounds = [most_groups(column, own) for column, own in asked]
    column, p = asked[bounds.index(min(bounds))]
    groups: list[Group] = [[] for _ in range(min(case.records // case.k, *bounds))]
    if not groups:
        return join(case, [], rest)

    sizes = Counter(column)
    rarest = sorted(sizes, key=lambda v: (sizes[v], v is None, v or ""))
    frequent = [v for v in rarest if sizes[v] >= len(groups)]
    frequent = frequent[len(frequent) - min(p - 1, len(frequent)) :]
    wanted, dealt = len(groups) * (p - len(frequent)), 0
    for value in rarest[: len(rarest) - len(frequent)]:
        pool = [i for i in order if column[i] == value]
        while pool and dealt < wanted:
            group = groups[dealt % len(groups)]
            i, _ = case.best_match(pool, [group])
            take(i, pool, group)
            dealt += 1
    for value in frequent:
        pool = [i for i in order if column[i] == value]
        waiting = list(groups)
        while waiting:
            i, g = case.best_match(pool, waiting)
            take(i, pool, waiting.pop(g))

    placed = {i for group in groups for i in group}
    pool = [i for i in order if i not in placed]
    groups.sort(key=case.hom)
    done = 0
    while done < len(groups):
        if diversify(case, pool, groups[done]):
            done += 1
        else:
            pool += sorted(groups.pop())

    groups.sort(key=len, reverse=True)
    large = [group for group in groups if len(group) >= case.k]
    kept = len(large) + (case.records - sum(map(len, large))) // case.k
    while len(groups) > kept:
        pool += sorted(groups.pop(kept))
    for group in groups:
        grow(case, pool, group)
    return join(case, groups, [i for i in rest if i in pool])
