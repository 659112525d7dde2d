"""What a command of a paper returns: lines to print and to draw, and what the paper claims of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from benchmarks.tables import Table, Tables

Choice = TypeVar("Choice")
X = float | str


@dataclass(frozen=True)
class Scale:
    """The tables, and whether fewer points of smaller samples are enough."""

    tables: Tables
    quick: bool = False

    def pick(self, full: Choice, quick: Choice) -> Choice:
        """One of two sizes."""
        return quick if self.quick else full

    def draw(self, table: Table, full: int, quick: int) -> Table:
        """Random records, the same each time, at most as many as there are."""
        return draw(table, self.pick(full, quick))


@dataclass(frozen=True)
class Line:
    """A line of a plot by x, ours or published; bars where x is text."""

    name: str
    points: Mapping[Any, float]
    published: bool = False


@dataclass(frozen=True)
class Panel:
    """A plot: lines over the same axes."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False
    from_zero: bool = True  # whether the y axis begins there, where it is not logarithmic


@dataclass(frozen=True)
class Claim:
    """What a paper says of its figure, and in how many of our cases it holds.

    `bar` marks what must hold at full size; a missed bar makes the runner exit with 1.
    """

    text: str
    held: int
    cases: int = 1
    bar: bool = False

    @property
    def holds(self) -> bool:
        return self.held == self.cases


@dataclass(frozen=True)
class Figure:
    """A published table or figure, measured again."""

    title: str
    panels: Sequence[Panel]
    claims: Sequence[Claim]
    setting: str  # of ours: the data and how it differs from the paper's
    notes: Sequence[str] = field(default=())


Results = Mapping[str, Callable[[Scale], Figure]]


def draw(table: Table, records: int) -> Table:
    """Random records of a table, the same each time, at most as many as there are."""
    few = min(records, table.data.num_rows)
    chosen = np.sort(np.random.default_rng(0).choice(table.data.num_rows, few, replace=False))
    return Table(table.name, table.data.take(chosen), table.models, table.sensitive)


def below(
    text: str,
    low: Mapping[Any, float],
    high: Mapping[Any, float],
    times: float = 1.0,
    bar: bool = False,
) -> Claim:
    """Claim that a line is at most so many times another, at every x that both have."""
    shared = [x for x in low if x in high]
    held = sum(low[x] <= times * high[x] * (1 + 1e-12) for x in shared)
    return Claim(text, held, len(shared), bar)


def near(
    text: str, ours: Mapping[Any, float], published: Mapping[Any, float], within: float
) -> Claim:
    """Claim, as a bar, that a line is no farther from the published one than a share of it."""
    shared = [x for x in published if x in ours]
    held = sum(abs(ours[x] / published[x] - 1) <= within for x in shared)
    return Claim(text, held, len(shared), bar=True)


def rises(text: str, points: Mapping[Any, float], falls: bool = False) -> Claim:
    """Claim that a line goes up, or down, from each x to the next."""
    steps = np.diff(list(points.values()))
    return Claim(text, int(np.count_nonzero(steps <= 0 if falls else steps >= 0)), steps.size)
