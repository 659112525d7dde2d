"""The method that chooses the method."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition
from shoal.solve.methods.cover import Cover
from shoal.solve.methods.exact import Exact
from shoal.solve.problem import Problem

FEW_RECORDS = 12  # up to so many records the optimum, whose time grows like 3ⁿ, is found at once


@dataclass(frozen=True)
class Auto(Method):
    """Take the best method for the table: `exact` for a handful of records, `cover` for all others.

    A note says which one it was. Refinement, which follows by default, starts from what it made; an optimum is left as
    it is.
    """

    name = "auto"
    source = "ours"
    recoding = "local"
    promise = "none; the optimum for a handful of records"
    growth = "n"
    seconds = 1.76
    summary = "the default: chooses the best method for the table and says which"

    def choose(self, records: int) -> Method:
        """Return the method for a table of so many records."""
        return Exact() if records <= FEW_RECORDS else Cover()

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        chosen = self.choose(problem.table.records)
        found = chosen.partition(problem, seed, progress)
        return replace(found, notes=(f"chose {chosen.name}", *found.notes))
