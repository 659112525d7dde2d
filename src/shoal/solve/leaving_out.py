"""Leave out records that cost the others more than themselves: from finished groups, or as a part of the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shoal.encoding.forms import Floats, Ints, Records
from shoal.kernels.persons.counting import Crowd, make_crowd
from shoal.kernels.refining.leaving_out import leave_records_out, remove_records, take_back
from shoal.kernels.refining.search import GAIN, Search, make_search
from shoal.kernels.shared.state import fill, make_state
from shoal.progress import Progress
from shoal.risk.persons import People
from shoal.solve.methods import Mondrian
from shoal.solve.methods.base import check_tallies
from shoal.solve.methods.completion import suppressed_costs
from shoal.solve.methods.integer_program import IntegerProgram
from shoal.solve.problem import Problem

# The crowd of a table in which records are counted.
NOBODY = make_crowd(
    np.zeros(0, np.int64), np.zeros((0, 0), np.int32), np.zeros((0, 0), np.int64), 0, 0, 0
)
Improve = Callable[[Records, Ints], Ints]  # better groups of some records, given their groups


def remove_dearest(problem: Problem, groups: Ints, most: int, people: People | None = None) -> Ints:
    """Leave out (−1) at most so many records where that lowers the objective.

    A record that is left out counts as fully suppressed: it costs what the whole domain costs in every
    quasi-identifier. The others stay in their groups, all of which go on meeting the requirement.
    """
    return Leaving(problem, most, people).removed(groups)


def leave_out(
    problem: Problem,
    groups: Ints,
    most: int,
    improve: Improve,
    progress: Progress,
    people: People | None = None,
) -> Ints:
    """Leave out (−1) up to so many records and group the others again, where that lowers the objective.

    The result meets the requirement and costs no more than removing records from the groups as they are. `improve`
    refines the groups of the others.
    """
    leaving = Leaving(problem, most, people)
    starts = [groups]
    if people is None and groups.size <= FEW:
        starts.append(Mondrian().partition(problem, 0, progress).groups)
    found = [_regrouped(leaving, start, improve, progress) for start in starts]
    best = min(found, key=leaving.cost)
    is_small = people is None and groups.size <= FEW
    program = IntegerProgram.of(problem, ENTRIES) if is_small else None
    return (
        best if program is None else program.improve(best, 1, 1, progress, ENTRIES_AT_ONCE).groups
    )


def _regrouped(leaving: Leaving, groups: Ints, improve: Improve, progress: Progress) -> Ints:
    """Leave records out, group the others again, and leave out or take back what then gains."""
    progress("leaving out", 0, 1)
    found = [leaving.removed(groups), leaving.searched(groups)]
    again = found[-1].copy()
    rest = np.flatnonzero(again >= 0)
    touched = (groups.size - rest.size) * leaving.problem.k
    if groups.size <= FEW or touched > AFFECTED * groups.size:
        again[rest] = improve(rest, again[rest])
        found.append(leaving.searched(again))
    return min(found, key=leaving.cost)


FEW = 1_000  # records of a table that Mondrian groups, too: quick refinement of few records depends on its start
# Cells with one of their points that an integer program over all of them may have, and those of least reduced cost that
# it is solved over: about a second.
ENTRIES, ENTRIES_AT_ONCE = 40_000, 1_000
# Share of records whose groups lose one that is left out, k for each, from which the others of a larger table are
# grouped again: on the 48,842 of Adult, fewer than 10 are left out, and grouping takes as long as before.
AFFECTED = 0.02
PASSES = 4  # over the groups at one price
HALVINGS = 8  # of the interval in which the price is that leaves out as many records as may be
# Records times columns that one pass looks at, to bound its time: beyond, only the most expensive groups are looked at.
MOST_LOOKS = 2_500_000_000


class _Priced(NamedTuple):
    """Groups at a price of leaving a record out."""

    groups: Ints
    left: int


class Leaving:
    """A problem of which some records may be left out."""

    def __init__(self, problem: Problem, most: int, people: People | None) -> None:
        self.problem, self._people = problem, people
        self._most = self._worth = most
        if people is None and not problem.tallied and problem.objective.monotone:
            # k records that are left out could as well be a group, which costs no more.
            self._worth = min(most, problem.k - 1)
        self._whole = suppressed_costs(problem)

    def cost(self, groups: Ints) -> float:
        """The cost of a partition with the records that it leaves out."""
        return self.problem.cost(groups) + float(
            self._whole[self.problem.classes[groups < 0]].sum()
        )

    def removed(self, groups: Ints) -> Ints:
        """Groups without the records that cost them most."""
        x, crowd, _ = self.search(groups)
        kept: Ints = remove_records(x, crowd, self._whole, self._most)
        return kept

    def searched(self, groups: Ints) -> Ints:
        """The groups that are found at the lowest price of leaving out for which no more are left out than may be."""
        found = self._priced(groups, self._whole, self._worth + 1)
        if found.left <= self._worth:
            return found.groups
        found, low, high = _Priced(groups, int((groups < 0).sum())), 0.0, self._dearest(groups)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            tried = self._priced(groups, self._whole + middle, self._worth + 1)
            if tried.left <= self._worth:
                found, high = tried, middle
            else:
                low = middle
        return self._priced(found.groups, self._whole, self._worth).groups

    def _dearest(self, groups: Ints) -> float:
        x, _, out = self.search(groups)
        return float(np.delete(x.s.cost, out).max())

    def _priced(self, groups: Ints, price: Floats, most: int) -> _Priced:
        """Leave out up to `most` records where that gains at this price, and take back those where it does not."""
        x, crowd, out = self.search(groups)
        looks = MOST_LOOKS // len(self.problem.columns)
        for _ in range(PASSES):
            left = np.flatnonzero(x.s.group == out)[: max(1, looks // x.s.size.size)]
            changes = take_back(x, crowd, out, price, left)
            worth = np.flatnonzero(x.s.cost > price.min() + GAIN)
            worth = worth[worth != out]
            order = worth[np.argsort(-x.s.cost[worth], kind="stable")]
            work = np.cumsum(x.s.size[order] * x.s.size.size + 2 * x.s.group.size)
            order = order[work <= looks]
            if order.size:
                changes += leave_records_out(x, crowd, out, price, most, order)
            if not changes or x.s.size[out] >= most:
                break
        numbers = np.cumsum(x.s.size > 0) - 1  # without gaps
        numbers[out] = -1
        return _Priced(numbers[x.s.group].astype(np.int32), int(x.s.size[out]))

    def search(self, groups: Ints) -> tuple[Search, Crowd, int]:
        """A search, in which records that are left out are the last group."""
        problem, out = self.problem, int(groups.max()) + 1
        tallied, values, rules, crowd = problem.tallied, problem.values, problem.rules, NOBODY
        if self._people is not None:
            tallied, values = 0, np.zeros((groups.size, 0), dtype=np.int32)
            rules, crowd = self._people.rules, self._people.crowd
        check_tallies(problem, out + 1)
        state = make_state(problem.arrays, values, tallied, out + 1)
        placed = np.where(groups < 0, out, groups).astype(np.int32)
        fill(problem.arrays, state, problem.codes, problem.classes, placed)
        x = make_search(problem.arrays, problem.pairs, rules, state, problem.codes, problem.classes)
        return x, crowd, out
