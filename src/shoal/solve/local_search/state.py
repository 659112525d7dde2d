"""A partition under local search, and what all neighbourhoods share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from shoal.encoding.forms import Ints, Records
from shoal.kernels.refining.reach import Reach, make_reach
from shoal.kernels.refining.search import Search, find_nearest, make_search
from shoal.kernels.shared.forms import SET
from shoal.kernels.shared.state import fill, make_state, pack
from shoal.solve.counted.assignment import pick_rows
from shoal.solve.local_search.budget import Meter
from shoal.solve.problem import Problem


@dataclass(frozen=True)
class SearchState:
    """A problem and its partition while refinement changes it; `search` is what the kernels work on."""

    problem: Problem
    search: Search

    @classmethod
    def of(cls, problem: Problem, groups: Ints) -> SearchState:
        """Start from a partition, with room for half as many groups more."""
        most, number = problem.table.records // problem.k, int(groups.max()) + 1
        room = max(number, min(most, number + number // 2 + 16)) + 1
        state = make_state(problem.arrays, problem.values, problem.tallied, room)
        fill(problem.arrays, state, problem.codes, problem.classes, groups)
        search = make_search(
            problem.arrays, problem.pairs, problem.rules, state, problem.codes, problem.classes
        )
        return cls(problem, search)

    @property
    def groups(self) -> Ints:
        """The group of every record, numbered without gaps."""
        return pack(self.search.s)[0]

    @property
    def cost(self) -> float:
        """The cost of all groups together, without the constants of the objective."""
        return float(self.search.s.cost[self.search.s.size > 0].sum())

    @property
    def closures(self) -> Ints:
        """The closures of all groups."""
        return np.ascontiguousarray(self.search.s.closures[:, self.search.s.size > 0])

    @property
    def room(self) -> int:
        """The number of groups that there is room for."""
        return len(self.search.s.size)

    @property
    def looks(self) -> int:
        """The work of looking for one record's best group: groups times the numbers in a closure."""
        return self.room * closure_size(self.problem)

    def dearest(self) -> Ints:
        """All records in descending order of what they cost, equal records of a group together."""
        order = np.lexsort((self.problem.points.of_record, -self.search.price))
        return order.astype(np.int32)


SET_SLOT = 4  # times the work for a node, for a slot of a set


def closure_size(problem: Problem) -> int:
    """How much work a closure is: one for a tree, two for a range, and more for a set of many values."""
    slots = np.diff(problem.arrays.slot)
    return int(np.where(problem.arrays.form == SET, SET_SLOT * slots, slots).sum())


# Pairs of a group and a distinct record that its closure covers, for which there is room: so many for each distinct
# record, and so many in all, to bound memory.
PAIRS, MOST_PAIRS = 64, 50_000_000


def reach_of(now: SearchState) -> Reach:
    """Make room for the list of records that the closure of each group covers already."""
    problem = now.problem
    codes, place = problem.points.codes, problem.points.of_record
    pairs = min(MOST_PAIRS, PAIRS * len(codes))
    return make_reach(problem.arrays, codes, place, now.room, pairs)


def region_of(now: SearchState, rng: np.random.Generator, least: int, most: int) -> Records:
    """The records of some groups around a random one: at least `least` times k and at most `most`, or all."""
    records, k = now.problem.table.records, now.problem.k
    least = min(least * k, most)
    size = int(least * (most / least) ** rng.random())
    if records <= size:
        return np.arange(records)
    around = find_nearest(now.search, int(rng.integers(records)), max(1, size // k))
    inside = np.cumsum(now.search.s.size[around]) <= size
    inside[:2] = True
    chosen = np.zeros(now.room, dtype=bool)
    chosen[around[inside]] = True
    return np.flatnonzero(chosen[now.search.s.group])


def part_of(now: SearchState, region: Records) -> tuple[Problem, Ints]:
    """The problem of a region, the whole problem itself if that is all records, and their groups without gaps."""
    problem = now.problem
    part = problem if region.size == problem.table.records else pick_rows(problem, region)
    return part, np.unique(now.groups[region], return_inverse=True)[1].astype(np.int32)


def with_part(now: SearchState, region: Records, better: Ints) -> SearchState:
    """The partition with other groups for the records of a region, if that costs no more."""
    groups = now.groups
    groups[region] = better + groups.max() + 1
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    return min(now, SearchState.of(now.problem, groups), key=lambda state: state.cost)


# What a neighbourhood is expected to gain at first, as a share of the cost for a whole budget of work, so that each is
# given a chance; and the share of the whole budget after which a gain counts half as much.
HOPE, LATELY = 0.1, 0.02


class Neighbourhood(ABC):
    """A way to improve a partition, in steps that the schedule compares by what they gain for their work."""

    name: ClassVar[str]  # in reports of progress
    repeats: ClassVar[float] = 1.0  # share of what a step gained that the next one is expected to

    def __init__(self, problem: Problem, rng: np.random.Generator, meter: Meter) -> None:
        self.problem, self.rng, self.meter = problem, rng, meter
        self.bound = -inf  # the least that any partition costs, if a step found out
        self.tired_at = -inf  # the cost of a partition that another step would leave as it is
        self._rate: float | None = None  # what a unit of work gained lately

    @abstractmethod
    def step(self, now: SearchState) -> SearchState:
        """Improve a partition, which may be changed, for a while; returns one that costs no more."""

    def hope(self, cost: float) -> float:
        """What a step on a partition of this cost is expected to gain for a unit of work."""
        if cost == self.tired_at:
            return 0.0
        return self._first_hope(cost) if self._rate is None else self.repeats * self._rate

    def _first_hope(self, cost: float) -> float:
        return HOPE * cost / self.meter.pace

    def learn_rate(self, cost: float, gain: float, work: float) -> None:
        """Expect of the next step what the last ones gained for their work; what is long ago counts less and less."""
        fading = 0.5 ** (work / (LATELY * self.meter.pace))
        before = self._first_hope(cost) if self._rate is None else self._rate
        self._rate = fading * before + (1 - fading) * gain / work

    def refresh(self) -> None:
        """Hope as at first: the partition has changed a lot."""
        self._rate, self.tired_at = None, -inf

    def goes_on(self) -> bool:
        """Report progress, and say whether there may be more work."""
        return self.meter.goes_on(self.name)
