"""The optimum for tiny tables (spec §5.16): the yardstick of every other method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError
from shoal.generalization.forms import Floats, Ints
from shoal.kernels.clustering.exact import cut_subsets, subset_costs
from shoal.methods.base import Method, Partition
from shoal.methods.wider_closures import cheapest_closures, cheapest_costs
from shoal.problem import Problem
from shoal.progress import Progress

MOST_RECORDS = 18  # time grows like 3ⁿ and memory like 2ⁿ
CHUNK = 4096  # subsets between two reports of progress


@dataclass(frozen=True)
class Exact(Method):
    """Find a partition of least cost, for every objective and model, of a table of at most 18 records.

    Dynamic programming over subsets: the least cost of S is that of a group T that meets the requirement and
    holds the first record of S, and the least cost of S without T. Groups of any size are tried, because of
    requirements and of objectives under which a larger closure may cost less (`entropy`, `pmi`, `wmi`); there, a group
    pays for the cheapest closure that covers it. O(3ⁿ) in time, O(2ⁿ) in memory.
    """

    name = "exact"
    source = "dynamic programming over subsets"
    recoding = "local"
    promise = "optimal"
    growth = "3ⁿ"
    summary = f"the optimum, for tables of at most {MOST_RECORDS} records"

    def may_be_refined(self) -> bool:
        """Return False: there is nothing to gain."""
        return False

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        n = problem.table.records
        check_records(n)
        progress("weighing groups", 0, 1)
        costs = subset_costs(
            problem.arrays, problem.rules, problem.codes, problem.classes, problem.values
        )
        return best_partition(problem, costs, progress)


def best_partition(problem: Problem, costs: Floats, progress: Progress) -> Partition:
    """Find a partition of least cost, given what the tight closure of every subset costs: infinite if it may not be.

    Where a wider closure may cost less, a subset costs what its cheapest closure does, and that is released.
    """
    n = problem.table.records
    if problem.objective.monotone:
        return Partition(cut_best(costs, n, progress))
    costs = np.where(np.isfinite(costs), cheapest_costs(problem, progress), np.inf)
    groups = cut_best(costs, n, progress)
    return Partition(groups, closures=cheapest_closures(problem, groups))


def check_records(n: int) -> None:
    """Refuse tables that are too large."""
    if n > MOST_RECORDS:
        raise InputError(
            f"Method 'exact' takes at most {MOST_RECORDS} records and the table has {n:,}; choose 'cover'."
        )


def cut_best(costs: Floats, n: int, progress: Progress) -> Ints:
    """Cut n records into groups of least cost, given what every subset costs as a group: infinite if it may not be."""
    least, choice = np.full(costs.size, np.inf), np.zeros(costs.size, dtype=np.int64)
    least[0] = 0.0
    for start in range(1, costs.size, CHUNK):
        progress("cutting subsets", start, costs.size)
        cut_subsets(costs, least, choice, start, min(costs.size, start + CHUNK))
    progress("cutting subsets", costs.size, costs.size)
    groups = np.empty(n, dtype=np.int32)
    left, number = costs.size - 1, 0
    while left:
        groups[choice[left] >> np.arange(n) & 1 == 1] = number
        left, number = left ^ int(choice[left]), number + 1
    return groups
