"""Groups under way: mending what does not comply, and local search that keeps all groups complying."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.generalization.forms import Ints
from shoal.kernels.persons.counting import Crowd, missing_groups
from shoal.kernels.persons.improving import move_among_persons, split_persons, swap_among_persons
from shoal.kernels.persons.mending import mend_persons
from shoal.kernels.refining.search import make_search, reprice_all
from shoal.kernels.shared.state import fill, make_state
from shoal.privacy.persons import People
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.refine import Refine
from shoal.refine.budget import Clock
from shoal.refine.partition import Refined

# Records times groups times columns: what one pass of moves or swaps looks at, what handing out groups may take, and
# what is done between two reports of progress.
MOST_MOVES, MOST_SWAPS, MOST_HANDED, CHUNK = 2_500_000_000, 500_000_000, 2_500_000_000, 100_000_000
TRIAL = 25  # the work of trying one swap, in the same unit
NEAR = 2  # nearest groups whose members a record tries to swap with
PASSES = 2  # of local search where no time is given


@dataclass(frozen=True)
class PersonSearch(Refined):
    """A partition that changes while its persons are counted."""

    crowd: Crowd

    @property
    def work(self) -> int:
        """The work of looking for one record's best group: groups times columns."""
        return len(self.search.s.size) * len(self.problem.columns)

    @property
    def own_work(self) -> int:
        """The work of counting and closing a record's own group, on average: twice its records, times columns."""
        sizes = self.search.s.size.astype(float)
        return int(2 * (sizes**2).sum() / sizes.sum() * len(self.problem.columns))


def search_of(problem: Problem, people: People, groups: Ints) -> PersonSearch:
    """Start from a partition, with room for half as many groups more; sensitive values are counted by persons only."""
    most, number = problem.table.records // problem.k, int(groups.max()) + 1
    room = max(number, min(most, number + number // 2 + 16)) + 1
    none = np.zeros((problem.table.records, 0), dtype=np.int32)
    state = make_state(problem.arrays, none, 0, room)
    fill(problem.arrays, state, problem.codes, problem.classes, groups)
    search = make_search(
        problem.arrays, problem.pairs, people.rules, state, problem.codes, problem.classes
    )
    return PersonSearch(problem, search, people.crowd)


def mend(found: PersonSearch, progress: Progress) -> None:
    """Unite or hand out groups that do not comply, the smallest first, until all do."""
    search = found.search
    sizes = search.s.size
    while (missing := np.flatnonzero(missing_groups(search.q, found.crowd, search.s))).size:
        if np.count_nonzero(sizes) == 1:  # what cannot be is refused before
            raise AssertionError("All records as one group do not comply.")
        missing = missing[np.argsort(sizes[missing], kind="stable")]
        work = np.cumsum(sizes[missing]) * found.work
        may_hand_out = bool(work[-1] <= MOST_HANDED)
        parts = np.split(missing, np.flatnonzero(np.diff(work // CHUNK)) + 1)
        for done, part in enumerate(parts):
            progress("counting persons", done, len(parts))
            mend_persons(search, found.crowd, part, may_hand_out)
    reprice_all(search)


def improve(found: PersonSearch, budget: Refine, progress: Progress) -> None:
    """Move, split and swap while that gains: a few passes, then for as long as there is time."""
    clock = Clock(budget, progress)
    passes = 0
    while _one_pass(found, progress):
        passes += 1
        if passes >= PASSES:
            if not clock.goes_on("counting persons"):
                return
            clock.tick()


def _one_pass(found: PersonSearch, progress: Progress) -> int:
    """Try every neighbourhood once; returns the number of changes."""
    search, crowd = found.search, found.crowd
    changes = 0
    work = found.work + found.own_work
    records = found.dearest()[: max(1, MOST_MOVES // work)]
    chunk = max(1, CHUNK // work)
    for start in range(0, len(records), chunk):
        progress("refining: moves", start, len(records))
        changes += int(move_among_persons(search, crowd, records[start : start + chunk]))
    groups = np.arange(len(search.s.size))
    while groups.size:
        groups = split_persons(search, crowd, groups)
        changes += groups.size // 2
    progress("refining: swaps", 0, 1)
    sizes = search.s.size[search.s.size > 0].astype(float)
    most = max(1, int(MOST_SWAPS // (work + TRIAL * NEAR * (sizes**2).mean())))
    return changes + int(swap_among_persons(search, crowd, found.dearest()[:most], NEAR))
