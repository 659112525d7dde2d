"""Whether a release keeps what shoal promises, checked by plain counting over lists."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .demands import Demand
from .readings import Reader

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Promise:
    """A table, and what its release has to keep."""

    readers: dict[str, Reader]
    keys: dict[str, list[Any]]  # of the quasi-identifiers, by record
    secrets: dict[str, list[Any]]  # sensitive values, by record
    unchanged: list[Row]  # columns released as they are, by record
    k: int
    demands: Sequence[Demand] = ()
    limit: float = 0.0
    weights: dict[str, float] = field(default_factory=dict)

    @property
    def records(self) -> int:
        return len(self.unchanged)

    def is_possible(self) -> bool:
        """Whether the table as one group keeps everything, with some room for rounding."""
        return self.records >= self.k and all(
            demand.holds(self.secrets[name], self.secrets[name], margin=1e-6)
            for demand in self.demands
            for name in demand.columns
        )


@dataclass(frozen=True)
class Released:
    """A release: by record what each quasi-identifier reads, the columns left unchanged, and what was claimed."""

    cells: dict[str, list[Any]]
    unchanged: list[Row]
    sensitive: dict[str, list[Any]]
    order: list[int] | None  # the original of each record, where it is known
    left_out: int
    claimed_k: int | None
    claimed_loss: float | None
    reads_the_same: bool = True  # the method releases groups of equal records

    @property
    def records(self) -> int:
        return len(self.unchanged)


def faults(promise: Promise, released: Released) -> list[str]:
    """What is wrong with a release, a sentence each."""
    found = []
    kept = promise.records - released.left_out
    if released.records != kept or released.left_out > promise.limit * promise.records + 1e-9:
        found.append(
            f"{promise.records} records became {released.records}, {released.left_out} said to be left out"
        )
    extra = Counter(released.unchanged) - Counter(promise.unchanged)
    if extra:
        found.append(f"{extra.total()} records have other unchanged columns than any original")
    try:
        closures = {
            name: [promise.readers[name].closure(cell) for cell in cells]
            for name, cells in released.cells.items()
        }
    except (ValueError, ArithmeticError) as error:
        return [*found, f"a released cell cannot be read ({error})"]
    found += _group_faults(promise, released, closures)
    found += _matching_faults(promise, released, closures)
    if released.claimed_loss is not None:
        loss = loss_of(promise, closures, released.left_out)
        if abs(loss - released.claimed_loss) > 1e-9:
            found.append(f"the loss is {loss!r}, not {released.claimed_loss!r}")
    return found


def _group_faults(
    promise: Promise, released: Released, closures: dict[str, list[frozenset[Any]]]
) -> list[str]:
    if not released.reads_the_same:
        least = _least_compatible(promise, closures, released.records)
        return _size_faults(promise.k, least, released.claimed_k)
    groups: dict[Row, list[int]] = defaultdict(list)
    texts = [
        [cell if isinstance(cell, tuple) else str(cell) for cell in cells]
        for cells in released.cells.values()
    ]
    for record, row in enumerate(zip(*texts, strict=True)):
        groups[row].append(record)
    least = min(map(len, groups.values()), default=0)
    found = _size_faults(promise.k, least, released.claimed_k)
    for demand in promise.demands:
        for name in demand.columns:
            values, table = released.sensitive[name], promise.secrets[name]
            missed = [g for g in groups.values() if not demand.holds([values[i] for i in g], table)]
            if missed:
                found.append(f"{len(missed)} groups miss {demand.kind} {demand.level} of '{name}'")
    return found


def _size_faults(k: int, least: int, claimed: int | None) -> list[str]:
    found = []
    if least < k:
        found.append(f"the smallest group has {least} records, fewer than k = {k}")
    if claimed not in (None, least):
        found.append(
            f"the audit counted {claimed} records in the smallest group, there are {least}"
        )
    return found


def _least_compatible(
    promise: Promise, closures: dict[str, list[frozenset[Any]]], records: int
) -> int:
    """The fewest counterparts that a record has on the other side, originals and released ones."""
    originals = list(zip(*promise.keys.values(), strict=True))
    suits = [
        [all(v in c for v, c in zip(row, cells, strict=True)) for row in originals]
        for cells in zip(*closures.values(), strict=True)
    ]
    of_original = [sum(column) for column in zip(*suits, strict=True)]
    return min([sum(row) for row in suits] + of_original, default=0)


def _matching_faults(
    promise: Promise, released: Released, closures: dict[str, list[frozenset[Any]]]
) -> list[str]:
    """Whether every released record can be another original one that lies inside it."""
    names = list(closures)
    originals = list(zip(*(promise.keys[name] for name in names), strict=True))
    cells = list(zip(*(closures[name] for name in names), strict=True))

    def suits(record: int, original: int) -> bool:
        return released.unchanged[record] == promise.unchanged[original] and all(
            value in closure
            for value, closure in zip(originals[original], cells[record], strict=True)
        )

    if released.order is not None:
        wrong = sum(not suits(record, original) for record, original in enumerate(released.order))
        return [f"{wrong} records are not inside what was released for them"] if wrong else []
    by_unchanged: dict[Row, list[int]] = defaultdict(list)
    for original, row in enumerate(promise.unchanged):
        by_unchanged[row].append(original)
    choices = [
        [
            original
            for original in by_unchanged[released.unchanged[record]]
            if suits(record, original)
        ]
        for record in range(released.records)
    ]
    unmatched = released.records - matching_size(choices)
    return [f"{unmatched} released records stand for no original"] if unmatched else []


def matching_size(choices: Sequence[Sequence[int]]) -> int:
    """The most records that can have a choice of their own (augmenting paths, without recursion)."""
    owner: dict[int, int] = {}
    held: dict[int, int] = {}
    for record in range(len(choices)):
        came_from: dict[int, int] = {}  # choice: the record that reached it
        waiting, free = [record], None
        while waiting and free is None:
            current = waiting.pop()
            for choice in choices[current]:
                if choice not in came_from:
                    came_from[choice] = current
                    if choice not in owner:
                        free = choice
                        break
                    waiting.append(owner[choice])
        while free is not None:
            current = came_from[free]
            owner[free] = current
            held[current], free = free, held.get(current)
    return len(owner)


def loss_of(promise: Promise, closures: dict[str, list[frozenset[Any]]], left_out: int) -> float:
    """Measure lm (GT10 (3)): (|B| − 1) / (m − 1), mean over records and weighted quasi-identifiers."""
    total, weight_sum = 0.0, 0.0
    for name, cells in closures.items():
        weight = promise.weights.get(name, 1.0)
        size = len(promise.readers[name].everything)
        costs = sum(len(cell) - 1 for cell in cells) / max(1, size - 1)
        total += weight * (costs + left_out * (size > 1)) / promise.records
        weight_sum += weight
    return total / weight_sum
