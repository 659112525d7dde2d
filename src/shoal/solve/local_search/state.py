"""A partition under local search, and what all neighbourhoods share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.encoding.forms import Ints
from shoal.kernels.refining.reach import Reach, make_reach
from shoal.kernels.refining.search import Search, make_search
from shoal.kernels.shared.state import fill, make_state, pack
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
    def room(self) -> int:
        """The number of groups that there is room for."""
        return len(self.search.s.size)

    def dearest(self) -> Ints:
        """All records in descending order of what they cost, equal records of a group together."""
        order = np.lexsort((self.problem.points.of_record, -self.search.price))
        return order.astype(np.int32)


# Pairs of a group and a distinct record that its closure covers, for which there is room: so many for each distinct
# record, and so many in all, to bound memory.
PAIRS, MOST_PAIRS = 64, 50_000_000


def reach_of(now: SearchState) -> Reach:
    """Make room for the list of records that the closure of each group covers already."""
    problem = now.problem
    codes, place = problem.points.codes, problem.points.of_record
    pairs = min(MOST_PAIRS, PAIRS * len(codes))
    return make_reach(problem.arrays, codes, place, now.room, pairs)


class Neighbourhood(ABC):
    """A way to improve a partition, in steps that the schedule compares by what they gain for their work."""

    name: ClassVar[str]  # in reports of progress

    def __init__(self, problem: Problem, rng: np.random.Generator, meter: Meter) -> None:
        self.problem, self.rng, self.meter = problem, rng, meter
        self.rate = np.inf  # what a step is expected to gain for a unit of work

    @abstractmethod
    def step(self, now: SearchState) -> SearchState:
        """Improve a partition, which may be changed, for a while; returns one that costs no more."""

    def goes_on(self) -> bool:
        """Report progress, and say whether there may be more work."""
        return self.meter.goes_on(self.name)
