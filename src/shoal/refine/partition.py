"""A partition under refinement: the search that kernels change, and how much work one pass may take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.generalization.forms import Ints
from shoal.kernels.refining.search import Search, make_search
from shoal.kernels.shared.state import fill, make_state, pack
from shoal.problem import Problem


@dataclass(frozen=True)
class Refined:
    """A problem and its partition while refinement changes it; `search` is what the kernels work on."""

    problem: Problem
    search: Search

    @classmethod
    def of(cls, problem: Problem, groups: Ints) -> Refined:
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

    def dearest(self) -> Ints:
        """All records in descending order of what they cost, equal records of a group together."""
        order = np.lexsort((self.problem.points.of_record, -self.search.price))
        return order.astype(np.int32)
